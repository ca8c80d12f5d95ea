// Package broker is a peerbus broker: an http.Handler that serves peers over WebSocket.
//
// One goroutine, the hub, decides everything: who is bound to which name, and what is stored. What waits for it is
// done in one transaction, and only then are peers told. Messages do not pass through it on their way out: the writer
// of a connection reads them from the store, so that a backlog and a message of this moment take the same path.
package broker

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"peerbus/wire"
)

// Config is what a broker is made of.
type Config struct {
	Tokens   []string // that are accepted
	StateDir string   // exists, and is nobody else's
	Log      *slog.Logger
}

// Broker serves peers until it is closed.
type Broker struct {
	tokens []digest
	store  *store
	log    *slog.Logger

	events chan event
	ended  chan struct{} // closed when the hub has ended
	close  sync.Once

	mu      sync.Mutex
	conns   map[*conn]struct{} // all there are, registered or not
	closing bool
	wg      sync.WaitGroup // of conns

	bound map[string]*conn // the hub's own
}

// Events, as the hub takes them from its channel.
type event struct {
	conn *conn
	what what
	done chan answer // of register and peers
}

type (
	what any

	register struct{}
	peers    struct{}
	gone     struct{}
	shutdown struct{}
	ack      struct{ key string }
	message  struct {
		id, to, kind string
		envelope     []byte
	}
	delivered struct{ rows []row }
)

type answer struct {
	refused bool
	names   []string
}

// New opens the store and starts the hub.
func New(c Config) (*Broker, error) {
	b := &Broker{
		log:    c.Log,
		events: make(chan event, 256),
		ended:  make(chan struct{}),
		conns:  map[*conn]struct{}{},
		bound:  map[string]*conn{},
	}
	for _, token := range c.Tokens {
		if token != "" {
			b.tokens = append(b.tokens, sha256.Sum256([]byte(token)))
		}
	}
	if len(b.tokens) == 0 {
		return nil, errors.New("there has to be a token")
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if b.store, err = openStore(c.StateDir); err != nil {
		return nil, err
	}
	go b.hub()
	return b, nil
}

// Close drops all connections and closes the store.
func (b *Broker) Close() error {
	var err error
	b.close.Do(func() {
		b.drop()
		b.wg.Wait()
		b.post(event{what: shutdown{}})
		<-b.ended
		err = b.store.close()
	})
	return err
}

func (b *Broker) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closing = true
	for c := range b.conns {
		c.end(websocket.CloseGoingAway, "the broker stops")
	}
}

// Failed is closed when the broker has ended, by Close or because it could not store.
func (b *Broker) Failed() <-chan struct{} { return b.ended }

// Audit is the audit chain, oldest first: event and hash, both in hex.
func (b *Broker) Audit() ([][2]string, error) {
	chain, err := b.store.audit()
	out := make([][2]string, len(chain))
	for i, link := range chain {
		out[i] = [2]string{hex.EncodeToString(link[0]), hex.EncodeToString(link[1])}
	}
	return out, err
}

// valid compares with all tokens, each in constant time.
func (b *Broker) valid(token digest) bool {
	found := 0
	for _, t := range b.tokens {
		found |= subtle.ConstantTimeCompare(t[:], token[:])
	}
	return found == 1
}

var upgrader = websocket.Upgrader{
	HandshakeTimeout: 10 * time.Second,
	CheckOrigin:      func(*http.Request) bool { return true }, // a token is no cookie
}

// ServeHTTP serves one peer, on any path.
func (b *Broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // it has answered
	}
	c := newConn(b, ws)
	b.mu.Lock()
	if b.closing {
		b.mu.Unlock()
		ws.Close()
		return
	}
	b.conns[c] = struct{}{}
	b.wg.Add(1)
	b.mu.Unlock()
	defer b.wg.Done()

	c.serve()

	b.mu.Lock()
	delete(b.conns, c)
	b.mu.Unlock()
}

// post hands an event to the hub, and says whether there still is one.
func (b *Broker) post(e event) bool {
	select {
	case b.events <- e:
		return true
	case <-b.ended:
		return false
	}
}

// ask is post, and waits for the answer.
func (b *Broker) ask(c *conn, w what) (answer, bool) {
	e := event{conn: c, what: w, done: make(chan answer, 1)}
	if !b.post(e) {
		return answer{}, false
	}
	select {
	case a := <-e.done:
		return a, true
	case <-b.ended:
		return answer{}, false
	}
}

const (
	batchEvents = 256
	batchBytes  = 8 << 20
)

func (b *Broker) hub() {
	defer close(b.ended)
	for {
		w := &writing{db: b.store.db}
		after, stop := b.batch(w)
		if err := w.end(); err != nil {
			b.log.Error("cannot store: the broker ends", "err", err)
			b.drop()
			return
		}
		for _, tell := range after {
			tell()
		}
		if stop {
			return
		}
	}
}

// batch applies what waits, and returns what to do once it is stored (PB-5-01).
func (b *Broker) batch(w *writing) (after []func(), stop bool) {
	e, size := <-b.events, 0
	for n := 1; ; n++ {
		if _, stop = e.what.(shutdown); stop {
			return after, true
		}
		if tell := b.apply(w, e); tell != nil {
			after = append(after, tell)
		}
		if m, ok := e.what.(message); ok {
			size += len(m.envelope)
		}
		if n == batchEvents || size >= batchBytes {
			return after, false
		}
		select {
		case e = <-b.events:
		default:
			return after, false
		}
	}
}

func (b *Broker) apply(w *writing, e event) func() {
	c := e.conn
	switch what := e.what.(type) {
	case register:
		if old := b.bound[c.name]; old != nil {
			if old.token != c.token { // PB-2.1-20
				return func() { e.done <- answer{refused: true} }
			}
			old.end(websocket.ClosePolicyViolation, "taken over by a newer connection") // PB-2.1-17
		}
		b.bound[c.name] = c
		w.know(c.name)
		names := b.names()
		return func() { e.done <- answer{names: names} }
	case peers:
		names := b.names()
		return func() { e.done <- answer{names: names} }
	case gone:
		if b.bound[c.name] == c {
			delete(b.bound, c.name)
		}
	case delivered:
		for _, r := range what.rows {
			w.append("deliver", r.key, r.sender, c.name)
		}
	case ack:
		if b.bound[c.name] == c {
			w.ack(c.name, what.key)
		}
	case message:
		if b.bound[c.name] == c {
			return b.route(w, c, what)
		}
	}
	return nil
}

// route stores a message for everyone who gets it. The sender is the bound name, whatever from says (PB-3-20).
func (b *Broker) route(w *writing, c *conn, m message) func() {
	var wake []*conn
	if m.kind == wire.KindBroadcast {
		for name, to := range b.bound { // those connected now: no backfill (PB-3-33, PB-3-35)
			if name != c.name && w.enqueue(name, m.id+"|"+name, c.name, m.envelope) {
				wake = append(wake, to)
			}
		}
	} else if w.known(m.to) && w.enqueue(m.to, m.id, c.name, m.envelope) { // PB-3-25
		if to := b.bound[m.to]; to != nil {
			wake = append(wake, to)
		}
	}
	return func() {
		for _, to := range wake {
			to.wake()
		}
	}
}

// names are those bound now, in descending order.
func (b *Broker) names() []string {
	names := slices.Sorted(maps.Keys(b.bound))
	slices.Reverse(names)
	return names
}

// classify reads a frame behind the register. Nil is for what is dropped.
func classify(data []byte) what {
	o, err := wire.ParseObject(data)
	if err != nil {
		return nil
	}
	typ, err := o.Text("type")
	if err != nil || !wire.Control(typ) {
		return envelope(o, data)
	}
	if v, err := o.Text("protocol_version"); err != nil || v != wire.Version {
		return nil // PB-6-03
	}
	switch typ {
	case wire.TypePeers:
		return peers{}
	case wire.TypeAck:
		if key, err := o.Text("id"); err == nil && key != "" { // PB-2.2-08
			return ack{key}
		}
	}
	return nil // a deliver, or another register (PB-2.4-03, PB-2.1-32)
}

func envelope(o wire.Object, data []byte) what {
	f, err := o.Texts("protocol_version", "id", "to", "kind", "from", "ts", "source", "hmac")
	if err != nil {
		return nil
	}
	m := message{id: f[1], to: f[2], kind: f[3], envelope: bytes.TrimSpace(data)}
	switch {
	case f[0] != wire.Version, m.id == "", m.to == "": // PB-3-03, PB-3-17, PB-3-18
		return nil
	case m.kind == wire.KindBroadcast && m.to == wire.Everyone, m.kind == wire.KindDirect && m.to != wire.Everyone:
		return m
	}
	return nil
}
