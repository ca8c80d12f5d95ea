package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"peerbus/client"
	"peerbus/wire"
)

// peersTimeout is how long a reply is waited for.
const peersTimeout = 30 * time.Second

type clientInstance struct {
	client *client.Client
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func startClient(args json.RawMessage, log *slog.Logger, emit func(string, object)) (instance, object, error) {
	var a struct {
		URL       string  `json:"url"`
		Name      string  `json:"name"`
		Token     string  `json:"token"`
		Secret    string  `json:"secret"`
		CacheSize int     `json:"cache_size"`
		BackoffMS float64 `json:"backoff_ms"`
	}
	if err := parse(args, &a); err != nil {
		return nil, nil, refused(err.Error())
	}
	c, err := client.New(client.Config{
		URL:       a.URL,
		Name:      a.Name,
		Token:     a.Token,
		Secret:    []byte(a.Secret),
		CacheSize: a.CacheSize,
		Backoff:   time.Duration(a.BackoffMS * float64(time.Millisecond)),
		Log:       log.With("name", a.Name),
		OnMessage: func(e wire.Envelope) {
			body := string(e.Body) // as it was written
			if body == "" {
				body = "null"
			}
			emit("message", object{
				"id": e.ID, "from": e.From, "to": e.To, "source": e.Source, "kind": e.Kind, "body": body,
			})
		},
		OnStatus: func(connected bool) { emit("status", object{"connected": connected}) },
	})
	if err != nil {
		return nil, nil, refused(err.Error())
	}
	i := &clientInstance{client: c}
	i.ctx, i.cancel = context.WithCancel(context.Background())
	return i, object{}, nil
}

func (i *clientInstance) begin() { i.wg.Go(func() { i.client.Run(i.ctx) }) }

func (i *clientInstance) do(op string, args json.RawMessage, answer func(object, error)) {
	var a struct {
		To   string `json:"to"`
		Body string `json:"body"`
		ID   string `json:"id"`
	}
	if err := parse(args, &a); err != nil {
		answer(nil, err)
		return
	}
	switch op {
	case "send":
		id, err := i.client.Send(a.To, []byte(a.Body))
		reply(answer, object{"id": id}, err)
	case "broadcast":
		id, err := i.client.Broadcast([]byte(a.Body))
		reply(answer, object{"id": id}, err)
	case "consume":
		i.client.Consume(a.ID)
		answer(object{}, nil)
	case "peers":
		i.wg.Go(func() {
			ctx, cancel := context.WithTimeout(i.ctx, peersTimeout)
			defer cancel()
			names, err := i.client.Peers(ctx)
			if names == nil {
				names = []string{}
			}
			reply(answer, object{"names": names}, err)
		})
	default:
		answer(nil, unsupported("operation "+op))
	}
}

func (i *clientInstance) stop() error {
	i.cancel()
	i.wg.Wait()
	return nil
}
