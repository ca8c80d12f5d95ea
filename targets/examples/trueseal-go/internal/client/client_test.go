package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/flynn/noise"

	"trueseal/internal/secure"
	"trueseal/internal/wire"
)

const patience = 5 * time.Second

// fakeRelay is the relay that a test plays.
type fakeRelay struct {
	t             *testing.T
	key           noise.DHKey
	push, receive net.Listener
}

func newFakeRelay(t *testing.T) *fakeRelay {
	t.Helper()
	f := &fakeRelay{t: t, key: keypair(1)}
	for _, l := range []*net.Listener{&f.push, &f.receive} {
		var err error
		if *l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*l).Close() })
	}
	return f
}

func keypair(fill byte) noise.DHKey {
	k, _ := secure.Keypair(bytes.Repeat([]byte{fill}, 32))
	return k
}

func (f *fakeRelay) accept(l net.Listener, shake func(net.Conn, noise.DHKey) (*secure.Conn, error)) *secure.Conn {
	f.t.Helper()
	l.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	nc, err := l.Accept()
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { nc.Close() })
	conn, err := shake(nc, f.key)
	if err != nil {
		f.t.Fatal(err)
	}
	conn.ReadTimeout = patience
	conn.Frames = wire.Assembler{Keep: 2 << 20, Drain: 2 << 20}
	return conn
}

func (f *fakeRelay) pushSession() *secure.Conn {
	f.t.Helper()
	return f.accept(f.push, secure.AcceptNK)
}
func (f *fakeRelay) receiveSession() *secure.Conn {
	f.t.Helper()
	return f.accept(f.receive, secure.AcceptXX)
}

// noPush sees that no Push Session is opened for a while.
func (f *fakeRelay) noPush() {
	f.t.Helper()
	f.push.(*net.TCPListener).SetDeadline(time.Now().Add(300 * time.Millisecond))
	if nc, err := f.push.Accept(); err == nil {
		nc.Close()
		f.t.Fatal("a Push Session")
	}
}

// device is a client that runs until stop.
type device struct {
	*Client
	events chan string
	stop   func()
}

func (f *fakeRelay) device(dir string) *device {
	f.t.Helper()
	events := make(chan string, 100)
	c, err := Open(Config{
		Push: f.push.Addr().String(), Receive: f.receive.Addr().String(), RelayKey: wire.Key(keypair(1).Public), Key: keypair(2),
		StateDir: dir, Retry: 20 * time.Millisecond,
		OnReceived: func(e []byte) { events <- "received " + string(e) },
		OnPushed:   func(id string) { events <- "pushed " + id },
		OnRejected: func(id string) { events <- "rejected " + id },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		c.Run(ctx)
		close(done)
	}()
	d := &device{c, events, func() {
		cancel()
		<-done
		c.Close()
	}}
	f.t.Cleanup(d.stop)
	return d
}

func (d *device) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-d.events:
		if got != want {
			t.Fatalf("%q, not %q", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("no %q", want)
	}
}

func next(t *testing.T, conn *secure.Conn) wire.Frame {
	t.Helper()
	raw, err := conn.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	f, err := raw.Parse()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func enqueue(t *testing.T, d *device, envelope string) string {
	t.Helper()
	id, err := d.Push(bytes.Repeat([]byte{7}, 32), []byte(envelope))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestOutbox(t *testing.T) {
	relay, dir := newFakeRelay(t), t.TempDir()
	d := relay.device(dir)
	a := enqueue(t, d, "a")

	s := relay.pushSession() // no answer: it comes again
	if f := next(t, s); f.Type != wire.Push || string(f.Envelope) != "a" || f.Recipient != wire.Key(bytes.Repeat([]byte{7}, 32)) {
		t.Fatal(f)
	}
	s.Close()
	s = relay.pushSession()
	next(t, s)
	b := enqueue(t, d, "b") // joins the session that waits
	if f := next(t, s); string(f.Envelope) != "b" {
		t.Fatal(f)
	}
	s.Write(wire.Frame{Type: wire.Heartbeat}, wire.Frame{Type: wire.Ack}, wire.Frame{Type: wire.Error})
	if f := next(t, s); f.Type != wire.Heartbeat {
		t.Fatal(f)
	}
	d.expect(t, "pushed "+a)
	d.expect(t, "rejected "+b)
	if _, err := s.ReadFrame(); err == nil {
		t.Fatal("the session goes on")
	}
	relay.noPush()

	d.stop()
	d = relay.device(dir)
	relay.noPush()
	c := enqueue(t, d, "c")
	s = relay.pushSession()
	next(t, s)
	d.stop()
	d = relay.device(dir) // unanswered: it is still there
	s = relay.pushSession()
	if f := next(t, s); string(f.Envelope) != "c" {
		t.Fatal(f)
	}
	s.Write(wire.Frame{Type: wire.Ack})
	d.expect(t, "pushed "+c)
}

func TestLimit(t *testing.T) {
	relay := newFakeRelay(t)
	d := relay.device(t.TempDir())
	var refused *RefusedError
	if _, err := d.Push(make([]byte, 32), make([]byte, wire.MaxEnvelope+1)); !errors.As(err, &refused) {
		t.Error(err)
	}
	if _, err := d.Push(make([]byte, 31), nil); !errors.As(err, &refused) {
		t.Error(err)
	}
	relay.noPush()
	large := bytes.Repeat([]byte("123"), wire.MaxEnvelope)[:wire.MaxEnvelope]
	if _, err := d.Push(make([]byte, 32), large); err != nil {
		t.Error(err)
	}
	if f := next(t, relay.pushSession()); !bytes.Equal(f.Envelope, large) {
		t.Error(len(f.Envelope))
	}
}

func TestManyInFlight(t *testing.T) {
	relay := newFakeRelay(t)
	d := relay.device(t.TempDir())
	var want []string
	for i := range 50 {
		want = append(want, "pushed "+enqueue(t, d, fmt.Sprint(i)))
	}
	for answered := 0; answered < 50; {
		s := relay.pushSession() // breaks after every few answers
		for range 7 {
			if _, err := s.ReadFrame(); err != nil {
				break
			}
			s.Write(wire.Frame{Type: wire.Ack})
			answered++
		}
		time.Sleep(10 * time.Millisecond)
		s.Shutdown(time.Second)
	}
	var got []string
	for range want {
		select {
		case e := <-d.events:
			got = append(got, e)
		case <-time.After(patience):
			t.Fatal(got)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Error(got)
	}
}

func TestReceive(t *testing.T) {
	relay, dir := newFakeRelay(t), t.TempDir()
	d := relay.device(dir)
	s := relay.receiveSession()
	if s.Peer != wire.Key(keypair(2).Public) {
		t.Error("the device has another key")
	}
	ids := []uint64{0, 1, 1 << 63, 1<<64 - 1}
	for _, id := range ids {
		s.Write(wire.Frame{Type: wire.Deliver, BlobID: id, Envelope: fmt.Append(nil, id)})
		d.expect(t, fmt.Sprint("received ", id))
		if f := next(t, s); f.Type != wire.DeliverAck || f.BlobID != id {
			t.Fatal(f)
		}
	}
	// The same again, another under an old id, and the same under another id.
	for _, f := range []wire.Frame{
		{Type: wire.Deliver, BlobID: 1, Envelope: []byte("1")},
		{Type: wire.Deliver, BlobID: 1, Envelope: []byte("other")},
		{Type: wire.Deliver, BlobID: 2, Envelope: []byte("other")},
	} {
		s.Write(f)
		if a := next(t, s); a.Type != wire.DeliverAck || a.BlobID != f.BlobID {
			t.Fatal(a)
		}
	}
	d.expect(t, "received other")
	for range 20 {
		s.Write(wire.Frame{Type: wire.Heartbeat})
	}
	for range 20 {
		if f := next(t, s); f.Type != wire.Heartbeat {
			t.Fatal(f)
		}
	}
	if err := d.Heartbeat(); err != nil {
		t.Error(err)
	}
	if f := next(t, s); f.Type != wire.Heartbeat {
		t.Fatal(f)
	}
	s.Write(wire.Frame{Type: wire.Push}) // a violation: the client ends the session and comes back
	if _, err := s.ReadFrame(); err == nil {
		t.Error("the session goes on")
	}
	relay.receiveSession()
	d.stop()

	d = relay.device(dir)
	s = relay.receiveSession()
	s.Write(wire.Frame{Type: wire.Deliver, BlobID: 77, Envelope: []byte("0")}, wire.Frame{Type: wire.Deliver, BlobID: 78, Envelope: []byte("last")})
	d.expect(t, "received last")
	all, err := d.Received()
	if got := fmt.Sprintf("%s", all); err != nil || got != "[0 1 9223372036854775808 18446744073709551615 other last]" {
		t.Error(got, err)
	}
}

func TestNoAckWithoutStore(t *testing.T) {
	relay := newFakeRelay(t)
	d := relay.device(t.TempDir())
	s := relay.receiveSession()
	if err := d.store.journal.Break(); err != nil {
		t.Fatal(err)
	}
	s.Write(wire.Frame{Type: wire.Deliver, BlobID: 5, Envelope: []byte("x")})
	if raw, err := s.ReadFrame(); err == nil {
		t.Error("acknowledged, but not persisted", raw)
	}
	if all, _ := d.Received(); len(all) != 0 {
		t.Error(all)
	}
}

func TestImpostorSeesNoPush(t *testing.T) {
	relay := newFakeRelay(t)
	relay.key = keypair(3)
	d := relay.device(t.TempDir())
	enqueue(t, d, "secret")
	nc, err := relay.push.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := secure.AcceptNK(nc, relay.key); err == nil {
		t.Error("the client took another relay")
	}
}
