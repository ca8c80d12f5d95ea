package broker

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"peerbus/wire"
)

const (
	registerTimeout = 20 * time.Second // for the first frame
	writeTimeout    = 30 * time.Second // for a peer that does not read
	farewellTimeout = time.Second      // for a peer to read why it is turned away
	flushBytes      = 1 << 20          // how much is read from the store at once
)

// conn is one WebSocket. Its goroutine reads, another one writes.
type conn struct {
	broker *Broker
	ws     *websocket.Conn
	name   string
	token  digest

	replies chan []byte   // to peers requests
	woken   chan struct{} // there may be something in the store
	closed  chan struct{}
	ending  atomic.Bool
}

func newConn(b *Broker, ws *websocket.Conn) *conn {
	ws.SetReadLimit(wire.MaxMessage) // one byte more closes with 1009 (PB-1-13)
	return &conn{
		broker:  b,
		ws:      ws,
		replies: make(chan []byte, 4),
		woken:   make(chan struct{}, 1),
		closed:  make(chan struct{}),
	}
}

// wake tells the writer to look into the store.
func (c *conn) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// end closes without waiting for the peer, which may be dead. Only the first call counts.
func (c *conn) end(code int, reason string) {
	if !c.ending.CompareAndSwap(false, true) {
		return
	}
	close(c.closed)
	go func() {
		_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(100*time.Millisecond))
		if tcp, ok := c.ws.NetConn().(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // what is still queued is in the store
		}
		_ = c.ws.Close()
	}()
}

// farewell closes with a status that the peer gets to read: what it still sends is discarded meanwhile, since unread
// bytes would turn the close into a reset (PB-2.1-13).
func (c *conn) farewell(code int, reason string) {
	if !c.ending.CompareAndSwap(false, true) {
		return
	}
	close(c.closed)
	deadline := time.Now().Add(farewellTimeout)
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), deadline)
	nc := c.ws.NetConn()
	if half, ok := nc.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_ = nc.SetReadDeadline(deadline)
	_, _ = io.CopyN(io.Discard, nc, 8<<20)
	_ = c.ws.Close()
}

// rejection is why a peer is turned away.
type rejection struct {
	code   int
	reason string
}

func (r rejection) Error() string { return r.reason }

// read returns the next message. The error is a rejection, or the connection is gone.
func (c *conn) read() (kind int, data []byte, err error) {
	kind, data, err = c.ws.ReadMessage()
	switch {
	case errors.Is(err, websocket.ErrReadLimit):
		err = rejection{websocket.CloseMessageTooBig, "more than 1 MiB"}
	case err == nil && kind == websocket.TextMessage && !utf8.Valid(data):
		err = rejection{websocket.CloseInvalidFramePayloadData, "not UTF-8"} // RFC 6455, 8.1
	}
	return kind, data, err
}

// serve is the life of a connection.
func (c *conn) serve() {
	if err := c.register(); err != nil {
		c.leave(err)
		return
	}
	var writer sync.WaitGroup
	writer.Go(c.write)
	err := c.pump()
	c.broker.post(event{conn: c, what: gone{}})
	c.leave(err)
	writer.Wait()
}

func (c *conn) leave(err error) {
	var r rejection
	if errors.As(err, &r) {
		c.broker.log.Info("turned away", "name", c.name, "why", r.reason)
		c.farewell(r.code, r.reason)
		return
	}
	c.farewell(websocket.CloseNormalClosure, "")
}

// register reads the first frame. The checks come in the order of the text: frame, JSON, type, version, name, token, and
// the binding at last.
func (c *conn) register() error {
	_ = c.ws.SetReadDeadline(time.Now().Add(registerTimeout))
	kind, data, err := c.read()
	if err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return rejection{websocket.ClosePolicyViolation, "no register came"}
		}
		return err
	}
	if kind != websocket.TextMessage {
		return rejection{websocket.CloseUnsupportedData, "the first frame is not text"}
	}
	o, err := wire.ParseObject(data)
	if err != nil {
		return rejection{websocket.CloseInvalidFramePayloadData, "the first frame is not a JSON object"}
	}
	if typ, err := o.Text("type"); err != nil || typ != wire.TypeRegister {
		return rejection{websocket.ClosePolicyViolation, "the first frame is not a register"}
	}
	f, err := o.Texts("protocol_version", "name", "token")
	switch {
	case err != nil:
		return rejection{websocket.CloseInvalidFramePayloadData, err.Error()}
	case f[0] != wire.Version:
		return rejection{websocket.ClosePolicyViolation, "protocol_version has to be v1"}
	case f[1] == "":
		return rejection{websocket.ClosePolicyViolation, "the name is empty"}
	}
	c.name, c.token = f[1], sum(f[2])
	if !c.broker.valid(c.token) {
		return rejection{websocket.ClosePolicyViolation, "the token is not valid"}
	}
	a, ok := c.broker.ask(c, register{})
	switch {
	case !ok:
		return rejection{websocket.CloseInternalServerErr, "the broker ends"}
	case a.refused:
		return rejection{websocket.ClosePolicyViolation, "the name is taken under another token"}
	}
	c.replies <- wire.Peers(a.names) // goes out before any deliver (PB-2.1-26)
	return c.ws.SetReadDeadline(time.Time{})
}

// pump reads until the connection ends.
func (c *conn) pump() error {
	for {
		kind, data, err := c.read()
		if err != nil {
			return err
		}
		if kind != websocket.TextMessage { // PB-1-10
			continue
		}
		switch w := classify(data).(type) {
		case nil:
		case peers:
			a, ok := c.broker.ask(c, w)
			if !ok {
				return rejection{websocket.CloseInternalServerErr, "the broker ends"}
			}
			select {
			case c.replies <- wire.Peers(a.names): // who does not read its answers is not read either
			case <-c.closed:
				return net.ErrClosed
			}
		default:
			if !c.broker.post(event{conn: c, what: w}) {
				return rejection{websocket.CloseInternalServerErr, "the broker ends"}
			}
		}
	}
}

// write sends replies, and the messages in the store in their order, each once.
func (c *conn) write() {
	if err := c.send(<-c.replies); err != nil {
		c.end(websocket.CloseAbnormalClosure, "")
		return
	}
	var last uint64
	c.wake()
	for {
		var err error
		select {
		case <-c.closed:
			return
		case reply := <-c.replies:
			err = c.send(reply)
		case <-c.woken:
			last, err = c.flush(last)
		}
		if err != nil {
			c.broker.log.Info("cannot deliver", "name", c.name, "err", err)
			c.end(websocket.CloseInternalServerErr, "cannot deliver")
			return
		}
	}
}

// flush sends what is behind row last, at most flushBytes; if there may be more it wakes itself.
func (c *conn) flush(last uint64) (uint64, error) {
	rows, err := c.broker.store.pending(c.name, last, flushBytes)
	if err != nil || len(rows) == 0 {
		return last, err
	}
	sent := 0
	for _, r := range rows {
		if err = c.send(wire.Deliver(r.key, r.envelope)); err != nil {
			break
		}
		last = r.n
		sent++
	}
	c.broker.post(event{conn: c, what: delivered{rows[:sent]}})
	c.wake()
	return last, err
}

func (c *conn) send(frame []byte) error {
	select {
	case <-c.closed:
		return net.ErrClosed
	default:
	}
	_ = c.ws.SetWriteDeadline(time.Now().Add(writeTimeout))
	return c.ws.WriteMessage(websocket.TextMessage, frame)
}
