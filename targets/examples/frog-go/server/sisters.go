package server

import (
	"slices"
	"time"

	"github.com/coder/websocket"

	"frog/clock"
	"frog/wire"
)

// remote is a live sister: the server, with the connections to it.
type remote struct {
	id    string
	links []*sister // in the order of their coming
	link  *sister   // the one in use; nil when there is none
	asked int       // the last flood that it got a copy of

	floods, lists, relays window
}

func (r *remote) idle(now time.Time) bool {
	return len(r.links) == 0 && r.floods.idle(now) && r.lists.idle(now) && r.relays.idle(now)
}

// authorised is the local policy (3.10). It is asked about those who have proven who they are.
func (s *Server) authorised(k *sister) bool {
	id, policy := k.remote.ID, &s.config.Sister
	known := func(r wire.Record) bool { return r.ID == id }
	return k.seed != nil || slices.Contains(policy.Allow, id) || s.trusted[id] ||
		policy.Discover && slices.ContainsFunc(s.verified, known)
}

// remember puts a record at the end. A server has one URI, and a URI is that of one server: what
// was verified last counts (30).
func remember(records []wire.Record, r wire.Record) []wire.Record {
	records = slices.DeleteFunc(records, func(old wire.Record) bool { return old.ID == r.ID || old.URI == r.URI })
	return append(records[max(0, len(records)+1-maxRecords):], r)
}

// enlist makes a connection one of a live sister, and settles which one is used (31).
func (s *Server) enlist(k *sister) {
	now := s.config.Clock.Now()
	k.live, k.since = true, now
	k.deadline.Stop()
	k.tried()
	r := s.remotes[k.remote.ID]
	if r == nil {
		for id, other := range s.remotes {
			if other.idle(now) {
				delete(s.remotes, id)
			}
		}
		r = &remote{id: k.remote.ID}
		s.remotes[r.id] = r
	}
	r.links = append(r.links, k)
	s.settleLinks(r)
	s.config.Log.Info("sister", "server_id", r.id, "uri", k.remote.URI, "dialled", k.dialled != "")
	if s.config.Sister.Discover {
		k.askServers()
	}
}

// admitWaiting lets in those who have proven to be this server before it was authorised.
func (s *Server) admitWaiting(id string) {
	for c := range s.conns {
		if k := c.sister; k != nil && c.state == stateSister && !k.live && k.expects == "" && k.remote.ID == id && s.authorised(k) {
			s.enlist(k)
		}
	}
}

// preferred reports whether the server with the smaller id has initiated the connection.
func (k *sister) preferred() bool {
	return (k.dialled != "") == (k.server.id < k.remote.ID)
}

// settleLinks chooses the connection in use: the preferred, of several the youngest. The others
// are heard a moment longer, for what is on its way, and then closed.
func (s *Server) settleLinks(r *remote) {
	r.link = nil
	for _, k := range r.links {
		if r.link == nil || k.preferred() || !r.link.preferred() {
			r.link = k
		}
	}
	for _, k := range r.links {
		switch {
		case k == r.link && k.closing != nil:
			k.closing.Stop()
			k.closing = nil
		case k != r.link && k.closing == nil:
			k.closing = s.after(linger, func() {
				if k.closing != nil && k.state != stateClosed {
					k.close(websocket.StatusNormalClosure, "duplicate")
				}
			})
		}
	}
}

// leave takes a connection out of whatever it is in.
func (s *Server) leave(k *sister) {
	for _, t := range []clock.Timer{k.deadline, k.closing, k.gossip} {
		if t != nil {
			t.Stop()
		}
	}
	k.tried()
	if k.counted {
		k.counted = false
		s.sisters--
	}
	if r := s.remotes[k.remote.ID]; r != nil && k.live {
		k.live = false
		r.links = slices.DeleteFunc(r.links, func(other *sister) bool { return other == k })
		s.settleLinks(r)
		s.config.Log.Info("sister left", "server_id", r.id, "connections", len(r.links))
		if r.link == nil {
			s.missSeed(r.id)
		}
	}
	if seed := k.seed; seed != nil {
		k.seed = nil
		seed.lost(s, k.since)
	}
}

// sisterTo is the connection in use to a server, nil if it is not live.
func (s *Server) sisterTo(id string) *sister {
	if r := s.remotes[id]; r != nil {
		return r.link
	}
	return nil
}
