package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"

	"trueseal/internal/relay"
	"trueseal/internal/secure"
	"trueseal/internal/wire"
)

type server struct{ *relay.Server }

func startRelay(args json.RawMessage, _ func(string, object)) (instance, object, error) {
	var a struct {
		PrivateKey hexBytes `json:"private_key"`
		StateDir   string   `json:"state_dir"`
		Limit      *int     `json:"limit"`
	}
	if err := parse(args, &a); err != nil {
		return nil, nil, err
	}
	if a.StateDir == "" {
		return nil, nil, errors.New("there is no state_dir")
	}
	if len(a.PrivateKey) == 0 {
		a.PrivateKey = make([]byte, wire.KeySize)
		rand.Read(a.PrivateKey)
	}
	pair, err := secure.Keypair(a.PrivateKey)
	if err != nil {
		return nil, nil, refused("private_key: " + err.Error())
	}
	limit := wire.MaxEnvelope
	if a.Limit != nil {
		limit = *a.Limit
	}
	s, err := relay.Start(relay.Config{
		Push: "127.0.0.1:0", Receive: "127.0.0.1:0", Key: pair, StateDir: a.StateDir, Limit: limit, Log: logger,
	})
	if err != nil {
		return nil, nil, err
	}
	return server{s}, object{
		"addresses":  object{"push": s.PushAddr().String(), "receive": s.ReceiveAddr().String()},
		"public_key": hex.EncodeToString(pair.Public),
	}, nil
}

func (server) begin()        {}
func (s server) stop() error { return s.Close() }

func (s server) do(op string, _ json.RawMessage) (object, error) {
	if op == "break_store" {
		return object{}, s.BreakStore()
	}
	return nil, unsupported("operation " + op)
}
