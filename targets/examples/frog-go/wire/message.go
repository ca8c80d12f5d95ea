// Package wire is the FROG/1 codec: identifiers, URIs, authentication strings and messages.
package wire

// Limits of section 39.
const (
	MaxHeader  = 4096
	MaxPayload = 65536
	MaxCount   = 7 // of peers, of servers, of a limit
	MaxTTL     = 7
)

// Subprotocol is the WebSocket subprotocol of FROG/1 (4).
const Subprotocol = "frog.v1"

// Direction says who speaks to whom: it decides which commands there are.
type Direction int

const (
	ToServer Direction = iota // a client speaks
	ToClient                  // a server answers a client
	Sister                    // between servers, either way
)

// Codes of section 38.
const (
	BadRequest        = "BAD_REQUEST"
	BadState          = "BAD_STATE"
	AuthRequired      = "AUTH_REQUIRED"
	AuthFailed        = "AUTH_FAILED"
	PeerNotFound      = "PEER_NOT_FOUND"
	LookupTimeout     = "LOOKUP_TIMEOUT"
	RouteNotFound     = "ROUTE_NOT_FOUND"
	RouteExpired      = "ROUTE_EXPIRED"
	TargetMismatch    = "TARGET_MISMATCH"
	PayloadTooLarge   = "PAYLOAD_TOO_LARGE"
	RateLimited       = "RATE_LIMITED"
	ServerUnavailable = "SERVER_UNAVAILABLE"
	Internal          = "INTERNAL"
)

func validCode(s string) bool {
	switch s {
	case BadRequest, BadState, AuthRequired, AuthFailed, PeerNotFound, LookupTimeout, RouteNotFound,
		RouteExpired, TargetMismatch, PayloadTooLarge, RateLimited, ServerUnavailable, Internal:
		return true
	}
	return false
}

// ValidKind reports whether s is a kind of signal (13.1).
func ValidKind(s string) bool { return s == "OFFER" || s == "ANSWER" || s == "ICE" }

// Record is a server as gossip knows it: its id and its canonical URI.
type Record struct{ ID, URI string }

// Message is any command: Command is its first word, and the grammar says which members it has.
type Message struct {
	Command   string
	What      string // of OK and @OK
	ServerID  string // the origin in @FIND, @PEERS and @LOOKUP
	URI       string
	PeerKey   string // the source in SIGNAL-FROM and @SIGNAL
	Source    string
	Target    string
	Nonce     string
	PublicKey string
	Signature string
	CID       string
	FCID      string
	RouteID   string
	ID        string // what an error refers to
	Code      string
	Kind      string
	Limit     int
	TTL       int
	URIs      []string
	PeerKeys  []string
	Servers   []Record
	Payload   []byte
}

// Reference is the id that an error about this message echoes (38), or "-".
func (m *Message) Reference() string {
	for _, id := range []string{m.CID, m.FCID, m.RouteID} {
		if id != "" {
			return id
		}
	}
	return noID
}

// Error says why a message was rejected, in the terms of the answer that it gets.
type Error struct {
	Code   string
	ID     string // the id to echo, or "-"
	Reason string
	Severe bool // the framing itself is broken (15, 38)
}

func (e *Error) Error() string { return e.Code + " " + e.ID + " " + e.Reason }
