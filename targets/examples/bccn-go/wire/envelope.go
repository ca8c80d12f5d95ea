// Package wire has the datagrams of BCCN1: the envelope, which is the same for
// all versions, and the body, which is not.
package wire

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

const (
	// Magic is that of the version that this package knows the body of.
	Magic = "BCCN1"
	// MaxDatagram is the hard ceiling of a datagram.
	MaxDatagram = 1400
)

// The integrity checks that this package can evaluate.
const (
	HMAC  = "hmac"
	CRC32 = "crc32"
)

var (
	// ErrEnvelope is what every fault of an envelope wraps.
	ErrEnvelope = errors.New("bad envelope")
	// ErrCheck says that an envelope's integrity check does not hold, cannot
	// be evaluated, or is not the one that there has to be.
	ErrCheck = errors.New("not verified")
)

func envelopeError(what string) error { return fmt.Errorf("%w: %s", ErrEnvelope, what) }

// Envelope is a datagram without knowledge of its body.
type Envelope struct {
	Magic string
	Body  []byte
	// Algo and Sum are empty where there is no integrity check.
	Algo, Sum string
}

// ParseEnvelope takes a datagram of any version apart. The body is part of the
// datagram, not a copy.
func ParseEnvelope(datagram []byte) (Envelope, error) {
	if len(datagram) > MaxDatagram {
		return Envelope{}, envelopeError("over 1400 bytes")
	}
	magic, rest, found := bytes.Cut(datagram, []byte("["))
	if !found || !isMagic(magic) {
		return Envelope{}, envelopeError("no magic")
	}
	inside, body, found := bytes.Cut(rest, []byte("]"))
	if !found {
		return Envelope{}, envelopeError("no end")
	}
	e := Envelope{Magic: string(magic), Body: body}
	length, check, checked := bytes.Cut(inside, []byte(":"))
	if checked {
		algo, sum, _ := bytes.Cut(check, []byte("="))
		if !isAlgo(algo) || !isHex(sum) {
			return Envelope{}, envelopeError("no check behind the colon")
		}
		e.Algo, e.Sum = string(algo), string(sum)
	}
	// One spelling per length: no sign, no leading zero, no blank.
	if string(length) != strconv.Itoa(len(body)) {
		return Envelope{}, envelopeError("another length")
	}
	return e, nil
}

func isMagic(b []byte) bool {
	version, found := bytes.CutPrefix(b, []byte("BCCN"))
	return found && len(version) > 0 && all(version, isAlphanumeric)
}

func isAlgo(b []byte) bool {
	return len(b) > 0 && all(b, func(c byte) bool { return 'a' <= c && c <= 'z' || isDigit(c) })
}

func isHex(b []byte) bool {
	return len(b) > 0 && all(b, func(c byte) bool {
		return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	})
}

func isAlphanumeric(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func all[T ~string | ~[]byte](text T, is func(byte) bool) bool {
	for i := range len(text) {
		if !is(text[i]) {
			return false
		}
	}
	return true
}

// Verify checks an envelope. With a key nothing counts but the key's own tag; it
// says authenticated then. Without one a check that can be evaluated has to hold,
// and one that cannot, such as a tag, is an error: sender and receiver disagree
// about what is in use.
func (e Envelope) Verify(key []byte) (authenticated bool, err error) {
	switch {
	case len(key) > 0:
		if e.Algo != HMAC || !equal(e.Sum, Tag(key, e.Body)) {
			return false, ErrCheck
		}
		return true, nil
	case e.Algo == "":
		return false, nil
	case e.Algo == CRC32 && equal(e.Sum, checksum(e.Body)):
		return false, nil
	}
	return false, ErrCheck
}

// Tag is the first 8 bytes of HMAC-SHA-256 over the body, as 16 hex digits.
func Tag(key, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

func checksum(body []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(body)) }

// equal takes the same time wherever two texts of one length differ.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Seal puts a body into an envelope: with a key it is tagged, else it has the
// check of that name, if any.
func Seal(body, key []byte, algo string) ([]byte, error) {
	check := ""
	switch {
	case len(key) > 0 && (algo == "" || algo == HMAC):
		check = ":" + HMAC + "=" + Tag(key, body)
	case algo == CRC32 && len(key) == 0:
		check = ":" + CRC32 + "=" + checksum(body)
	case algo != "" || len(key) > 0:
		return nil, envelopeError("no such check")
	}
	datagram := fmt.Appendf(nil, "%s[%d%s]%s", Magic, len(body), check, body)
	if len(datagram) > MaxDatagram {
		return nil, envelopeError("over 1400 bytes")
	}
	return datagram, nil
}
