package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"peerbus/wire"
)

var secret = []byte(strings.Repeat("k", wire.MinSecret))

// harness is a broker of the test's own.
type harness struct {
	t        *testing.T
	conns    chan *websocket.Conn
	ws       *websocket.Conn
	client   *Client
	messages chan wire.Envelope
	status   chan bool
}

func begin(t *testing.T, cfg Config) *harness {
	h := &harness{t: t, conns: make(chan *websocket.Conn), messages: make(chan wire.Envelope, 100), status: make(chan bool, 100)}
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		select {
		case h.conns <- ws:
		case <-done:
			ws.Close()
		}
	}))
	cfg.URL, cfg.Name, cfg.Token, cfg.Secret = "ws"+strings.TrimPrefix(server.URL, "http"), "me", "tok", secret
	cfg.Backoff = time.Millisecond
	cfg.OnMessage = func(e wire.Envelope) { h.messages <- e }
	cfg.OnStatus = func(c bool) { h.status <- c }
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h.client = c
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan struct{})
	go func() {
		c.Run(ctx)
		close(ran)
	}()
	t.Cleanup(func() {
		cancel()
		<-ran
		close(done)
		server.Close()
	})
	return h
}

func (h *harness) accept(answer []byte) {
	h.t.Helper()
	h.ws = <-h.conns
	h.expect(string(wire.Register("tok", "me")))
	h.write(answer)
}

func (h *harness) write(frame []byte) {
	h.t.Helper()
	if err := h.ws.WriteMessage(websocket.TextMessage, frame); err != nil {
		h.t.Fatal(err)
	}
}

func (h *harness) expect(frame string) {
	h.t.Helper()
	_ = h.ws.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, data, err := h.ws.ReadMessage(); err != nil || string(data) != frame {
		h.t.Fatalf("%s, %v, not %s", data, err, frame)
	}
}

func sign(id, body string) []byte {
	frame, err := wire.Signed{ProtocolVersion: "v1", ID: id, From: "you", To: "me", Kind: "msg", Body: json.RawMessage(body)}.Sign(secret)
	if err != nil {
		panic(err)
	}
	return frame
}

func (h *harness) message(id string) {
	h.t.Helper()
	if e := <-h.messages; e.ID != id {
		h.t.Fatalf("message %s, not %s", e.ID, id)
	}
}

func TestDelivery(t *testing.T) {
	h := begin(t, Config{CacheSize: 2})
	h.accept(wire.Deliver("k", sign("early", "1"))) // rejected: not peers
	h.accept(wire.Peers([]string{"me"}))
	if !<-h.status {
		t.Fatal("not connected")
	}
	forged := strings.Replace(string(sign("1", "1")), `"body":1`, `"body":2`, 1)
	for _, bad := range []string{
		`nothing`, `null`, `{"type":5}`, `{"type":"deliver"}`, `{"type":"deliver","delivery_key":"x","envelope":5}`,
		string(wire.Deliver("", sign("1", "1"))), string(wire.Deliver("f", []byte(forged))),
		string(wire.Peers(nil)),
	} {
		h.write([]byte(bad))
	}
	_ = h.ws.WriteMessage(websocket.BinaryMessage, wire.Deliver("b", sign("bin", "1")))
	h.write(wire.Deliver("k1", sign("1", "1")))
	h.write(wire.Deliver("k1b", sign("1", "1"))) // not consumed yet: no ack
	h.write(wire.Deliver("k2", sign("2", `{"a":[]}`)))
	h.message("1")
	h.message("2")
	h.client.Consume("2")
	h.expect(string(wire.Ack("k2")))
	h.client.Consume("1")
	h.expect(string(wire.Ack("k1")))
	h.expect(string(wire.Ack("k1b")))
	h.client.Consume("1")
	h.write(wire.Deliver("again", sign("1", "1")))
	h.expect(string(wire.Ack("again")))

	// The cache outlives the connection; consumed without one, a message is acked when it comes again.
	h.write(wire.Deliver("k3", sign("3", "1")))
	h.message("3")
	h.ws.Close()
	if <-h.status {
		t.Fatal("still connected")
	}
	h.client.Consume("3")
	h.accept(wire.Peers(nil))
	h.write(wire.Deliver("k3", sign("3", "1")))
	h.expect(string(wire.Ack("k3")))
	h.write(wire.Deliver("k2", sign("2", "1"))) // forgotten: two ids came after it
	h.message("2")
}

func TestSending(t *testing.T) {
	h := begin(t, Config{})
	if _, err := h.client.Send("you", []byte("1")); err != ErrNotConnected {
		t.Error(err)
	}
	h.accept(wire.Peers(nil))
	<-h.status
	ids := map[string]bool{}
	for i, body := range []string{``, `{ "b" : 1 , "a" : "<" }`, `"x"`} {
		var id string
		var err error
		if i == 2 {
			id, err = h.client.Broadcast([]byte(body))
		} else {
			id, err = h.client.Send("you", []byte(body))
		}
		if err != nil || ids[id] || !regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`).MatchString(id) {
			t.Fatal(id, err)
		}
		ids[id] = true
		_, data, err := h.ws.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		e, err := wire.Parse(data)
		if err != nil || !e.Verify(secret) || e.ID != id || e.From != "me" {
			t.Errorf("%s %v", data, err)
		}
		if o, _ := wire.ParseObject(data); len(o) != 9 {
			t.Errorf("%s", data)
		}
		if want := []string{`null`, `{"b":1,"a":"\u003c"}`, `"x"`}[i]; string(e.Body) != want {
			t.Errorf("%s", e.Body)
		}
	}
	if _, err := h.client.Send("you", []byte(`{`)); err != ErrBody {
		t.Error(err)
	}
	if _, err := h.client.Send("you", fmt.Appendf(nil, `"%s"`, strings.Repeat("x", wire.MaxMessage-300))); err != ErrTooLong {
		t.Error(err)
	}

	type answer struct {
		names []string
		err   error
	}
	answers := make(chan answer)
	go func() {
		names, err := h.client.Peers(context.Background())
		answers <- answer{names, err}
	}()
	h.expect(string(wire.PeersRequest()))
	h.write(wire.Deliver("k", sign("1", "1")))
	h.write(wire.Peers([]string{"a"}))
	if a := <-answers; a.err != nil || len(a.names) != 1 {
		t.Error(a)
	}
	h.message("1")
}

func TestConfig(t *testing.T) {
	good := Config{URL: "wss://h:1", Name: "n", Secret: secret}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Name = "" },
		func(c *Config) { c.Secret = secret[1:] },
		func(c *Config) { c.URL = "http://h" },
		func(c *Config) { c.CacheSize = -1 },
	} {
		bad := good
		change(&bad)
		if _, err := New(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
