package broker

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"lukechampine.com/blake3"

	"peerbus/wire"
)

type peer struct {
	t  *testing.T
	ws *websocket.Conn
}

func start(t *testing.T, dir string) (b *Broker, url string, stop func()) {
	t.Helper()
	b, err := New(Config{Tokens: []string{"tok", "other"}, StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(b)
	stop = func() {
		server.Close()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return b, "ws" + strings.TrimPrefix(server.URL, "http"), stop
}

func dial(t *testing.T, url string) peer {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return peer{t, ws}
}

// join registers and returns the names of the answer.
func join(t *testing.T, url, name string) (peer, []string) {
	t.Helper()
	p := dial(t, url)
	p.write(wire.Register("tok", name))
	return p, p.names()
}

func (p peer) write(frame []byte) {
	p.t.Helper()
	if err := p.ws.WriteMessage(websocket.TextMessage, frame); err != nil {
		p.t.Fatal(err)
	}
}

func (p peer) read() (wire.Object, []byte) {
	p.t.Helper()
	_ = p.ws.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, data, err := p.ws.ReadMessage()
	if err != nil {
		p.t.Fatal(err)
	}
	o, err := wire.ParseObject(data)
	if err != nil {
		p.t.Fatal(err)
	}
	return o, data
}

func (p peer) names() []string {
	p.t.Helper()
	o, data := p.read()
	if string(o["type"]) != `"peers"` {
		p.t.Fatalf("%s is no peers frame", data)
	}
	return strings.Split(strings.Trim(string(o["names"]), `[]`), ",")
}

// fence proves that what was written before is done, and that nothing was sent.
func (p peer) fence() []string {
	p.t.Helper()
	p.write(wire.PeersRequest())
	return p.names()
}

// delivery reads a deliver and returns key and envelope.
func (p peer) delivery() (string, string) {
	p.t.Helper()
	o, data := p.read()
	key, err := o.Text("delivery_key")
	if string(o["type"]) != `"deliver"` || err != nil || key == "" {
		p.t.Fatalf("%s is no deliver frame", data)
	}
	return key, string(o["envelope"])
}

func direct(id, to string) []byte {
	return fmt.Appendf(nil, `{"protocol_version":"v1", "id":"%s","from":"x","to":"%s","ts":"","source":"","kind":"msg","body":{ "a":"<" },"hmac":"h","more":1}`, id, to)
}

func broadcast(id string) []byte {
	return fmt.Appendf(nil, `{"protocol_version":"v1","id":"%s","from":"x","to":"*","ts":"","source":"","kind":"broadcast","body":1,"hmac":"h"}`, id)
}

func closeCode(t *testing.T, p peer) int {
	t.Helper()
	_ = p.ws.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, data, err := p.ws.ReadMessage()
	var c *websocket.CloseError
	if !errors.As(err, &c) {
		t.Fatalf("not closed: %s, %v", data, err)
	}
	return c.Code
}

func TestRegisterRejected(t *testing.T) {
	_, url, _ := start(t, t.TempDir())
	holder, _ := join(t, url, "held")
	for frame, code := range map[string]int{
		``:      1007,
		`{nope`: 1007,
		`{"protocol_version":"v1","type":"register","token":"tok","name":"n"}{}`: 1007,
		`[]`: 1007,
		`{"protocol_version":"v1","type":"register","token":"tok","name":5}`:        1007,
		`{"protocol_version":"v1","type":"peers"}`:                                  1008,
		`{"protocol_version":"v1","Type":"register","token":"tok","name":"n"}`:      1008,
		`{"protocol_version":"V1","type":"register","token":"tok","name":"n"}`:      1008,
		`{"type":"register","token":"tok","name":"n"}`:                              1008,
		`{"protocol_version":"v1","type":"register","token":"tok","name":""}`:       1008,
		`{"protocol_version":"v1","type":"register","token":"tok ","name":"n"}`:     1008,
		`{"protocol_version":"v1","type":"register","token":"","name":"n"}`:         1008,
		`{"protocol_version":"v1","type":"register","token":"other","name":"held"}`: 1008,
	} {
		p := dial(t, url)
		p.write([]byte(frame))
		_ = p.ws.WriteMessage(websocket.TextMessage, direct("late", "held"))
		if got := closeCode(t, p); got != code {
			t.Errorf("%s: closed with %d", frame, got)
		}
	}
	p := dial(t, url)
	_ = p.ws.WriteMessage(websocket.BinaryMessage, wire.Register("tok", "n"))
	if got := closeCode(t, p); got != 1003 {
		t.Errorf("binary: closed with %d", got)
	}
	if names := holder.fence(); !slices.Equal(names, []string{`"held"`}) {
		t.Error(names)
	}
}

func TestDirect(t *testing.T) {
	_, url, _ := start(t, t.TempDir())
	a, _ := join(t, url, "a")
	b, names := join(t, url, "b")
	if !slices.Equal(names, []string{`"b"`, `"a"`}) {
		t.Error(names)
	}
	for _, nothing := range []string{
		`garbage`, `null`, `[]`, `{}`,
		string(wire.Register("bad", "c")), string(wire.Ack("")), string(wire.Ack("nope")), string(wire.Deliver("x", direct("x", "b"))),
		string(direct("", "b")), string(direct("x1", "")), string(direct("x2", "ghost")), string(direct("x3", "*")),
		strings.Replace(string(direct("x4", "b")), "msg", "broadcast", 1),
		strings.Replace(string(direct("x5", "b")), `"v1"`, `"v2"`, 1),
		strings.Replace(string(direct("x6", "b")), `"h"`, `1`, 1),
	} {
		a.write([]byte(nothing))
	}
	_ = a.ws.WriteMessage(websocket.BinaryMessage, direct("bin", "b"))
	a.write(direct("1", "b"))
	a.write(direct("1", "b")) // the first stands
	a.write(append([]byte(" \n"), direct("2", "b")...))
	a.write(bytes.Replace(direct("3", "b"), []byte(`"more":1`), []byte(`"type":5`), 1))
	a.fence()
	for i := 1; i <= 2; i++ {
		key, envelope := b.delivery()
		if id := fmt.Sprint(i); key != id || envelope != string(direct(id, "b")) {
			t.Errorf("%s %s", key, envelope)
		}
	}
	if key, _ := b.delivery(); key != "3" {
		t.Error(key)
	}
	b.write(wire.Ack("2"))
	b.fence()
	a.write(wire.Ack("1")) // not its own
	a.fence()

	// Taken over: what is not acked comes again, and the old connection ends.
	again, _ := join(t, url, "b")
	for _, want := range []string{"1", "3"} {
		if key, _ := again.delivery(); key != want {
			t.Errorf("%s, not %s", key, want)
		}
	}
	if _, _, err := b.ws.ReadMessage(); err == nil {
		t.Error("the old connection lives")
	}
	again.write(wire.Ack("1"))
	again.write(wire.Ack("1"))
	again.fence()
	a.write(direct("1", "b")) // acked, and still known
	a.write(direct("4", "b"))
	if key, _ := again.delivery(); key != "4" {
		t.Error(key)
	}
}

func TestBroadcastAndRestart(t *testing.T) {
	dir := t.TempDir()
	_, url, stop := start(t, dir)
	a, _ := join(t, url, "a")
	b, _ := join(t, url, "b")
	c, _ := join(t, url, "c")
	gone, _ := join(t, url, "gone")
	gone.ws.Close()
	for len(a.fence()) != 3 {
		time.Sleep(time.Millisecond)
	}
	a.write(broadcast("1"))
	a.write(broadcast("1"))
	for range 300 {
		a.write(direct(fmt.Sprint("g", len(a.fence())), "gone"))
	}
	for i := range 300 {
		a.write(direct(fmt.Sprint("n", i), "gone"))
	}
	a.fence()
	for _, p := range []struct {
		peer
		key string
	}{{b, "1|b"}, {c, "1|c"}} {
		if key, envelope := p.delivery(); key != p.key || envelope != string(broadcast("1")) {
			t.Errorf("%s %s", key, envelope)
		}
	}
	b.write(wire.Ack("1|b"))
	b.fence()
	stop()

	broker, url, _ := start(t, dir)
	b, _ = join(t, url, "b")
	b.fence()
	c, _ = join(t, url, "c")
	if key, _ := c.delivery(); key != "1|c" {
		t.Error(key)
	}
	g, _ := join(t, url, "gone")
	if key, _ := g.delivery(); key != "g3" {
		t.Error(key)
	}
	for i := range 300 {
		if key, _ := g.delivery(); key != fmt.Sprint("n", i) {
			t.Fatal(key)
		}
	}
	g.fence()

	chain, err := broker.Audit()
	if err != nil || len(chain) < 300 {
		t.Fatal(len(chain), err)
	}
	before := blake3.Sum256(nil)
	if hex.EncodeToString(before[:]) != "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262" {
		t.Fatal("not BLAKE3")
	}
	for _, link := range chain {
		event, _ := hex.DecodeString(link[0])
		before = blake3.Sum256(append([]byte(hex.EncodeToString(before[:])), event...))
		if hex.EncodeToString(before[:]) != link[1] {
			t.Fatalf("the chain is broken at %s", event)
		}
	}
}

func TestSize(t *testing.T) {
	_, url, _ := start(t, t.TempDir())
	a, _ := join(t, url, "a")
	frame := direct("1", "a")
	frame = append(frame, bytes.Repeat([]byte{' '}, wire.MaxMessage-len(frame))...)
	a.write(frame)
	if key, _ := a.delivery(); key != "1" {
		t.Error(key)
	}
	_ = a.ws.WriteMessage(websocket.TextMessage, append(frame, ' '))
	if code := closeCode(t, a); code != 1009 {
		t.Error(code)
	}
}

// A sender streams while its recipient is taken over again and again, also from connections that nobody reads (PB-2.1-19, PB-5-14).
func TestTakeoverUnderLoad(t *testing.T) {
	_, url, _ := start(t, t.TempDir())
	s, _ := join(t, url, "s")
	join(t, url, "r") // known
	const total = 400
	go func() {
		for i := range total {
			if s.ws.WriteMessage(websocket.TextMessage, direct(fmt.Sprintf("%05d", i), "r")) != nil {
				return
			}
		}
	}()
	seen := map[string]bool{}
	for round := 0; len(seen) < total; round++ {
		if round > 1000 {
			t.Fatal("not all arrive")
		}
		r, _ := join(t, url, "r")
		if round%3 == 0 {
			continue // half-open
		}
		last := ""
		for range 50 {
			if len(seen) == total {
				break
			}
			key, _ := r.delivery()
			if key <= last {
				t.Fatalf("%s behind %s", key, last)
			}
			last = key
			if round%3 == 1 {
				seen[key] = true
				r.write(wire.Ack(key))
			}
		}
		r.fenceAmid()
	}
}

// fenceAmid is a fence amid deliveries.
func (p peer) fenceAmid() {
	p.t.Helper()
	p.write(wire.PeersRequest())
	for {
		if o, _ := p.read(); string(o["type"]) == `"peers"` {
			return
		}
	}
}
