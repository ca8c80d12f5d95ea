package main

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"slices"

	"frog/wire"
)

var directions = map[string]wire.Direction{"to_server": wire.ToServer, "to_client": wire.ToClient, "sister": wire.Sister}

var kinds = map[string]func(string) bool{
	"network": wire.ValidNetwork, "fingerprint": wire.ValidID, "peer_key": wire.ValidPeerKey, "server_id": wire.ValidID,
	"route_id": wire.ValidID, "nonce": wire.ValidID, "cid": wire.ValidCID, "fcid": wire.ValidCID,
	"public_key": wire.ValidPublicKey, "signature": wire.ValidSignature, "uri": wire.ValidURI,
}

type codec struct{}

func (codec) stop() {}

func (codec) do(op string, raw json.RawMessage, answer func(object, error)) { answer(convert(op, raw)) }

func convert(op string, raw json.RawMessage) (object, error) {
	var a struct {
		Direction, Kind, Text, Network, Nonce, Signature string
		Wire, Bytes, Seed                                hexBytes
		Size                                             int
		Command                                          json.RawMessage
		PublicKey                                        string `json:"public_key"`
		ServerURI                                        string `json:"server_uri"`
		ServerID                                         string `json:"server_id"`
		PeerKey                                          string `json:"peer_key"`
		SelfURI                                          string `json:"self_uri"`
		SelfID                                           string `json:"self_id"`
		PeerURI                                          string `json:"peer_uri"`
		PeerID                                           string `json:"peer_id"`
	}
	if err := parse(raw, &a); err != nil {
		return nil, err
	}
	switch op {
	case "decode":
		direction, ok := directions[a.Direction]
		if !ok {
			return nil, unsupported("direction " + a.Direction)
		}
		m, err := wire.Decode(direction, a.Wire)
		if err != nil {
			return nil, refused(err.Error())
		}
		return object{"command": toObject(direction, m)}, nil
	case "encode":
		m, err := fromObject(a.Command)
		if err != nil {
			return nil, refused("no such command: " + err.Error())
		}
		out, err := wire.Encode(m)
		if err != nil {
			return nil, refused("may not be sent: " + err.Error())
		}
		return object{"wire": hexBytes(out)}, nil
	case "check":
		valid, ok := kinds[a.Kind]
		if !ok {
			return nil, unsupported("kind " + a.Kind)
		}
		return object{"valid": valid(a.Text)}, nil
	case "base32_encode":
		return object{"text": wire.EncodeBase32(a.Bytes)}, nil
	case "base32_decode":
		b, ok := wire.DecodeBase32(a.Text, a.Size)
		if !ok {
			return nil, refused("not canonical")
		}
		return object{"bytes": hexBytes(b)}, nil
	case "identify":
		b, ok := wire.DecodeBase32(a.PublicKey, ed25519.PublicKeySize)
		if !ok {
			return nil, refused("no public key")
		}
		return object{"id": wire.Fingerprint(b)}, nil
	case "client_auth":
		key, err := keyOf(a.Seed)
		if err != nil {
			return nil, err
		}
		if !wire.ValidNetwork(a.Network) || !wire.ValidID(a.Nonce) || !wire.ValidURI(a.ServerURI) || !wire.ValidID(a.ServerID) {
			return nil, refused("not what a client signs")
		}
		peerKey := a.Network + ":" + wire.Fingerprint(wire.PublicOf(key))
		public, signature := wire.Sign(key, wire.ClientAuthString(a.Nonce, a.ServerURI, peerKey, a.ServerID))
		return object{"peer_key": peerKey, "public_key": public, "signature": signature}, nil
	case "server_auth":
		key, err := keyOf(a.Seed)
		if err != nil {
			return nil, err
		}
		if !wire.ValidID(a.Nonce) || !wire.ValidURI(a.SelfURI) || !wire.ValidURI(a.PeerURI) || !wire.ValidID(a.PeerID) {
			return nil, refused("not what a server signs")
		}
		id := wire.Fingerprint(wire.PublicOf(key))
		public, signature := wire.Sign(key, wire.ServerAuthString(a.Nonce, a.SelfURI, id, a.PeerURI, a.PeerID))
		return object{"server_id": id, "public_key": public, "signature": signature}, nil
	case "verify_client":
		return object{"valid": wire.VerifyClient(a.PublicKey, a.Signature, a.Nonce, a.ServerURI, a.PeerKey, a.ServerID)}, nil
	case "verify_server":
		return object{"valid": wire.VerifyServer(a.PublicKey, a.Signature, a.Nonce, a.SelfURI, a.SelfID, a.PeerURI, a.PeerID)}, nil
	}
	return nil, unsupported("operation " + op)
}

func keyOf(seed []byte) (ed25519.PrivateKey, error) {
	if len(seed) != ed25519.SeedSize {
		return nil, refused("a seed has 32 bytes")
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// command is a message as it travels to the harness, with all members that any command has.
type command struct {
	Command   string      `json:"command"`
	What      string      `json:"what"`
	ServerID  string      `json:"server_id"`
	URI       string      `json:"uri"`
	PeerKey   string      `json:"peer_key"`
	Source    string      `json:"source"`
	Target    string      `json:"target"`
	Nonce     string      `json:"nonce"`
	PublicKey string      `json:"public_key"`
	Signature string      `json:"signature"`
	CID       string      `json:"cid"`
	FCID      string      `json:"fcid"`
	RouteID   string      `json:"route_id"`
	ID        string      `json:"id"`
	Code      string      `json:"code"`
	Kind      string      `json:"kind"`
	Limit     int         `json:"limit"`
	TTL       int         `json:"ttl"`
	URIs      []string    `json:"uris"`
	PeerKeys  []string    `json:"peer_keys"`
	Servers   [][2]string `json:"servers"`
	Payload   hexBytes    `json:"payload"`
}

// toObject keeps the members of the command.
func toObject(direction wire.Direction, m *wire.Message) object {
	servers := [][2]string{}
	for _, r := range m.Servers {
		servers = append(servers, [2]string{r.ID, r.URI})
	}
	all := object{
		"what": m.What, "server_id": m.ServerID, "uri": m.URI, "peer_key": m.PeerKey, "source": m.Source, "target": m.Target,
		"nonce": m.Nonce, "public_key": m.PublicKey, "signature": m.Signature, "cid": m.CID, "fcid": m.FCID, "route_id": m.RouteID,
		"id": m.ID, "code": m.Code, "kind": m.Kind, "limit": m.Limit, "ttl": m.TTL, "uris": append([]string{}, m.URIs...),
		"peer_keys": append([]string{}, m.PeerKeys...), "servers": servers, "payload": hexBytes(m.Payload),
	}
	out := object{"command": m.Command}
	members, _ := wire.Members(direction, m.Command)
	for _, name := range members {
		out[name] = all[name]
	}
	return out
}

// fromObject wants exactly the members of the command: no sender emits fields that the grammar does not know.
func fromObject(raw json.RawMessage) (*wire.Message, error) {
	var present map[string]json.RawMessage
	if err := json.Unmarshal(raw, &present); err != nil {
		return nil, err
	}
	var c command
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	given := 0
	for name, value := range present {
		if name != "command" && string(value) != "null" {
			given++
		}
	}
	for _, direction := range directions {
		members, ok := wire.Members(direction, c.Command)
		if !ok || given != len(members) || slices.ContainsFunc(members, func(name string) bool {
			value, ok := present[name]
			return !ok || string(value) == "null"
		}) {
			continue
		}
		if c.Command == "HELLO" && direction == wire.ToClient && c.ServerID == "" {
			return nil, errors.New("a server's HELLO without its id")
		}
		m := &wire.Message{Command: c.Command, What: c.What, ServerID: c.ServerID, URI: c.URI, PeerKey: c.PeerKey, Source: c.Source,
			Target: c.Target, Nonce: c.Nonce, PublicKey: c.PublicKey, Signature: c.Signature, CID: c.CID, FCID: c.FCID, RouteID: c.RouteID,
			ID: c.ID, Code: c.Code, Kind: c.Kind, Limit: c.Limit, TTL: c.TTL, URIs: c.URIs, PeerKeys: c.PeerKeys, Payload: c.Payload}
		for _, pair := range c.Servers {
			m.Servers = append(m.Servers, wire.Record{ID: pair[0], URI: pair[1]})
		}
		return m, nil
	}
	return nil, errors.New("other members than " + c.Command + " has")
}
