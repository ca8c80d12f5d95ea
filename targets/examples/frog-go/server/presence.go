package server

import "frog/wire"

// join stores a pending join and challenges (17). A key that is registered already may be
// claimed again: its holder proves itself and takes over (17.1).
func (c *conn) join(peerKey string) {
	s := c.server
	if over(s.challenges, s.config.Limits.Challenges) || !s.roomFor(peerKey) {
		c.fail("-", wire.ServerUnavailable)
		return
	}
	c.peerKey, c.state = peerKey, stateAuthPending
	c.reply(&wire.Message{Command: "CHAL", Nonce: c.newChallenge()})
}

// newChallenge draws a nonce. An expired challenge is forgotten, but the connection still waits for
// its answer, which will fail.
func (c *conn) newChallenge() string {
	s := c.server
	ch := &challenge{nonce: wire.RandomID()}
	ch.timer = s.after(s.config.Timers.ChallengeTTL, func() {
		if c.challenge == ch {
			c.takeChallenge()
		}
	})
	s.challenges++
	c.challenge = ch
	return ch.nonce
}

func (s *Server) roomFor(peerKey string) bool {
	if s.peers[peerKey] != nil {
		return true
	}
	return !over(len(s.peers), s.config.Limits.Peers) &&
		!over(len(s.networks[wire.Network(peerKey)]), s.config.Limits.PeersPerNetwork)
}

// takeChallenge uses up the pending challenge and returns its nonce, empty if there is none any more.
func (c *conn) takeChallenge() string {
	ch := c.challenge
	if ch == nil {
		return ""
	}
	ch.timer.Stop()
	c.challenge = nil
	c.server.challenges--
	return ch.nonce
}

// attempt counts an AUTH. A failed one uses up its challenge and leads back to before JOIN. It
// answers false when there were too many: then it has told so and nothing else has changed.
func (c *conn) attempt(good bool) bool {
	now, rate := c.server.config.Clock.Now(), c.server.config.Rates.FailedAuths
	if c.failedAuths.full(now, rate) {
		c.fail("-", wire.RateLimited)
		return false
	}
	if !good {
		c.failedAuths.take(now, rate)
		c.takeChallenge()
		c.state = stateHelloOK
	}
	return true
}

// authenticate handles AUTH; the signature is checked without the lock.
func (c *conn) authenticate(m *wire.Message) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.state == stateClosed:
		return
	case c.state != stateAuthPending:
		c.fail("-", wire.BadState)
		return
	case !c.attempt(true):
		return
	}
	nonce, peerKey := c.takeChallenge(), c.peerKey
	s.mu.Unlock()
	valid := nonce != "" && wire.VerifyClient(m.PublicKey, m.Signature, nonce, s.config.URI, peerKey, s.id)
	s.mu.Lock()
	switch {
	case c.state == stateClosed:
	case !valid:
		c.attempt(false)
		c.fail("-", wire.AuthFailed)
	case !s.roomFor(peerKey): // it may have filled up since JOIN
		c.state = stateHelloOK
		c.fail("-", wire.ServerUnavailable)
	default:
		s.register(c)
		c.reply(&wire.Message{Command: "OK", What: "JOIN"})
		if uris := s.alternatives(wire.MaxCount); len(uris) > 0 { // unasked, and only if there is something to tell
			c.reply(&wire.Message{Command: "TRY", CID: "-", URIs: uris})
		}
	}
}

// register puts a connection in the place of its peer key; who held it before has to go (17.1).
func (s *Server) register(c *conn) {
	network := wire.Network(c.peerKey)
	if old := s.peers[c.peerKey]; old != nil {
		c.place = old.place
		s.networks[network][c.place] = c
		s.peers[c.peerKey] = c
		s.release(old)
		old.state = stateClosed
		// Nothing that is still queued may reach it (25).
		old.link.Close(closeReplaced, "replaced", false)
	} else {
		c.place = len(s.networks[network])
		s.networks[network] = append(s.networks[network], c)
		s.peers[c.peerKey] = c
	}
	c.state = stateRegistered
}

// withdraw takes back whatever a connection has: presence, challenge, requests, routes, its place
// among the sisters.
func (s *Server) withdraw(c *conn) {
	if s.peers[c.peerKey] == c {
		network := wire.Network(c.peerKey)
		peers := s.networks[network]
		last := peers[len(peers)-1]
		peers[c.place], last.place = last, c.place
		peers[len(peers)-1] = nil
		if peers = peers[:len(peers)-1]; len(peers) == 0 {
			delete(s.networks, network)
		} else {
			s.networks[network] = peers
		}
		delete(s.peers, c.peerKey)
	}
	if c.sister != nil {
		s.leave(c.sister)
	}
	s.release(c)
}

// release drops what is bound to the connection itself, not to its peer key.
func (s *Server) release(c *conn) {
	c.takeChallenge()
	for f := range c.floods {
		s.settle(f)
	}
	for r := range c.routes {
		s.expire(r)
		r.forsaken = true
	}
	clear(c.routes)
}
