// Package secure carries TrueSeal frames over Noise on a TCP connection: NK for Push Sessions, XX for Receive Sessions.
// Every Noise message stands behind its length as u16 big-endian.
package secure

import (
	"bufio"
	"crypto/ecdh"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/flynn/noise"

	"trueseal/internal/wire"
)

// Suite is 25519, ChaChaPoly, BLAKE2s.
var Suite = noise.NewCipherSuite(noise.DH25519, noise.CipherChaChaPoly, noise.HashBLAKE2s)

// flushAt is how many bytes are gathered before they go to TCP in the middle of a write.
const flushAt = 64 << 10

// Keypair makes a key pair of 32 private bytes, taken as they are.
func Keypair(private []byte) (noise.DHKey, error) {
	k, err := ecdh.X25519().NewPrivateKey(private)
	if err != nil {
		return noise.DHKey{}, err
	}
	return noise.DHKey{Private: k.Bytes(), Public: k.PublicKey().Bytes()}, nil
}

// Conn is an established session. One goroutine may read, any number may write.
type Conn struct {
	Peer wire.Key // the other side's static key; zero for the relay's end of an NK session

	// Frames bounds what is read; set it before the first ReadFrame.
	Frames wire.Assembler
	// Idle, if set, is called by ReadFrame before every read that might have to wait for the network: the place to
	// settle what was put off while frames kept coming.
	Idle func() error
	// ReadTimeout and WriteTimeout, if not zero, bound one Noise message read and one call of Write.
	ReadTimeout, WriteTimeout time.Duration

	nc     net.Conn
	br     *bufio.Reader
	in     []byte
	rx, tx *noise.CipherState
	wmu    sync.Mutex
	out    []byte
}

// DialNK is the client's side of a Push Session: only the owner of relay can complete it (TS-SES-01, TS-SES-02).
func DialNK(nc net.Conn, relay wire.Key) (*Conn, error) {
	return handshake(nc, noise.Config{Pattern: noise.HandshakeNK, Initiator: true, PeerStatic: relay[:]}, &relay)
}

// AcceptNK is the relay's side of a Push Session.
func AcceptNK(nc net.Conn, key noise.DHKey) (*Conn, error) {
	return handshake(nc, noise.Config{Pattern: noise.HandshakeNK, StaticKeypair: key}, nil)
}

// DialXX is the client's side of a Receive Session. It ends before message 3 if the relay is not the expected one.
func DialXX(nc net.Conn, key noise.DHKey, relay wire.Key) (*Conn, error) {
	return handshake(nc, noise.Config{Pattern: noise.HandshakeXX, Initiator: true, StaticKeypair: key}, &relay)
}

// AcceptXX is the relay's side of a Receive Session; Conn.Peer is the device (TS-SES-06, TS-SES-07).
func AcceptXX(nc net.Conn, key noise.DHKey) (*Conn, error) {
	return handshake(nc, noise.Config{Pattern: noise.HandshakeXX, StaticKeypair: key}, nil)
}

func handshake(nc net.Conn, cfg noise.Config, expect *wire.Key) (*Conn, error) {
	cfg.CipherSuite = Suite
	hs, err := noise.NewHandshakeState(cfg)
	if err != nil {
		return nil, err
	}
	c := &Conn{nc: nc, br: bufio.NewReaderSize(nc, 16<<10)}
	var first, second *noise.CipherState
	for write := cfg.Initiator; first == nil; write = !write {
		var msg []byte
		if write {
			if expect != nil && len(hs.PeerStatic()) > 0 && wire.Key(hs.PeerStatic()) != *expect {
				return nil, errors.New("the relay has another static key")
			}
			if msg, first, second, err = hs.WriteMessage(nil, nil); err != nil {
				return nil, err
			}
			c.out = binary.BigEndian.AppendUint16(c.out, uint16(len(msg)))
			c.out = append(c.out, msg...)
			err = c.flush()
		} else {
			if msg, err = c.readSealed(); err != nil {
				return nil, err
			}
			_, first, second, err = hs.ReadMessage(nil, msg) // a payload is ignored
		}
		if err != nil {
			return nil, err
		}
	}
	if len(hs.PeerStatic()) == wire.KeySize {
		c.Peer = wire.Key(hs.PeerStatic())
	}
	c.tx, c.rx = first, second
	if !cfg.Initiator {
		c.tx, c.rx = second, first
	}
	return c, nil
}

// readSealed reads one Noise message as it is. The bytes are good until the next call.
func (c *Conn) readSealed() ([]byte, error) {
	var prefix [2]byte
	if _, err := io.ReadFull(c.br, prefix[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint16(prefix[:]))
	if cap(c.in) < n {
		c.in = make([]byte, n)
	}
	if _, err := io.ReadFull(c.br, c.in[:n]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return c.in[:n], nil
}

// ready says whether a whole Noise message can be read without waiting.
func (c *Conn) ready() bool {
	if c.br.Buffered() < 2 {
		return false
	}
	prefix, _ := c.br.Peek(2)
	return c.br.Buffered() >= 2+int(binary.BigEndian.Uint16(prefix))
}

// ReadFrame returns the next complete frame. io.EOF is an end between two frames.
func (c *Conn) ReadFrame() (*wire.Raw, error) {
	for {
		if c.Idle != nil && !c.ready() {
			if err := c.Idle(); err != nil {
				return nil, err
			}
		}
		if c.ReadTimeout > 0 {
			c.nc.SetReadDeadline(time.Now().Add(c.ReadTimeout))
		}
		sealed, err := c.readSealed()
		if err != nil {
			if errors.Is(err, io.EOF) && c.Frames.Partial() {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		msg, err := c.rx.Decrypt(sealed[:0], nil, sealed)
		if err != nil {
			return nil, fmt.Errorf("transport message: %w", err)
		}
		raw, err := c.Frames.Add(msg)
		if raw != nil || err != nil {
			return raw, err
		}
	}
}

// Write sends frames, with nothing between them and in as few TCP writes as flush makes.
func (c *Conn) Write(frames ...wire.Frame) error {
	var pieces [][]byte
	for _, f := range frames {
		b, err := f.Bytes()
		if err != nil {
			return err
		}
		pieces = append(pieces, wire.Split(b)...)
	}
	return c.WriteMessages(pieces...)
}

// WriteMessages sends plaintexts, each in a Noise message of its own, whatever they are.
func (c *Conn) WriteMessages(plaintexts ...[]byte) (err error) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if c.WriteTimeout > 0 {
		c.nc.SetWriteDeadline(time.Now().Add(c.WriteTimeout))
	}
	for _, p := range plaintexts {
		at := len(c.out)
		c.out = append(c.out, 0, 0)
		if c.out, err = c.tx.Encrypt(c.out, nil, p); err != nil {
			return err
		}
		binary.BigEndian.PutUint16(c.out[at:], uint16(len(c.out)-at-2))
		if len(c.out) >= flushAt {
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
	return c.flush()
}

// flush hands what was gathered to TCP, cut through the middle of the first length prefix.
func (c *Conn) flush() error {
	buf := c.out
	if c.out = buf[:0]; cap(buf) > 4*flushAt {
		c.out = nil
	}
	if len(buf) == 0 {
		return nil
	}
	if _, err := c.nc.Write(buf[:1]); err != nil {
		return err
	}
	_, err := c.nc.Write(buf[1:])
	return err
}

// Close ends the session at once.
func (c *Conn) Close() error { return c.nc.Close() }

// Shutdown ends the session so that what was written still arrives: it sends FIN, then discards what comes for up to
// linger or until the other side closes. Without this, unread input would turn the close into a reset.
func (c *Conn) Shutdown(linger time.Duration) {
	defer c.nc.Close()
	half, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.nc.SetReadDeadline(time.Now().Add(linger))
	io.Copy(io.Discard, c.nc)
}
