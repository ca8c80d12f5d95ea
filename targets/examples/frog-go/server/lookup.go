package server

import "frog/wire"

// lookup answers LOOKUP from this server's peers, or asks the sisters (24).
func (c *conn) lookup(cid, target string) {
	s := c.server
	if target == c.peerKey || wire.Network(target) != wire.Network(c.peerKey) {
		c.fail(cid, wire.BadRequest)
		return
	}
	request := &wire.Message{Command: "@LOOKUP", RouteID: s.newRouteID(), ServerID: s.id, Source: c.peerKey, Target: target}
	if peer := s.peers[target]; peer != nil {
		c.found(cid, request, side{conn: peer})
		return
	}
	if over(s.waiting, s.config.Limits.Lookups) {
		c.fail(cid, wire.ServerUnavailable)
		return
	}
	f := &flood{conn: c, cid: cid, request: request}
	if to := s.choose(s.config.Sister.LookupFanout, "", s.id); len(to) > 0 {
		s.open(f, s.config.Timers.LookupTimeout, func() { c.fail(cid, wire.LookupTimeout) })
		s.forward(f, to, s.config.Sister.LookupTTL)
		return
	}
	// Nobody to ask: a moment for a peer that is just coming back.
	s.open(f, min(lookupGrace, s.config.Timers.LookupTimeout), func() {
		if peer := s.peers[target]; peer != nil {
			c.found(cid, request, side{conn: peer})
		} else {
			c.fail(cid, wire.PeerNotFound)
		}
	})
}

// found makes the route and tells the one who asked.
func (c *conn) found(cid string, request *wire.Message, sideB side) {
	if !c.server.addRoute(request, side{conn: c}, sideB) {
		c.fail(cid, wire.ServerUnavailable)
		return
	}
	c.reply(&wire.Message{Command: "FOUND", CID: cid, PeerKey: request.Target, RouteID: request.RouteID})
}

// lookup handles @LOOKUP (36). A miss is silent.
func (k *sister) lookup(m *wire.Message) {
	s := k.server
	if m.Source == m.Target { // nobody looks itself up (23)
		k.fail(m.RouteID, wire.BadRequest)
		return
	}
	if k.flooded(m) {
		return
	}
	f := &flood{request: m, from: k.remote.ID}
	s.open(f, s.config.Timers.LookupTimeout, nil)
	switch peer := s.peers[m.Target]; {
	case peer != nil:
		s.settle(f)
		if !s.addRoute(m, side{sister: f.from}, side{conn: peer}) {
			k.fail(m.RouteID, wire.ServerUnavailable)
			return
		}
		k.reply(&wire.Message{Command: "@FOUND", RouteID: m.RouteID, PeerKey: m.Target})
	case m.TTL > 0:
		s.forward(f, s.choose(s.config.Sister.LookupFanout, f.from, m.ServerID), m.TTL-1)
	}
}

// hearFound takes the first valid @FOUND (36): the route goes where it came from.
func (k *sister) hearFound(m *wire.Message, raw []byte) {
	s := k.server
	f := s.floods[m.RouteID]
	if f == nil || !f.pending {
		return // another one was first, or it is late
	}
	if _, ok := f.asked[k.remote.ID]; !ok || m.PeerKey != f.request.Target {
		k.fail(m.RouteID, wire.TargetMismatch)
		return
	}
	s.settle(f)
	there := side{sister: k.remote.ID}
	if f.conn != nil {
		f.conn.found(f.cid, f.request, there)
	} else if back := s.sisterTo(f.from); back != nil && s.addRoute(f.request, side{sister: f.from}, there) {
		back.link.Send(raw)
	}
}
