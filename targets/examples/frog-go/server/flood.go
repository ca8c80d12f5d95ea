package server

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"frog/clock"
	"frog/wire"
)

// flood is an @FIND or @LOOKUP that this server began or has seen (34). It is pending for the
// timeout of its kind, and known as a duplicate for as long again.
type flood struct {
	request *wire.Message
	from    string              // the sister that it came from, or
	conn    *conn               // the client that it is for,
	cid     string              // and its request
	asked   map[string]struct{} // the sisters that it was forwarded to
	pending bool

	keys  []string            // of @FIND: the peers so far, at its origin,
	limit int                 // and how many the client wants
	heard map[string]struct{} // of @FIND: the answers that were relayed
}

// floodKey tells requests apart (34).
func floodKey(m *wire.Message) string {
	if m.Command == "@LOOKUP" {
		return m.RouteID
	}
	return m.ServerID + " " + m.FCID
}

// fields are those that a duplicate has in common with the first: all but the ttl, which differs
// from path to path.
func fields(m *wire.Message) string {
	return strings.Join([]string{m.ServerID, m.PeerKey, strconv.Itoa(m.Limit), m.Source, m.Target}, " ")
}

// open remembers a flood. late is called if it is still pending after the timeout.
func (s *Server) open(f *flood, timeout time.Duration, late func()) {
	key := floodKey(f.request)
	f.pending, f.asked = true, map[string]struct{}{}
	s.floods[key] = f
	if f.conn != nil {
		f.conn.floods[f] = struct{}{}
		s.waiting++
	}
	s.after(timeout, func() {
		if f.pending {
			s.settle(f)
			if late != nil {
				late()
			}
		}
	})
	s.after(2*timeout, func() { delete(s.floods, key) })
}

// settle ends the time in which answers are taken.
func (s *Server) settle(f *flood) {
	if f.pending && f.conn != nil {
		delete(f.conn.floods, f)
		s.waiting--
	}
	f.pending = false
}

// flooded reports whether a request of a sister ends here: because it asks too much, because it was
// here before, or because it is one of our own that came round.
func (k *sister) flooded(m *wire.Message) bool {
	s := k.server
	if now := s.config.Clock.Now(); !s.remotes[k.remote.ID].floods.take(now, s.config.Rates.Floods) {
		if now.Sub(k.told) >= time.Minute { // more often it would only be more traffic
			k.told = now
			k.fail(m.Reference(), wire.RateLimited)
		}
		return true
	}
	before := ""
	if f := s.floods[floodKey(m)]; f != nil {
		before = fields(f.request)
	} else if r := s.routes[floodKey(m)]; r != nil {
		before = r.fields
	}
	switch {
	case before != "" && before != fields(m):
		k.fail(m.Reference(), wire.BadState)
		return true
	case before != "" || m.ServerID == s.id:
		return true
	case over(len(s.floods), s.config.Limits.Floods):
		k.fail(m.Reference(), wire.ServerUnavailable)
		return true
	}
	return false
}

// choose takes live sisters for a flood, those first that have been left out longest, in random
// order among them. Neither who sent it nor its origin is one of them.
func (s *Server) choose(fanout int, from, origin string) []*sister {
	var eligible []*remote
	for _, r := range s.remotes {
		if r.link != nil && r.id != from && r.id != origin {
			eligible = append(eligible, r)
		}
	}
	rand.Shuffle(len(eligible), func(i, j int) { eligible[i], eligible[j] = eligible[j], eligible[i] })
	slices.SortStableFunc(eligible, func(a, b *remote) int { return cmp.Compare(a.asked, b.asked) })
	var chosen []*sister
	s.rounds++
	for _, r := range eligible[:min(len(eligible), fanout)] {
		r.asked = s.rounds
		chosen = append(chosen, r.link)
	}
	return chosen
}

// forward sends a flood on. A sister that is behind with reading is left out.
func (s *Server) forward(f *flood, to []*sister, ttl int) {
	m := *f.request
	m.TTL = ttl
	for _, k := range to {
		if k.offer(k.encode(&m)) {
			f.asked[k.remote.ID] = struct{}{}
		}
	}
}

// after calls back under the lock.
func (s *Server) after(d time.Duration, f func()) clock.Timer {
	return s.config.Clock.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		f()
	})
}
