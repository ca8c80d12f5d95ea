package server

import (
	"strings"
	"testing"
	"time"
)

func TestLookupFlood(t *testing.T) {
	f := start(t, allow(50, 51, 52))
	x, y, z := f.sister(50), f.sister(51), f.sister(52)
	for _, p := range []*played{x, y, z} {
		p.quiet()
	}
	a, b := peer(1, "NET"), peer(2, "NET")
	text := func(origin byte, target, ttl string) string {
		return "@LOOKUP " + rid + " " + id(origin) + " " + a + " " + target + " " + ttl + "\n"
	}
	x.ask(text(50, b, "8"), "@ERR "+rid+" BAD_REQUEST\n")
	x.ask(text(50, peer(2, "OTHER"), "5"), "@ERR "+rid+" BAD_REQUEST\n")
	x.ask(text(50, a, "5"), "@ERR "+rid+" BAD_REQUEST\n")
	x.say(text(200, b, "5")) // a loop
	x.quiet()
	x.say(text(50, b, "5"))
	y.expect(text(50, b, "4"))
	z.expect(text(50, b, "4"))
	x.say(text(50, b, "5"))
	z.say(text(50, b, "3")) // the same over another path
	z.quiet()
	z.ask(text(51, b, "3"), "@ERR "+rid+" BAD_STATE\n")
	x.ask("@FOUND "+rid+" "+b+"\n", "@ERR "+rid+" TARGET_MISMATCH\n") // it was not asked
	y.ask("@FOUND "+rid+" "+a+"\n", "@ERR "+rid+" TARGET_MISMATCH\n")
	y.say("@FOUND " + rid + " " + b + "\n")
	x.expect("@FOUND " + rid + " " + b + "\n")
	z.say("@FOUND " + rid + " " + b + "\n")
	z.quiet()
	x.quiet()

	// Signals and errors keep to the route.
	signal := "@SIGNAL " + rid + " " + a + " OFFER 3\n\xff\n\x00"
	x.say(signal)
	y.expect(signal)
	y.ask(signal, "@ERR "+rid+" TARGET_MISMATCH\n")
	z.ask(signal, "@ERR "+rid+" TARGET_MISMATCH\n")
	x.ask("@SIGNAL "+rid+" "+peer(3, "NET")+" ICE 0\n", "@ERR "+rid+" TARGET_MISMATCH\n")
	x.ask("@SIGNAL "+strings.Repeat("8", 26)+" "+a+" ICE 0\n", "@ERR "+strings.Repeat("8", 26)+" ROUTE_NOT_FOUND\n")
	x.ask("@SIGNAL "+rid+" "+a+" ICE 65537\n", "@ERR "+rid+" PAYLOAD_TOO_LARGE\n")
	z.say("@ERR " + rid + " INTERNAL\n")
	z.quiet()
	y.say("@ERR " + rid + " PEER_NOT_FOUND\n")
	x.expect("@ERR " + rid + " PEER_NOT_FOUND\n")
	x.say("@ERR " + rid + " RATE_LIMITED\n")
	y.expect("@ERR " + rid + " RATE_LIMITED\n")
	f.clock.Advance(100 * time.Second)
	x.ask(text(50, peer(3, "NET"), "5"), "@ERR "+rid+" BAD_STATE\n") // as long as the route lives
	y.ws.CloseNow()
	f.until(func() bool { return f.server.sisterTo(id(51)) == nil })
	x.ask(signal, "@ERR "+rid+" SERVER_UNAVAILABLE\n")
	f.clock.Advance(100 * time.Second)
	x.ask(signal, "@ERR "+rid+" ROUTE_EXPIRED\n")
	f.clock.Advance(2 * graveTime)
	x.ask(signal, "@ERR "+rid+" ROUTE_NOT_FOUND\n")
	x.say(text(50, b, "1")) // all forgotten
	z.expect(text(50, b, "0"))
	f.clock.Advance(3100 * time.Millisecond)
	z.say("@FOUND " + rid + " " + b + "\n") // late
	z.quiet()
	x.quiet()
}

func TestFindFlood(t *testing.T) {
	f := start(t, allow(50, 51))
	x, y := f.sister(50), f.sister(51)
	x.quiet()
	y.quiet()
	a := peer(1, "NET")
	f.join(1, "NET")
	for n := byte(2); n <= 6; n++ {
		f.join(n, "NET")
		f.join(n, "OTHER")
	}
	text := func(limit, ttl string) string { return "@FIND R1 " + id(50) + " " + a + " " + limit + " " + ttl + "\n" }
	peers := func(keys ...string) string {
		return "@PEERS R1 " + id(50) + " " + string('0'+rune(len(keys))) + strings.Join(append([]string{""}, keys...), " ") + "\n"
	}
	x.ask(text("8", "1"), "@ERR R1 BAD_REQUEST\n")
	x.say(text("3", "1"))
	words := strings.Fields(x.hear())
	if strings.Join(words[:4], " ") != "@PEERS R1 "+id(50)+" 3" || strings.Contains(strings.Join(words, " "), a) || strings.Contains(strings.Join(words, " "), "OTHER") {
		t.Error(words)
	}
	y.expect(text("3", "0"))
	x.ask(text("2", "1"), "@ERR R1 BAD_STATE\n")
	x.say(text("3", "2"))
	x.ask(peers(), "@ERR R1 BAD_STATE\n")
	y.ask(peers(peer(7, "OTHER")), "@ERR R1 BAD_REQUEST\n")
	y.ask(peers(peer(7, "NET"), peer(8, "NET"), peer(9, "NET"), peer(10, "NET")), "@ERR R1 BAD_REQUEST\n")
	y.say(peers(peer(7, "NET")))
	x.expect(peers(peer(7, "NET")))
	y.say(peers(peer(7, "NET"))) // twice the same
	y.say(peers(peer(8, "NET"), peer(7, "NET")))
	x.expect(peers(peer(8, "NET"), peer(7, "NET")))
	f.clock.Advance(1600 * time.Millisecond)
	y.say(peers(peer(9, "NET")))
	y.quiet()
	x.quiet()
}

func TestFindOrigin(t *testing.T) {
	f := start(t, allow(50, 51))
	x, y := f.sister(50), f.sister(51)
	x.quiet()
	y.quiet()
	a := f.join(1, "NET")
	f.join(2, "NET")
	a.say("FIND F1 4\n")
	words := strings.Fields(x.hear())
	y.hear()
	if words[0] != "@FIND" || words[2] != f.server.id || words[3] != peer(1, "NET") || words[4] != "3" || words[5] != "3" {
		t.Fatal(words)
	}
	answer := func(keys ...string) string {
		return "@PEERS " + words[1] + " " + f.server.id + " " + string('0'+rune(len(keys))) + " " + strings.Join(keys, " ") + "\n"
	}
	x.say(answer(peer(1, "NET"), peer(2, "NET"), peer(3, "NET")))
	y.say(answer(peer(3, "NET"), peer(4, "NET")))
	y.quiet()
	f.clock.Advance(1500 * time.Millisecond)
	got := strings.Fields(a.hear())
	if len(got) != 6 || got[2] != "3" {
		t.Error(got)
	}
	x.say(answer(peer(5, "NET")))
	x.quiet()
	a.ask("FIND F2 1\n", "PEERS F2 1 "+peer(2, "NET")+"\n") // enough of its own: nobody is asked
	x.quiet()
}

func TestFanoutAndRate(t *testing.T) {
	numbers := []byte{50, 51, 52, 53, 54}
	f := start(t, func(c *Config) {
		allow(numbers...)(c)
		c.Sister.LookupFanout, c.Sister.LookupTTL, c.Rates.Floods = 2, -1, 3
	})
	var all []*played
	for _, n := range numbers {
		all = append(all, f.sister(n))
		all[len(all)-1].quiet()
	}
	a := f.join(1, "NET")
	for range 3 {
		a.say("LOOKUP L1 " + peer(2, "NET") + "\n")
	}
	a.ask("GETSERVERS A1 1\n", "TRY A1 0\n")
	f.server.mu.Lock()
	total := 0
	for _, fl := range f.server.floods {
		if len(fl.asked) != 2 {
			t.Error(fl.asked)
		}
		total += len(fl.asked)
	}
	f.server.mu.Unlock()
	for _, p := range all { // 6 copies for 5 sisters: nobody is left out
		if words := strings.Fields(p.hear()); words[0] != "@LOOKUP" || words[5] != "0" {
			t.Error(words)
		}
	}
	if total != 6 {
		t.Error(total)
	}
	f.clock.Advance(2 * time.Minute)
	x := f.sister(55 - 5)
	x.quiet()
	for i := range 6 {
		x.say("@FIND R" + string('0'+rune(i)) + " " + id(50) + " " + peer(1, "NET") + " 1 0\n")
	}
	for i := range 3 {
		x.expect("@PEERS R" + string('0'+rune(i)) + " " + id(50) + " 0\n")
	}
	x.expect("@ERR R3 RATE_LIMITED\n") // told once
	x.quiet()
	f.clock.Advance(time.Minute)
	x.ask("@FIND R9 "+id(50)+" "+peer(1, "NET")+" 1 0\n", "@PEERS R9 "+id(50)+" 0\n")
}
