// Package wire turns TrueSeal frames into the plaintexts of Noise messages and back.
//
// A frame is one type byte, a u32 big-endian body length and the body (TS-FRM-01..03). A frame that fits
// into one Noise message is exactly one; a larger one continues in the messages that follow.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

const (
	HeaderSize  = 5
	KeySize     = 32
	IDSize      = 8
	MaxEnvelope = 1 << 20 // TS-SIZE-01
	MaxMessage  = 65519   // plaintext bytes of the largest Noise message
)

// Type is the tag of a frame (TS-TYP-01).
type Type byte

const (
	Push Type = iota + 1
	Deliver
	Heartbeat
	Ack
	Error
	DeliverAck
)

// Key is an X25519 public key: it names an inbox.
type Key [KeySize]byte

// Frame is a decoded message. Which members count depends on Type.
type Frame struct {
	Type      Type
	Recipient Key    // Push
	BlobID    uint64 // Deliver, DeliverAck
	Envelope  []byte // Push, Deliver; opaque
}

// ErrMalformed is what every violation of the framing wraps.
var ErrMalformed = errors.New("malformed frame")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// TooLongError is a declared body length beyond what the reader is ready to skip.
type TooLongError struct {
	Type Type
	Size uint32
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("malformed frame: type %#02x with %d bytes", byte(e.Type), e.Size)
}

func (e *TooLongError) Unwrap() error { return ErrMalformed }

// Bytes is the frame as it stands on the wire, before it is cut into Noise messages.
func (f Frame) Bytes() ([]byte, error) {
	var fixed []byte
	switch f.Type {
	case Push:
		fixed = f.Recipient[:]
	case Deliver, DeliverAck:
		fixed = binary.BigEndian.AppendUint64(nil, f.BlobID)
	case Heartbeat, Ack, Error:
	default:
		return nil, malformed("unknown type %#02x", byte(f.Type))
	}
	size := len(fixed)
	if f.Type == Push || f.Type == Deliver {
		size += len(f.Envelope)
	}
	if uint64(size) > math.MaxUint32 {
		return nil, errors.New("the body does not fit into 32 bits of length")
	}
	out := make([]byte, HeaderSize, HeaderSize+size)
	out[0] = byte(f.Type)
	binary.BigEndian.PutUint32(out[1:], uint32(size))
	out = append(out, fixed...)
	return append(out, f.Envelope[:size-len(fixed)]...), nil
}

// cuts are the sizes that Split cycles through; the first one holds a header, none is "all that fits" twice in a row.
var cuts = [...]int{7, MaxMessage, 1, 49157}

// Split cuts the bytes of one frame into the plaintexts of its Noise messages: one if it fits, else pieces of odd sizes.
// The pieces share memory with frame.
func Split(frame []byte) [][]byte {
	if len(frame) <= MaxMessage {
		return [][]byte{frame}
	}
	var out [][]byte
	for i := 0; len(frame) > 0; i++ {
		n := min(cuts[i%len(cuts)], len(frame))
		out = append(out, frame[:n:n])
		frame = frame[n:]
	}
	return out
}

// Raw is a complete frame whose body has not been looked at.
type Raw struct {
	Type Type
	Size uint32 // the length of the body on the wire
	Body []byte // nil if Size is over Assembler.Keep
}

// Assembler puts the Noise messages of one direction together again.
// It holds what has arrived and never allocates by a claimed length (TS-FRM-07).
type Assembler struct {
	Keep  uint32 // longer bodies are counted but not kept
	Drain uint32 // longer bodies are refused by their header: TooLongError

	cur  *Raw
	left uint32
}

// Add takes the plaintext of the next message. It returns a frame when the message completes one, and nil when it does not.
// The body is a copy. After an error the stream is of no more use.
func (a *Assembler) Add(msg []byte) (*Raw, error) {
	if a.cur == nil {
		var err error
		if msg, err = a.begin(msg); err != nil {
			return nil, err
		}
	} else if uint64(len(msg)) > uint64(a.left) {
		return nil, malformed("bytes behind the end of a frame")
	}
	if a.cur.Size <= a.Keep {
		a.cur.Body = append(a.cur.Body, msg...)
	}
	a.left -= uint32(len(msg))
	if a.left > 0 {
		return nil, nil
	}
	done := a.cur
	a.cur = nil
	return done, nil
}

// Partial says whether a frame has begun and not ended.
func (a *Assembler) Partial() bool { return a.cur != nil }

// begin checks a message that opens a frame and returns what it holds of the body.
func (a *Assembler) begin(msg []byte) ([]byte, error) {
	if len(msg) < HeaderSize {
		return nil, malformed("%d bytes", len(msg)) // TS-FRM-05
	}
	typ, size, body := Type(msg[0]), binary.BigEndian.Uint32(msg[1:]), msg[HeaderSize:]
	switch typ {
	case Heartbeat, Ack, Error:
		if size != 0 { // TS-HB-03, TS-ACK-02, TS-ERR-02: always empty
			return nil, malformed("type %#02x with a body", byte(typ))
		}
	case Push, Deliver, DeliverAck:
	default:
		return nil, malformed("unknown type %#02x", byte(typ)) // TS-TYP-02
	}
	if size > a.Drain {
		return nil, &TooLongError{typ, size}
	}
	// A frame that fits travels in one message, with nothing behind it (TS-FRM-06, TS-FRM-08).
	if size <= MaxMessage-HeaderSize && int(size) != len(body) {
		return nil, malformed("%d bytes of body where %d were declared", len(body), size)
	}
	a.cur, a.left = &Raw{Type: typ, Size: size}, size
	return body, nil
}

// Parse looks into the body of a frame. The Envelope shares memory with it.
func (r *Raw) Parse() (Frame, error) {
	f := Frame{Type: r.Type}
	if uint64(len(r.Body)) != uint64(r.Size) {
		return f, &TooLongError{r.Type, r.Size}
	}
	switch r.Type {
	case Push:
		if r.Size < KeySize { // TS-PUSH-06
			return f, malformed("Push with a body of %d bytes", r.Size)
		}
		f.Recipient, f.Envelope = Key(r.Body), r.Body[KeySize:]
	case Deliver:
		if r.Size < IDSize {
			return f, malformed("Deliver with a body of %d bytes", r.Size)
		}
		f.BlobID, f.Envelope = binary.BigEndian.Uint64(r.Body), r.Body[IDSize:]
	case DeliverAck:
		if r.Size != IDSize { // TS-DACK-01
			return f, malformed("DeliverAck with a body of %d bytes", r.Size)
		}
		f.BlobID = binary.BigEndian.Uint64(r.Body)
	}
	return f, nil
}
