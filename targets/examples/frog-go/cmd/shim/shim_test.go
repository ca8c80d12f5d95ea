package main

import (
	"bufio"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"frog/wire"
)

type harness struct {
	*testing.T
	shim   *shim
	lines  *bufio.Scanner
	events []object
	last   int64
}

func newHarness(t *testing.T) *harness {
	r, w := io.Pipe()
	h := &harness{T: t, shim: &shim{instances: map[string]instance{}, out: json.NewEncoder(w)}, lines: bufio.NewScanner(r)}
	h.lines.Buffer(nil, 1<<20)
	t.Cleanup(func() {
		go io.Copy(io.Discard, r)
		for _, i := range h.shim.instances {
			i.stop()
		}
	})
	return h
}

func (h *harness) read() object {
	h.Helper()
	if !h.lines.Scan() {
		h.Fatal(h.lines.Err())
	}
	var o object
	if err := json.Unmarshal(h.lines.Bytes(), &o); err != nil {
		h.Fatal(err)
	}
	return o
}

// ask returns the answer, keeping the events that come before it.
func (h *harness) ask(verb, instance, what string, args object) object {
	h.Helper()
	h.last++
	r := object{"id": h.last, "verb": verb, "instance": instance, "role": what, "op": what, "args": args}
	line, _ := json.Marshal(r)
	go h.shim.handle(line)
	for {
		o := h.read()
		if o["id"] == float64(h.last) {
			return o
		}
		h.events = append(h.events, o)
	}
}

func (h *harness) result(verb, instance, what string, args object) object {
	h.Helper()
	o := h.ask(verb, instance, what, args)
	result, ok := o["result"].(object)
	if !ok {
		h.Fatal(what, o)
	}
	return result
}

func (h *harness) event(instance, name string) object {
	h.Helper()
	for {
		for i, e := range h.events {
			if e["instance"] == instance && e["event"] == name {
				h.events = append(h.events[:i:i], h.events[i+1:]...)
				return e["data"].(object)
			}
		}
		h.events = append(h.events, h.read())
	}
}

func TestServerAndClients(t *testing.T) {
	h := newHarness(t)
	if h.ask("start", "x", "frog/nothing", nil)["unsupported"] == nil {
		t.Error("a role that nobody has")
	}
	server := h.result("start", "s", "frog/server", object{"seed": strings.Repeat("20", 32), "uri": "", "route_ttl_ms": 180000, "max_peers": 0, "sisters": []string{}})
	for _, name := range []string{"a", "b"} {
		h.result("start", name, "frog/client", object{"bootstrap": []any{server["address"]}, "network": "NET",
			"seed": strings.Repeat("0"+name, 32), "cache": []string{}, "backoff_ms": 50})
		if e := h.event(name, "status"); e["registered"] != true || e["uri"] != server["address"] {
			t.Fatal(e)
		}
	}
	found := h.result("do", "a", "find", object{"limit": 7})["peer_keys"].([]any)
	if len(found) != 1 {
		t.Fatal(found)
	}
	route := h.result("do", "a", "lookup", object{"peer_key": found[0]})["route_id"]
	h.result("do", "a", "signal", object{"route_id": route, "kind": "OFFER", "payload": "00ff0a"})
	if e := h.event("b", "signal"); e["payload"] != "00ff0a" || e["route_id"] != route || e["kind"] != "OFFER" {
		t.Error(e)
	}
	h.result("do", "s", "advance_clock", object{"seconds": 181.5})
	h.result("do", "b", "signal", object{"route_id": route, "kind": "ICE", "payload": ""})
	if e := h.event("b", "error"); e["id"] != route || e["code"] != "ROUTE_EXPIRED" {
		t.Error(e)
	}
	if no, _ := h.ask("do", "a", "find", object{"limit": 8})["refused"].(string); no == "" {
		t.Error("limit 8")
	}
	if no, _ := h.ask("do", "a", "lookup", object{"peer_key": "NET:" + strings.Repeat("0", 26)})["refused"].(string); no != "PEER_NOT_FOUND" {
		t.Error(no)
	}
	if got := h.result("do", "a", "getservers", object{"limit": 7})["uris"].([]any); len(got) != 0 {
		t.Error(got)
	}
	h.result("do", "b", "leave", nil)
	if e := h.event("b", "status"); e["registered"] != false {
		t.Error(e)
	}
	h.result("stop", "s", "", nil)
	if e := h.event("a", "status"); e["registered"] != false {
		t.Error(e)
	}
	if no, _ := h.ask("do", "a", "find", object{"limit": 1})["refused"].(string); no == "" {
		t.Error("no server")
	}
}

func TestFederation(t *testing.T) {
	h := newHarness(t)
	var addresses []any
	for i, name := range []string{"1", "2", "3"} {
		seeds := addresses[max(0, i-1):]
		addresses = append(addresses, h.result("start", name, "frog/server", object{"seed": strings.Repeat("2"+name, 32), "uri": "",
			"seeds": append([]any{}, seeds...), "sisters": []string{idOf("21"), idOf("22"), idOf("23")}, "discover": 0, "redial_ms": 50,
			"lookup_ttl": 5, "find_ttl": 3, "lookup_fanout": 7, "find_fanout": 7, "rate_floods": 0})["address"])
	}
	for i, name := range []string{"a", "b"} {
		h.result("start", name, "frog/client", object{"bootstrap": []any{addresses[2*i]}, "network": "NET", "seed": strings.Repeat("0"+name, 32), "backoff_ms": 50})
		h.event(name, "status")
	}
	key := "NET:" + idOf("0b")
	route := h.ask("do", "a", "lookup", object{"peer_key": key})
	for route["refused"] != nil { // until all are connected
		route = h.ask("do", "a", "lookup", object{"peer_key": key})
		h.result("do", "1", "advance_clock", object{"seconds": 3})
	}
	rid := route["result"].(object)["route_id"]
	h.result("do", "a", "signal", object{"route_id": rid, "kind": "OFFER", "payload": "00ff0a"})
	if e := h.event("b", "signal"); e["payload"] != "00ff0a" || e["route_id"] != rid {
		t.Error(e)
	}
	if no := h.ask("start", "x", "frog/server", object{"seed": strings.Repeat("20", 32), "seeds": []string{"ws://a.example"}}); no["refused"] == nil {
		t.Error(no)
	}
}

func idOf(seed string) string {
	b, _ := hex.DecodeString(strings.Repeat(seed, 32))
	return wire.Fingerprint(wire.PublicOf(ed25519.NewKeyFromSeed(b)))
}

func TestCodec(t *testing.T) {
	h := newHarness(t)
	h.result("start", "c", "frog/codec", nil)
	for _, c := range []object{
		{"command": "HELLO"}, {"command": "HELLO", "server_id": strings.Repeat("0", 26)}, {"command": "TRY", "cid": "-", "uris": []any{}},
		{"command": "SIGNAL", "route_id": strings.Repeat("0", 26), "kind": "ICE", "payload": "0aff"},
		{"command": "@SERVERS", "fcid": "G1", "servers": []any{[]any{strings.Repeat("0", 26), "ws://a.example/"}}},
	} {
		wire := h.result("do", "c", "encode", object{"command": c})["wire"]
		ok := false
		for direction := range directions {
			if o, is := h.ask("do", "c", "decode", object{"direction": direction, "wire": wire})["result"].(object); is {
				want, _ := json.Marshal(c)
				got, _ := json.Marshal(o["command"])
				ok = string(want) == string(got)
			}
		}
		if !ok {
			t.Error(c, wire)
		}
	}
	for _, c := range []object{{"command": "HELLO", "server_id": ""}, {"command": "LEAVE", "cid": "A"}, {"command": "FIND", "cid": "A"}, {"command": "FIND", "cid": "A", "limit": 1e30}, {"command": "FIND", "cid": 1, "limit": 1}} {
		if h.ask("do", "c", "encode", object{"command": c})["refused"] == nil {
			t.Error(c)
		}
	}
	if no := h.ask("do", "c", "decode", object{"direction": "to_server", "wire": "46494e442041312038 0a"}); no["failed"] == nil {
		t.Error(no)
	}
	if no := h.ask("do", "c", "decode", object{"direction": "to_server", "wire": "46494e4420413120380a"}); no["refused"] != "BAD_REQUEST A1 invalid limit" {
		t.Error(no)
	}
	if o := h.result("do", "c", "client_auth", object{"seed": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "network": "BLUTELLA",
		"nonce": "8QAK1JY7Z5T2N9VVK36ZP3JH2M", "server_uri": "wss://rv.example.net/", "server_id": "4KVETTPBZR80KG1GTZ55CZ1KS9"}); o["peer_key"] != "BLUTELLA:AS3NN9TMCD3MR0M5VXEVYAYAPW" {
		t.Error(o)
	}
}
