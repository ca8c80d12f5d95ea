package node

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"bccn/wire"
)

func TestTracker(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		seqs     []uint64
		expected string
	}{
		{[]uint64{5, 7, 6, 8}, "DD-D"},
		{[]uint64{2000, 1001, 1000, 1001, 1000}, "D-DD-"},
		{[]uint64{100, 1, 101}, "D-D"},
		{[]uint64{1700000000, 1, 2, 1700000000}, "DDDD"},
		{[]uint64{1<<64 - 1, 0, 1}, "DDD"},
		{[]uint64{0, 0}, "D-"},
	} {
		tr := tracker{sanity: 1000, ttl: time.Hour, senders: map[string]*sender{}}
		trace := ""
		for _, seq := range c.seqs {
			trace += map[bool]string{true: "D", false: "-"}[tr.accept("a", seq, false, now)]
		}
		if trace != c.expected {
			t.Errorf("%v: %s", c.seqs, trace)
		}
	}
}

func TestExpiry(t *testing.T) {
	now := time.Now()
	tr := tracker{sanity: 1000, ttl: time.Hour, byHeartbeat: true, senders: map[string]*sender{}}
	later := func(d time.Duration) bool { now = now.Add(d); return tr.accept("a", 5, false, now) }
	if !later(0) || later(59*time.Minute) || !later(time.Minute) {
		t.Error("a message does not stand for a heartbeat")
	}
	tr.accept("a", 5, true, now.Add(59*time.Minute))
	if later(time.Hour) || !later(time.Hour) {
		t.Error("a heartbeat keeps the entry")
	}
	for i := range maxSenders + 10 {
		tr.accept(fmt.Sprint(i), 1, false, now)
	}
	if len(tr.senders) > maxSenders {
		t.Error(len(tr.senders))
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, channel string
		matches          bool
	}{
		{"a/b", "a/b", true}, {"a/b", "a/b/c", false}, {"a/b", "a", false},
		{"a/*/e", "a/x/e", true}, {"a/*/e", "a/e", false}, {"a/*/e", "a/x/y/e", false},
		{"a/>", "a/b", true}, {"a/>", "a/b/c", true}, {"a/>", "a", false}, {"a/>", "b/c", false},
		{">", "a", true}, {"*", "a", true}, {"a/>/b", "a/x/b", false}, {"a*", "ab", false},
	} {
		if matchesPattern(c.pattern, c.channel) != c.matches {
			t.Errorf("%s %s", c.pattern, c.channel)
		}
	}
}

func open(t *testing.T, port int, conf Config) *Node {
	t.Helper()
	conf.Broadcast = netip.AddrPortFrom(netip.MustParseAddr("127.255.255.255"), uint16(port))
	n, err := Open(conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// freePort is one that nobody has at the moment.
func freePort(t *testing.T) int {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 255, 255, 255)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}

func TestConversation(t *testing.T) {
	port := freePort(t)
	var drops []Reason
	key := []byte("secret")
	a := open(t, port, Config{Name: "h/a/1", Key: key, DuplicateSend: true})
	b := open(t, port, Config{Name: "h/b/2", Key: key, OnDrop: func(r Reason) { drops = append(drops, r) }})
	var called []string
	b.Listen("x/>", func(m Message) { called = append(called, m.Chan) })
	a.SetSeq(41)
	for _, err := range []error{
		a.SendTopic("x/y", nil),
		a.SendTo("h/b", []byte("to b")),
		a.SendTo("h/a", nil),
		a.SendAll(nil),
		a.SendAs("", "x", nil, []byte("another")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if a.SendTo("", nil) == nil || a.SendTopic("!", nil) == nil || a.Send("a b", nil) == nil {
		t.Error("sent")
	}
	if a.Seq() != 46 {
		t.Error(a.Seq())
	}
	first, err := b.Recv()
	if err != nil || first == nil || first.Seq != 41 || !first.Authenticated || first.Peer.Port() != uint16(port) {
		t.Fatal(first, err)
	}
	if err := b.Dispatch(); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(called) != "[!]" {
		t.Error(called)
	}
	if fmt.Sprint(drops) != "[duplicate duplicate address address duplicate auth auth]" {
		t.Error(drops)
	}
	if m, err := b.Recv(); m != nil || err != nil {
		t.Error(m, err)
	}
	b.Close()
	if b.Send("x", nil) == nil {
		t.Error("sent though closed")
	}
}

func TestHeartbeat(t *testing.T) {
	port := freePort(t)
	a := open(t, port, Config{Name: "a"})
	b := open(t, port, Config{})
	a.Heartbeat(10 * time.Second)
	a.Advance(35 * time.Second)
	for range 3 {
		m, err := b.Recv()
		if err != nil || m == nil || m.Chan != "heartbeat/a" || m.Mode() != wire.Plain {
			t.Fatal(m, err)
		}
	}
	if m, _ := b.Recv(); m != nil {
		t.Error(m)
	}
}

func TestTooLong(t *testing.T) {
	port := freePort(t)
	n := open(t, port, Config{})
	// With a buffer of 1400 bytes this would look sound.
	datagram := fmt.Appendf(nil, "BCCN1[1389]a:1:c|%01500d", 0)
	if _, err := n.conn.WriteToUDPAddrPort(datagram, n.conf.Broadcast); err != nil {
		t.Fatal(err)
	}
	if _, any, err := n.readOne(false); !any || err != nil {
		t.Fatal(any, err)
	}
	if len(n.tracker.senders) != 0 {
		t.Error("taken")
	}
}
