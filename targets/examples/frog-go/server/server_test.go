package server

import (
	"context"
	"crypto/ed25519"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"frog/clock"
	"frog/wire"
)

type fixture struct {
	*testing.T
	server *Server
	clock  *clock.Skewed
	url    string
}

func start(t *testing.T, change func(*Config)) *fixture {
	t.Helper()
	f := &fixture{T: t, clock: clock.NewSkewed()}
	config := Config{Key: key(200), URI: "ws://127.0.0.1:1/", Clock: f.clock}
	if change != nil {
		change(&config)
	}
	var err error
	if f.server, err = New(config); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(f.server)
	t.Cleanup(h.Close)
	f.url = "ws" + strings.TrimPrefix(h.URL, "http")
	return f
}

func key(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	return ed25519.NewKeyFromSeed(seed)
}

func peer(n byte, network string) string {
	return network + ":" + wire.Fingerprint(wire.PublicOf(key(n)))
}

// speaker is a client by hand.
type speaker struct {
	f      *fixture
	ws     *websocket.Conn
	joined bool // then it does not mind what it is told about other servers
}

func (f *fixture) dial() *speaker {
	f.Helper()
	ws, _, err := websocket.Dial(f.Context(), f.url, &websocket.DialOptions{Subprotocols: []string{"x", wire.Subprotocol}})
	if err != nil {
		f.Fatal(err)
	}
	ws.SetReadLimit(1 << 20)
	f.Cleanup(func() { ws.CloseNow() })
	return &speaker{f: f, ws: ws}
}

func (s *speaker) say(text string) {
	s.f.Helper()
	if err := s.ws.Write(s.f.Context(), websocket.MessageBinary, []byte(text)); err != nil {
		s.f.Fatal(err)
	}
}

// hear returns the next message, or "closed" and the code.
func (s *speaker) hear() string {
	s.f.Helper()
	ctx, cancel := context.WithTimeout(s.f.Context(), 5*time.Second)
	defer cancel()
	_, raw, err := s.ws.Read(ctx)
	if err != nil {
		return "closed " + websocket.CloseStatus(err).String()
	}
	if _, err := wire.Decode(wire.ToClient, raw); err != nil && raw[0] != '@' {
		s.f.Errorf("%q: %v", raw, err)
	}
	if s.joined && strings.HasPrefix(string(raw), "TRY - ") {
		return s.hear()
	}
	return string(raw)
}

func (s *speaker) expect(want string) {
	s.f.Helper()
	if got := s.hear(); got != want {
		s.f.Fatalf("%.200q, not %.200q", got, want)
	}
}

func (s *speaker) ask(text, want string) { s.f.Helper(); s.say(text); s.expect(want) }

func (s *speaker) challenge(n byte, network string) (auth string) {
	s.f.Helper()
	s.say("JOIN " + peer(n, network) + "\n")
	nonce, ok := strings.CutPrefix(strings.TrimSpace(s.hear()), "CHAL ")
	if !ok {
		s.f.Fatal("no CHAL")
	}
	public, signature := wire.Sign(key(n), wire.ClientAuthString(nonce, s.f.server.config.URI, peer(n, network), s.f.server.id))
	return "AUTH " + public + " " + signature + "\n"
}

func (f *fixture) join(n byte, network string) *speaker {
	f.Helper()
	s := f.dial()
	s.ask("HELLO FROG/1\n", "HELLO FROG/1 "+f.server.id+"\n")
	s.ask(s.challenge(n, network), "OK JOIN\n")
	s.joined = true
	return s
}

func (s *speaker) route(n byte, network string) string {
	s.f.Helper()
	s.say("LOOKUP L1 " + peer(n, network) + "\n")
	words := strings.Fields(s.hear())
	if len(words) != 4 || words[0] != "FOUND" || words[2] != peer(n, network) {
		s.f.Fatal(words)
	}
	return words[3]
}

func TestSubprotocol(t *testing.T) {
	f := start(t, nil)
	ws, _, err := websocket.Dial(t.Context(), f.url, &websocket.DialOptions{Subprotocols: []string{"FROG.V1", "frog.v2"}})
	if err != nil {
		t.Fatal(err)
	}
	ws.Write(t.Context(), websocket.MessageBinary, []byte("HELLO FROG/1\n"))
	if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Error(err)
	}
	f.dial().ask("HELLO FROG/1\n", "HELLO FROG/1 "+f.server.id+"\n")
}

// The matrix of section 15: each command in each state where it is not allowed.
func TestStates(t *testing.T) {
	f := start(t, nil)
	f.join(2, "NET")
	rid := strings.Repeat("0", 26)
	auth := "AUTH " + strings.Repeat("0", 52) + " " + strings.Repeat("0", 103) + "\n"
	commands := map[string]string{"HELLO": "HELLO FROG/1\n", "JOIN": "JOIN " + peer(1, "NET") + "\n", "AUTH": auth, "LEAVE": "LEAVE\n",
		"GETSERVERS": "GETSERVERS A1 7\n", "FIND": "FIND A1 7\n", "LOOKUP": "LOOKUP A1 " + peer(2, "NET") + "\n", "SIGNAL": "SIGNAL " + rid + " ICE 1\nx"}
	for state, reach := range map[state]func() *speaker{
		stateNew:     f.dial,
		stateHelloOK: func() *speaker { s := f.dial(); s.say("HELLO FROG/1\n"); s.hear(); return s },
		stateAuthPending: func() *speaker {
			s := f.dial()
			s.say("HELLO FROG/1\n")
			s.hear()
			s.challenge(1, "NET")
			return s
		},
		stateRegistered: func() *speaker { return f.join(1, "NET") },
	} {
		s := reach()
		for name, text := range commands {
			if allowed[name]&state != 0 {
				continue
			}
			id := "-"
			if strings.Contains(text, " A1 ") {
				id = "A1"
			}
			s.ask(text, "ERR "+id+" BAD_STATE\n")
		}
		s.ask("CHAL "+rid+"\n", "ERR - BAD_REQUEST\n")
		s.ask("FIND A1 8\n", "ERR A1 BAD_REQUEST\n")
		if state != stateNew {
			s.ask("LEAVE\n", "OK LEAVE\n")
			s.expect("closed StatusNormalClosure")
		}
	}
}

func TestFramingCloses(t *testing.T) {
	f := start(t, nil)
	for _, text := range []string{"HELLO FROG/1", "HELLO FROG/1\r\n", "HELLO \xff\n", strings.Repeat("A", 4097) + "\n", "ERR - BAD_STATE\n"} {
		s := f.dial()
		s.ask(text, "ERR - BAD_REQUEST\n")
		s.expect("closed StatusProtocolError")
	}
	s := f.join(1, "NET")
	s.ws.Write(t.Context(), websocket.MessageText, []byte("LEAVE\n"))
	s.expect("closed StatusUnsupportedData")
	s = f.join(1, "NET")
	s.ask("@LIST G1 7\n", "ERR - BAD_STATE\n")
	s.expect("closed StatusProtocolError")
	s = f.dial()
	s.ask("@LIST G1 7\n", "@ERR G1 BAD_STATE\n")
	s.ask("@LIST G1 8\n", "@ERR G1 BAD_REQUEST\n")
	s.ask("HELLO FROG/1\n", "HELLO FROG/1 "+f.server.id+"\n")
}

func TestAuthentication(t *testing.T) {
	f := start(t, func(c *Config) { c.Rates.FailedAuths = 3 })
	s := f.dial()
	s.ask("HELLO FROG/1\n", "HELLO FROG/1 "+f.server.id+"\n")
	stale := s.challenge(1, "NET")
	s.say("JOIN " + peer(1, "NET") + "\n")
	s.expect("ERR - BAD_STATE\n")
	s.ask(stale[:len(stale)-2]+"Z\n", "ERR - AUTH_FAILED\n") // stray bits: not canonical
	s.challenge(1, "NET")
	s.ask(stale, "ERR - AUTH_FAILED\n") // a replay
	late := s.challenge(1, "NET")
	f.clock.Advance(31 * time.Second)
	s.ask(late, "ERR - AUTH_FAILED\n")
	auth := s.challenge(1, "NET")
	s.ask(auth, "ERR - RATE_LIMITED\n")
	f.clock.Advance(29 * time.Second)
	s.ask(auth, "OK JOIN\n")
	if f.server.challenges != 0 {
		t.Error(f.server.challenges)
	}
}

func TestReplacement(t *testing.T) {
	f := start(t, nil)
	a, b := f.join(1, "NET"), f.join(2, "NET")
	rid := a.route(2, "NET")
	intruder := f.dial()
	intruder.ask("HELLO FROG/1\n", "HELLO FROG/1 "+f.server.id+"\n")
	intruder.challenge(2, "NET")
	intruder.ask("AUTH "+strings.Repeat("0", 52)+" "+strings.Repeat("0", 103)+"\n", "ERR - AUTH_FAILED\n")
	a.say("SIGNAL " + rid + " OFFER 2\nhi")
	b.expect("SIGNAL-FROM " + rid + " " + peer(1, "NET") + " OFFER 2\nhi")

	again := f.join(2, "NET")
	b.expect("closed StatusCode(4409)")
	a.ask("SIGNAL "+rid+" OFFER 2\nhi", "ERR "+rid+" ROUTE_EXPIRED\n")
	again.ask("SIGNAL "+rid+" OFFER 2\nhi", "ERR "+rid+" ROUTE_EXPIRED\n")
	rid = a.route(2, "NET")
	again.say("SIGNAL " + rid + " OFFER 0\n")
	a.expect("SIGNAL-FROM " + rid + " " + peer(2, "NET") + " OFFER 0\n")
	a.ask("FIND F1 7\n", "PEERS F1 1 "+peer(2, "NET")+"\n")

	again.ws.CloseNow()
	for f.present(2, "NET") {
		time.Sleep(time.Millisecond)
	}
	a.ask("SIGNAL "+rid+" OFFER 2\nhi", "ERR "+rid+" PEER_NOT_FOUND\n")
	a.ask("SIGNAL "+rid+" OFFER 2\nhi", "ERR "+rid+" ROUTE_EXPIRED\n")
	f.clock.Advance(2 * graveTime)
	a.ask("SIGNAL "+rid+" OFFER 2\nhi", "ERR "+rid+" ROUTE_NOT_FOUND\n")
	a.ask("LOOKUP L1 "+peer(2, "NET")+"\n", "ERR L1 PEER_NOT_FOUND\n")
	a.ask("FIND F1 7\n", "PEERS F1 0\n")
}

func (f *fixture) present(n byte, network string) bool {
	f.server.mu.Lock()
	defer f.server.mu.Unlock()
	return f.server.peers[peer(n, network)] != nil
}

func TestLookupWaitsForTheReturning(t *testing.T) {
	f := start(t, nil)
	a := f.join(1, "NET")
	a.say("LOOKUP L1 " + peer(2, "NET") + "\n")
	a.ask("FIND F1 1\n", "PEERS F1 0\n") // out of order
	f.join(2, "NET")
	if got := a.hear(); !strings.HasPrefix(got, "FOUND L1 ") {
		t.Error(got)
	}
}

func TestRoutes(t *testing.T) {
	f := start(t, nil)
	a, b, c, other := f.join(1, "NET"), f.join(2, "NET"), f.join(3, "NET"), f.join(1, "OTHER")
	rid := a.route(2, "NET")
	for _, stranger := range []*speaker{c, other} {
		stranger.ask("SIGNAL "+rid+" ICE 1\nx", "ERR "+rid+" TARGET_MISMATCH\n")
	}
	other.ask("LOOKUP L1 "+peer(2, "NET")+"\n", "ERR L1 BAD_REQUEST\n")
	a.ask("LOOKUP L1 "+peer(1, "NET")+"\n", "ERR L1 BAD_REQUEST\n")
	payload := strings.Repeat("\n\x00\xff\r", wire.MaxPayload/4)
	a.say("SIGNAL " + rid + " ANSWER 65536\n" + payload)
	b.expect("SIGNAL-FROM " + rid + " " + peer(1, "NET") + " ANSWER 65536\n" + payload)
	a.ask("SIGNAL "+rid+" ANSWER 65537\n"+payload+"x", "ERR "+rid+" PAYLOAD_TOO_LARGE\n")
	f.clock.Advance(100 * time.Second)
	b.say("SIGNAL " + rid + " ICE 1\nx")
	a.expect("SIGNAL-FROM " + rid + " " + peer(2, "NET") + " ICE 1\nx")
	f.clock.Advance(179 * time.Second)
	a.say("SIGNAL " + rid + " ICE 1\nx")
	b.expect("SIGNAL-FROM " + rid + " " + peer(1, "NET") + " ICE 1\nx")
	f.clock.Advance(181 * time.Second)
	a.ask("SIGNAL "+rid+" ICE 1\nx", "ERR "+rid+" ROUTE_EXPIRED\n")
	f.clock.Advance(5 * time.Minute)
	a.ask("SIGNAL "+rid+" ICE 1\nx", "ERR "+rid+" ROUTE_NOT_FOUND\n")
	if len(f.server.routes) != 0 {
		t.Error(f.server.routes)
	}
}

func TestFindSamples(t *testing.T) {
	f := start(t, nil)
	a := f.join(1, "NET")
	for n := byte(2); n <= 12; n++ {
		f.join(n, "NET")
	}
	f.join(20, "OTHER")
	seen := map[string]bool{}
	for range 100 {
		a.say("FIND F1 7\n")
		words := strings.Fields(a.hear())[3:]
		if len(words) != 7 || slices.Contains(words, peer(1, "NET")) || !slices.IsSortedFunc(words, func(x, y string) int { return strings.Compare(y, x) }) {
			t.Fatal(words)
		}
		if len(slices.Compact(slices.Clone(words))) != 7 {
			t.Fatal(words)
		}
		for _, w := range words {
			seen[w] = true
		}
	}
	if len(seen) != 11 {
		t.Error(len(seen))
	}
}

func TestBounds(t *testing.T) {
	f := start(t, func(c *Config) {
		c.Limits = Limits{Connections: 4, Peers: 3, PeersPerNetwork: 2, Challenges: 1, Routes: 1}
		c.Rates = Rates{GetServers: 1}
	})
	a, b := f.join(1, "NET"), f.join(2, "NET")
	s := f.dial()
	s.ask("HELLO FROG/1\n", "HELLO FROG/1 "+f.server.id+"\n")
	s.ask("JOIN "+peer(3, "NET")+"\n", "ERR - SERVER_UNAVAILABLE\n")
	s.ask("GETSERVERS A1 7\n", "TRY A1 0\n")
	s.ask("GETSERVERS A2 7\n", "ERR A2 RATE_LIMITED\n")
	s.ask(s.challenge(3, "OTHER"), "OK JOIN\n")
	last := f.dial()
	last.ask("HELLO FROG/1\n", "HELLO FROG/1 "+f.server.id+"\n")
	last.ask("JOIN "+peer(4, "OTHER")+"\n", "ERR - SERVER_UNAVAILABLE\n")
	last.ask(last.challenge(2, "NET"), "OK JOIN\n") // a replacement needs no room
	b.expect("closed StatusCode(4409)")
	a.route(2, "NET")
	a.ask("LOOKUP L1 "+peer(2, "NET")+"\n", "ERR L1 SERVER_UNAVAILABLE\n")
	f.clock.Advance(181 * time.Second)
	a.route(2, "NET")
	for f.connections() > 3 {
		time.Sleep(time.Millisecond)
	}
	f.dial()
	if _, response, err := websocket.Dial(t.Context(), f.url, &websocket.DialOptions{Subprotocols: []string{wire.Subprotocol}}); err == nil || response.StatusCode != 503 {
		t.Error(err)
	}
}

func (f *fixture) connections() int {
	f.server.mu.Lock()
	defer f.server.mu.Unlock()
	return len(f.server.conns)
}

// A peer that does not read must not cost the server its memory, nor the others their service.
func TestSlowReader(t *testing.T) {
	f := start(t, func(c *Config) { c.Limits.Queue = 4 })
	a, b := f.join(1, "NET"), f.join(2, "NET")
	_ = b
	rid := a.route(2, "NET")
	payload := strings.Repeat("x", wire.MaxPayload)
	refused := false
	for range 1000 {
		a.say("SIGNAL " + rid + " ICE 65536\n" + payload)
		a.say("FIND F1 1\n")
		got := a.hear()
		if got == "ERR "+rid+" RATE_LIMITED\n" {
			refused = true
			break
		}
	}
	if !refused {
		t.Error("everything was taken")
	}
}

func TestDrain(t *testing.T) {
	f := start(t, nil)
	f.server.verified = []wire.Record{{ID: f.server.id, URI: "ws://a.example/"}, {ID: strings.Repeat("1", 26), URI: "wss://b.example/"}}
	a := f.dial()
	a.ask("HELLO FROG/1\n", "HELLO FROG/1 "+f.server.id+"\n")
	a.ask("GETSERVERS A1 7\n", "TRY A1 1 wss://b.example/\n")
	f.server.Drain()
	a.expect("TRY - 1 wss://b.example/\n")
	a.expect("closed StatusServiceRestart")
}
