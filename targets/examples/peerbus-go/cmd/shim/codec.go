package main

import (
	"encoding/hex"
	"encoding/json"

	"peerbus/wire"
)

// hexBytes travel as hex.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	*h = b
	return err
}

func (h hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h)), nil }

type codec struct{}

func (codec) begin()      {}
func (codec) stop() error { return nil }

func (codec) do(op string, args json.RawMessage, answer func(object, error)) {
	var a struct {
		Wire   hexBytes   `json:"wire"`
		Secret hexBytes   `json:"secret"`
		Wires  []hexBytes `json:"wires"`
		Chunks []hexBytes `json:"chunks"`
	}
	if err := parse(args, &a); err != nil {
		answer(nil, err)
		return
	}
	switch op {
	case "canonical":
		e, err := wire.Parse(a.Wire)
		var canonical []byte
		if err == nil {
			canonical, err = e.Canonical()
		}
		reply(answer, object{"canonical": hexBytes(canonical)}, err)
	case "sign":
		e, err := wire.Parse(a.Wire)
		var mac string
		if err == nil {
			mac, err = e.MAC(a.Secret)
		}
		reply(answer, object{"hmac": mac}, err)
	case "verify":
		e, err := wire.Parse(a.Wire)
		answer(object{"valid": err == nil && e.Verify(a.Secret)}, nil)
	case "encode_lines":
		var stream []byte
		var err error
		for _, w := range a.Wires {
			if stream, err = wire.AppendLine(stream, w); err != nil {
				break
			}
		}
		reply(answer, object{"stream": hexBytes(stream)}, err)
	case "decode_lines":
		objects := []any{}
		var lines wire.Lines
		for _, chunk := range a.Chunks {
			lines.Feed(chunk, func(o []byte) {
				if o == nil {
					objects = append(objects, nil)
				} else {
					objects = append(objects, hex.EncodeToString(o))
				}
			})
		}
		answer(object{"objects": objects}, nil)
	default:
		answer(nil, unsupported("operation "+op))
	}
}

// reply answers with a result, or refuses what the codec did not take.
func reply(answer func(object, error), result object, err error) {
	if err != nil {
		answer(nil, refused(err.Error()))
		return
	}
	answer(result, nil)
}
