// Package link carries FROG messages over one WebSocket: binary messages only, a queue in front
// of the one goroutine that writes, and an orderly end.
package link

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// readLimit leaves room above the longest legal message (65632 bytes), so that a payload that
	// is a little too large still gets its error. Beyond it the library closes with 1009.
	readLimit    = 128 << 10
	writeTimeout = 30 * time.Second
	closeTimeout = 2 * time.Second
)

// ErrText is what Read returns for a text message: the connection is closing then (4).
var ErrText = errors.New("text message")

// Link is one connection.
type Link struct {
	ws     *websocket.Conn
	ctx    context.Context
	cancel context.CancelFunc
	wake   chan struct{} // the writer has something to do
	room   chan struct{} // something was written
	done   chan struct{} // the writer has ended

	mu      sync.Mutex
	queue   [][]byte
	count   int // on their way, with the one that is being written
	bytes   int
	closing bool
	code    websocket.StatusCode
	reason  string
}

// New takes over a WebSocket.
func New(ws *websocket.Conn) *Link {
	ws.SetReadLimit(readLimit)
	ctx, cancel := context.WithCancel(context.Background())
	l := &Link{ws: ws, ctx: ctx, cancel: cancel,
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1), done: make(chan struct{})}
	go l.write()
	return l
}

// Read waits for the next binary message. Only one goroutine may read.
func (l *Link) Read() ([]byte, error) {
	kind, r, err := l.ws.Reader(l.ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageBinary {
		l.Close(websocket.StatusUnsupportedData, "binary messages only", false)
		return nil, ErrText
	}
	return io.ReadAll(r)
}

// Send queues a message; after Close it is dropped.
func (l *Link) Send(message []byte) { l.Offer(message, 0, 0) }

// Offer queues a message unless as many messages or bytes are on their way already; 0 is no bound.
func (l *Link) Offer(message []byte, maxCount, maxBytes int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing || l.full(maxCount, maxBytes) {
		return false
	}
	l.queue = append(l.queue, message)
	l.count++
	l.bytes += len(message)
	signal(l.wake)
	return true
}

func (l *Link) full(maxCount, maxBytes int) bool {
	return maxCount > 0 && l.count >= maxCount || maxBytes > 0 && l.bytes >= maxBytes
}

// WaitRoom blocks while that much is on its way to the other end. Only the reader may call it.
func (l *Link) WaitRoom(maxCount, maxBytes int) {
	for {
		l.mu.Lock()
		full := l.full(maxCount, maxBytes)
		l.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-l.room:
		case <-l.done:
			return
		}
	}
}

// Close ends the connection with a close frame: behind what is queued, or instead of it.
// It returns at once, and only the first call counts.
func (l *Link) Close(code websocket.StatusCode, reason string, flush bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return
	}
	l.closing, l.code, l.reason = true, code, reason
	if !flush {
		l.queue = nil
	}
	// The other end may have stopped reading, or may never close its side.
	time.AfterFunc(closeTimeout, l.cancel)
	signal(l.wake)
}

// Finish is called by the reader when it stops: it lets a Close do its work, or drops the connection.
func (l *Link) Finish() {
	l.mu.Lock()
	closing := l.closing
	l.mu.Unlock()
	if !closing {
		l.Abort()
	}
	<-l.done
}

// Abort drops the connection without a close frame.
func (l *Link) Abort() { l.cancel(); l.ws.CloseNow() }

// KeepAlive pings until the connection ends, and drops it when an answer stays away.
func (l *Link) KeepAlive(every, patience time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-l.done:
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(l.ctx, patience)
		err := l.ws.Ping(ctx)
		cancel()
		if err != nil {
			l.Abort()
			return
		}
	}
}

func (l *Link) write() {
	defer close(l.done)
	defer l.Abort()
	for {
		select {
		case <-l.wake:
		case <-l.ctx.Done():
			return
		}
		for {
			message, more := l.next()
			if !more {
				break
			}
			ctx, cancel := context.WithTimeout(l.ctx, writeTimeout)
			err := l.ws.Write(ctx, websocket.MessageBinary, message)
			cancel()
			if err != nil {
				return
			}
			l.mu.Lock()
			l.count--
			l.bytes -= len(message)
			l.mu.Unlock()
			signal(l.room)
		}
		l.mu.Lock()
		closing, code, reason := l.closing, l.code, l.reason
		l.mu.Unlock()
		if closing {
			l.ws.Close(code, reason)
			return
		}
	}
}

func (l *Link) next() ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		l.queue = nil
		return nil, false
	}
	message := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	return message, true
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
