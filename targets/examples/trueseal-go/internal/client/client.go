// Package client is a TrueSeal device: an outbox that is pushed to the relay, and a Receive Session that is kept open.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flynn/noise"

	"trueseal/internal/secure"
	"trueseal/internal/wire"
)

const (
	openTimeout   = 5 * time.Second  // TCP and Noise together
	answerTimeout = 30 * time.Second // for the next answer, while Pushes are under way
	writeTimeout  = 60 * time.Second
	linger        = 200 * time.Millisecond
	maxWait       = 2 * time.Second // between two tries

	windowBlobs = 16      // how many Pushes are under way at once
	windowBytes = 1 << 20 // a Push that begins below this may go beyond
	ackBatch    = 64      // how many Delivers are persisted with one fsync

	heartbeatBurst = 256 // answers that go out at once; then one every heartbeatPace
	heartbeatPace  = 50 * time.Millisecond
)

// Config is what a device needs to know. The callbacks come one after another per kind and must not block for long.
type Config struct {
	Push, Receive string // the relay's addresses
	RelayKey      wire.Key
	Key           noise.DHKey
	StateDir      string
	Retry         time.Duration // the first wait before a session is dialled again
	OnReceived    func(envelope []byte)
	OnPushed      func(id string)
	OnRejected    func(id string)
	Log           *slog.Logger
}

// ErrNoSession says that there is no Receive Session just now.
var ErrNoSession = errors.New("no Receive Session")

// RefusedError is a blob that can never be pushed.
type RefusedError struct{ reason string }

func (e *RefusedError) Error() string { return e.reason }

// Client is a device.
type Client struct {
	cfg   Config
	store *store
	wake  chan struct{} // something is in the outbox

	mu      sync.Mutex
	session *secure.Conn // the Receive Session
}

// Open opens the device's store. Run does the rest.
func Open(cfg Config) (*Client, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Retry = cmp.Or(cfg.Retry, 700*time.Millisecond)
	s, err := openStore(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	return &Client{cfg: cfg, store: s, wake: make(chan struct{}, 1)}, nil
}

// Close closes the store, after Run has returned.
func (c *Client) Close() error { return c.store.journal.Close() }

// Run keeps the Receive Session and empties the outbox until ctx is done.
func (c *Client) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { c.repeat(ctx, c.receive) })
	wg.Go(func() { c.repeat(ctx, c.push) })
	wg.Wait()
}

// repeat runs sessions. The wait between two begins at cfg.Retry after one that was of use, and grows.
func (c *Client) repeat(ctx context.Context, session func(context.Context) (useful bool, err error)) {
	wait := c.cfg.Retry
	for ctx.Err() == nil {
		useful, err := session(ctx)
		if useful {
			wait = c.cfg.Retry
		}
		if err == nil {
			continue
		}
		c.cfg.Log.Debug("session ended", "err", err)
		select {
		case <-time.After(wait + rand.N(wait/4+1)):
		case <-ctx.Done():
		}
		wait = min(wait*3/2, max(maxWait, c.cfg.Retry))
	}
}

// dial opens a session that ends with ctx. The caller calls release when it is over.
func (c *Client) dial(ctx context.Context, addr string, shake func(net.Conn) (*secure.Conn, error)) (conn *secure.Conn, release func() bool, err error) {
	dialer := net.Dialer{Timeout: openTimeout}
	nc, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	release = context.AfterFunc(ctx, func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(openTimeout))
	if conn, err = shake(nc); err != nil {
		release()
		nc.Close()
		return nil, nil, err
	}
	nc.SetDeadline(time.Time{})
	conn.WriteTimeout = writeTimeout
	return conn, release, nil
}

// Push puts a blob into the outbox. What is over the limit is refused here, before any session (TS-SIZE-03, TS-SIZE-04).
func (c *Client) Push(recipient, envelope []byte) (id string, err error) {
	if len(recipient) != wire.KeySize {
		return "", &RefusedError{"a recipient is a key of 32 bytes"}
	}
	if len(envelope) > wire.MaxEnvelope {
		return "", &RefusedError{fmt.Sprintf("the envelope is over %d bytes", wire.MaxEnvelope)}
	}
	n, err := c.store.enqueue(wire.Key(recipient), envelope)
	if err != nil {
		return "", err
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return name(n), nil
}

func name(id uint64) string { return fmt.Sprintf("%016x", id) }

// Received returns all envelopes that were received and persisted, oldest first.
func (c *Client) Received() ([][]byte, error) { return c.store.all() }

// Heartbeat sends one on the Receive Session. The client sends none of its own accord: the text has both sides answer every
// Heartbeat, so each one begins an exchange that does not end (TS-HB-05).
func (c *Client) Heartbeat() error {
	c.mu.Lock()
	conn := c.session
	c.mu.Unlock()
	if conn == nil || conn.Write(wire.Frame{Type: wire.Heartbeat}) != nil {
		return ErrNoSession
	}
	return nil
}

// pushSession is one NK session for all that is in the outbox. One goroutine sends, another takes the answers.
type pushSession struct {
	*Client
	conn    *secure.Conn
	results []func() // callbacks, due when the answers are durable
	useful  bool

	mu       sync.Mutex
	inFlight []uint64 // in the order of the Pushes
	sizes    []int    // of inFlight
	over     bool
	room     chan struct{} // the window has opened
	done     chan struct{}
}

// push waits for something to push and pushes until the outbox is empty.
func (c *Client) push(ctx context.Context) (useful bool, err error) {
	if _, any := c.store.next(nil); !any {
		select {
		case <-c.wake:
		case <-ctx.Done():
		}
		return false, nil
	}
	conn, release, err := c.dial(ctx, c.cfg.Push, func(nc net.Conn) (*secure.Conn, error) {
		return secure.DialNK(nc, c.cfg.RelayKey)
	})
	if err != nil {
		return false, err
	}
	defer release()
	p := &pushSession{Client: c, conn: conn, room: make(chan struct{}, 1), done: make(chan struct{})}
	conn.ReadTimeout = answerTimeout
	conn.Idle = p.settle // Ack, Error and Heartbeat have no body: the bounds of conn.Frames stay zero

	var sender sync.WaitGroup
	sender.Go(func() {
		if p.send() != nil {
			conn.Close()
		}
	})
	err = p.answers()
	if late := p.settle(); err == nil {
		err = late
	}
	close(p.done)
	if err == nil {
		conn.Close()
	} else {
		conn.Shutdown(linger)
	}
	sender.Wait()
	if err != nil && len(p.inFlight) > 0 {
		c.store.postpone(p.inFlight[0])
	}
	return p.useful, err
}

// send keeps the window full, also with blobs that come while the session is open.
func (p *pushSession) send() error {
	for {
		var frames []wire.Frame
		for size := 0; size < windowBytes/4; {
			id, ok := p.pick()
			if !ok {
				break
			}
			f, err := p.store.push(id)
			if err != nil {
				return err
			}
			p.mu.Lock()
			p.inFlight = append(p.inFlight, id)
			p.sizes = append(p.sizes, len(f.Envelope))
			p.mu.Unlock()
			frames = append(frames, f)
			size += len(f.Envelope)
		}
		if len(frames) > 0 {
			if err := p.conn.Write(frames...); err != nil {
				return err
			}
			continue
		}
		select {
		case <-p.wake:
		case <-p.room:
		case <-p.done:
			return nil
		}
	}
}

func (p *pushSession) pick() (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	bytes := 0
	for _, n := range p.sizes {
		bytes += n
	}
	if p.over || len(p.inFlight) >= windowBlobs || bytes >= windowBytes {
		return 0, false
	}
	return p.store.next(p.inFlight)
}

// answers reads until everything in the outbox is answered.
func (p *pushSession) answers() error {
	for {
		raw, err := p.conn.ReadFrame()
		if err != nil {
			return err
		}
		switch raw.Type {
		case wire.Heartbeat:
			if err := p.conn.Write(wire.Frame{Type: wire.Heartbeat}); err != nil { // TS-HB-02
				return err
			}
		case wire.Ack, wire.Error:
			if over, err := p.answer(raw.Type); over || err != nil {
				return err
			}
		default:
			return wire.ErrMalformed
		}
	}
}

// answer settles the oldest Push under way: both answers are final (TS-ACK-07, TS-ERR-04).
func (p *pushSession) answer(t wire.Type) (over bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.inFlight) == 0 {
		return false, errors.New("an answer to no Push")
	}
	id := p.inFlight[0]
	if err := p.store.answered(id); err != nil {
		return false, err
	}
	p.inFlight, p.sizes, p.useful = p.inFlight[1:], p.sizes[1:], true
	report := p.cfg.OnPushed
	if t == wire.Error {
		report = p.cfg.OnRejected
	}
	if report != nil {
		p.results = append(p.results, func() { report(name(id)) })
	}
	if len(p.inFlight) == 0 {
		_, more := p.store.next(nil)
		p.over = !more
	}
	select {
	case p.room <- struct{}{}:
	default:
	}
	return p.over, nil
}

// settle makes the answers durable and reports them.
func (p *pushSession) settle() error {
	if len(p.results) == 0 {
		return nil
	}
	if err := p.store.commit(); err != nil {
		return err
	}
	for _, report := range p.results {
		report()
	}
	p.results = nil
	return nil
}

// receiveSession is one XX session.
type receiveSession struct {
	*Client
	conn       *secure.Conn
	acks       []wire.Frame // DeliverAcks, due when the envelopes are durable
	news       [][]byte     // of these, what the application has not seen
	heartbeats atomic.Int64 // to be answered
	wake       chan struct{}
	done       chan struct{}
}

func (c *Client) receive(ctx context.Context) (useful bool, err error) {
	conn, release, err := c.dial(ctx, c.cfg.Receive, func(nc net.Conn) (*secure.Conn, error) {
		return secure.DialXX(nc, c.cfg.Key, c.cfg.RelayKey)
	})
	if err != nil {
		return false, err
	}
	defer release()
	r := &receiveSession{Client: c, conn: conn, wake: make(chan struct{}, 1), done: make(chan struct{})}
	conn.Frames = wire.Assembler{Keep: wire.IDSize + wire.MaxEnvelope, Drain: wire.IDSize + wire.MaxEnvelope}
	conn.Idle = r.settle
	c.setSession(conn)

	var pacer sync.WaitGroup
	pacer.Go(func() {
		if r.answerHeartbeats() != nil {
			conn.Close()
		}
	})
	err = r.read()
	c.setSession(nil)
	r.settle() // what has arrived is kept, even if the DeliverAcks do not get through any more
	close(r.done)
	pacer.Wait()
	conn.Shutdown(linger)
	return true, err
}

func (c *Client) setSession(conn *secure.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = conn
}

func (r *receiveSession) read() error {
	for {
		raw, err := r.conn.ReadFrame()
		if err != nil {
			return err
		}
		switch raw.Type {
		case wire.Heartbeat:
			if err := r.settle(); err != nil {
				return err
			}
			r.heartbeats.Add(1)
			select {
			case r.wake <- struct{}{}:
			default:
			}
		case wire.Deliver:
			f, err := raw.Parse() // strips the blob_id (TS-DLV-04)
			if err != nil {
				return err
			}
			isNew, err := r.store.receive(f.Envelope)
			if err != nil {
				return err
			}
			if isNew {
				r.news = append(r.news, f.Envelope)
			}
			r.acks = append(r.acks, wire.Frame{Type: wire.DeliverAck, BlobID: f.BlobID})
			if len(r.acks) >= ackBatch {
				if err := r.settle(); err != nil {
					return err
				}
			}
		default:
			return wire.ErrMalformed
		}
	}
}

// settle persists what was delivered, tells the application, and only then acknowledges (TS-DLV-03), the newest first.
func (r *receiveSession) settle() error {
	if len(r.acks) == 0 {
		return nil
	}
	acks, news := r.acks, r.news
	r.acks, r.news = nil, nil
	if err := r.store.commit(); err != nil {
		return err
	}
	for _, envelope := range news {
		if r.cfg.OnReceived != nil {
			r.cfg.OnReceived(envelope)
		}
	}
	slices.Reverse(acks)
	return r.conn.Write(acks...)
}

// answerHeartbeats sends one Heartbeat for each that came (TS-HB-02), but lets no peer that does the same spin.
func (r *receiveSession) answerHeartbeats() error {
	tokens, last := int64(heartbeatBurst), time.Now()
	for {
		gained := int64(time.Since(last) / heartbeatPace)
		last = last.Add(time.Duration(gained) * heartbeatPace)
		tokens = min(tokens+gained, heartbeatBurst)

		if n := min(tokens, r.heartbeats.Load()); n > 0 {
			if err := r.conn.Write(slices.Repeat([]wire.Frame{{Type: wire.Heartbeat}}, int(n))...); err != nil {
				return err
			}
			r.heartbeats.Add(-n)
			tokens -= n
			continue
		}
		var pause <-chan time.Time
		if r.heartbeats.Load() > 0 {
			pause = time.After(heartbeatPace)
		}
		select {
		case <-pause:
		case <-r.wake:
		case <-r.done:
			return nil
		}
	}
}
