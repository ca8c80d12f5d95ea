package server

import (
	"container/list"
	"time"

	"frog/wire"
)

// side is the next hop towards a peer (3.12): a connection of this server, or the id of an adjacent
// sister, whichever connection it has.
type side struct {
	conn   *conn
	sister string
}

// route is temporary signaling state (25): a looked b up.
type route struct {
	id           string
	fields       string // of the @LOOKUP that led to it, for duplicates (34)
	peerA, peerB string
	sideA, sideB side
	created      time.Time
	expires      time.Time
	expired      bool
	forsaken     bool          // expired because an end went away, and nobody was told yet
	place        *list.Element // in Server.live or Server.graves
}

// newRouteID draws until the id is free (24).
func (s *Server) newRouteID() string {
	for {
		id := wire.RandomID()
		if s.routes[id] == nil && s.floods[id] == nil {
			return id
		}
	}
}

// addRoute makes the route that a lookup has found, unless there are too many.
func (s *Server) addRoute(request *wire.Message, sideA, sideB side) bool {
	now := s.config.Clock.Now()
	s.sweep(now)
	if over(s.live.Len(), s.config.Limits.Routes) {
		return false
	}
	r := &route{id: request.RouteID, fields: fields(request), peerA: request.Source, peerB: request.Target, sideA: sideA, sideB: sideB,
		created: now, expires: now.Add(s.config.Timers.RouteTTL)}
	r.place = s.live.PushBack(r)
	s.routes[r.id] = r
	for _, end := range []side{sideA, sideB} {
		if end.conn != nil {
			end.conn.routes[r] = struct{}{}
		}
	}
	if s.sweeper == nil {
		s.armSweeper()
	}
	return true
}

// expire ends a route and keeps it for a while, to be able to say so.
func (s *Server) expire(r *route) {
	if r.expired {
		return
	}
	r.expired = true
	for _, end := range []side{r.sideA, r.sideB} {
		if end.conn != nil {
			delete(end.conn.routes, r)
		}
	}
	s.live.Remove(r.place)
	r.expires = s.config.Clock.Now()
	r.place = s.graves.PushBack(r)
}

// sweep expires what is due and forgets old graves. Both lists are in order: it looks no further than it acts.
func (s *Server) sweep(now time.Time) {
	for e := s.live.Front(); e != nil && !e.Value.(*route).expires.After(now); e = s.live.Front() {
		s.expire(e.Value.(*route))
	}
	for e := s.graves.Front(); e != nil; e = s.graves.Front() {
		r := e.Value.(*route)
		if s.graves.Len() <= maxGraves && now.Sub(r.expires) < graveTime {
			break
		}
		s.graves.Remove(e)
		delete(s.routes, r.id)
	}
}

// armSweeper frees the memory of routes that nobody asks for any more.
func (s *Server) armSweeper() {
	s.sweeper = s.config.Clock.AfterFunc(graveTime, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sweep(s.config.Clock.Now())
		if s.sweeper = nil; len(s.routes) > 0 {
			s.armSweeper()
		}
	})
}
