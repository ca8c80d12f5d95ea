package server

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/coder/websocket"

	"frog/clock"
	"frog/internal/link"
	"frog/wire"
)

// seed is a server of the configuration that is dialled until it answers, and again.
type seed struct {
	Seed
	known    string // the id that answered there
	failures int    // in a row
	busy     bool   // it is being dialled, or connected
	timer    clock.Timer
}

// Start dials the seeds. Serve before: they may dial back.
func (s *Server) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, configured := range s.config.Sister.Seeds {
		same := func(d *seed) bool { return d.URI == configured.URI }
		if configured.URI == s.config.URI || configured.ID == s.id || slices.ContainsFunc(s.seeds, same) {
			continue
		}
		seed := &seed{Seed: configured}
		s.seeds = append(s.seeds, seed)
		seed.dial(s)
	}
}

func (d *seed) dial(s *Server) {
	d.busy = true
	go s.dial(d.URI, d.ID, d)
}

// lost is called when a dial has failed or its connection has ended.
func (d *seed) lost(s *Server, since time.Time) {
	first := s.config.Sister.Redial
	wait := first * time.Duration(min(1<<min(d.failures, 10), longestWait))
	if d.failures++; !since.IsZero() && s.config.Clock.Now().Sub(since) >= steadyAfter*first {
		wait, d.failures = first, 1
	}
	d.busy = false
	if s.sisterTo(d.known) != nil { // there is another connection; missSeed tells when it is gone
		return
	}
	d.redial(s, wait+rand.N(first/2+1))
}

func (d *seed) redial(s *Server, wait time.Duration) {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer = s.after(wait, func() {
		if !s.draining && !d.busy && s.sisterTo(d.known) == nil {
			d.dial(s)
		}
	})
}

// missSeed is called when the last connection with a server has ended.
func (s *Server) missSeed(id string) {
	for _, d := range s.seeds {
		if d.known == id && !d.busy {
			first := s.config.Sister.Redial
			d.redial(s, first+rand.N(first/2+1))
		}
	}
}

// dial opens a connection to exactly this URI and serves it until it ends.
func (s *Server) dial(uri, want string, d *seed) {
	c := &conn{server: s, floods: map[*flood]struct{}{}, routes: map[*route]struct{}{}}
	k := &sister{conn: c, dialled: uri, want: want, seed: d, trial: d == nil}
	ws, err := link.Dial(s.life, uri, openingTimeout)
	s.mu.Lock()
	if err != nil || s.draining {
		if ws != nil {
			go ws.Close(websocket.StatusGoingAway, "")
		}
		s.config.Log.Info("no connection", "uri", uri, "error", err)
		k.tried()
		if d != nil {
			d.lost(s, time.Time{})
		}
		s.mu.Unlock()
		return
	}
	c.sister, c.state, c.link = k, stateSister, link.New(ws)
	s.dialled[c] = struct{}{}
	k.begin("@HELLO")
	k.greet()
	s.mu.Unlock()

	c.read()

	s.mu.Lock()
	delete(s.dialled, c)
	s.mu.Unlock()
}

// candidate is a server that gossip named, and that was dialled.
type candidate struct {
	busy bool
	next time.Time // not before
}

// consider dials a server that gossip named, if it is worth it: to verify it, and to keep the
// connection if it is who it should be (33).
func (s *Server) consider(r wire.Record) {
	now := s.config.Clock.Now()
	if r.ID == s.id || r.URI == s.config.URI || s.draining || s.verifying >= maxVerifying || over(s.sisters, s.config.Limits.Sisters) {
		return
	}
	for _, v := range s.verified {
		if v == r && s.sisterTo(r.ID) != nil {
			return
		}
	}
	for _, d := range s.seeds {
		if d.URI == r.URI {
			return
		}
	}
	c := s.candidates[r]
	switch {
	case c == nil:
		if len(s.candidates) >= maxRecords {
			s.forgetCandidates(now)
		}
		c = &candidate{}
		s.candidates[r] = c
	case c.busy || now.Before(c.next):
		return
	}
	c.busy = true
	s.verifying++
	go func() {
		s.dial(r.URI, r.ID, nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		c.busy, c.next = false, s.config.Clock.Now().Add(retryAfter)
	}()
}

// tried ends the verification of a candidate, one way or the other.
func (k *sister) tried() {
	if k.trial {
		k.trial = false
		k.server.verifying--
	}
}

// forgetCandidates makes room: for what may be tried again anyway, or else for anything.
func (s *Server) forgetCandidates(now time.Time) {
	for r, c := range s.candidates {
		if !c.busy && (!now.Before(c.next) || len(s.candidates) >= maxRecords) {
			delete(s.candidates, r)
		}
	}
}
