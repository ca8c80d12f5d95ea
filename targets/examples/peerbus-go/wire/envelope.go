// Package wire has the shapes of peerbus v1: the signed envelope, the control frames and the line framing.
package wire

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

const (
	// Version is the only one there is (PB-0-02).
	Version = "v1"
	// MaxMessage is the largest WebSocket message either side takes (PB-1-13, PB-1-14).
	MaxMessage = 1 << 20
	// MinSecret is how long the shared secret has to be at least (PB-4-20).
	MinSecret = 32

	// Everyone is the recipient of a broadcast.
	Everyone      = "*"
	KindDirect    = "msg"
	KindBroadcast = "broadcast"
)

// ErrSecret says that the shared secret is missing or short.
var ErrSecret = fmt.Errorf("the secret has fewer than %d bytes", MinSecret)

// Signed are the eight fields under the signature, in their order (section 4).
type Signed struct {
	ProtocolVersion string          `json:"protocol_version"`
	ID              string          `json:"id"`
	From            string          `json:"from"`
	To              string          `json:"to"`
	TS              string          `json:"ts"`
	Source          string          `json:"source"`
	Kind            string          `json:"kind"`
	Body            json.RawMessage `json:"body"`
}

// Envelope is a message.
type Envelope struct {
	Signed
	HMAC string `json:"hmac"`
}

// Parse reads an envelope as encoding/json does: names of members in any case, unknown ones ignored, the last of
// several counts, null is "".
func Parse(data []byte) (Envelope, error) {
	var e Envelope
	err := json.Unmarshal(data, &e)
	return e, err
}

// Canonical is what is signed. The body is spliced in: it loses its whitespace between tokens, and < > & U+2028 U+2029
// become escapes, but it is never decoded (PB-4-06 to PB-4-10); without one it is null (PB-4-12).
func (s Signed) Canonical() ([]byte, error) {
	if len(s.Body) == 0 {
		s.Body = nil
	}
	return json.Marshal(s)
}

// Sign writes the signed envelope as it goes onto the wire.
func (s Signed) Sign(secret []byte) ([]byte, error) {
	sum, canonical, err := s.mac(secret)
	if err != nil {
		return nil, err
	}
	canonical = append(canonical[:len(canonical)-1], `,"hmac":"`...)
	canonical = hex.AppendEncode(canonical, sum)
	return append(canonical, `"}`...), nil
}

// MAC is the lower-case hex of the signature.
func (s Signed) MAC(secret []byte) (string, error) {
	sum, _, err := s.mac(secret)
	return hex.EncodeToString(sum), err
}

func (s Signed) mac(secret []byte) (sum, canonical []byte, err error) {
	if len(secret) < MinSecret {
		return nil, nil, ErrSecret
	}
	if canonical, err = s.Canonical(); err != nil {
		return nil, nil, err
	}
	h := hmac.New(sha256.New, secret)
	h.Write(canonical)
	return h.Sum(nil), canonical, nil
}

// Verify says whether the signature is good. The hex may be of either case (PB-4-17).
func (e Envelope) Verify(secret []byte) bool {
	given, err := hex.DecodeString(e.HMAC)
	if err != nil {
		return false
	}
	sum, _, err := e.mac(secret)
	return err == nil && hmac.Equal(given, sum)
}

// Object is a JSON object whose members are known exactly by their names. The last of several counts.
type Object map[string]json.RawMessage

var errNoObject = errors.New("not a JSON object")

// ParseObject reads one object and nothing behind it.
func ParseObject(data []byte) (Object, error) {
	if data = bytes.TrimLeft(data, " \t\r\n"); len(data) == 0 || data[0] != '{' {
		return nil, errNoObject
	}
	var o Object
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, err
	}
	return o, nil
}

// Text is a member that has to be a string; one that is absent or null is "".
func (o Object) Text(name string) (string, error) {
	var s string
	if raw, ok := o[name]; ok {
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", fmt.Errorf("%s is not a string", name)
		}
	}
	return s, nil
}

// Texts reads several members; the error is the first there was.
func (o Object) Texts(names ...string) ([]string, error) {
	texts := make([]string, len(names))
	for i, name := range names {
		var err error
		if texts[i], err = o.Text(name); err != nil {
			return nil, err
		}
	}
	return texts, nil
}
