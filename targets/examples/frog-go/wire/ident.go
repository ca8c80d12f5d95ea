package wire

import "strings"

const (
	idLength        = 26
	publicKeySize   = 32
	signatureSize   = 64
	maxNetwork      = 16
	maxCID          = 32
	maxURI          = 200
	noID            = "-"
	protocolVersion = "FROG/1"
)

func all(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func isSymbol(c byte) bool {
	return isDigit(c) || isUpper(c) && c != 'I' && c != 'L' && c != 'O' && c != 'U'
}

// ValidNetwork reports whether s is a network name (7.1).
func ValidNetwork(s string) bool {
	return 1 <= len(s) && len(s) <= maxNetwork &&
		all(s, func(c byte) bool { return isUpper(c) || isDigit(c) || c == '_' })
}

// ValidID reports whether s is a fingerprint, server id, route id or nonce (7.4, 7.6 to 7.8):
// 26 symbols are 130 bits without a spare one, so each such text is canonical.
func ValidID(s string) bool { return len(s) == idLength && all(s, isSymbol) }

// ValidPeerKey reports whether s is <network>:<fingerprint> (7.5).
func ValidPeerKey(s string) bool {
	network, fingerprint, ok := strings.Cut(s, ":")
	return ok && ValidNetwork(network) && ValidID(fingerprint)
}

// ValidCID reports whether s is a client or federation request id (7.9, 7.10).
func ValidCID(s string) bool { return s != noID && validReference(s) }

// validReference is what an error may name: a request id, a route id or "-" (38).
func validReference(s string) bool {
	return 1 <= len(s) && len(s) <= maxCID &&
		all(s, func(c byte) bool { return isUpper(c) || isDigit(c) || c == '_' || c == '-' })
}

// ValidPublicKey reports whether s is the canonical text of 32 bytes (9.2).
func ValidPublicKey(s string) bool {
	_, ok := DecodeBase32(s, publicKeySize)
	return ok
}

// ValidSignature reports whether s is the canonical text of 64 bytes (9.3).
func ValidSignature(s string) bool {
	_, ok := DecodeBase32(s, signatureSize)
	return ok
}

// Network is the part of a valid peer key before the colon.
func Network(peerKey string) string {
	network, _, _ := strings.Cut(peerKey, ":")
	return network
}

// parseDecimal reads a decimal integer of section 6. A value beyond max is clamped to max+1,
// however many digits it has: it is a matter of range then, not of syntax.
func parseDecimal(s string, max int) (int, bool) {
	if s == "" || !all(s, isDigit) || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if n = n*10 + int(s[i]-'0'); n > max {
			return max + 1, true
		}
	}
	return n, true
}
