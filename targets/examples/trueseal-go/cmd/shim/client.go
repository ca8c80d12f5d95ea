package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"trueseal/internal/client"
	"trueseal/internal/secure"
)

type device struct {
	client *client.Client
	cancel context.CancelFunc
	ctx    context.Context
	done   chan struct{}
}

func startClient(args json.RawMessage, emit func(string, object)) (instance, object, error) {
	var a struct {
		PushPort    int      `json:"push_port"`
		ReceivePort int      `json:"receive_port"`
		RelayKey    hexBytes `json:"relay_key"`
		PrivateKey  hexBytes `json:"private_key"`
		StateDir    string   `json:"state_dir"`
		RetryMS     float64  `json:"retry_ms"`
	}
	if err := parse(args, &a); err != nil {
		return nil, nil, err
	}
	relayKey, err := a.RelayKey.key("relay_key")
	if err != nil {
		return nil, nil, err
	}
	pair, err := secure.Keypair(a.PrivateKey)
	if err != nil {
		return nil, nil, refused("private_key: " + err.Error())
	}
	if a.StateDir == "" {
		return nil, nil, errors.New("there is no state_dir")
	}
	c, err := client.Open(client.Config{
		Push:       fmt.Sprintf("127.0.0.1:%d", a.PushPort),
		Receive:    fmt.Sprintf("127.0.0.1:%d", a.ReceivePort),
		RelayKey:   relayKey,
		Key:        pair,
		StateDir:   a.StateDir,
		Retry:      max(0, time.Duration(a.RetryMS*float64(time.Millisecond))),
		OnReceived: func(envelope []byte) { emit("received", object{"envelope": hex.EncodeToString(envelope)}) },
		OnPushed:   func(id string) { emit("pushed", object{"id": id}) },
		OnRejected: func(id string) { emit("rejected", object{"id": id}) },
		Log:        logger,
	})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &device{c, cancel, ctx, make(chan struct{})}, object{}, nil
}

func (d *device) begin() {
	go func() {
		defer close(d.done)
		d.client.Run(d.ctx)
	}()
}

func (d *device) stop() error {
	d.cancel()
	<-d.done
	return d.client.Close()
}

func (d *device) do(op string, args json.RawMessage) (object, error) {
	switch op {
	case "push":
		var a struct {
			Recipient hexBytes `json:"recipient"`
			Envelope  hexBytes `json:"envelope"`
		}
		if err := parse(args, &a); err != nil {
			return nil, err
		}
		id, err := d.client.Push(a.Recipient, a.Envelope)
		if no := (*client.RefusedError)(nil); errors.As(err, &no) {
			return nil, refused(no.Error())
		}
		return object{"id": id}, err
	case "received":
		all, err := d.client.Received()
		envelopes := make([]string, len(all))
		for i, e := range all {
			envelopes[i] = hex.EncodeToString(e)
		}
		return object{"envelopes": envelopes}, err
	case "heartbeat":
		err := d.client.Heartbeat()
		if errors.Is(err, client.ErrNoSession) {
			return nil, refused(err.Error())
		}
		return object{}, err
	}
	return nil, unsupported("operation " + op)
}
