package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/flynn/noise"

	"trueseal/internal/secure"
	"trueseal/internal/wire"
)

var typeNames = map[string]wire.Type{
	"push": wire.Push, "deliver": wire.Deliver, "heartbeat": wire.Heartbeat,
	"ack": wire.Ack, "error": wire.Error, "deliver_ack": wire.DeliverAck,
}

type codec struct{}

func startCodec(json.RawMessage, func(string, object)) (instance, object, error) {
	return codec{}, object{}, nil
}

func (codec) begin()      {}
func (codec) stop() error { return nil }

func (codec) do(op string, args json.RawMessage) (object, error) {
	switch op {
	case "encode":
		return encode(args)
	case "decode":
		return decode(args)
	case "noise":
		return playNoise(args)
	}
	return nil, unsupported("operation " + op)
}

func encode(args json.RawMessage) (object, error) {
	var a struct {
		Frame struct {
			Type      string   `json:"type"`
			Recipient hexBytes `json:"recipient"`
			BlobID    *blobID  `json:"blob_id"`
			Envelope  hexBytes `json:"envelope"`
		} `json:"frame"`
	}
	if err := parse(args, &a); err != nil {
		return nil, err
	}
	t, ok := typeNames[a.Frame.Type]
	if !ok {
		return nil, refused("type " + a.Frame.Type)
	}
	f := wire.Frame{Type: t, Envelope: a.Frame.Envelope}
	switch t {
	case wire.Push:
		var err error
		if f.Recipient, err = a.Frame.Recipient.key("recipient"); err != nil {
			return nil, err
		}
	case wire.Deliver, wire.DeliverAck:
		if a.Frame.BlobID == nil {
			return nil, refused("there is no blob_id")
		}
		f.BlobID = uint64(*a.Frame.BlobID)
	}
	b, err := f.Bytes()
	if err != nil {
		return nil, refused(err.Error())
	}
	messages := []string{}
	for _, piece := range wire.Split(b) {
		messages = append(messages, hex.EncodeToString(piece))
	}
	return object{"messages": messages}, nil
}

func decode(args json.RawMessage) (object, error) {
	var a struct {
		Messages []hexBytes `json:"messages"`
	}
	if err := parse(args, &a); err != nil {
		return nil, err
	}
	assembler := wire.Assembler{Keep: math.MaxUint32, Drain: math.MaxUint32}
	frames := []object{}
	for _, msg := range a.Messages {
		if len(msg) > wire.MaxMessage {
			return nil, refused(fmt.Sprintf("no Noise message holds %d bytes", len(msg)))
		}
		raw, err := assembler.Add(msg)
		if err != nil {
			return nil, refused(err.Error())
		}
		if raw == nil {
			continue
		}
		f, err := raw.Parse()
		if err != nil {
			return nil, refused(err.Error())
		}
		frames = append(frames, describe(f))
	}
	if assembler.Partial() {
		return nil, refused("the last frame is not complete")
	}
	return object{"frames": frames}, nil
}

func describe(f wire.Frame) object {
	o := object{}
	for name, t := range typeNames {
		if t == f.Type {
			o["type"] = name
		}
	}
	switch f.Type {
	case wire.Push:
		o["recipient"] = hex.EncodeToString(f.Recipient[:])
		o["envelope"] = hex.EncodeToString(f.Envelope)
	case wire.Deliver:
		o["blob_id"] = strconv.FormatUint(f.BlobID, 10)
		o["envelope"] = hex.EncodeToString(f.Envelope)
	case wire.DeliverAck:
		o["blob_id"] = strconv.FormatUint(f.BlobID, 10)
	}
	return o
}

// playNoise is one side of a session with fixed keys.
func playNoise(args json.RawMessage) (object, error) {
	var a struct {
		Pattern      string     `json:"pattern"`
		Side         string     `json:"side"`
		Ephemeral    hexBytes   `json:"ephemeral"`
		Static       hexBytes   `json:"static"`
		RemoteStatic hexBytes   `json:"remote_static"`
		Prologue     hexBytes   `json:"prologue"`
		Script       [][]string `json:"script"`
	}
	if err := parse(args, &a); err != nil {
		return nil, err
	}
	cfg := noise.Config{
		CipherSuite: secure.Suite, Initiator: a.Side == "initiator", Prologue: a.Prologue, Random: bytes.NewReader(a.Ephemeral),
	}
	if !cfg.Initiator && a.Side != "responder" {
		return nil, refused("side " + a.Side)
	}
	if _, err := a.Ephemeral.key("ephemeral"); err != nil {
		return nil, err
	}
	switch a.Pattern {
	case "NK":
		cfg.Pattern = noise.HandshakeNK
	case "XX":
		cfg.Pattern = noise.HandshakeXX
	default:
		return nil, refused("pattern " + a.Pattern)
	}
	if a.Pattern == "NK" && cfg.Initiator {
		relay, err := a.RemoteStatic.key("remote_static")
		if err != nil {
			return nil, err
		}
		cfg.PeerStatic = relay[:]
	} else {
		pair, err := secure.Keypair(a.Static)
		if err != nil {
			return nil, refused("static: " + err.Error())
		}
		cfg.StaticKeypair = pair
	}
	hs, err := noise.NewHandshakeState(cfg)
	if err != nil {
		return nil, refused(err.Error())
	}
	results := []string{}
	var tx, rx *noise.CipherState
	for i, step := range a.Script {
		if len(step) != 2 || step[0] != "write" && step[0] != "read" {
			return nil, refused(fmt.Sprintf("step %d", i))
		}
		in, err := hex.DecodeString(step[1])
		if err != nil {
			return nil, refused(err.Error())
		}
		var out []byte
		var first, second *noise.CipherState
		switch write := step[0] == "write"; {
		case tx == nil && write:
			out, first, second, err = hs.WriteMessage(nil, in)
		case tx == nil:
			out, first, second, err = hs.ReadMessage(nil, in)
		case write:
			out, err = tx.Encrypt(nil, nil, in)
		default:
			out, err = rx.Decrypt(nil, nil, in)
		}
		if err != nil {
			return nil, refused(fmt.Sprintf("step %d: %v", i, err))
		}
		if first != nil {
			tx, rx = first, second
			if !cfg.Initiator {
				tx, rx = second, first
			}
		}
		results = append(results, hex.EncodeToString(out))
	}
	return object{"results": results, "hash": hex.EncodeToString(hs.ChannelBinding())}, nil
}
