package relay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"trueseal/internal/secure"
	"trueseal/internal/wire"
)

const limit = 100_000 // below the protocol's, and more than one Noise message holds

func start(t *testing.T, dir string) *Server {
	t.Helper()
	key, err := secure.Keypair(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(Config{Push: "127.0.0.1:0", Receive: "127.0.0.1:0", Key: key, StateDir: dir, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func dial(t *testing.T, addr net.Addr, shake func(net.Conn) (*secure.Conn, error)) *secure.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := shake(nc)
	if err != nil {
		t.Fatal(err)
	}
	conn.ReadTimeout = 5 * time.Second
	conn.Frames = wire.Assembler{Keep: 2 << 20, Drain: 2 << 20}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func (s *Server) pusher(t *testing.T) *secure.Conn {
	t.Helper()
	return dial(t, s.PushAddr(), func(nc net.Conn) (*secure.Conn, error) { return secure.DialNK(nc, wire.Key(s.cfg.Key.Public)) })
}

// device opens the Receive Session of the device whose private key is all fill.
func (s *Server) device(t *testing.T, fill byte) *secure.Conn {
	t.Helper()
	key, _ := secure.Keypair(bytes.Repeat([]byte{fill}, 32))
	return dial(t, s.ReceiveAddr(), func(nc net.Conn) (*secure.Conn, error) {
		return secure.DialXX(nc, key, wire.Key(s.cfg.Key.Public))
	})
}

func public(fill byte) wire.Key {
	key, _ := secure.Keypair(bytes.Repeat([]byte{fill}, 32))
	return wire.Key(key.Public)
}

func push(fill byte, envelope string) wire.Frame {
	return wire.Frame{Type: wire.Push, Recipient: public(fill), Envelope: []byte(envelope)}
}

func expect(t *testing.T, conn *secure.Conn, types ...wire.Type) {
	t.Helper()
	for i, want := range types {
		raw, err := conn.ReadFrame()
		if err != nil || raw.Type != want {
			t.Fatalf("frame %d: %v, %v; want type %d", i, raw, err, want)
		}
	}
}

// collect takes n Delivers and returns blob_ids by envelope.
func collect(t *testing.T, conn *secure.Conn, n int) map[string]uint64 {
	t.Helper()
	got := map[string]uint64{}
	for range n {
		raw, err := conn.ReadFrame()
		if err != nil {
			t.Fatal(err, got)
		}
		f, err := raw.Parse()
		if err != nil || f.Type != wire.Deliver {
			t.Fatal(f, err)
		}
		got[string(f.Envelope)] = f.BlobID
	}
	return got
}

// quiet sees that nothing but the answer to a Heartbeat comes.
func quiet(t *testing.T, conn *secure.Conn) {
	t.Helper()
	if err := conn.Write(wire.Frame{Type: wire.Heartbeat}); err != nil {
		t.Fatal(err)
	}
	expect(t, conn, wire.Heartbeat)
}

// ended sees that the relay closes, without a word.
func ended(t *testing.T, conn *secure.Conn) {
	t.Helper()
	if raw, err := conn.ReadFrame(); !errors.Is(err, io.EOF) {
		t.Fatalf("%v, %v", raw, err)
	}
}

func TestAnswersInOrder(t *testing.T) {
	s := start(t, t.TempDir())
	p := s.pusher(t)
	large := string(make([]byte, limit))
	if err := p.Write(push(2, "a"), push(2, ""), push(2, large+"x"), wire.Frame{Type: wire.Heartbeat}, push(2, large), push(3, "b")); err != nil {
		t.Fatal(err)
	}
	expect(t, p, wire.Ack, wire.Ack, wire.Error, wire.Heartbeat, wire.Ack, wire.Ack)
	d := s.device(t, 2)
	got := collect(t, d, 3)
	if _, ok := got[large]; !ok || len(got) != 3 {
		t.Error("not all that was Acked")
	}
	quiet(t, d)
	if got := collect(t, s.device(t, 3), 1); len(got) != 1 {
		t.Error(got)
	}
}

func TestDeliveryAndAcks(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	d := s.device(t, 2)
	quiet(t, d)
	p := s.pusher(t)
	p.Write(push(2, "one"), push(2, "two"), push(2, "three"))
	expect(t, p, wire.Ack, wire.Ack, wire.Ack)
	first := collect(t, d, 3)

	// Another device cannot acknowledge them; nor do odd bodies harm.
	thief := s.device(t, 9)
	for _, id := range first {
		thief.Write(wire.Frame{Type: wire.DeliverAck, BlobID: id})
	}
	quiet(t, thief)

	d.Write(wire.Frame{Type: wire.DeliverAck, BlobID: first["three"]}, wire.Frame{Type: wire.DeliverAck, BlobID: 12345})
	quiet(t, d)
	d.Close()

	for range 2 {
		d = s.device(t, 2)
		again := collect(t, d, 2)
		if again["one"] != first["one"] || again["two"] != first["two"] {
			t.Fatal(first, again)
		}
		quiet(t, d)
		d.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = start(t, dir)
	}
}

func TestOrderNewestOldest(t *testing.T) {
	s := start(t, t.TempDir())
	p := s.pusher(t)
	for _, e := range []string{"1", "2", "3", "4"} {
		p.Write(push(2, e))
		expect(t, p, wire.Ack)
	}
	d := s.device(t, 2)
	var order []string
	for range 4 {
		for e := range collect(t, d, 1) {
			order = append(order, e)
		}
	}
	if !slices.Equal(order, []string{"4", "1", "3", "2"}) {
		t.Error(order)
	}
}

func TestViolationsEndTheSession(t *testing.T) {
	s := start(t, t.TempDir())
	for _, f := range []wire.Frame{{Type: wire.Ack}, {Type: wire.DeliverAck}, {Type: wire.Deliver}} {
		p := s.pusher(t)
		p.Write(push(2, "kept"), f, push(2, "not reached"))
		expect(t, p, wire.Ack)
		ended(t, p)
	}
	for _, f := range []wire.Frame{{Type: wire.Ack}, {Type: wire.Error}, push(2, "x"), {Type: wire.Deliver}} {
		d := s.device(t, 7)
		d.Write(wire.Frame{Type: wire.Heartbeat}, f)
		expect(t, d, wire.Heartbeat)
		ended(t, d)
	}
	// A length far beyond every limit: the envelope is too large, and nothing of it is waited for.
	p := s.pusher(t)
	p.Write(push(2, string(make([]byte, maxDrain))))
	expect(t, p, wire.Error)
	ended(t, p)
}

func TestMalformedMessagesEndTheSession(t *testing.T) {
	s := start(t, t.TempDir())
	key := public(2)
	body := append(key[:], "xy"...)
	header := func(tag byte, size uint32) []byte { return binary.BigEndian.AppendUint32([]byte{tag}, size) }
	for name, msg := range map[string][]byte{
		"empty":        {},
		"4 bytes":      {1, 0, 0, 0},
		"tag 0":        header(0, 0),
		"tag 7":        append(header(7, 34), body...),
		"tag 255":      header(255, 0),
		"heartbeat+1":  append(header(3, 1), 0),
		"one missing":  append(header(1, 35), body...),
		"one too many": append(header(1, 33), body...),
	} {
		for _, conn := range []*secure.Conn{s.pusher(t), s.device(t, 5)} {
			heartbeat, _ := wire.Frame{Type: wire.Heartbeat}.Bytes()
			if err := conn.WriteMessages(msg, heartbeat); err != nil {
				t.Fatal(err)
			}
			t.Log(name)
			ended(t, conn)
		}
	}
	for _, size := range []uint32{1<<31 - 1, 1 << 31, 0xfffffffa, 0xffffffff} { // TS-FRM-07
		p := s.pusher(t)
		p.WriteMessages(append(header(1, size), body...))
		expect(t, p, wire.Error) // an envelope over the limit
		ended(t, p)
		for tag := byte(1); tag <= 6; tag++ {
			d := s.device(t, 5)
			d.WriteMessages(append(header(tag, size), body...))
			ended(t, d)
		}
	}
	// Odd DeliverAcks and short Pushes are no reason to end it.
	d := s.device(t, 2)
	d.WriteMessages(header(6, 0), append(header(6, 7), make([]byte, 7)...), append(header(6, 9), make([]byte, 9)...))
	quiet(t, d)
	p := s.pusher(t)
	p.WriteMessages(header(1, 0), append(header(1, 31), body[:31]...), append(header(1, 34), body...))
	expect(t, p, wire.Error, wire.Error, wire.Ack)
	if got := collect(t, d, 1); got["xy"] == 0 {
		t.Error(got) // and nothing of the others
	}
	quiet(t, d)
}

func TestStoreFailure(t *testing.T) {
	s := start(t, t.TempDir())
	p := s.pusher(t)
	p.Write(push(2, "before"))
	expect(t, p, wire.Ack)
	if err := s.BreakStore(); err != nil {
		t.Fatal(err)
	}
	p.Write(push(2, string(make([]byte, limit+1)))) // still permanent
	expect(t, p, wire.Error)
	p.Write(push(2, "after"))
	ended(t, p)
	d := s.device(t, 2)
	if got := collect(t, d, 1); got["before"] == 0 {
		t.Error(got)
	}
	quiet(t, d)
}

func TestHundredSessions(t *testing.T) {
	s := start(t, t.TempDir())
	silent := s.device(t, 2) // never reads
	var wg sync.WaitGroup
	for i := range 100 {
		p := s.pusher(t)
		wg.Go(func() {
			for j := range 3 {
				p.Write(push(2, string(binary.BigEndian.AppendUint32(make([]byte, 50_000), uint32(3*i+j)))))
				expect(t, p, wire.Ack)
			}
		})
	}
	wg.Wait()
	silent.Close()
	if got := collect(t, s.device(t, 2), 300); len(got) != 300 {
		t.Error(len(got))
	}
}

func TestCompactionKeepsWhatWaits(t *testing.T) {
	defer func(n int64) { compactAt = n }(compactAt)
	compactAt = 1000
	dir := t.TempDir()
	store, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for k := range 4 {
		key := wire.Key{byte(k)}
		wg.Go(func() {
			w := store.Watch(key)
			for i := range 200 {
				if err := store.Put([]Blob{{key, binary.BigEndian.AppendUint32(nil, uint32(i))}}); err != nil {
					t.Error(err)
				}
				id, ok := w.Next()
				envelope, there, err := store.Get(key, id)
				if !ok || !there || err != nil || int(binary.BigEndian.Uint32(envelope)) != i {
					t.Error(ok, there, err, envelope)
				}
				if i%10 != 0 {
					store.Delete(key, id)
				}
			}
			store.Unwatch(key, w)
		})
	}
	wg.Wait()
	if size := store.journal.Size(); size > 20_000 {
		t.Error("not compacted", size)
	}
	store.Close()
	if store, err = OpenStore(dir); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for k := range 4 {
		if n := len(store.Watch(wire.Key{byte(k)}).ids); n != 20 {
			t.Errorf("inbox %d holds %d", k, n)
		}
	}
}
