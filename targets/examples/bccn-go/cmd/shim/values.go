package main

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
)

// latin1 is a string with one character per byte.
type latin1 string

func (l *latin1) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	bytes := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return refused("a character that is no byte")
		}
		bytes = append(bytes, byte(r))
	}
	*l = latin1(bytes)
	return nil
}

func (l latin1) MarshalJSON() ([]byte, error) {
	runes := make([]rune, len(l))
	for i := range len(l) {
		runes[i] = rune(l[i])
	}
	return json.Marshal(string(runes))
}

// hexBytes are bytes as hex digits.
type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(text []byte) error {
	var s *string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if s == nil {
		*h = nil
		return nil
	}
	bytes, err := hex.DecodeString(*s)
	if err != nil {
		return refused("no hex")
	}
	*h = bytes
	return nil
}

func (h hexBytes) MarshalJSON() ([]byte, error) { return json.Marshal(hex.EncodeToString(h)) }

// decimal is a number of 64 bits as a string.
type decimal uint64

func (d *decimal) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return refused("no number of 64 bits")
	}
	*d = decimal(n)
	return nil
}

func (d decimal) MarshalJSON() ([]byte, error) {
	return json.Marshal(strconv.FormatUint(uint64(d), 10))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
