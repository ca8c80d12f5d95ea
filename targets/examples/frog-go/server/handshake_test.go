package server

import (
	"slices"
	"strings"
	"testing"
	"time"

	"frog/wire"
)

var (
	rid  = strings.Repeat("7", 26)
	auth = "@AUTH " + strings.Repeat("0", 52) + " " + strings.Repeat("0", 103) + "\n"
)

// federated are the commands of state SISTER, with the id that an error about each echoes.
func federated() map[string]string {
	origin, a, b := strings.Repeat("5", 26), peer(1, "NET"), peer(2, "NET")
	return map[string]string{
		"@LIST G1 7\n": "G1", "@SERVERS G1 0\n": "G1", "@FIND R1 " + origin + " " + a + " 3 3\n": "R1", "@PEERS R1 " + origin + " 0\n": "R1",
		"@LOOKUP " + rid + " " + origin + " " + a + " " + b + " 5\n": rid, "@FOUND " + rid + " " + b + "\n": rid,
		"@SIGNAL " + rid + " " + a + " ICE 1\nx": rid,
	}
}

// Whatever is out of order ends the handshake of an acceptor, at each of its steps.
func TestAcceptorStates(t *testing.T) {
	f := start(t, allow(50))
	steps := []struct {
		reach func() *played
		legal string
	}{
		{func() *played { p := f.stranger(50); p.say(p.hello()); p.hear(); p.hear(); return p }, "@AUTH"},
		{func() *played {
			p := f.stranger(50)
			p.say(p.hello())
			p.hear()
			p.ask(p.proof(p.hear()), "@OK AUTH\n")
			return p
		}, "@CHAL"},
		{func() *played {
			p := f.stranger(50)
			p.say(p.hello())
			p.hear()
			p.ask(p.proof(p.hear()), "@OK AUTH\n")
			p.demand()
			return p
		}, "@OK"},
	}
	for _, step := range steps {
		commands := federated()
		for _, text := range []string{"@HELLO FROG/1 " + id(50) + " ws://a.example/\n", "@CHAL " + rid + "\n", auth, "@OK AUTH\n"} {
			if !strings.HasPrefix(text, step.legal) {
				commands[text] = "-"
			}
		}
		for text, ref := range commands {
			p := step.reach()
			p.ask(text, "@ERR "+ref+" BAD_STATE\n")
			p.expect("closed StatusPolicyViolation")
		}
		p := step.reach()
		p.ask("GETSERVERS A1 1\n", "@ERR - BAD_STATE\n")
		p.expect("closed StatusProtocolError")
		p = step.reach()
		p.ask("@NOTFOUND x\n", "@ERR - BAD_REQUEST\n")
		p.say("@ERR - INTERNAL\n")
		p.expect("closed StatusNormalClosure")
	}
	p := f.sister(50)
	for _, text := range []string{p.hello(), "@CHAL " + rid + "\n", auth, "@OK AUTH\n"} {
		p.ask(text, "@ERR - BAD_STATE\n")
	}
	p.say("@ERR G1 BAD_STATE\n")
	p.quiet()
	f.until(func() bool { return f.server.challenges == 0 && f.server.sisters == 1 })
}

func TestProofs(t *testing.T) {
	f := start(t, allow(50))
	own := &played{f.dial(), 200, "ws://127.0.0.1:9/"}
	own.ask(own.hello(), "@ERR - AUTH_FAILED\n")
	own.expect("closed StatusPolicyViolation")
	f.dial().ask("@HELLO FROG/1 "+id(50)+" ws://a.example\n", "@ERR - BAD_REQUEST\n")

	for i, spoil := range []func(p *played){
		func(p *played) { p.n = 51 },                                  // another key
		func(p *played) { p.uri = "ws://127.0.0.1:9/" },               // another URI than claimed
		func(p *played) { f.clock.Advance(30500 * time.Millisecond) }, // late
	} {
		p := f.stranger(50)
		p.ask(p.hello(), "@HELLO FROG/1 "+f.record()+"\n")
		challenge := p.hear()
		spoil(p)
		proof := p.proof(challenge)
		if i < 2 {
			p.say(proof)
		}
		p.expect("@ERR - AUTH_FAILED\n")
		p.expect("closed StatusPolicyViolation")
	}
	p := f.stranger(50)
	p.say(p.hello())
	p.hear()
	proof := p.proof(p.hear())
	p.ask(proof[:len(proof)-2]+"Z\n", "@ERR - AUTH_FAILED\n")
	f.until(func() bool { return f.server.challenges == 0 && f.server.sisters == 0 })
}

// Who is not authorised waits, is told so, and leaves with the time of the handshake.
func TestUnauthorised(t *testing.T) {
	f := start(t, nil)
	f.join(1, "NET")
	p := f.sister(50)
	for text, ref := range federated() {
		p.ask(text, "@ERR "+ref+" AUTH_REQUIRED\n")
	}
	p.ask("@OK AUTH\n", "@ERR - BAD_STATE\n")
	f.until(func() bool { return f.server.sisterTo(id(50)) == nil && len(f.server.verified) == 0 })
	f.clock.Advance(30 * time.Second)
	p.expect("@ERR - AUTH_REQUIRED\n")
	p.expect("closed StatusPolicyViolation")
}

// A dialler signs for nobody but the server at the URI that it has dialled.
func TestDiallerStates(t *testing.T) {
	st := listen(t, 60)
	f := start(t, func(c *Config) { c.Sister = Sister{Seeds: []Seed{{URI: st.uri}}, Redial: 10 * time.Millisecond} })
	f.server.Start()
	claim := func(n byte, uri string) string { return "@HELLO FROG/1 " + id(n) + " " + uri + "\n" }
	early := []struct{ text, want string }{
		{"@CHAL " + rid + "\n", "@ERR - BAD_STATE\n"}, {auth, "@ERR - BAD_STATE\n"}, {"@LIST G1 7\n", "@ERR G1 BAD_STATE\n"},
		{claim(60, "ws://127.0.0.1:9/"), "@ERR - AUTH_FAILED\n"}, {claim(200, st.uri), "@ERR - AUTH_FAILED\n"},
	}
	for _, c := range early {
		p := st.called(f)
		p.ask(c.text, c.want)
		p.expect("closed StatusPolicyViolation")
	}
	for _, text := range []string{"@OK AUTH\n", auth, claim(60, st.uri)} {
		p := st.called(f)
		p.say(p.hello())
		p.ask(text, "@ERR - BAD_STATE\n")
		p.expect("closed StatusPolicyViolation")
		f.clock.Advance(time.Second)
	}
	p := st.called(f)
	p.say(p.hello())
	p.demand()
	p.ask(auth, "@ERR - BAD_STATE\n")
	f.clock.Advance(time.Second)
	p = st.called(f)
	p.say(p.hello())
	p.demand()
	p.say("@OK AUTH\n")
	p.hear()
	p.ask(auth, "@ERR - AUTH_FAILED\n")
	f.until(func() bool { return len(f.server.verified) == 0 })
	f.clock.Advance(time.Second)
	p = st.accept(f)
	p.quiet()
	f.until(func() bool { return slices.Equal(f.server.verified, []wire.Record{{ID: id(60), URI: st.uri}}) })
	// The end of the connection is not that of the record, and the seed is dialled again.
	p.ws.CloseNow()
	f.until(func() bool { return f.server.sisterTo(id(60)) == nil })
	f.clock.Advance(time.Second)
	st.accept(f).quiet()
}
