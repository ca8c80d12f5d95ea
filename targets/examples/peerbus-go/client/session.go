package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"peerbus/wire"
)

const (
	maxBackoff   = 5 * time.Second
	dialTimeout  = 10 * time.Second // for the WebSocket, and again for the answer to register
	writeTimeout = 10 * time.Second
)

// session is one connection.
type session struct {
	ws   *websocket.Conn
	down chan struct{} // closed when it has ended

	mu    sync.Mutex // of writing, and of asked, so that replies match requests by order
	asked []chan []string
}

// Run keeps the client connected until the context ends.
func (c *Client) Run(ctx context.Context) {
	defer context.AfterFunc(ctx, func() {
		c.mu.Lock()
		c.ended = true
		c.room.Broadcast()
		c.mu.Unlock()
	})()
	wait := c.cfg.Backoff
	for ctx.Err() == nil {
		start := time.Now()
		err := c.connect(ctx)
		if ctx.Err() != nil {
			return
		}
		c.cfg.Log.Info("no connection", "err", err)
		if time.Since(start) > 2*wait {
			wait = c.cfg.Backoff // it had held for a while
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait + rand.N(wait/2+1)):
		}
		wait = max(min(wait*8/5, maxBackoff), c.cfg.Backoff)
	}
}

// connect dials, registers, and pumps until the connection ends (PB-7-01).
func (c *Client) connect(ctx context.Context) error {
	dialer := websocket.Dialer{HandshakeTimeout: dialTimeout}
	ws, _, err := dialer.DialContext(ctx, c.cfg.URL, nil)
	if err != nil {
		return err
	}
	s := &session{ws: ws, down: make(chan struct{})}
	defer close(s.down)
	defer ws.Close()
	defer context.AfterFunc(ctx, func() { s.bye(websocket.CloseNormalClosure) })()
	ws.SetReadLimit(wire.MaxMessage) // PB-1-14

	if err := s.register(c.cfg.Token, c.cfg.Name); err != nil {
		s.bye(websocket.CloseProtocolError)
		return fmt.Errorf("rejected: %w", err) // PB-2.1-15
	}
	c.status(s)
	defer c.status(nil)
	return c.pump(s)
}

// status makes a session the current one, or none, and tells the host.
func (c *Client) status(s *session) {
	c.mu.Lock()
	c.session = s
	c.mu.Unlock()
	c.cfg.OnStatus(s != nil)
}

// frame is what a broker may send.
type frame struct {
	Type        any             `json:"type"`
	Names       json.RawMessage `json:"names"`
	DeliveryKey json.RawMessage `json:"delivery_key"`
	Envelope    json.RawMessage `json:"envelope"`
}

var errNotUTF8 = errors.New("a text message is not UTF-8")

// read returns the next text message; others are ignored (PB-1-11) but for the first.
func (s *session) read(first bool) ([]byte, error) {
	for {
		kind, data, err := s.ws.ReadMessage()
		switch {
		case err != nil:
			return nil, err
		case kind == websocket.TextMessage && !utf8.Valid(data):
			s.bye(websocket.CloseInvalidFramePayloadData)
			return nil, errNotUTF8
		case kind == websocket.TextMessage:
			return data, nil
		case first:
			return nil, errors.New("the first message is not text")
		}
	}
}

// register sends the first frame. One frame is read: peers means accepted, anything else rejected (PB-2.1-29, PB-2.1-30).
func (s *session) register(token, name string) error {
	if err := s.write(wire.Register(token, name)); err != nil {
		return err
	}
	_ = s.ws.SetReadDeadline(time.Now().Add(dialTimeout))
	data, err := s.read(true)
	if err != nil {
		return err
	}
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	if f.Type != wire.TypePeers {
		return fmt.Errorf("the first frame is of type %v", f.Type)
	}
	if _, err := names(f.Names); err != nil {
		return err
	}
	return s.ws.SetReadDeadline(time.Time{})
}

func names(raw json.RawMessage) (list []string, err error) {
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &list)
	}
	return list, err
}

// pump routes frames by their type. What cannot be read is dropped, and the connection stays (PB-5-25).
func (c *Client) pump(s *session) error {
	for {
		data, err := s.read(false)
		if err != nil {
			return err
		}
		var f frame
		if err := json.Unmarshal(data, &f); err != nil {
			continue
		}
		switch f.Type {
		case wire.TypePeers:
			if list, err := names(f.Names); err == nil {
				s.reply(list)
			}
		case wire.TypeDeliver:
			var key string
			if len(f.DeliveryKey) > 0 && json.Unmarshal(f.DeliveryKey, &key) != nil {
				continue
			}
			c.deliver(s, key, f.Envelope)
		}
	}
}

func (s *session) write(frame []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeLocked(frame)
}

func (s *session) writeLocked(frame []byte) error {
	_ = s.ws.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err := s.ws.WriteMessage(websocket.TextMessage, frame); err != nil {
		_ = s.ws.Close() // a frame may be cut
		return errors.Join(ErrNotConnected, err)
	}
	return nil
}

func (s *session) bye(code int) {
	_ = s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	_ = s.ws.Close()
}

// peers sends a request and waits for its reply: several may be under way.
func (s *session) peers(ctx context.Context) ([]string, error) {
	reply := make(chan []string, 1)
	s.mu.Lock()
	err := s.writeLocked(wire.PeersRequest())
	if err == nil {
		s.asked = append(s.asked, reply)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case list := <-reply:
		return list, nil
	case <-s.down:
		return nil, ErrNotConnected
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reply answers the oldest request; without one it is news that nobody wants.
func (s *session) reply(list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) > 0 {
		s.asked[0] <- slices.Clone(list)
		s.asked = slices.Delete(s.asked, 0, 1)
	}
}
