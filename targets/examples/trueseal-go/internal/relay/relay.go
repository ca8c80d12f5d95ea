// Package relay is a TrueSeal relay: it takes blobs from anonymous Push Sessions, keeps them, and delivers them to the
// Receive Sessions of their recipients until each is acknowledged.
package relay

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flynn/noise"

	"trueseal/internal/secure"
	"trueseal/internal/wire"
)

const (
	maxSessions      = 4096 // per listener
	maxDrain         = 8 << 20
	handshakeTimeout = 10 * time.Second
	pushIdle         = 2 * time.Minute // a Push Session is short-lived by design
	writeTimeout     = 2 * time.Minute // nobody who reads needs as long
	linger           = time.Second

	batchBlobs = 64 // how much is taken from one Push Session before it is stored and answered
	batchBytes = 4 << 20
	burstBytes = 64 << 10 // how much is delivered in one write
)

// Config is what a relay needs to know.
type Config struct {
	Push, Receive string // addresses to listen on
	Key           noise.DHKey
	StateDir      string
	Limit         int // bytes of the largest envelope; never over wire.MaxEnvelope (TS-SIZE-08)
	Log           *slog.Logger
}

// Server is a running relay.
type Server struct {
	cfg           Config
	store         *Store
	push, receive net.Listener

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	wg     sync.WaitGroup
}

// Start opens the store, listens on both addresses (TS-SES-11) and serves.
func Start(cfg Config) (*Server, error) {
	if cfg.Limit < 0 {
		return nil, errors.New("the limit is negative")
	}
	cfg.Limit = min(cfg.Limit, wire.MaxEnvelope)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	s := &Server{cfg: cfg, conns: map[net.Conn]struct{}{}}
	var err error
	if s.store, err = OpenStore(cfg.StateDir); err != nil {
		return nil, err
	}
	if s.receive, err = net.Listen("tcp", cfg.Receive); err != nil {
		s.store.Close()
		return nil, err
	}
	if s.push, err = net.Listen("tcp", cfg.Push); err != nil {
		s.receive.Close()
		s.store.Close()
		return nil, err
	}
	s.wg.Add(2)
	go s.accept(s.push, s.servePush)
	go s.accept(s.receive, s.serveReceive)
	return s, nil
}

// PushAddr and ReceiveAddr are where the relay listens.
func (s *Server) PushAddr() *net.TCPAddr    { return s.push.Addr().(*net.TCPAddr) }
func (s *Server) ReceiveAddr() *net.TCPAddr { return s.receive.Addr().(*net.TCPAddr) }

// BreakStore makes everything fail that wants to store something, as a test.
func (s *Server) BreakStore() error { return s.store.journal.Break() }

// Close ends all sessions and closes the store.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.push.Close()
	s.receive.Close()
	for nc := range s.conns {
		nc.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
	return s.store.Close()
}

// accept serves the connections of one listener. Addresses are not logged: a Push Session is anonymous (TS-SES-12).
func (s *Server) accept(l net.Listener, serve func(net.Conn) error) {
	defer s.wg.Done()
	slots := make(chan struct{}, maxSessions)
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as no more file descriptors
			s.cfg.Log.Warn("accept", "err", err)
			time.Sleep(50 * time.Millisecond)
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			nc.Close()
			continue
		}
		if !s.track(nc) {
			nc.Close()
			return
		}
		go func() {
			defer s.wg.Done()
			defer func() { <-slots }()
			defer s.untrack(nc)
			err := serve(nc)
			if op := (*net.OpError)(nil); errors.As(err, &op) {
				err = op.Err // the rest of it is addresses
			}
			if err != nil && !errors.Is(err, io.EOF) {
				s.cfg.Log.Debug("session ended", "err", err)
			}
		}()
	}
}

func (s *Server) track(nc net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[nc] = struct{}{}
	s.wg.Add(1)
	return true
}

func (s *Server) untrack(nc net.Conn) {
	nc.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, nc)
}

// open does a handshake within its time.
func (s *Server) open(nc net.Conn, accept func(net.Conn, noise.DHKey) (*secure.Conn, error)) (*secure.Conn, error) {
	nc.SetDeadline(time.Now().Add(handshakeTimeout))
	conn, err := accept(nc, s.cfg.Key)
	if err != nil {
		return nil, err
	}
	nc.SetDeadline(time.Time{})
	conn.WriteTimeout = writeTimeout
	return conn, nil
}

// pushSession collects Pushes while they keep coming, stores them with one fsync and answers them with one write.
type pushSession struct {
	*Server
	conn    *secure.Conn
	blobs   []Blob
	bytes   int
	answers []wire.Frame // in the order of the Pushes (TS-ACK-06)
}

func (s *Server) servePush(nc net.Conn) error {
	conn, err := s.open(nc, secure.AcceptNK)
	if err != nil {
		return err
	}
	p := &pushSession{Server: s, conn: conn}
	conn.ReadTimeout = pushIdle
	conn.Frames = wire.Assembler{Keep: uint32(wire.KeySize + s.cfg.Limit), Drain: maxDrain}
	conn.Idle = p.settle
	for {
		raw, err := conn.ReadFrame()
		if err == nil {
			err = p.take(raw)
		}
		if err == nil {
			continue
		}
		var tooLong *wire.TooLongError
		if errors.As(err, &tooLong) && tooLong.Type == wire.Push {
			p.answers = append(p.answers, wire.Frame{Type: wire.Error}) // over any limit (TS-SIZE-09)
		}
		if late := p.settle(); late != nil {
			err = late
		}
		conn.Shutdown(linger)
		return err
	}
}

func (p *pushSession) take(raw *wire.Raw) error {
	switch raw.Type {
	case wire.Heartbeat:
		p.answers = append(p.answers, wire.Frame{Type: wire.Heartbeat}) // TS-HB-02
	case wire.Push:
		f, err := raw.Parse()
		if err != nil { // shorter than 32 bytes, or an envelope over the limit: TS-PUSH-06, TS-SIZE-05
			p.answers = append(p.answers, wire.Frame{Type: wire.Error})
			break
		}
		p.answers = append(p.answers, wire.Frame{Type: wire.Ack})
		p.blobs = append(p.blobs, Blob{f.Recipient, f.Envelope})
		p.bytes += len(f.Envelope)
	default:
		return wire.ErrMalformed // TS-TYP-04
	}
	if len(p.answers) >= batchBlobs || p.bytes >= batchBytes {
		return p.settle()
	}
	return nil
}

// settle stores what was collected and then answers. If it cannot be stored, no answer would be true from the first such Push
// on (TS-ERR-06): the session ends.
func (p *pushSession) settle() error {
	answers := p.answers
	var failure error
	if len(p.blobs) > 0 {
		if failure = p.store.Put(p.blobs); failure != nil {
			p.cfg.Log.Error("cannot store", "err", failure)
			for i, a := range answers {
				if a.Type == wire.Ack {
					answers = answers[:i]
					break
				}
			}
		}
	}
	p.answers, p.blobs, p.bytes = nil, nil, 0
	if len(answers) > 0 {
		if err := p.conn.Write(answers...); failure == nil {
			failure = err
		}
	}
	return failure
}

// receiveSession reads in one goroutine and writes in another, so that a device that does not read is still heard.
type receiveSession struct {
	*Server
	conn       *secure.Conn
	watcher    *Watcher
	heartbeats atomic.Int64 // to be answered
	deleted    bool         // since the last sync
	done       chan struct{}
}

func (s *Server) serveReceive(nc net.Conn) error {
	conn, err := s.open(nc, secure.AcceptXX)
	if err != nil {
		return err
	}
	r := &receiveSession{Server: s, conn: conn, watcher: s.store.Watch(conn.Peer), done: make(chan struct{})}
	defer s.store.Unwatch(conn.Peer, r.watcher)
	conn.Frames = wire.Assembler{Keep: wire.IDSize, Drain: wire.MaxMessage}
	conn.Idle = r.settle

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if err := r.deliver(); err != nil {
			conn.Close()
		}
	}()
	err = r.read()
	if late := r.settle(); late != nil {
		err = late
	}
	close(r.done)
	select {
	case <-stopped:
	case <-time.After(linger): // the device does not read
		conn.Close()
		<-stopped
	}
	conn.Shutdown(linger)
	return err
}

func (r *receiveSession) read() error {
	for {
		raw, err := r.conn.ReadFrame()
		if err != nil {
			return err
		}
		switch raw.Type {
		case wire.Heartbeat:
			// The answer says that every DeliverAck before it has been carried out.
			if err := r.settle(); err != nil {
				return err
			}
			r.heartbeats.Add(1)
			r.watcher.signal()
		case wire.DeliverAck:
			f, err := raw.Parse()
			if err != nil {
				continue // names no blob; nothing to delete, nothing to answer (TS-DACK-08)
			}
			if err := r.store.Delete(r.conn.Peer, f.BlobID); err != nil {
				return err
			}
			r.deleted = true
		default:
			return wire.ErrMalformed // TS-TYP-04; an Error frame here would speak of a blob
		}
	}
}

// settle makes the deletions durable once no more DeliverAcks are waiting to be read.
func (r *receiveSession) settle() error {
	if !r.deleted {
		return nil
	}
	r.deleted = false
	return r.store.Sync()
}

// deliver sends what the inbox holds, without waiting for DeliverAcks, each blob once per session (TS-DLV-11), and answers heartbeats.
func (r *receiveSession) deliver() error {
	for {
		var frames []wire.Frame
		for range min(r.heartbeats.Load(), 256) {
			frames = append(frames, wire.Frame{Type: wire.Heartbeat})
		}
		r.heartbeats.Add(-int64(len(frames)))
		for size := 0; size < burstBytes; {
			id, ok := r.watcher.Next()
			if !ok {
				break
			}
			envelope, ok, err := r.store.Get(r.conn.Peer, id)
			if err != nil { // it stays where it is; the others need not wait for it
				r.cfg.Log.Error("cannot read a blob", "err", err)
			} else if ok {
				frames = append(frames, wire.Frame{Type: wire.Deliver, BlobID: id, Envelope: envelope})
				size += len(envelope) + wire.IDSize
			}
		}
		if len(frames) > 0 {
			if err := r.conn.Write(frames...); err != nil {
				return err
			}
		}
		if len(frames) == 0 {
			select {
			case <-r.watcher.Wake:
			case <-r.done:
			}
		}
		select {
		case <-r.done:
			if r.heartbeats.Load() == 0 {
				return nil
			}
		default:
		}
	}
}
