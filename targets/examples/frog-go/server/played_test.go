package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"frog/wire"
)

// played is a sister by hand: it dials, or is dialled.
type played struct {
	*speaker
	n   byte
	uri string
}

func id(n byte) string { return wire.Fingerprint(wire.PublicOf(key(n))) }

// ids are the numbers of some servers, in the order of their ids.
func ids(from, to byte) []byte {
	var all []byte
	for n := from; n <= to; n++ {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b byte) int { return strings.Compare(id(a), id(b)) })
	return all
}

// allow puts numbers on the list of those who may federate.
func allow(numbers ...byte) func(*Config) {
	return func(c *Config) {
		for _, n := range numbers {
			c.Sister.Allow = append(c.Sister.Allow, id(n))
		}
	}
}

func (p *played) record() string { return id(p.n) + " " + p.uri }

func (p *played) hello() string { return "@HELLO FROG/1 " + p.record() + "\n" }

func (f *fixture) record() string { return f.server.id + " " + f.server.config.URI }

// proof answers a @CHAL of the server.
func (p *played) proof(challenge string) string {
	p.f.Helper()
	nonce, ok := strings.CutPrefix(strings.TrimSpace(challenge), "@CHAL ")
	if !ok {
		p.f.Fatalf("%q is no challenge", challenge)
	}
	public, signature := wire.Sign(key(p.n), wire.ServerAuthString(nonce, p.uri, id(p.n), p.f.server.config.URI, p.f.server.id))
	return "@AUTH " + public + " " + signature + "\n"
}

// demand challenges the server and checks its proof.
func (p *played) demand() {
	p.f.Helper()
	nonce := wire.RandomID()
	p.say("@CHAL " + nonce + "\n")
	words := strings.Fields(p.hear())
	if len(words) != 3 || words[0] != "@AUTH" || !wire.VerifyServer(words[1], words[2], nonce, p.f.server.config.URI, p.f.server.id, p.uri, id(p.n)) {
		p.f.Fatal(words)
	}
}

// stranger dials the server.
func (f *fixture) stranger(n byte) *played {
	return &played{f.dial(), n, fmt.Sprintf("ws://127.0.0.1:%d/", 1000+int(n))}
}

// sister dials the server and completes the handshake.
func (f *fixture) sister(n byte) *played {
	f.Helper()
	p := f.stranger(n)
	p.introduce()
	return p
}

func (p *played) introduce() {
	p.f.Helper()
	p.ask(p.hello(), "@HELLO FROG/1 "+p.f.record()+"\n")
	p.ask(p.proof(p.hear()), "@OK AUTH\n")
	p.demand()
	p.say("@OK AUTH\n")
}

// quiet makes sure that nothing was sent before.
func (p *played) quiet() {
	p.f.Helper()
	p.say("@LIST QUIET 1\n")
	if got := p.hear(); !strings.HasPrefix(got, "@SERVERS QUIET ") {
		p.f.Fatalf("%q instead of silence", got)
	}
}

// stage is where the server dials sisters by hand.
type stage struct {
	n     byte
	uri   string
	calls chan *websocket.Conn
}

func listen(t *testing.T, n byte) *stage {
	t.Helper()
	st := &stage{n: n, calls: make(chan *websocket.Conn, 8)}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{wire.Subprotocol}})
		if err == nil {
			st.calls <- ws
			<-t.Context().Done()
		}
	}))
	t.Cleanup(func() { go h.Close() })
	st.uri = "ws" + strings.TrimPrefix(h.URL, "http") + "/"
	return st
}

// called waits until the server dials.
func (st *stage) called(f *fixture) *played {
	f.Helper()
	ws := <-st.calls
	f.Cleanup(func() { ws.CloseNow() })
	p := &played{&speaker{f: f, ws: ws}, st.n, st.uri}
	p.expect("@HELLO FROG/1 " + f.record() + "\n")
	return p
}

// accept completes the handshake of a dial.
func (st *stage) accept(f *fixture) *played {
	f.Helper()
	p := st.called(f)
	p.say(p.hello())
	p.demand()
	p.say("@OK AUTH\n")
	p.ask(p.proof(p.hear()), "@OK AUTH\n")
	return p
}
