package wire

import (
	"crypto/rand"
	"encoding/base32"
)

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var crockford = base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)

// EncodeBase32 renders bytes as strict Crockford Base32 (7.3).
func EncodeBase32(b []byte) string { return crockford.EncodeToString(b) }

// DecodeBase32 reads the canonical text of exactly size bytes. The library is lenient about
// unused bits and line breaks, so the rule of 7.3 decides: encoding it again gives the same text.
func DecodeBase32(text string, size int) ([]byte, bool) {
	if len(text) != crockford.EncodedLen(size) {
		return nil, false
	}
	b, err := crockford.DecodeString(text)
	if err != nil || len(b) != size || crockford.EncodeToString(b) != text {
		return nil, false
	}
	return b, true
}

// RandomID draws 130 random bits as 26 symbols: a route id (7.7) or a nonce (7.8).
func RandomID() string {
	var b [26]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = alphabet[b[i]&31]
	}
	return string(b[:])
}
