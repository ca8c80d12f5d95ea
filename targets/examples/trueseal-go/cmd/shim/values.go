package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"trueseal/internal/wire"
)

// hexBytes travels as hex digits.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// key is the bytes if they are a key.
func (h hexBytes) key(name string) (wire.Key, error) {
	if len(h) != wire.KeySize {
		return wire.Key{}, refused(fmt.Sprintf("%s has %d bytes, not 32", name, len(h)))
	}
	return wire.Key(h), nil
}

// blobID travels as decimal text.
type blobID uint64

func (b *blobID) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseUint(strings.Trim(string(text), `"`), 10, 64)
	*b = blobID(n)
	return err
}

// parse reads arguments; what cannot be read is refused.
func parse(args json.RawMessage, into any) error {
	if len(args) == 0 {
		return nil
	}
	if err := json.Unmarshal(args, into); err != nil {
		return refused(err.Error())
	}
	return nil
}
