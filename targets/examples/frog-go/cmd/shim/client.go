package main

import (
	"context"
	"encoding/json"
	"errors"

	"frog/client"
	"frog/clock"
)

type clientInstance struct {
	client *client.Client
	clock  *clock.Skewed
}

func startClient(args json.RawMessage, emit func(string, object)) (instance, object, error) {
	var a struct {
		Bootstrap, Cache []string
		Network          string
		Seed             hexBytes
		Backoff          float64 `json:"backoff_ms"`
	}
	if err := parse(args, &a); err != nil {
		return nil, nil, err
	}
	key, err := keyOf(a.Seed)
	if err != nil {
		return nil, nil, err
	}
	i := &clientInstance{clock: clock.NewSkewed()}
	i.client, err = client.Start(client.Config{
		Bootstrap: a.Bootstrap, Cache: a.Cache, Network: a.Network, Key: key, Backoff: ms(a.Backoff), Clock: i.clock,
		Handler: client.Handler{
			Status: func(registered bool, uri string) {
				data := object{"registered": registered}
				if registered {
					data["uri"] = uri
				}
				emit("status", data)
			},
			Signal: func(s client.Signal) {
				emit("signal", object{"route_id": s.RouteID, "peer_key": s.Source, "kind": s.Kind, "payload": hexBytes(s.Payload)})
			},
			Error: func(id, code string) { emit("error", object{"id": id, "code": code}) },
		},
	})
	if err != nil {
		return nil, nil, refused(err.Error())
	}
	return i, object{}, nil
}

func (i *clientInstance) stop() { i.client.Close() }

func (i *clientInstance) do(op string, args json.RawMessage, answer func(object, error)) {
	var a struct {
		Limit   int
		PeerKey string `json:"peer_key"`
		RouteID string `json:"route_id"`
		Kind    string
		Payload hexBytes
	}
	if err := parse(args, &a); err != nil {
		answer(nil, err)
		return
	}
	// Every error of the client is a refusal; that of a server is its code.
	reply := func(result object, err error) {
		if err != nil {
			var server *client.ServerError
			if !errors.As(err, &server) {
				err = errors.New("the client: " + err.Error())
			}
			answer(nil, refused(err.Error()))
			return
		}
		answer(result, nil)
	}
	ctx := context.Background()
	switch op {
	case "find":
		go func() {
			keys, err := i.client.Find(ctx, a.Limit)
			reply(object{"peer_keys": append([]string{}, keys...)}, err)
		}()
	case "lookup":
		go func() {
			route, err := i.client.Lookup(ctx, a.PeerKey)
			reply(object{"route_id": route}, err)
		}()
	case "getservers":
		go func() {
			uris, err := i.client.GetServers(ctx, a.Limit)
			reply(object{"uris": append([]string{}, uris...)}, err)
		}()
	case "leave":
		go func() { reply(object{}, i.client.Leave(ctx)) }()
	case "signal":
		reply(object{}, i.client.Signal(a.RouteID, a.Kind, a.Payload))
	case "advance_clock":
		answer(object{}, advance(i.clock, args))
	default:
		answer(nil, unsupported("operation "+op))
	}
}
