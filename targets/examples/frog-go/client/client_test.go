package client

import (
	"crypto/ed25519"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"frog/clock"
	"frog/server"
	"frog/wire"
)

func key(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	return ed25519.NewKeyFromSeed(seed)
}

// serve runs a server at an address, anew if that is empty.
func serve(t *testing.T, address string) (uri string, stop func()) {
	t.Helper()
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	uri = "ws://" + listener.Addr().String() + "/"
	s, err := server.New(server.Config{Key: key(200), URI: uri})
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Server{Handler: s}
	go h.Serve(listener)
	stop = func() { h.Close(); s.Drain() }
	t.Cleanup(stop)
	return uri, stop
}

// peer is a client and what it was told.
type peer struct {
	*Client
	status  chan bool
	signals chan Signal
	errors  chan string
}

func join(t *testing.T, config Config) *peer {
	t.Helper()
	p := &peer{status: make(chan bool, 100), signals: make(chan Signal, 100), errors: make(chan string, 100)}
	config.Network = "NET"
	config.Handler = Handler{
		Status: func(registered bool, _ string) { p.status <- registered },
		Signal: func(s Signal) { p.signals <- s },
		Error:  func(id, code string) { p.errors <- id + " " + code },
	}
	var err error
	if p.Client, err = Start(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func next[T any](t *testing.T, c chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(5 * time.Second):
		t.Fatal("nothing happened")
	}
	return v
}

func TestTwoClientsOneServer(t *testing.T) {
	uri, stop := serve(t, "")
	a := join(t, Config{Bootstrap: []string{uri, uri}, Key: key(1), Backoff: 20 * time.Millisecond})
	b := join(t, Config{Bootstrap: []string{uri}, Key: key(2), Backoff: 20 * time.Millisecond})
	if !next(t, a.status) || !next(t, b.status) {
		t.Fatal("not registered")
	}
	keys, err := a.Find(t.Context(), 7)
	if err != nil || !slices.Equal(keys, []string{b.PeerKey()}) {
		t.Fatal(keys, err)
	}
	route, err := a.Lookup(t.Context(), b.PeerKey())
	if err != nil {
		t.Fatal(err)
	}
	offer := []byte(strings.Repeat("o\n\x00\xff", wire.MaxPayload/4))
	if err := a.Signal(route, "OFFER", offer); err != nil {
		t.Fatal(err)
	}
	got := next(t, b.signals)
	if got.RouteID != route || got.Source != a.PeerKey() || got.Kind != "OFFER" || string(got.Payload) != string(offer) {
		t.Fatal(got.RouteID, got.Source, got.Kind, len(got.Payload))
	}
	if err := b.Signal(route, "ANSWER", nil); err != nil { // known from the offer only
		t.Fatal(err)
	}
	if got := next(t, a.signals); got.Kind != "ANSWER" || len(got.Payload) != 0 {
		t.Fatal(got)
	}
	if uris, err := a.GetServers(t.Context(), 7); err != nil || len(uris) != 0 {
		t.Error(uris, err)
	}

	// What a client may not send, it does not.
	if _, err := a.Find(t.Context(), 8); err == nil {
		t.Error("limit 8")
	}
	for _, k := range []string{a.PeerKey(), "OTHER:" + strings.Repeat("0", 26), "x"} {
		if _, err := a.Lookup(t.Context(), k); err == nil {
			t.Error(k)
		}
	}
	if err := a.Signal(strings.Repeat("0", 26), "ICE", nil); err == nil {
		t.Error("unknown route")
	}
	var refused *ServerError
	if _, err := a.Lookup(t.Context(), "NET:"+strings.Repeat("0", 26)); !errors.As(err, &refused) || refused.Code != wire.PeerNotFound {
		t.Error(err)
	}

	if err := b.Leave(t.Context()); err != nil {
		t.Error(err)
	}
	if next(t, b.status) {
		t.Error("still registered")
	}
	if _, err := b.Find(t.Context(), 1); err == nil {
		t.Error("found after leaving")
	}
	if err := a.Signal(route, "ICE", nil); err != nil {
		t.Error(err)
	}
	if got := next(t, a.errors); got != route+" "+wire.PeerNotFound {
		t.Error(got)
	}

	// The server restarts: the client comes back, the old route does not.
	stop()
	if next(t, a.status) {
		t.Error("still registered")
	}
	serve(t, strings.TrimSuffix(strings.TrimPrefix(uri, "ws://"), "/"))
	if !next(t, a.status) {
		t.Error("did not come back")
	}
	if err := a.Signal(route, "ICE", nil); err == nil {
		t.Error("the old route is still known")
	}
}

// script is a server by hand: it plays one function per connection.
func script(t *testing.T, play func(say func(string), hear func() string)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{wire.Subprotocol}})
		if err != nil {
			return
		}
		defer ws.CloseNow()
		play(func(text string) { ws.Write(r.Context(), websocket.MessageBinary, []byte(text)) },
			func() string { _, raw, _ := ws.Read(r.Context()); return string(raw) })
		ws.Close(websocket.StatusNormalClosure, "")
	})}
	go h.Serve(listener)
	t.Cleanup(func() { h.Close() })
	return "ws://" + listener.Addr().String() + "/"
}

func TestFollowsRedirect(t *testing.T) {
	uri, _ := serve(t, "")
	busy := script(t, func(say func(string), hear func() string) {
		hear()
		say("HELLO FROG/1 " + strings.Repeat("0", 26) + "\n")
		say("TRY - 3 " + uri + " wss://rv.example.net " + uri + "\n")
	})
	c := join(t, Config{Bootstrap: []string{busy}, Key: key(1), Backoff: 10 * time.Millisecond})
	if !next(t, c.status) {
		t.Error("not registered")
	}
	if got := c.Learned(); !slices.Equal(got, []string{uri}) {
		t.Error(got)
	}
}

func TestAnswersAreMatchedAndChecked(t *testing.T) {
	other := "NET:" + strings.Repeat("1", 26)
	uri := script(t, func(say func(string), hear func() string) {
		hear()
		say("HELLO FROG/1 " + strings.Repeat("0", 26) + "\n")
		hear()
		say("CHAL " + strings.Repeat("0", 26) + "\n")
		hear()
		say("OK JOIN\n")
		hear() // GETSERVERS, never answered
		first, second := strings.Fields(hear()), strings.Fields(hear())
		say("PEERS NOBODY_ASKED 0\n")
		say("PEERS " + second[1] + " 2 " + other + " " + other + "\n")
		say("ERR " + first[1] + " RATE_LIMITED\n")
		say("PEERS " + strings.Fields(hear())[1] + " 1 OTHER:" + strings.Repeat("1", 26) + "\n")
		say("TRY\n")
		hear()
	})
	manual := clock.NewSkewed()
	c := join(t, Config{Bootstrap: []string{uri}, Key: key(1), Backoff: time.Hour, Clock: manual})
	next(t, c.status)
	results := make(chan error, 2)
	go func() { _, err := c.Find(t.Context(), 3); results <- err }()
	time.Sleep(50 * time.Millisecond)
	keys, err := c.Find(t.Context(), 3)
	if err != nil || !slices.Equal(keys, []string{other}) {
		t.Error(keys, err)
	}
	if err := next(t, results); err == nil || err.Error() != wire.RateLimited {
		t.Error(err)
	}
	if keys, err := c.Find(t.Context(), 3); err == nil {
		t.Error(keys)
	}
	if next(t, c.status) { // the malformed TRY
		t.Error("still registered")
	}
	manual.Advance(2 * time.Hour)
	if !next(t, c.status) {
		t.Error("did not come back")
	}
}

func TestBackoffGrowsWithinBounds(t *testing.T) {
	for failures := 1; failures < 40; failures++ {
		low := growth[min(failures, len(growth))-1] * time.Second
		for range 50 {
			if d := backoff(time.Second, failures); d < low || d > low*3/2 || d > 50*time.Second {
				t.Fatal(failures, d)
			}
		}
	}
}

func TestPool(t *testing.T) {
	now := time.Now()
	p := newPool([]string{"ws://a/", "ws://a/", "ws://b/"}, []string{"ws://c/", "ws://b/", "WS://d/"})
	if len(p.servers) != 3 {
		t.Fatal(len(p.servers))
	}
	p.worked("ws://b/", now)
	if p.next() != "ws://b/" {
		t.Error("the one that worked comes first")
	}
	p.failed("ws://b/")
	if p.next() == "ws://b/" {
		t.Error("the one that failed comes later")
	}
	for range maxFailures {
		p.failed("ws://a/")
		p.failed("ws://c/")
	}
	if p.find("ws://a/") == nil || p.find("ws://c/") != nil {
		t.Error("only what was learned is forgotten")
	}
	for i := range 300 {
		p.learn([]string{"ws://x/" + strings.Repeat("y", i%150)})
		p.learn([]string{"ws://z/" + strings.Repeat("y", i%150)})
	}
	if len(p.learned()) != maxLearned {
		t.Error(len(p.learned()))
	}
}
