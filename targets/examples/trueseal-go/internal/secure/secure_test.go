package secure

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/flynn/noise"

	"trueseal/internal/wire"
)

type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

func TestKnownAnswers(t *testing.T) {
	b, err := os.ReadFile("testdata/noise_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name             string   `json:"protocol_name"`
			Prologue         hexBytes `json:"init_prologue"`
			InitStatic       hexBytes `json:"init_static"`
			InitEphemeral    hexBytes `json:"init_ephemeral"`
			InitRemoteStatic hexBytes `json:"init_remote_static"`
			RespStatic       hexBytes `json:"resp_static"`
			RespEphemeral    hexBytes `json:"resp_ephemeral"`
			Hash             hexBytes `json:"handshake_hash"`
			Messages         []struct{ Payload, Ciphertext hexBytes }
		}
	}
	if err := json.Unmarshal(b, &file); err != nil || len(file.Vectors) != 2 {
		t.Fatal(err)
	}
	for _, v := range file.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			pattern := noise.HandshakeNK
			if strings.Contains(v.Name, "_XX_") {
				pattern = noise.HandshakeXX
			}
			state := func(initiator bool, static, ephemeral, remote []byte) *noise.HandshakeState {
				cfg := noise.Config{CipherSuite: Suite, Pattern: pattern, Initiator: initiator, Prologue: v.Prologue,
					Random: bytes.NewReader(ephemeral), PeerStatic: remote}
				if static != nil {
					if cfg.StaticKeypair, err = Keypair(static); err != nil {
						t.Fatal(err)
					}
				}
				hs, err := noise.NewHandshakeState(cfg)
				if err != nil {
					t.Fatal(err)
				}
				return hs
			}
			sides := []*noise.HandshakeState{
				state(true, v.InitStatic, v.InitEphemeral, v.InitRemoteStatic),
				state(false, v.RespStatic, v.RespEphemeral, nil),
			}
			var keys [2][2]*noise.CipherState // of each side: initiator's direction, responder's
			for i, m := range v.Messages {
				from, to := i%2, 1-i%2
				var sealed, opened []byte
				if keys[0][0] == nil {
					sealed, keys[from][0], keys[from][1], err = sides[from].WriteMessage(nil, m.Payload)
					if err == nil {
						opened, keys[to][0], keys[to][1], err = sides[to].ReadMessage(nil, sealed)
					}
				} else {
					sealed, err = keys[from][from].Encrypt(nil, nil, m.Payload)
					if err == nil {
						opened, err = keys[to][from].Decrypt(nil, nil, sealed)
					}
				}
				if err != nil || !bytes.Equal(sealed, m.Ciphertext) || !bytes.Equal(opened, m.Payload) {
					t.Fatalf("message %d: %x, %x, %v", i, sealed, opened, err)
				}
			}
			for _, side := range sides {
				if !bytes.Equal(side.ChannelBinding(), v.Hash) {
					t.Errorf("hash %x", side.ChannelBinding())
				}
			}
		})
	}
}

func pair(t *testing.T, fill byte) (noise.DHKey, wire.Key) {
	t.Helper()
	k, err := Keypair(bytes.Repeat([]byte{fill}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return k, wire.Key(k.Public)
}

// trickle hands over one byte per read and notes what was written.
type trickle struct {
	net.Conn
	r       io.Reader
	written *int
}

func (c trickle) Read(p []byte) (int, error) { return c.r.Read(p) }
func (c trickle) Write(p []byte) (int, error) {
	*c.written += len(p)
	return c.Conn.Write(p)
}

func pipe() (client, relay trickle) {
	a, b := net.Pipe()
	return trickle{a, iotest.OneByteReader(a), new(int)}, trickle{b, iotest.OneByteReader(b), new(int)}
}

type result struct {
	conn *Conn
	err  error
}

func TestSessions(t *testing.T) {
	relayKey, relayPub := pair(t, 1)
	deviceKey, devicePub := pair(t, 2)
	for name, kind := range map[string]struct {
		dial     func(net.Conn) (*Conn, error)
		accept   func(net.Conn, noise.DHKey) (*Conn, error)
		peer     wire.Key
		up, down int
	}{
		"NK": {func(nc net.Conn) (*Conn, error) { return DialNK(nc, relayPub) }, AcceptNK, wire.Key{}, 2 + 48, 2 + 48},
		"XX": {func(nc net.Conn) (*Conn, error) { return DialXX(nc, deviceKey, relayPub) }, AcceptXX, devicePub, 2 + 32 + 2 + 64, 2 + 96},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := pipe()
			defer a.Close()
			defer b.Close()
			accepted := make(chan result, 1)
			go func() {
				conn, err := kind.accept(b, relayKey)
				accepted <- result{conn, err}
			}()
			client, err := kind.dial(a)
			if err != nil {
				t.Fatal(err)
			}
			relay := <-accepted
			if relay.err != nil || relay.conn.Peer != kind.peer || client.Peer != relayPub {
				t.Fatal(relay.err, relay.conn.Peer)
			}
			if *a.written != kind.up || *b.written != kind.down {
				t.Errorf("%d bytes up, %d down", *a.written, *b.written)
			}
			large := bytes.Repeat([]byte("odd"), 60_000)
			go client.Write(wire.Frame{Type: wire.Heartbeat}, wire.Frame{Type: wire.Push, Envelope: large}, wire.Frame{Type: wire.Heartbeat})
			relay.conn.Frames = wire.Assembler{Keep: 1 << 20, Drain: 1 << 20}
			for _, want := range []int{0, 32 + len(large), 0} {
				if raw, err := relay.conn.ReadFrame(); err != nil || len(raw.Body) != want {
					t.Fatal(raw, err)
				}
			}
		})
	}
}

func TestImpostorRelay(t *testing.T) {
	impostor, _ := pair(t, 3)
	deviceKey, _ := pair(t, 2)
	_, relayPub := pair(t, 1)

	a, b := pipe()
	go func() {
		AcceptXX(b, impostor)
		b.Close()
	}()
	_, err := DialXX(a, deviceKey, relayPub)
	a.Close()
	if err == nil || *a.written != 2+32 { // message 3 would show who we are
		t.Error(err, *a.written)
	}
}

func TestImpostorRelayOnThePushPort(t *testing.T) {
	impostor, _ := pair(t, 3)
	_, relayPub := pair(t, 1)
	a, b := pipe()
	accepted := make(chan error, 1)
	go func() {
		_, err := AcceptNK(b, impostor)
		b.Close()
		accepted <- err
	}()
	if _, err := DialNK(a, relayPub); err == nil {
		t.Error("NK with another key")
	}
	a.Close()
	if err := <-accepted; err == nil {
		t.Error("NK accepted with another key")
	}
}

func TestWrongHandshakeOnThePushPort(t *testing.T) {
	relayKey, relayPub := pair(t, 1)
	deviceKey, _ := pair(t, 2)
	a, b := pipe()
	go func() {
		DialXX(a, deviceKey, relayPub)
		a.Close()
	}()
	if _, err := AcceptNK(b, relayKey); err == nil {
		t.Error("XX was taken for NK")
	}
	b.Close()
}
