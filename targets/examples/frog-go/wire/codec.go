package wire

import (
	"bytes"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Decode reads one whole message as a receiver in that direction. The error is an *Error. The
// payload of the message shares the memory of raw.
func Decode(direction Direction, raw []byte) (*Message, error) {
	header, payload, e := split(raw)
	if e != nil {
		return nil, e
	}
	words := strings.Split(header, " ")
	for _, w := range words {
		if w == "" {
			return nil, bad("empty field or stray space")
		}
	}
	fields, ok := grammar[direction][words[0]]
	if !ok {
		return nil, bad("unknown command")
	}
	m := &Message{Command: words[0]}
	if e := parse(m, fields, words[1:], payload); e != nil {
		e.ID = correlation(fields, words[1:])
		return nil, e
	}
	return m, nil
}

// split cuts a message at its first line feed and checks the bytes of the header (5).
func split(raw []byte) (header string, payload []byte, e *Error) {
	end := bytes.IndexByte(raw[:min(len(raw), MaxHeader+1)], '\n')
	if end < 0 {
		return "", nil, &Error{BadRequest, noID, "no line feed within the longest header", true}
	}
	control := false
	for _, c := range raw[:end] {
		switch {
		case c >= 0x80 || c == '\r':
			return "", nil, &Error{BadRequest, noID, "a byte that no header has", true}
		case c < ' ' || c == 0x7F:
			control = true
		}
	}
	if control {
		return "", nil, bad("control character in the header")
	}
	return string(raw[:end]), raw[end+1:], nil
}

func parse(m *Message, fields []field, words []string, payload []byte) *Error {
	var e *Error
	carries := false
	for _, f := range fields {
		if words, e = f.parse(m, words, payload); e != nil {
			return e
		}
		_, carries = f.(body)
	}
	switch {
	case len(words) > 0:
		return bad("too many fields")
	case !carries && len(payload) > 0:
		return bad("bytes after the header")
	}
	return consistent(m)
}

// consistent checks what concerns several fields: both ends of a lookup are of one network (36).
func consistent(m *Message) *Error {
	if m.Command == "@LOOKUP" && Network(m.Source) != Network(m.Target) {
		return bad("source and target are of two networks")
	}
	return nil
}

// correlation is the id that an error about a malformed command echoes (15, 38).
func correlation(fields []field, words []string) string {
	if len(fields) > 0 && len(words) > 0 {
		if f, ok := fields[0].(word); ok {
			switch f.member {
			case "cid", "fcid", "route_id":
				if f.valid(words[0]) {
					return words[0]
				}
			}
		}
	}
	return noID
}

// Encode writes a message, or says why no sender may emit it. HELLO with a server id is that of a server.
func Encode(m *Message) ([]byte, error) {
	for direction := range grammar {
		fields, ok := grammar[direction][m.Command]
		if !ok || m.Command == "HELLO" && (Direction(direction) == ToClient) != (m.ServerID != "") {
			continue
		}
		words := []string{m.Command}
		for _, f := range fields {
			w, e := f.format(m)
			if e != nil {
				return nil, e
			}
			words = append(words, w...)
		}
		if e := consistent(m); e != nil {
			return nil, e
		}
		header := strings.Join(words, " ")
		out := make([]byte, 0, len(header)+1+len(m.Payload))
		out = append(append(out, header...), '\n')
		if _, carries := fieldsEnd(fields).(body); carries {
			out = append(out, m.Payload...)
		}
		return out, nil
	}
	return nil, bad("unknown command")
}

func fieldsEnd(fields []field) field {
	if len(fields) == 0 {
		return nil
	}
	return fields[len(fields)-1]
}
