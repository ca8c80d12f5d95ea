package server

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"frog/clock"
)

// mesh starts servers; each dials those before it that the links name.
func mesh(t *testing.T, count int, links map[int][]int, change func(*Config)) []*fixture {
	t.Helper()
	var all []*fixture
	for i := range count {
		h := httptest.NewUnstartedServer(nil)
		f := &fixture{T: t, clock: clock.NewSkewed(), url: "ws://" + h.Listener.Addr().String() + "/"}
		config := Config{Key: key(byte(100 + i)), URI: f.url, Clock: f.clock}
		for j := range count {
			config.Sister.Allow = append(config.Sister.Allow, id(byte(100+j)))
		}
		for _, j := range links[i] {
			config.Sister.Seeds = append(config.Sister.Seeds, Seed{ID: all[j].server.id, URI: all[j].url})
		}
		if change != nil {
			change(&config)
		}
		var err error
		if f.server, err = New(config); err != nil {
			t.Fatal(err)
		}
		h.Config.Handler = f.server
		h.Start()
		f.server.Start()
		t.Cleanup(func() { f.server.Drain(); h.Close() })
		all = append(all, f)
	}
	for i, js := range links {
		for _, j := range js {
			all[i].until(func() bool { return all[i].server.sisterTo(all[j].server.id) != nil })
			all[j].until(func() bool { return all[j].server.sisterTo(all[i].server.id) != nil })
		}
	}
	return all
}

// until waits for something that holds under the lock.
func (f *fixture) until(holds func() bool) {
	f.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		f.server.mu.Lock()
		ok := holds()
		f.server.mu.Unlock()
		if ok {
			return
		}
	}
	f.Fatal("it did not come to pass")
}

// The example of section 48: A - B - C, and what follows from it.
func TestRecursiveLookup(t *testing.T) {
	all := mesh(t, 3, map[int][]int{1: {0}, 2: {1}}, nil)
	a, b := all[0].join(1, "NET"), all[2].join(2, "NET")
	rid := a.route(2, "NET")
	for i, f := range all {
		f.until(func() bool {
			r := f.server.routes[rid]
			return r != nil && r.peerA == peer(1, "NET") && r.peerB == peer(2, "NET") &&
				(i == 0 || r.sideA.sister == all[i-1].server.id) && (i == 2 || r.sideB.sister == all[i+1].server.id)
		})
	}
	payload := strings.Repeat("\n\x00\xff@", 16384)
	a.say("SIGNAL " + rid + " OFFER 65536\n" + payload)
	b.expect("SIGNAL-FROM " + rid + " " + peer(1, "NET") + " OFFER 65536\n" + payload)
	b.say("SIGNAL " + rid + " ANSWER 2\nok")
	a.expect("SIGNAL-FROM " + rid + " " + peer(2, "NET") + " ANSWER 2\nok")

	// The end of one peer is told along the route, in either direction.
	b.ws.CloseNow()
	all[2].until(func() bool { return all[2].server.peers[peer(2, "NET")] == nil })
	a.ask("SIGNAL "+rid+" ICE 0\n", "ERR "+rid+" PEER_NOT_FOUND\n")
	a.ask("SIGNAL "+rid+" ICE 0\n", "ERR "+rid+" ROUTE_EXPIRED\n")
	b = all[2].join(2, "NET")
	a.ask("SIGNAL "+rid+" ICE 0\n", "ERR "+rid+" ROUTE_EXPIRED\n")
	rid = a.route(2, "NET")
	all[0].join(1, "NET")
	a.expect("closed StatusCode(4409)")
	b.ask("SIGNAL "+rid+" ICE 0\n", "ERR "+rid+" ROUTE_EXPIRED\n")
}

func TestRecursiveFind(t *testing.T) {
	all := mesh(t, 4, map[int][]int{1: {0}, 2: {1}, 3: {2, 0}}, nil)
	a := all[0].join(1, "NET")
	want := map[string]bool{}
	for n := byte(2); n <= 4; n++ {
		all[n-1].join(n, "NET")
		all[n-1].join(n+20, "OTHER")
		want[peer(n, "NET")] = true
	}
	a.say("FIND F1 3\n") // as many as there are: it need not wait
	words := strings.Fields(a.hear())
	for _, w := range words[3:] {
		delete(want, w)
	}
	if len(words) != 6 || len(want) != 0 {
		t.Error(words)
	}
	a.say("FIND F2 7\n")
	all[0].until(func() bool {
		for fl := range all[0].server.peers[peer(1, "NET")].floods {
			return len(fl.keys) == 3
		}
		return false
	})
	all[0].clock.Advance(1500 * time.Millisecond)
	if words := strings.Fields(a.hear()); len(words) != 6 || words[1] != "F2" {
		t.Error(words)
	}
}

func TestLookupTimeout(t *testing.T) {
	all := mesh(t, 2, map[int][]int{1: {0}}, nil)
	a := all[0].join(1, "NET")
	a.say("LOOKUP L1 " + peer(2, "NET") + "\n")
	a.ask("GETSERVERS A1 7\n", "TRY A1 0\n") // it was dialled: that verifies nobody
	all[0].clock.Advance(2900 * time.Millisecond)
	a.ask("GETSERVERS A1 7\n", "TRY A1 0\n")
	all[0].clock.Advance(200 * time.Millisecond)
	a.expect("ERR L1 LOOKUP_TIMEOUT\n")
	all[0].clock.Advance(3 * time.Second)
	all[0].until(func() bool { return len(all[0].server.floods) == 0 && all[0].server.waiting == 0 })
	all[1].clock.Advance(3 * time.Second)
	all[1].clock.Advance(3 * time.Second)
	all[1].until(func() bool { return len(all[1].server.floods) == 0 })
}

// Two servers that dial each other, and know of each other by that alone, end up with one
// connection, that of the smaller id.
func TestMutualSeeds(t *testing.T) {
	var all [2]*fixture
	var hosts [2]*httptest.Server
	for i := range all {
		hosts[i] = httptest.NewUnstartedServer(nil)
		all[i] = &fixture{T: t, clock: clock.NewSkewed(), url: "ws://" + hosts[i].Listener.Addr().String() + "/"}
	}
	for i, f := range all {
		f.server, _ = New(Config{Key: key(byte(100 + i)), URI: f.url, Clock: f.clock,
			Sister: Sister{Seeds: []Seed{{URI: all[1-i].url}}, Redial: 20 * time.Millisecond}})
		hosts[i].Config.Handler = f.server
		hosts[i].Start()
		defer hosts[i].Close()
		defer f.server.Drain()
	}
	for _, f := range all {
		f.server.Start()
	}
	for i, f := range all {
		r := func() *remote { return f.server.remotes[all[1-i].server.id] }
		f.until(func() bool { return r() != nil && len(r().links) == 1 && r().link.preferred() && f.server.sisters == 1 })
		f.until(func() bool { return slices.Equal(f.server.alternatives(7), []string{all[1-i].url}) })
	}
	time.Sleep(100 * time.Millisecond) // several times the first wait: nobody dials in vain
	for _, f := range all {
		f.until(func() bool { return f.server.sisters == 1 })
	}
	all[0].server.Drain()
	all[1].until(func() bool { return links(all[1].server) == 0 })
}

func links(s *Server) (n int) {
	for _, r := range s.remotes {
		n += len(r.links)
	}
	return n
}
