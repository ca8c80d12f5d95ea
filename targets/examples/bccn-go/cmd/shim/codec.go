package main

import (
	"encoding/json"

	"bccn/wire"
)

type codec struct{}

func (codec) begin() {}
func (codec) stop()  {}

func (codec) do(op string, args json.RawMessage) (object, error) {
	var a struct {
		Src     latin1   `json:"src"`
		Seq     decimal  `json:"seq"`
		Chan    latin1   `json:"chan"`
		Payload hexBytes `json:"payload"`
		Key     hexBytes `json:"key"`
		Algo    *string  `json:"algo"`
		Wire    hexBytes `json:"wire"`
		Name    latin1   `json:"name"`
		Target  latin1   `json:"target"`
	}
	if err := parse(args, &a); err != nil {
		return nil, err
	}
	switch op {
	case "encode":
		m := wire.Message{Src: string(a.Src), Seq: uint64(a.Seq), Chan: string(a.Chan), Payload: a.Payload}
		algo := ""
		if a.Algo != nil {
			algo = *a.Algo
		}
		datagram, err := m.Encode(a.Key, algo)
		return object{"wire": hexBytes(datagram)}, refuse(err)
	case "decode":
		m, authenticated, err := wire.Decode(a.Wire, a.Key)
		result := message(m)
		result["authenticated"] = authenticated
		return result, refuse(err)
	case "parse_envelope":
		return parseEnvelope(a.Wire, a.Key)
	case "match":
		return object{"matches": wire.Matches(string(a.Name), string(a.Target))}, nil
	}
	return nil, unsupported("operation " + op)
}

func parseEnvelope(datagram, key []byte) (object, error) {
	e, err := wire.ParseEnvelope(datagram)
	if err != nil {
		return nil, refuse(err)
	}
	result := object{"magic": latin1(e.Magic), "body": hexBytes(e.Body), "algo": nil, "sum": nil, "verified": nil}
	if e.Algo != "" {
		result["algo"], result["sum"] = latin1(e.Algo), latin1(e.Sum)
	}
	if len(key) > 0 {
		authenticated, _ := e.Verify(key)
		result["verified"] = authenticated
	}
	return result, nil
}

func message(m wire.Message) object {
	return object{
		"src": latin1(m.Src), "seq": decimal(m.Seq), "chan": latin1(m.Chan),
		"payload": hexBytes(m.Payload), "mode": m.Mode(),
	}
}
