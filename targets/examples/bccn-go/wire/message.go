package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Unknown is the src of a sender that does not know its own.
const Unknown = "?"

const (
	maxSrc  = 128
	maxChan = 1024
)

// ErrBody is what every fault of a body wraps.
var ErrBody = errors.New("bad body")

func bodyError(what string) error { return fmt.Errorf("%w: %s", ErrBody, what) }

// Message is the body of a BCCN1 datagram.
type Message struct {
	Src     string
	Seq     uint64
	Chan    string
	Payload []byte
}

// Mode is the form of a chan.
type Mode string

// The three forms.
const (
	Plain    Mode = "plain"
	All      Mode = "all"
	Directed Mode = "directed"
)

// Mode says which form the chan has.
func (m Message) Mode() Mode {
	switch {
	case m.Chan == "!":
		return All
	case strings.HasPrefix(m.Chan, "!"):
		return Directed
	}
	return Plain
}

// Encode makes a datagram of a message; see Seal.
func (m Message) Encode(key []byte, algo string) ([]byte, error) {
	if err := CheckSrc(m.Src); err != nil {
		return nil, err
	}
	if !isName(m.Chan, maxChan) {
		return nil, bodyError("no chan")
	}
	body := fmt.Appendf(nil, "%s:%d:%s|%s", m.Src, m.Seq, m.Chan, m.Payload)
	return Seal(body, key, algo)
}

// CheckSrc says what keeps a text from being a src.
func CheckSrc(src string) error {
	if !isName(src, maxSrc) {
		return bodyError("no src")
	}
	return nil
}

// isName: some ASCII characters, no whitespace, none of the two delimiters.
func isName(s string, limit int) bool {
	return 0 < len(s) && len(s) <= limit && all(s, func(c byte) bool {
		return c < 0x80 && !strings.ContainsRune(" \t\n\v\f\r:|", rune(c))
	})
}

// Decode takes a datagram apart, in this order: envelope, check, body. The
// error says which of them was at fault. The payload is part of the datagram.
func Decode(datagram, key []byte) (m Message, authenticated bool, err error) {
	e, err := ParseEnvelope(datagram)
	if err != nil {
		return Message{}, false, err
	}
	if e.Magic != Magic {
		return Message{}, false, envelopeError("another version")
	}
	if authenticated, err = e.Verify(key); err != nil {
		return Message{}, false, err
	}
	m, err = parseBody(e.Body)
	return m, authenticated, err
}

func parseBody(body []byte) (Message, error) {
	header, payload, found := bytes.Cut(body, []byte("|"))
	if !found {
		return Message{}, bodyError("no end of its header")
	}
	fields := strings.Split(string(header), ":")
	if len(fields) != 3 {
		return Message{}, bodyError("not three fields")
	}
	m := Message{Src: fields[0], Chan: fields[2], Payload: payload}
	if err := CheckSrc(m.Src); err != nil {
		return Message{}, err
	}
	if !isName(m.Chan, maxChan) {
		return Message{}, bodyError("no chan")
	}
	var err error
	m.Seq, err = strconv.ParseUint(fields[1], 10, 64)
	// One spelling per number here too: ParseUint takes leading zeros.
	if err != nil || strconv.FormatUint(m.Seq, 10) != fields[1] {
		return Message{}, bodyError("no seq")
	}
	return m, nil
}

// Matches says whether a directed message with that target (the chan without
// its "!") is for the process of that name.
func Matches(name, target string) bool {
	// Who does not know its name is never meant, nor is "?..." a target.
	if name == Unknown || strings.HasPrefix(target, Unknown) {
		return false
	}
	prefix, wildcard := strings.CutSuffix(target, "/*")
	if !wildcard && isExact(target) {
		return name == target
	}
	rest, found := strings.CutPrefix(name, prefix)
	return found && (rest == "" || rest[0] == '/')
}

// isExact: a target with a last token of digits only names one process. So does
// one with an empty last token, where there is nothing but digits either.
func isExact(target string) bool {
	return all(target[strings.LastIndexByte(target, '/')+1:], isDigit)
}
