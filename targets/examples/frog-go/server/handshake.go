package server

import (
	"github.com/coder/websocket"

	"frog/wire"
)

// The eight steps of section 29, as each side sees them. What a side expects next is a function of
// what it has sent, so that neither @AUTH nor @OK AUTH can be taken before its time (28):
//
//	acceptor  @HELLO > @HELLO @CHAL   @AUTH > @OK     @CHAL > @AUTH   @OK > live
//	dialler   @HELLO >                @CHAL > @AUTH   @OK > @CHAL     @AUTH > @OK, live
//
// An early @CHAL is never answered: an acceptor that signs for whoever has not proven itself could
// be used to answer the challenge of another acceptor.

// begin starts the time that a handshake has.
func (k *sister) begin(expects string) {
	s := k.server
	k.expects, k.counted = expects, true
	s.sisters++
	k.deadline = s.after(s.config.Timers.ChallengeTTL, func() {
		switch {
		case k.state == stateClosed || k.live:
		case k.expects == "": // authenticated, but nobody authorised it meanwhile
			k.refuse(wire.AuthRequired)
		default:
			k.refuse(wire.AuthFailed)
		}
	})
}

// step takes the next command of the handshake. Any other ends it: it could not be completed any more.
func (k *sister) step(m *wire.Message) {
	if m.Command != k.expects {
		k.fail(m.Reference(), wire.BadState)
		k.close(websocket.StatusPolicyViolation, "out of order")
		return
	}
	switch m.Command {
	case "@HELLO":
		k.hello(m)
	case "@CHAL":
		k.prove(m.Nonce)
	case "@AUTH":
		k.verify(m)
	case "@OK":
		if k.dialled != "" {
			k.demand()
		} else {
			k.complete()
		}
	}
}

// hello takes the claim of the other side. On a connection that was dialled the claim has to be the
// URI that was dialled: what is signed for this claim is then of no use with any other server.
func (k *sister) hello(m *wire.Message) {
	s := k.server
	switch {
	case m.ServerID == s.id, k.dialled != "" && m.URI != k.dialled, k.want != "" && m.ServerID != k.want:
		k.refuse(wire.AuthFailed)
		return
	case k.dialled == "" && (over(s.sisters-1, s.config.Limits.Sisters) || over(s.challenges, s.config.Limits.Challenges)):
		k.refuse(wire.ServerUnavailable)
		return
	}
	k.remote = wire.Record{ID: m.ServerID, URI: m.URI}
	if k.dialled != "" {
		k.expects = "@CHAL"
		return
	}
	k.greet()
	k.demand()
}

func (k *sister) greet() {
	k.reply(&wire.Message{Command: "@HELLO", ServerID: k.server.id, URI: k.server.config.URI})
}

// demand challenges the other side.
func (k *sister) demand() {
	k.reply(&wire.Message{Command: "@CHAL", Nonce: k.newChallenge()})
	k.expects = "@AUTH"
}

// prove answers a challenge.
func (k *sister) prove(nonce string) {
	s := k.server
	public, signature := wire.Sign(s.config.Key, wire.ServerAuthString(nonce, s.config.URI, s.id, k.remote.URI, k.remote.ID))
	k.reply(&wire.Message{Command: "@AUTH", PublicKey: public, Signature: signature})
	k.expects = "@OK"
}

// verify checks a proof; the signature is checked without the lock.
func (k *sister) verify(m *wire.Message) {
	s := k.server
	nonce, remote := k.takeChallenge(), k.remote
	s.mu.Unlock()
	valid := nonce != "" && wire.VerifyServer(m.PublicKey, m.Signature, nonce, remote.URI, remote.ID, s.config.URI, s.id)
	s.mu.Lock()
	switch {
	case k.state == stateClosed:
	case !valid:
		k.refuse(wire.AuthFailed)
	default:
		k.reply(&wire.Message{Command: "@OK", What: "AUTH"})
		if k.dialled == "" {
			k.expects = "@CHAL"
			return
		}
		s.verified = remember(s.verified, remote)
		if k.seed != nil {
			k.seed.known = remote.ID
			s.trusted[remote.ID] = true
		}
		k.complete()
	}
}

// complete ends the authentication. Who is not authorised yet may wait for it: two servers that
// dial each other at the same time learn of each other in any order.
func (k *sister) complete() {
	s := k.server
	k.expects = ""
	if s.authorised(k) {
		s.enlist(k)
	}
	if k.dialled != "" { // what was verified may be what others wait for
		s.admitWaiting(k.remote.ID)
	}
}
