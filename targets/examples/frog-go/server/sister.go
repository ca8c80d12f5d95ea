package server

import (
	"bytes"
	"errors"
	"time"

	"github.com/coder/websocket"

	"frog/clock"
	"frog/wire"
)

// sister is what a connection with another server has on top (28). It is guarded by the server's mutex.
type sister struct {
	*conn
	dialled string // the URI that was dialled; empty on a connection that was accepted
	want    string // the only id that will do there; empty: any
	seed    *seed  // the seed that it was dialled for
	trial   bool   // it was dialled because gossip named it, and is not verified yet

	counted  bool        // in Server.sisters
	expects  string      // the next command of the handshake; empty once both are authenticated
	remote   wire.Record // what its @HELLO claims
	live     bool        // authenticated and authorised: in state SISTER
	since    time.Time   // it is live
	deadline clock.Timer // of the handshake and of the wait for authorisation
	closing  clock.Timer // runs when another connection has taken its place
	gossip   clock.Timer // the next @LIST
	list     string      // fcid of the @LIST that waits for @SERVERS
	told     time.Time   // when it was last told that it floods too much
}

var handshake = map[string]bool{"@HELLO": true, "@CHAL": true, "@AUTH": true, "@OK": true}

// receiveSister handles what a sister may say first (14). Until a valid @HELLO the role is open.
func (c *conn) receiveSister(raw []byte) {
	k := &sister{conn: c}
	m, err := wire.Decode(wire.Sister, raw)
	switch {
	case err != nil:
		k.reject(raw, err)
	case m.Command == "@HELLO":
		c.state, c.sister = stateSister, k
		k.begin("@HELLO")
		k.hello(m)
	case m.Command == "@ERR": // never answer an error with an error
	default:
		k.fail(m.Reference(), wire.BadState)
	}
}

func (k *sister) receive(raw []byte) {
	s := k.server
	m, err := wire.Decode(wire.Sister, raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case k.state == stateClosed:
	case isClientWord(raw): // 14: the families do not mix
		k.fail("-", wire.BadState)
		k.close(websocket.StatusProtocolError, "a sister speaks no client commands")
	case err != nil:
		k.reject(raw, err)
	case m.Command == "@ERR":
		k.hearError(m)
	case k.expects != "":
		k.step(m)
	case handshake[m.Command]:
		k.fail("-", wire.BadState)
	case !k.live:
		k.fail(m.Reference(), wire.AuthRequired)
	default:
		k.perform(m, raw)
	}
}

// isClientWord reports whether a message begins with a command of clients, or of servers to them.
func isClientWord(raw []byte) bool {
	word, _, _ := bytes.Cut(raw[:min(len(raw), 16)], []byte(" "))
	name := string(bytes.TrimSuffix(word, []byte("\n")))
	_, up := wire.Members(wire.ToServer, name)
	_, down := wire.Members(wire.ToClient, name)
	return up || down
}

// reject answers what is no message of a sister.
func (k *sister) reject(raw []byte, err error) {
	var e *wire.Error
	if !errors.As(err, &e) || bytes.HasPrefix(raw, []byte("@ERR ")) {
		return
	}
	switch {
	case e.Code != wire.AuthFailed:
		k.fail(e.ID, e.Code)
		if e.Severe {
			k.close(websocket.StatusProtocolError, "malformed framing")
		}
	case k.expects == "@AUTH": // a malformed key or signature is an attempt that failed
		k.refuse(wire.AuthFailed)
	default:
		k.fail("-", wire.BadState)
	}
}

// perform carries out a command in state SISTER.
func (k *sister) perform(m *wire.Message, raw []byte) {
	switch m.Command {
	case "@LIST":
		k.tellServers(m)
	case "@SERVERS":
		k.hearServers(m)
	case "@FIND":
		k.find(m)
	case "@PEERS":
		k.hearPeers(m, raw)
	case "@LOOKUP":
		k.lookup(m)
	case "@FOUND":
		k.hearFound(m, raw)
	case "@SIGNAL":
		k.signal(m)
	}
}

// within counts a command against a rate.
func (k *sister) within(w *window, rate int, id string) bool {
	ok := w.take(k.server.config.Clock.Now(), rate)
	if !ok {
		k.fail(id, wire.RateLimited)
	}
	return ok
}

func (k *sister) fail(id, code string) {
	k.reply(&wire.Message{Command: "@ERR", ID: id, Code: code})
}

// refuse ends a handshake.
func (k *sister) refuse(code string) {
	k.fail("-", code)
	k.close(websocket.StatusPolicyViolation, code)
}

// offer sends what may be lost: floods and their answers, when too much is on its way already.
func (k *sister) offer(raw []byte) bool { return k.link.Offer(raw, 0, queueBytes) }
