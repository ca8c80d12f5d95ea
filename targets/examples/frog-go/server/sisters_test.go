package server

import (
	"strings"
	"testing"
	"time"
)

// The connection of the smaller id is kept, whichever came first.
func TestDuplicates(t *testing.T) {
	for _, n := range []byte{ids(50, 80)[0], ids(50, 80)[30]} {
		st := listen(t, n)
		f := start(t, func(c *Config) { c.Sister.Seeds = []Seed{{id(n), st.uri}} })
		f.server.Start()
		out := st.accept(f)
		out.quiet()
		in := f.sister(n) // it is authorised because it was verified at a seed
		in.quiet()
		keep, lose := out, in
		if id(n) < f.server.id {
			keep, lose = in, out
		}
		a := f.join(1, "NET")
		a.say("LOOKUP L1 " + peer(2, "NET") + "\n")
		words := strings.Fields(keep.hear())
		if words[0] != "@LOOKUP" || words[5] != "5" {
			t.Fatal(words)
		}
		// What is on its way on the other connection still counts, once.
		found := "@FOUND " + words[1] + " " + peer(2, "NET") + "\n"
		lose.say(found)
		a.expect("FOUND L1 " + peer(2, "NET") + " " + words[1] + "\n")
		keep.say(found)
		keep.quiet()
		f.clock.Advance(time.Second)
		lose.expect("closed StatusNormalClosure")
		keep.quiet()
		f.until(func() bool { return len(f.server.remotes[id(n)].links) == 1 })
	}
}

// Of two connections that the same server has dialled, the younger is kept. A route names the
// server, not the connection.
func TestReconnect(t *testing.T) {
	f := start(t, allow(50))
	b := f.join(2, "NET")
	old := f.sister(50)
	lookup := "@LOOKUP " + rid + " " + id(50) + " " + peer(1, "NET") + " " + peer(2, "NET") + " 0\n"
	old.ask(lookup, "@FOUND "+rid+" "+peer(2, "NET")+"\n")
	again := f.sister(50)
	again.quiet()
	b.say("SIGNAL " + rid + " ICE 1\nx")
	again.expect("@SIGNAL " + rid + " " + peer(2, "NET") + " ICE 1\nx")
	f.clock.Advance(time.Second)
	old.expect("closed StatusNormalClosure")
	again.say("@SIGNAL " + rid + " " + peer(1, "NET") + " ICE 1\ny")
	b.expect("SIGNAL-FROM " + rid + " " + peer(1, "NET") + " ICE 1\ny")
	again.ws.CloseNow()
	f.until(func() bool { return f.server.sisterTo(id(50)) == nil })
	b.ask("SIGNAL "+rid+" ICE 1\nx", "ERR "+rid+" SERVER_UNAVAILABLE\n")
	again = f.sister(50)
	again.quiet()
	b.say("SIGNAL " + rid + " ICE 1\nx")
	again.expect("@SIGNAL " + rid + " " + peer(2, "NET") + " ICE 1\nx")
}

// Gossip is a hint: only what was dialled, and is who it should be, is told or let in.
func TestGossip(t *testing.T) {
	seed, good, other := listen(t, 60), listen(t, 61), listen(t, 62)
	f := start(t, func(c *Config) {
		c.Sister = Sister{Seeds: []Seed{{URI: seed.uri}}, Discover: true, Allow: []string{id(50)}}
	})
	f.server.Start()
	p := seed.accept(f)
	words := strings.Fields(p.hear())
	if len(words) != 3 || words[0] != "@LIST" {
		t.Fatal(words)
	}
	p.ask("@SERVERS G1 0\n", "@ERR G1 BAD_STATE\n")
	p.ask("@SERVERS "+words[1]+" 1 "+id(61)+" "+strings.TrimSuffix(good.uri, "/")+"\n", "@ERR "+words[1]+" BAD_REQUEST\n")
	waiting := f.sister(61) // proven, but not verified
	waiting.ask("@LIST G1 7\n", "@ERR G1 AUTH_REQUIRED\n")
	p.say("@SERVERS " + words[1] + " 4 " + id(61) + " " + good.uri + " " + id(63) + " " + other.uri + " " + f.record() + " " + p.record() + "\n")
	impostor := other.called(f)
	impostor.ask(impostor.hello(), "@ERR - AUTH_FAILED\n")
	in := f.sister(50)
	if got := in.hear(); !strings.HasPrefix(got, "@LIST ") {
		t.Fatal(got)
	}
	in.ask("@LIST G1 7\n", "@SERVERS G1 1 "+p.record()+"\n")
	q := good.accept(f)
	for _, s := range []*played{q, waiting} { // both connections are let in now
		if got := s.hear(); !strings.HasPrefix(got, "@LIST ") {
			t.Fatal(got)
		}
	}
	for range 3 { // the one who asks does not hear of itself
		p.ask("@LIST G1 7\n", "@SERVERS G1 1 "+q.record()+"\n")
	}
	seen := map[string]bool{}
	for range 2 {
		in.say("@LIST G2 1\n")
		seen[in.hear()] = true
	}
	if !seen["@SERVERS G2 1 "+q.record()+"\n"] || !seen["@SERVERS G2 1 "+p.record()+"\n"] {
		t.Error(seen)
	}
	// A verified server that comes with another URI is known by the one that was dialled.
	p.ask("@LIST G3 8\n", "@ERR G3 BAD_REQUEST\n")
	f.until(func() bool { return len(f.server.verified) == 2 && f.server.verifying == 0 })
}
