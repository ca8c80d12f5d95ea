package client

import (
	"container/list"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"frog/internal/link"
	"frog/wire"
)

const (
	// serversWanted is the limit of the GETSERVERS that follows a registration.
	serversWanted = 5
	maxRoutes     = 4096
)

// session is one connection. The goroutine of run reads and changes its phase; Client.mu guards
// since, ended and redirected, mu guards the rest.
type session struct {
	client *Client
	uri    string // as dialled
	link   *link.Link

	serverID   string
	expects    string    // what the handshake waits for: HELLO, CHAL, OK or nothing any more
	since      time.Time // of the registration
	ended      time.Time
	redirected bool // the last word was a TRY that nobody had asked for

	mu       sync.Mutex
	over     bool
	requests map[string]*request
	routes   map[string]*list.Element // of route ids that may be signalled on
	order    *list.List               // the oldest first
}

// request waits for the message with its CID.
type request struct {
	sent   *wire.Message
	done   chan struct{}
	once   sync.Once
	answer *wire.Message
	err    error
}

func (r *request) finish(answer *wire.Message, err error) {
	r.once.Do(func() {
		r.answer, r.err = answer, err
		close(r.done)
	})
}

// newSession says HELLO and JOIN in one go: a server reads them in order anyway.
func newSession(c *Client, uri string, l *link.Link) *session {
	s := &session{client: c, uri: uri, link: l, expects: "HELLO",
		requests: map[string]*request{}, routes: map[string]*list.Element{}, order: list.New()}
	s.send(&wire.Message{Command: "HELLO"})
	s.send(&wire.Message{Command: "JOIN", PeerKey: c.peerKey})
	return s
}

// run reads until the end.
func (s *session) run() {
	timer := time.AfterFunc(handshakeTimeout, func() {
		s.link.Close(websocket.StatusPolicyViolation, "the handshake takes too long", true)
	})
	defer timer.Stop()
	for {
		raw, err := s.link.Read()
		if err != nil {
			break
		}
		m, err := wire.Decode(wire.ToClient, raw)
		if err == nil {
			err = s.receive(m)
		}
		if err != nil { // the end, a refusal, or what no server may say: another one will do better
			code := websocket.StatusProtocolError
			if refused := (*ServerError)(nil); errors.As(err, &refused) {
				code = websocket.StatusNormalClosure
			}
			s.link.Close(code, "", true)
			break
		}
		if s.expects == "" {
			timer.Stop()
		}
	}
	s.end()
	go s.link.Finish()
}

func (s *session) send(m *wire.Message) {
	if raw, err := wire.Encode(m); err == nil {
		s.link.Send(raw)
	}
}

// end fails what is outstanding and tells that the registration is gone.
func (s *session) end() {
	s.mu.Lock()
	s.over = true
	requests := s.requests
	s.requests = nil
	s.mu.Unlock()
	for _, r := range requests {
		r.finish(nil, ErrConnection)
	}
	c := s.client
	c.mu.Lock()
	c.session, s.ended = nil, c.config.Clock.Now()
	registered := !s.since.IsZero()
	c.mu.Unlock()
	if status := c.config.Handler.Status; registered && status != nil {
		status(false, s.uri)
	}
}

// receive acts on a well-formed message; an error is one of the server's conduct.
func (s *session) receive(m *wire.Message) error {
	c := s.client
	c.mu.Lock()
	s.redirected = m.Command == "TRY" && m.CID == "-" && len(m.URIs) > 0
	c.mu.Unlock()
	switch m.Command {
	case "HELLO":
		s.serverID = m.ServerID
		return s.step("HELLO", "CHAL")
	case "CHAL":
		// 12.1: the URI is the one dialled, whatever the server says about itself.
		auth := wire.ClientAuthString(m.Nonce, s.uri, c.peerKey, s.serverID)
		public, signature := wire.Sign(c.config.Key, auth)
		if err := s.step("CHAL", "OK"); err != nil {
			return err
		}
		s.send(&wire.Message{Command: "AUTH", PublicKey: public, Signature: signature})
	case "OK":
		return s.receiveOK(m.What)
	case "TRY":
		s.learn(m)
	case "PEERS", "FOUND":
		s.answer(m.CID, m)
	case "SIGNAL-FROM":
		if s.expects != "" || wire.Network(m.PeerKey) != c.config.Network {
			return nil // nobody can have a route to here
		}
		s.remember(m.RouteID)
		if signal := c.config.Handler.Signal; signal != nil {
			signal(Signal{RouteID: m.RouteID, Source: m.PeerKey, Kind: m.Kind, Payload: m.Payload})
		}
	case "ERR":
		return s.receiveError(m)
	}
	return nil
}

func (s *session) step(from, to string) error {
	if s.expects != from {
		return errors.New("out of order: " + from)
	}
	s.expects = to
	return nil
}

func (s *session) receiveOK(what string) error {
	c := s.client
	if what == "LEAVE" {
		c.mu.Lock()
		left := c.left
		c.mu.Unlock()
		if left {
			s.link.Close(websocket.StatusNormalClosure, "", true)
			return ErrLeft
		}
		return nil
	}
	if err := s.step("OK", ""); err != nil {
		return err
	}
	now := c.config.Clock.Now()
	c.mu.Lock()
	s.since = now
	c.pool.worked(s.uri, now)
	c.mu.Unlock()
	if status := c.config.Handler.Status; status != nil {
		status(true, s.uri)
	}
	s.ask(&wire.Message{Command: "GETSERVERS", Limit: serversWanted}) // its answer is learned when it comes
	return nil
}

// learn caches what a TRY offers, asked for or not. It is advice: the connection stays (15).
func (s *session) learn(m *wire.Message) {
	if m.CID != "-" && !s.answer(m.CID, m) {
		return // an answer to a question that was never asked
	}
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pool.learn(m.URIs)
}

func (s *session) receiveError(m *wire.Message) error {
	if r := s.take(m.ID); r != nil {
		r.finish(nil, &ServerError{m.Code})
		return nil
	}
	if report := s.client.config.Handler.Error; report != nil {
		report(m.ID, m.Code)
	}
	if s.expects != "" { // JOIN or AUTH was refused
		return &ServerError{m.Code}
	}
	return nil
}

// ask sends a request under a CID of its own. The underscore keeps it apart from any route id.
func (s *session) ask(m *wire.Message) (*request, error) {
	m.CID = m.Command[:1] + "_" + rand.Text()[:12]
	raw, err := wire.Encode(m)
	if err != nil {
		return nil, err
	}
	r := &request{sent: m, done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, ErrConnection
	}
	s.requests[m.CID] = r
	s.link.Send(raw)
	return r, nil
}

func (s *session) take(cid string) *request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.requests[cid]
	delete(s.requests, cid)
	return r
}

// answer gives a message to the request that it answers; false if there is none of its kind.
func (s *session) answer(cid string, m *wire.Message) bool {
	s.mu.Lock()
	r := s.requests[cid]
	fits := r != nil && map[string]string{"GETSERVERS": "TRY", "FIND": "PEERS", "LOOKUP": "FOUND"}[r.sent.Command] == m.Command
	if fits {
		delete(s.requests, cid)
	}
	s.mu.Unlock()
	if !fits {
		return false
	}
	err := s.check(r.sent, m)
	if err == nil && m.Command == "FOUND" {
		s.remember(m.RouteID)
	}
	r.finish(m, err)
	return true
}

// check sees that an answer is one to the question.
func (s *session) check(sent, m *wire.Message) error {
	c := s.client
	switch m.Command {
	case "FOUND":
		if m.PeerKey != sent.PeerKey {
			return errors.New("the server found another peer")
		}
	case "PEERS":
		if len(m.PeerKeys) > sent.Limit {
			return errors.New("more peers than asked for")
		}
		for _, key := range m.PeerKeys {
			if wire.Network(key) != c.config.Network {
				return errors.New("peers of another network")
			}
		}
		seen := map[string]bool{c.peerKey: true}
		m.PeerKeys = slices.DeleteFunc(m.PeerKeys, func(key string) bool {
			again := seen[key]
			seen[key] = true
			return again
		})
	}
	return nil
}

// remember notes a route from FOUND or SIGNAL-FROM; of too many the oldest is forgotten.
func (s *session) remember(routeID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.routes[routeID] != nil {
		return
	}
	s.routes[routeID] = s.order.PushBack(routeID)
	if s.order.Len() > maxRoutes {
		delete(s.routes, s.order.Remove(s.order.Front()).(string))
	}
}

func (s *session) knows(routeID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.routes[routeID] != nil
}

func (s *session) leave() { s.send(&wire.Message{Command: "LEAVE"}) }
