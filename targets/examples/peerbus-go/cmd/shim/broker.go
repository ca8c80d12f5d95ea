package main

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"time"

	"peerbus/broker"
)

type brokerInstance struct {
	broker *broker.Broker
	server *http.Server
}

func startBroker(args json.RawMessage, log *slog.Logger) (instance, object, error) {
	var a struct {
		Tokens   []string `json:"tokens"`
		StateDir string   `json:"state_dir"`
	}
	if err := parse(args, &a); err != nil {
		return nil, nil, refused(err.Error())
	}
	b, err := broker.New(broker.Config{Tokens: a.Tokens, StateDir: a.StateDir, Log: log})
	if err != nil {
		return nil, nil, refused(err.Error())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		_ = b.Close()
		return nil, nil, err
	}
	i := &brokerInstance{b, &http.Server{Handler: b, ReadHeaderTimeout: 10 * time.Second}}
	go func() { _ = i.server.Serve(l) }()
	return i, object{"address": "ws://" + l.Addr().String()}, nil
}

func (i *brokerInstance) begin() {}

func (i *brokerInstance) do(op string, _ json.RawMessage, answer func(object, error)) {
	if op != "audit" {
		answer(nil, unsupported("operation "+op))
		return
	}
	chain, err := i.broker.Audit()
	answer(object{"chain": chain}, err)
}

func (i *brokerInstance) stop() error {
	_ = i.server.Close()
	return i.broker.Close()
}
