package wire

import (
	"bytes"
	"encoding/json"
)

// The four types of control frames (PB-2-03).
const (
	TypeRegister = "register"
	TypeAck      = "ack"
	TypePeers    = "peers"
	TypeDeliver  = "deliver"
)

// Control says whether a type is one of them. Every other frame is an envelope (PB-3-14).
func Control(typ string) bool {
	switch typ {
	case TypeRegister, TypeAck, TypePeers, TypeDeliver:
		return true
	}
	return false
}

// Register is the first frame of a connection.
func Register(token, name string) []byte {
	return encode(struct {
		ProtocolVersion string `json:"protocol_version"`
		Type            string `json:"type"`
		Token           string `json:"token"`
		Name            string `json:"name"`
	}{Version, TypeRegister, token, name})
}

// Ack acknowledges a delivery key.
func Ack(key string) []byte {
	return encode(struct {
		ProtocolVersion string `json:"protocol_version"`
		Type            string `json:"type"`
		ID              string `json:"id"`
	}{Version, TypeAck, key})
}

// PeersRequest asks for the names; names is absent (PB-2.3-01).
func PeersRequest() []byte {
	return encode(struct {
		ProtocolVersion string `json:"protocol_version"`
		Type            string `json:"type"`
	}{Version, TypePeers})
}

// Peers is the answer, and the one to a register.
func Peers(names []string) []byte {
	return encode(struct {
		ProtocolVersion string   `json:"protocol_version"`
		Type            string   `json:"type"`
		Names           []string `json:"names"`
	}{Version, TypePeers, append([]string{}, names...)}) // never null (PB-2.3-04)
}

// Deliver wraps an envelope, which stays the bytes it is.
func Deliver(key string, envelope []byte) []byte {
	const between = `,"envelope":`
	head := encode(struct {
		ProtocolVersion string `json:"protocol_version"`
		Type            string `json:"type"`
		DeliveryKey     string `json:"delivery_key"`
	}{Version, TypeDeliver, key})
	frame := make([]byte, 0, len(head)+len(between)+len(envelope))
	frame = append(frame, head[:len(head)-1]...)
	frame = append(frame, between...)
	frame = append(frame, envelope...)
	return append(frame, '}')
}

// encode cannot fail: its arguments are made of strings.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}) // PB-1-04
}
