// Package server is a FROG/1 rendezvous server: an http.Handler that speaks to clients and to
// sisters, and dials sisters once it is started.
//
// All state is guarded by one mutex and lives in memory. Nothing blocks under it: messages go to
// the queue of a connection, signatures are checked outside.
package server

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"frog/clock"
	"frog/internal/link"
	"frog/wire"
)

// Close codes, where the protocol leaves them free.
const (
	closeReplaced websocket.StatusCode = 4409
)

// Server is one rendezvous server. Serve it at any path: a proxy may have changed it.
type Server struct {
	config Config
	id     string

	mu         sync.Mutex
	draining   bool
	conns      map[*conn]struct{}
	addresses  map[string]*address
	forgot     time.Time        // when addresses was last cleaned
	peers      map[string]*conn // by peer key: the one active registration (17.1)
	networks   map[string][]*conn
	challenges int
	floods     map[string]*flood // those of clients and of sisters, by floodKey
	waiting    int               // of them, those that a client waits for
	routes     map[string]*route
	live       *list.List // of *route, next to expire first
	graves     *list.List // of *route, first to forget first
	sweeper    clock.Timer

	life       context.Context // ends when the server drains
	end        context.CancelFunc
	dialled    map[*conn]struct{}
	remotes    map[string]*remote // sisters that are live, or were, by their id
	sisters    int                // connections with sisters, also those in the handshake
	verified   []wire.Record      // sisters this server dialled itself (30), the latest last
	trusted    map[string]bool    // ids that were verified at a seed
	seeds      []*seed
	candidates map[wire.Record]*candidate
	verifying  int // candidates that are being dialled
	rounds     int // floods that went out
	turn       int // of the verified that are told
}

// address is what is known of one IP address.
type address struct {
	open int
	rate window
}

// New checks the configuration.
func New(config Config) (*Server, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	return &Server{
		config:    config,
		id:        wire.Fingerprint(wire.PublicOf(config.Key)),
		conns:     map[*conn]struct{}{},
		addresses: map[string]*address{},
		peers:     map[string]*conn{},
		networks:  map[string][]*conn{},
		floods:    map[string]*flood{},
		routes:    map[string]*route{},
		live:      list.New(),
		graves:    list.New(),

		life:       life,
		end:        end,
		dialled:    map[*conn]struct{}{},
		remotes:    map[string]*remote{},
		trusted:    map[string]bool{},
		candidates: map[wire.Record]*candidate{},
	}, nil
}

// ID is the server id (11).
func (s *Server) ID() string { return s.id }

// ServeHTTP upgrades a request and speaks FROG until the connection ends.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = r.RemoteAddr
	}
	c := &conn{server: s, ip: ip, floods: map[*flood]struct{}{}, routes: map[*route]struct{}{}}
	if status := s.admit(c); status != 0 {
		w.Header().Set("Retry-After", "60")
		http.Error(w, http.StatusText(status), status)
		return
	}
	defer s.dismiss(c)
	offered := offers(r.Header)
	options := &websocket.AcceptOptions{InsecureSkipVerify: true} // any web page may be an application
	if offered {
		r.Header.Set("Sec-WebSocket-Protocol", wire.Subprotocol)
		options.Subprotocols = []string{wire.Subprotocol}
	}
	ws, err := websocket.Accept(w, r, options)
	if err != nil {
		return
	}
	if !offered { // 4: the connection is closed, and nothing on it is read
		ws.Close(websocket.StatusPolicyViolation, "offer "+wire.Subprotocol)
		return
	}
	c.serve(link.New(ws))
}

func offers(h http.Header) bool {
	for _, line := range h.Values("Sec-WebSocket-Protocol") {
		for name := range strings.SplitSeq(line, ",") {
			if strings.Trim(name, " \t") == wire.Subprotocol {
				return true
			}
		}
	}
	return false
}

// admit counts a connection in, or says with which HTTP status it is refused.
func (s *Server) admit(c *conn) (status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limits, now := &s.config.Limits, s.config.Clock.Now()
	a := s.addresses[c.ip]
	if a == nil {
		s.forgetAddresses(now)
		a = &address{}
		s.addresses[c.ip] = a
	}
	switch {
	case s.draining || over(len(s.conns), limits.Connections):
		return http.StatusServiceUnavailable
	case over(a.open, limits.ConnectionsPerIP) || !a.rate.take(now, s.config.Rates.Connections):
		return http.StatusTooManyRequests
	}
	a.open++
	s.conns[c] = struct{}{}
	return 0
}

// forgetAddresses drops, once a minute, those without a connection and without a recent one.
func (s *Server) forgetAddresses(now time.Time) {
	if now.Sub(s.forgot) < time.Minute {
		return
	}
	s.forgot = now
	for ip, a := range s.addresses {
		if a.open == 0 && a.rate.idle(now) {
			delete(s.addresses, ip)
		}
	}
}

// retire ends what a connection does and has here.
func (s *Server) retire(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withdraw(c)
	c.state = stateClosed
}

// dismiss counts a connection out.
func (s *Server) dismiss(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.addresses[c.ip].open--
}

// Drain sends every client elsewhere, as far as this server knows where, and takes nobody in any more (15).
func (s *Server) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	s.end()
	for c := range s.dialled {
		c.close(websocket.StatusServiceRestart, "draining")
	}
	for c := range s.conns {
		if c.link == nil {
			continue
		}
		if c.state != stateNew && c.sister == nil {
			c.reply(&wire.Message{Command: "TRY", CID: "-", URIs: s.alternatives(wire.MaxCount)})
		}
		c.close(websocket.StatusServiceRestart, "draining")
	}
}

// Wait returns when all connections have ended, or after that time.
func (s *Server) Wait(patience time.Duration) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		open := len(s.conns) + len(s.dialled)
		s.mu.Unlock()
		if open == 0 {
			return
		}
	}
}

// alternatives samples the verified sisters; this server is never among them (21).
func (s *Server) alternatives(limit int) []string {
	records := slices.DeleteFunc(slices.Clone(s.verified), func(r wire.Record) bool { return r.ID == s.id || r.URI == s.config.URI })
	var uris []string
	for _, i := range sample(len(records), limit) {
		uris = append(uris, records[i].URI)
	}
	return uris
}
