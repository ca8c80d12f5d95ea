// Package node is an endpoint of BCCN1 on a UDP port.
package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"bccn/wire"
)

const (
	// DefaultSanity is how far back a seq has to be to mean a restart.
	DefaultSanity = 4096
	// DefaultTTL is how long a silent sender is remembered.
	DefaultTTL = 24 * time.Hour
)

// maxBurst bounds how many late heartbeats are made up for.
const maxBurst = 1000

// ErrClosed is the error of everything that a closed node is asked for.
var ErrClosed = net.ErrClosed

// Reason is why a datagram was dropped.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	BadEnvelope Reason = "envelope"
	NotVerified Reason = "auth"
	BadBody     Reason = "body"
	NotForUs    Reason = "address"
	Duplicate   Reason = "duplicate"
)

// Config is how a node is opened. Broadcast is the one thing it has to hold.
type Config struct {
	Broadcast netip.AddrPort
	Key       []byte
	Name      string
	// Sanity is DefaultSanity where it is nil.
	Sanity *uint64
	TTL    time.Duration
	// With both of these a sender is forgotten after so many missing heartbeats.
	HeartbeatInterval time.Duration
	HeartbeatsMissed  int
	// DuplicateSend has every datagram sent twice.
	DuplicateSend bool
	// OnMessage and OnDrop are called by whoever reads.
	OnMessage func(Message)
	OnDrop    func(Reason)
}

// Message is one that was received.
type Message struct {
	wire.Message
	Peer          netip.AddrPort
	Authenticated bool
}

// Node is an open endpoint. Its methods may be called at any time, from anywhere.
type Node struct {
	conf  Config
	conn  *net.UDPConn
	clock Clock

	mu     sync.Mutex // for sending
	name   string
	seq    uint64
	beats  *time.Timer
	period time.Duration
	next   time.Time

	reading   sync.Mutex // one reader at a time
	buffer    []byte
	tracker   tracker
	listeners []listener
	listening sync.Mutex
}

type listener struct {
	pattern  string
	callback func(Message)
}

// Open opens a socket that listens at once; whatever comes waits in it to be read.
func Open(conf Config) (*Node, error) {
	n := &Node{
		conf: conf,
		seq:  uint64(time.Now().UnixMilli()), // a later life begins further on
		// One byte more than there may be tells what is too long.
		buffer: make([]byte, wire.MaxDatagram+1),
		tracker: tracker{
			sanity:  DefaultSanity,
			ttl:     DefaultTTL,
			senders: map[string]*sender{},
		},
	}
	if conf.Sanity != nil {
		n.tracker.sanity = *conf.Sanity
	}
	if conf.TTL > 0 {
		n.tracker.ttl = conf.TTL
	}
	if conf.HeartbeatInterval > 0 && conf.HeartbeatsMissed > 0 {
		n.tracker.ttl = conf.HeartbeatInterval * time.Duration(conf.HeartbeatsMissed)
		n.tracker.byHeartbeat = true
	}
	if err := n.SetName(conf.Name); err != nil {
		return nil, err
	}
	var err error
	n.conn, err = listen(conf.Broadcast)
	return n, err
}

// listen shares the port with others; net itself allows for broadcasting.
func listen(address netip.AddrPort) (*net.UDPConn, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = errors.Join(
				syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
				syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_BROADCAST, 1),
			)
		})
		return errors.Join(err, failed)
	}}
	conn, err := config.ListenPacket(context.Background(), "udp4", address.String())
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil
}

// Close drops the socket.
func (n *Node) Close() error {
	n.mu.Lock()
	if n.beats != nil {
		n.beats.Stop()
	}
	n.mu.Unlock()
	return n.conn.Close()
}

// SyscallConn gives access to the descriptor, for an event loop.
func (n *Node) SyscallConn() (syscall.RawConn, error) { return n.conn.SyscallConn() }

// Name is the node's own src, "?" where it has none.
func (n *Node) Name() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.name
}

// SetName changes it; the empty name is the unknown one.
func (n *Node) SetName(name string) error {
	if name == "" {
		name = wire.Unknown
	}
	if err := wire.CheckSrc(name); err != nil {
		return err
	}
	if strings.Contains(name, "*") || strings.HasSuffix(name, "/") {
		return errors.New("a name with a * or with a / at its end is ambiguous as a target")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.name = name
	return nil
}

// Seq is the number of the next message.
func (n *Node) Seq() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seq
}

// SetSeq changes it.
func (n *Node) SetSeq(seq uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seq = seq
}

// Send broadcasts a message under the node's own name.
func (n *Node) Send(channel string, payload []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.send(n.name, channel, payload, n.conf.Key)
}

// SendAs broadcasts a message under any name, "?" where it is empty. A key, if
// there is one, counts instead of the node's own.
func (n *Node) SendAs(src, channel string, payload, key []byte) error {
	if src == "" {
		src = wire.Unknown
	}
	if len(key) == 0 {
		key = n.conf.Key
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.send(src, channel, payload, key)
}

func (n *Node) send(src, channel string, payload, key []byte) error {
	m := wire.Message{Src: src, Seq: n.seq, Chan: channel, Payload: payload}
	datagram, err := m.Encode(key, "")
	if err != nil {
		return err
	}
	if _, err := n.conn.WriteToUDPAddrPort(datagram, n.conf.Broadcast); err != nil {
		return err
	}
	if n.conf.DuplicateSend {
		// The first one is on its way, whatever becomes of this.
		_, _ = n.conn.WriteToUDPAddrPort(datagram, n.conf.Broadcast)
	}
	n.seq++ // after a transmission only
	return nil
}

// SendAll broadcasts to everybody.
func (n *Node) SendAll(payload []byte) error { return n.Send("!", payload) }

// SendTo broadcasts to whom the target matches. Nobody is not everybody.
func (n *Node) SendTo(target string, payload []byte) error {
	if target == "" {
		return errors.New("no target")
	}
	return n.Send("!"+target, payload)
}

// SendTopic broadcasts on a plain channel.
func (n *Node) SendTopic(topic string, payload []byte) error {
	if strings.HasPrefix(topic, "!") {
		return errors.New("a topic does not begin with !")
	}
	return n.Send(topic, payload)
}

// Heartbeat broadcasts "heartbeat/<name>" every so often; 0 ends that.
func (n *Node) Heartbeat(period time.Duration) error {
	if period < 0 {
		return errors.New("a negative interval")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.beats != nil {
		n.beats.Stop()
		n.beats = nil
	}
	if n.period = period; period > 0 {
		n.next = n.clock.Now().Add(period)
		n.beats = time.AfterFunc(period, n.beat)
	}
	return nil
}

// beat sends the heartbeats that are due.
func (n *Node) beat() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.beats == nil {
		return
	}
	now := n.clock.Now()
	for sent := 0; !n.next.After(now); sent++ {
		if sent == maxBurst {
			n.next = now.Add(n.period)
			break
		}
		if err := n.send(n.name, "heartbeat/"+n.name, nil, n.conf.Key); errors.Is(err, net.ErrClosed) {
			return
		}
		n.next = n.next.Add(n.period)
	}
	n.beats.Reset(n.next.Sub(now))
}

// Advance puts the node's clock forward. Heartbeats that fell due meanwhile are
// sent when it returns.
func (n *Node) Advance(d time.Duration) {
	n.clock.advance(d)
	n.beat()
}

// Listen has messages on matching channels, and those for everybody, called back
// by whoever reads: Run or Dispatch. In a pattern "*" stands for one token, and
// ">" at its end for all that follow.
func (n *Node) Listen(pattern string, callback func(Message)) {
	n.listening.Lock()
	defer n.listening.Unlock()
	n.listeners = append(n.listeners[:len(n.listeners):len(n.listeners)], listener{pattern, callback})
}

func (n *Node) call(m Message) {
	n.listening.Lock()
	listeners := n.listeners
	n.listening.Unlock()
	for _, l := range listeners {
		if m.Mode() == wire.All || matchesPattern(l.pattern, m.Chan) {
			l.callback(m)
		}
	}
}

// Run reads until the node is closed.
func (n *Node) Run() {
	n.reading.Lock()
	defer n.reading.Unlock()
	for {
		size, peer, err := n.conn.ReadFromUDPAddrPort(n.buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // it may recover
			continue
		}
		n.handle(n.buffer[:size], peer, true)
	}
}

// Recv reads one datagram if one is there. It returns nil if none is, and if it
// was dropped.
func (n *Node) Recv() (*Message, error) {
	m, _, err := n.readOne(false)
	return m, err
}

// Dispatch reads all datagrams that are there, and calls the listeners.
func (n *Node) Dispatch() error {
	for {
		_, any, err := n.readOne(true)
		if err != nil || !any {
			return err
		}
	}
}

func (n *Node) readOne(dispatch bool) (m *Message, any bool, err error) {
	n.reading.Lock()
	defer n.reading.Unlock()
	raw, err := n.conn.SyscallConn()
	if err != nil {
		return nil, false, err
	}
	var size int
	var from syscall.Sockaddr
	var failed error
	// With its own flag: a deadline in the past would not even look.
	err = raw.Read(func(fd uintptr) bool {
		size, from, failed = syscall.Recvfrom(int(fd), n.buffer, syscall.MSG_DONTWAIT)
		return true
	})
	if failed == syscall.EAGAIN || failed == syscall.EINTR {
		return nil, false, nil
	}
	if err = errors.Join(err, failed); err != nil {
		return nil, false, err
	}
	var peer netip.AddrPort
	if inet, ok := from.(*syscall.SockaddrInet4); ok {
		peer = netip.AddrPortFrom(netip.AddrFrom4(inet.Addr), uint16(inet.Port))
	}
	return n.handle(n.buffer[:size], peer, dispatch), true, nil
}

func (n *Node) handle(datagram []byte, peer netip.AddrPort, dispatch bool) *Message {
	m, reason := n.accept(datagram, peer)
	if reason != "" {
		if n.conf.OnDrop != nil {
			n.conf.OnDrop(reason)
		}
		return nil
	}
	if n.conf.OnMessage != nil {
		n.conf.OnMessage(m)
	}
	if dispatch {
		n.call(m)
	}
	return &m
}

// accept says what to do with a datagram. Nothing but what passes everything
// else changes the tracker; the check comes before the address.
func (n *Node) accept(datagram []byte, peer netip.AddrPort) (Message, Reason) {
	decoded, authenticated, err := wire.Decode(datagram, n.conf.Key)
	switch {
	case errors.Is(err, wire.ErrEnvelope):
		return Message{}, BadEnvelope
	case errors.Is(err, wire.ErrCheck):
		return Message{}, NotVerified
	case err != nil:
		return Message{}, BadBody
	}
	if decoded.Mode() == wire.Directed && !wire.Matches(n.Name(), decoded.Chan[1:]) {
		return Message{}, NotForUs
	}
	key := decoded.Src
	if key == wire.Unknown {
		key = "? " + peer.Addr().String() // no src has a blank
	}
	heartbeat := decoded.Chan == "heartbeat/"+decoded.Src
	if !n.tracker.accept(key, decoded.Seq, heartbeat, n.clock.Now()) {
		return Message{}, Duplicate
	}
	decoded.Payload = append([]byte{}, decoded.Payload...) // the buffer is used again
	return Message{decoded, peer, authenticated}, ""
}

// OwnName is host/program/pid of this process.
func OwnName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	clean := func(token string) string {
		return strings.Map(func(r rune) rune {
			if r <= ' ' || r >= 0x7f || strings.ContainsRune(":|/*", r) {
				return '_'
			}
			return r
		}, token)
	}
	program := filepath.Base(os.Args[0])
	return fmt.Sprintf("%.50s/%.50s/%d", clean(host), clean(program), os.Getpid())
}
