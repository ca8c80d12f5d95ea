package server

import (
	"github.com/coder/websocket"

	"frog/wire"
)

// relay carries a SIGNAL or @SIGNAL that came from one side of its route to the other (26, 37), or
// says with which code it fails. The payload is never looked at.
func (s *Server) relay(from side, source string, m *wire.Message) (code string) {
	now := s.config.Clock.Now()
	s.sweep(now)
	r := s.routes[m.RouteID]
	if r == nil {
		return wire.RouteNotFound
	}
	near, far, target := r.sideA, r.sideB, r.peerB
	if source != r.peerA {
		near, far, target = r.sideB, r.sideA, r.peerA
	}
	stranger := near != from || source != r.peerA && source != r.peerB
	switch {
	case r.forsaken && !stranger && s.peers[target] == nil:
		r.forsaken = false // told once; from now on it is just an expired route
		return wire.PeerNotFound
	case r.expired:
		return wire.RouteExpired
	case stranger: // no endpoint of it, not on this connection, not from this side
		return wire.TargetMismatch
	}
	if code := s.deliver(far, &wire.Message{RouteID: r.id, PeerKey: source, Kind: m.Kind, Payload: m.Payload}); code != "" {
		return code
	}
	r.expires = now.Add(s.config.Timers.RouteTTL)
	s.live.MoveToBack(r.place)
	return ""
}

// deliver takes a signal one hop on. What is discarded is told (39).
func (s *Server) deliver(to side, m *wire.Message) (code string) {
	c := to.conn
	m.Command = "SIGNAL-FROM"
	if c == nil {
		next := s.sisterTo(to.sister)
		if next == nil { // the route stays: the sister may come back
			return wire.ServerUnavailable
		}
		c, m.Command = next.conn, "@SIGNAL"
	}
	if !c.link.Offer(c.encode(m), s.config.Limits.Queue, queueBytes) {
		return wire.RateLimited
	}
	return ""
}

// signal handles @SIGNAL.
func (k *sister) signal(m *wire.Message) {
	s := k.server
	if !k.within(&s.remotes[k.remote.ID].relays, s.config.Rates.Relays, m.RouteID) {
		return
	}
	if code := s.relay(side{sister: k.remote.ID}, m.PeerKey, m); code != "" {
		k.fail(m.RouteID, code)
	}
}

// hearError takes @ERR. That of a route goes on to its other side (37); one that ends a handshake
// ends the connection; any other is of no consequence, since floods end by themselves. No error is
// ever answered.
func (k *sister) hearError(m *wire.Message) {
	s := k.server
	if k.expects != "" {
		s.config.Log.Info("refused by a sister", "uri", k.dialled, "code", m.Code)
		k.close(websocket.StatusNormalClosure, "")
		return
	}
	s.sweep(s.config.Clock.Now())
	r := s.routes[m.ID]
	if !k.live || r == nil || r.expired {
		return
	}
	var far side
	switch k.remote.ID {
	case r.sideA.sister:
		far = r.sideB
	case r.sideB.sister:
		far = r.sideA
	default:
		return
	}
	if far.conn != nil {
		far.conn.fail(r.id, m.Code)
	} else if next := s.sisterTo(far.sister); next != nil {
		next.fail(r.id, m.Code)
	}
}
