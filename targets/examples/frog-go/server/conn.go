package server

import (
	"bytes"
	"errors"

	"github.com/coder/websocket"

	"frog/clock"
	"frog/internal/link"
	"frog/wire"
)

// state of a connection (15, 28). How far a sister has come, its sister knows.
type state int

const (
	stateNew state = 1 << iota
	stateHelloOK
	stateAuthPending
	stateRegistered
	stateSister
	stateClosed
)

// allowed lists the states in which a client may send a command (15).
var allowed = map[string]state{
	"HELLO":      stateNew,
	"JOIN":       stateHelloOK,
	"AUTH":       stateAuthPending,
	"LEAVE":      stateHelloOK | stateAuthPending | stateRegistered,
	"GETSERVERS": stateHelloOK | stateRegistered,
	"FIND":       stateRegistered,
	"LOOKUP":     stateRegistered,
	"SIGNAL":     stateRegistered,
}

// conn is one connection. All but the link is guarded by the server's mutex.
type conn struct {
	server *Server
	link   *link.Link
	ip     string

	state     state
	peerKey   string // claimed, then registered
	challenge *challenge
	place     int                 // in the list of its network
	floods    map[*flood]struct{} // those that wait for their answers
	routes    map[*route]struct{} // those with this connection at a side
	sister    *sister             // set by the goroutine that reads

	joins, failedAuths, getServers, finds, lookupRate, signals window
}

// serve takes over a connection that was accepted.
func (c *conn) serve(l *link.Link) {
	s := c.server
	s.mu.Lock()
	c.link, c.state = l, stateNew
	draining := s.draining
	s.mu.Unlock()
	if draining {
		l.Close(websocket.StatusServiceRestart, "draining", true)
	}
	c.read()
}

// read takes messages until the connection ends. A client that does not read its answers is not
// read either; between sisters that could stop both.
func (c *conn) read() {
	s := c.server
	go c.link.KeepAlive(pingEvery, patience)
	for {
		raw, err := c.link.Read()
		if err != nil {
			break
		}
		if c.sister != nil {
			c.sister.receive(raw)
			continue
		}
		c.receive(raw)
		c.link.WaitRoom(s.config.Limits.Queue, queueBytes)
	}
	s.retire(c) // at once (18); the end of the socket may take its time
	c.link.Finish()
}

func (c *conn) receive(raw []byte) {
	s := c.server
	m, err := wire.Decode(wire.ToServer, raw)
	sister := len(raw) > 0 && raw[0] == '@'

	if err == nil && m.Command == "AUTH" {
		c.authenticate(m)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.state == stateClosed:
	case sister && c.state == stateNew:
		c.receiveSister(raw)
	case sister: // 14: the families do not mix
		c.fail("-", wire.BadState)
		c.close(websocket.StatusProtocolError, "a client speaks no sister commands")
	case err != nil:
		c.reject(raw, err)
	case allowed[m.Command]&c.state == 0:
		// 15: the id is the CID, or "-". SIGNAL has none.
		id := m.CID
		if id == "" {
			id = "-"
		}
		c.fail(id, wire.BadState)
	default:
		c.perform(m)
	}
}

// reject answers what is no message of a client.
func (c *conn) reject(raw []byte, err error) {
	var e *wire.Error
	if !errors.As(err, &e) {
		return
	}
	code := e.Code
	if code == wire.AuthFailed { // an AUTH with a malformed key or signature is an attempt that failed
		if c.state != stateAuthPending {
			code = wire.BadState
		} else if !c.attempt(false) {
			return
		}
	}
	c.fail(e.ID, code)
	switch {
	case e.Severe:
		c.close(websocket.StatusProtocolError, "malformed framing")
	case bytes.HasPrefix(raw, []byte("ERR ")): // an error answered by an error could go on for ever
		c.close(websocket.StatusProtocolError, "a client sends no errors")
	}
}

// perform carries out a command that is allowed in this state.
func (c *conn) perform(m *wire.Message) {
	s := c.server
	if !c.withinRate(m.Command) {
		c.fail(m.Reference(), wire.RateLimited)
		return
	}
	switch m.Command {
	case "HELLO":
		c.state = stateHelloOK
		c.reply(&wire.Message{Command: "HELLO", ServerID: s.id})
	case "JOIN":
		c.join(m.PeerKey)
	case "LEAVE": // the registration is gone before the answer is sent (19)
		s.withdraw(c)
		c.reply(&wire.Message{Command: "OK", What: "LEAVE"})
		c.close(websocket.StatusNormalClosure, "")
	case "GETSERVERS":
		c.reply(&wire.Message{Command: "TRY", CID: m.CID, URIs: s.alternatives(m.Limit)})
	case "FIND":
		c.find(m.CID, m.Limit)
	case "LOOKUP":
		c.lookup(m.CID, m.PeerKey)
	case "SIGNAL":
		if code := s.relay(side{conn: c}, c.peerKey, m); code != "" {
			c.fail(m.RouteID, code)
		}
	}
}

func (c *conn) withinRate(command string) bool {
	now, rates := c.server.config.Clock.Now(), &c.server.config.Rates
	switch command {
	case "JOIN":
		return c.joins.take(now, rates.Joins)
	case "GETSERVERS":
		return c.getServers.take(now, rates.GetServers)
	case "FIND":
		return c.finds.take(now, rates.Finds)
	case "LOOKUP":
		return c.lookupRate.take(now, rates.Lookups)
	case "SIGNAL":
		return c.signals.take(now, rates.Signals)
	}
	return true
}

func (c *conn) reply(m *wire.Message) {
	if raw := c.encode(m); raw != nil {
		c.link.Send(raw)
	}
}

func (c *conn) encode(m *wire.Message) []byte {
	raw, err := wire.Encode(m)
	if err != nil {
		c.server.config.Log.Error("cannot encode", "command", m.Command, "error", err)
	}
	return raw
}

func (c *conn) fail(id, code string) { c.reply(&wire.Message{Command: "ERR", ID: id, Code: code}) }

// close ends a connection from this side, behind what is queued for it.
func (c *conn) close(code websocket.StatusCode, reason string) {
	c.server.withdraw(c)
	c.state = stateClosed
	c.link.Close(code, reason, true)
}

// challenge is a pending JOIN (17).
type challenge struct {
	nonce string
	timer clock.Timer
}
