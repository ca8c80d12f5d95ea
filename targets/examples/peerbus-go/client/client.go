// Package client is a peerbus peer: it keeps a connection to a broker and hands verified messages, each once, to its host.
package client

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"peerbus/wire"
)

// Config says who a client is. Name, URL, Token and Secret are needed.
type Config struct {
	URL    string // ws:// or wss://
	Name   string
	Token  string
	Secret []byte // at least wire.MinSecret bytes; never sent

	CacheSize int           // how many consumed ids are remembered; 4096 if 0
	Window    int           // how many messages may wait for their host; 1024 if 0
	Backoff   time.Duration // the first wait between two dials; 250 ms if 0
	Log       *slog.Logger

	// OnMessage gets every message once, in the order of their arrival; Consume is to follow. OnStatus hears of each
	// change. Neither may block for long.
	OnMessage func(wire.Envelope)
	OnStatus  func(connected bool)
}

// Errors of operations.
var (
	ErrNotConnected = errors.New("not connected")
	ErrTooLong      = errors.New("the message is too long")
	ErrBody         = errors.New("the body is not JSON")
)

// Client is a peer. All methods may be called concurrently.
type Client struct {
	cfg Config

	mu      sync.Mutex
	room    *sync.Cond // a message was consumed, or the client ends
	session *session   // the one that is registered, or nil
	waiting map[string]*pending
	seen    *ring
	ended   bool
}

// pending is a message that its host has and has not consumed yet.
type pending struct{ keys []string }

// New checks the configuration. Run does the work.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "ws" && u.Scheme != "wss", u.Host == "":
		return nil, errors.New("the URL has to be ws:// or wss://")
	case cfg.Name == "": // PB-2.1-06
		return nil, errors.New("the name is empty")
	case len(cfg.Secret) < wire.MinSecret: // PB-4-20
		return nil, wire.ErrSecret
	case cfg.CacheSize < 0, cfg.Window < 0, cfg.Backoff < 0:
		return nil, errors.New("a size is negative")
	}
	if cfg.CacheSize == 0 {
		cfg.CacheSize = 4096
	}
	if cfg.Window == 0 {
		cfg.Window = 1024
	}
	if cfg.Backoff == 0 {
		cfg.Backoff = 250 * time.Millisecond
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.OnMessage == nil {
		cfg.OnMessage = func(wire.Envelope) {}
	}
	if cfg.OnStatus == nil {
		cfg.OnStatus = func(bool) {}
	}
	c := &Client{cfg: cfg, waiting: map[string]*pending{}, seen: newRing(cfg.CacheSize)}
	c.room = sync.NewCond(&c.mu)
	return c, nil
}

// Send sends to one peer and returns the id. That a broker has the message is not confirmed by the protocol.
func (c *Client) Send(to string, body []byte) (string, error) {
	if to == "" || to == wire.Everyone {
		return "", fmt.Errorf("%q is not the name of a peer", to)
	}
	return c.send(to, wire.KindDirect, body)
}

// Broadcast sends to everyone else.
func (c *Client) Broadcast(body []byte) (string, error) {
	return c.send(wire.Everyone, wire.KindBroadcast, body)
}

// reserve is room for the key of a broadcast copy, which ends in a name that the sender does not know.
const reserve = 4096

func (c *Client) send(to, kind string, body []byte) (string, error) {
	if len(body) > wire.MaxMessage {
		return "", ErrTooLong
	}
	if len(body) > 0 && !json.Valid(body) {
		return "", ErrBody
	}
	now := time.Now()
	id := newID(now)
	frame, err := wire.Signed{
		ProtocolVersion: wire.Version,
		ID:              id,
		From:            c.cfg.Name,
		To:              to,
		TS:              now.UTC().Format(time.RFC3339Nano),
		Source:          "peerbus-go",
		Kind:            kind,
		Body:            body,
	}.Sign(c.cfg.Secret)
	if err != nil {
		return "", err
	}
	// The recipient's limit holds for the deliver around the envelope: over it, a copy could never be taken, and would
	// come back with every connection (PB-1-15).
	size := len(wire.Deliver(id, frame))
	if kind == wire.KindBroadcast {
		size += reserve
	}
	if size > wire.MaxMessage {
		return "", ErrTooLong
	}
	s := c.current()
	if s == nil {
		return "", ErrNotConnected
	}
	return id, s.write(frame)
}

// Peers asks for the names of the peers that are connected.
func (c *Client) Peers(ctx context.Context) ([]string, error) {
	s := c.current()
	if s == nil {
		return nil, ErrNotConnected
	}
	return s.peers(ctx)
}

// Consume says that the host is done with a message: now it is acked (PB-2.2-05). If there is no connection, the
// broker will deliver it again, and that copy is acked.
func (c *Client) Consume(id string) {
	c.mu.Lock()
	p := c.waiting[id]
	if p != nil {
		delete(c.waiting, id)
		c.seen.add(id)
		c.room.Broadcast()
	}
	s := c.session
	c.mu.Unlock()
	if p == nil || s == nil {
		return
	}
	for _, key := range p.keys {
		_ = s.write(wire.Ack(key))
	}
}

func (c *Client) current() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// deliver takes the frame of a message: verify, dedupe, surface (PB-7-02). Nothing that fails here is acked or
// remembered (PB-2.4-14, PB-5-11).
func (c *Client) deliver(s *session, key string, raw json.RawMessage) {
	if key == "" { // PB-2.4-12
		c.cfg.Log.Warn("dropped: no delivery_key")
		return
	}
	e, err := wire.Parse(raw)
	if err != nil || e.ID == "" || !e.Verify(c.cfg.Secret) {
		c.cfg.Log.Warn("dropped: not verified", "id", e.ID, "err", err)
		return
	}

	c.mu.Lock()
	for len(c.waiting) >= c.cfg.Window && c.waiting[e.ID] == nil && !c.ended {
		c.room.Wait() // and meanwhile nothing is read
	}
	if p := c.waiting[e.ID]; p != nil { // again, and not consumed yet: acked when it is
		p.add(key)
		c.mu.Unlock()
		return
	}
	if c.seen.has(e.ID) {
		c.mu.Unlock()
		_ = s.write(wire.Ack(key)) // PB-5-09
		return
	}
	if c.ended {
		c.mu.Unlock()
		return
	}
	c.waiting[e.ID] = &pending{[]string{key}}
	c.mu.Unlock()
	c.cfg.OnMessage(e)
}

// add remembers another key of the same message: a few, since only a broker that is confused has more than one.
func (p *pending) add(key string) {
	for _, k := range p.keys {
		if k == key {
			return
		}
	}
	if len(p.keys) < 8 {
		p.keys = append(p.keys, key)
	}
}

// ring remembers the latest ids.
type ring struct {
	ids  []string
	next int
	in   map[string]struct{}
}

func newRing(size int) *ring {
	return &ring{ids: make([]string, 0, min(size, 1024)), in: map[string]struct{}{}, next: -size}
}

func (r *ring) has(id string) bool {
	_, ok := r.in[id]
	return ok
}

func (r *ring) add(id string) {
	if r.has(id) {
		return
	}
	r.in[id] = struct{}{}
	if r.next < 0 { // it still grows
		r.ids = append(r.ids, id)
		r.next++
		return
	}
	delete(r.in, r.ids[r.next])
	r.ids[r.next] = id
	r.next = (r.next + 1) % len(r.ids)
}

var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newID makes a ULID: 48 bits of milliseconds, 80 bits of chance, in 26 symbols of five bits (PB-3-04).
func newID(now time.Time) string {
	var b [17]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16)
	rand.Read(b[6:16])
	for i := len(b) - 1; i > 0; i-- { // two zero bits come first
		b[i] = b[i-1]<<6 | b[i]>>2
	}
	b[0] >>= 2
	return crockford.EncodeToString(b[:])[:26]
}
