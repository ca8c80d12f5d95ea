package wire

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"strings"
	"testing"
)

// Section 50.
const (
	peerSeed    = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	peerPublic  = "0EGGFFZKSR8BW7BGVMCEEJY0K5KY9NHGKEJGTQRXVJ3684JN66W0"
	peerKeyText = "BLUTELLA:AS3NN9TMCD3MR0M5VXEVYAYAPW"
	peerSig     = "HAMFPA9XA6MWMRRS07F69D8NJN1F7FGP0X2V0MAJ62J9HE8YTE64KYTKWDTSS9HZSTATECCTQGJ8XTC9J66BS0NA03TXZGJBZT7TA30"
	serverSeed  = "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
	serverPub   = "56PBNRA1QK5F1CHE3AAD6K8BRWV1WMKD1FZ15J4QJJY968MPDQBG"
	serverIDTxt = "4KVETTPBZR80KG1GTZ55CZ1KS9"
	serverSig   = "11Y0VX78BAMYRM1T40MPB68RNSEKN86NJSWPX6XSJ61P72MHPWH8YV1SZNQQZH0QJBY4X6PBJYYD74VA96SB4CMC72SS8JSW97D7E1G"
	nonceText   = "8QAK1JY7Z5T2N9VVK36ZP3JH2M"
	routeText   = "2N9VVK36ZP3JH2M8QAK1JY7Z5T"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSection50(t *testing.T) {
	peer := ed25519.NewKeyFromSeed(unhex(t, peerSeed))
	server := ed25519.NewKeyFromSeed(unhex(t, serverSeed))
	if got := Fingerprint(PublicOf(peer)); "BLUTELLA:"+got != peerKeyText {
		t.Errorf("fingerprint %s", got)
	}
	if got := Fingerprint(PublicOf(server)); got != serverIDTxt {
		t.Errorf("server id %s", got)
	}
	public, signature := Sign(peer, ClientAuthString(nonceText, "wss://rv.example.net/", peerKeyText, serverIDTxt))
	if public != peerPublic || signature != peerSig {
		t.Errorf("AUTH %s %s", public, signature)
	}
	if !VerifyClient(public, signature, nonceText, "wss://rv.example.net/", peerKeyText, serverIDTxt) {
		t.Error("50.3 does not verify")
	}
	public, signature = Sign(server, ServerAuthString(nonceText, "wss://rv.example.net/", serverIDTxt, "wss://rv2.example.org/", "9M4RX2C7DA8V6N0PGQBT3W5ZK1"))
	if public != serverPub || signature != serverSig {
		t.Errorf("@AUTH %s %s", public, signature)
	}
	if !VerifyServer(public, signature, nonceText, "wss://rv.example.net/", serverIDTxt, "wss://rv2.example.org/", "9M4RX2C7DA8V6N0PGQBT3W5ZK1") {
		t.Error("50.4 does not verify")
	}
	if VerifyServer(public, signature, nonceText, "wss://rv.example.net/", serverIDTxt, "wss://rv2.example.org/", serverIDTxt) {
		t.Error("a server took its own id from another")
	}
}

func TestIdentifiersOfSection50(t *testing.T) {
	for _, c := range []struct {
		valid func(string) bool
		text  string
		want  bool
	}{
		{ValidNetwork, "BLUTELLA", true}, {ValidID, "AS3NN9TMCD3MR0M5VXEVYAYAPW", true}, {ValidPeerKey, peerKeyText, true},
		{ValidCID, "A1", true}, {ValidCID, "--", true}, {ValidURI, "wss://rv.example.net/", true},
		{ValidURI, "ws://192.0.2.10:9000/", true}, {ValidURI, "wss://[2001:db8::1]:9443/", true},
		{ValidNetwork, "blutella", false}, {ValidNetwork, "WEB-GAME", false}, {ValidNetwork, "THIS_NETWORK_NAME_IS_TOO_LONG", false},
		{ValidID, "AS3NN9TMCD3MROM5VXEVYAYAPW", false}, {ValidID, "as3nn9tmcd3mr0m5vxevyayapw", false},
		{ValidPeerKey, "BLUTELLAAS3NN9TMCD3MR0M5VXEVYAYAPW", false}, {ValidPeerKey, "blutella:AS3NN9TMCD3MR0M5VXEVYAYAPW", false},
		{ValidID, "BLUTELLA:4KVETTPBZR80KG1GTZ55CZ1KS9", false}, {ValidCID, "-", false},
		{ValidURI, "wss://rv.example.net", false}, {ValidURI, "wss://rv.example.net:443/", false}, {ValidURI, "wss://rv.example.net/?x=1", false},
		{ValidURI, "wss://[2001:0db8:0000:0000:0000:0000:0000:0001]/", false}, {ValidURI, "wss://rv.example.net:0443/", false},
		{ValidURI, "wss://rv.example.net./", false},
		{ValidURI, "wss://h/" + strings.Repeat("a", 192), true}, {ValidURI, "wss://h/" + strings.Repeat("a", 193), false},
	} {
		if got := c.valid(c.text); got != c.want {
			t.Errorf("%q: %v", c.text, got)
		}
	}
}

func TestRandomIDsUseAllBits(t *testing.T) {
	var last [256]int
	for range 2000 {
		id := RandomID()
		if !ValidID(id) {
			t.Fatal(id)
		}
		last[id[idLength-1]]++
	}
	seen := 0
	for _, n := range last {
		seen += min(n, 1)
	}
	if seen != 32 {
		t.Errorf("the last symbol takes %d values", seen)
	}
}

func samples() []*Message {
	keys := []string{peerKeyText, "BLUTELLA:7XQ0J5M8V4K2R9N3T6W1CZEHYA"}
	return []*Message{
		{Command: "HELLO"}, {Command: "JOIN", PeerKey: peerKeyText}, {Command: "AUTH", PublicKey: peerPublic, Signature: peerSig},
		{Command: "LEAVE"}, {Command: "GETSERVERS", CID: "A1", Limit: 7}, {Command: "FIND", CID: "F1", Limit: 1},
		{Command: "LOOKUP", CID: "L1", PeerKey: peerKeyText}, {Command: "SIGNAL", RouteID: routeText, Kind: "ICE", Payload: []byte("a\n\xff")},
		{Command: "HELLO", ServerID: serverIDTxt}, {Command: "CHAL", Nonce: nonceText}, {Command: "OK", What: "JOIN"},
		{Command: "TRY", CID: "-", URIs: []string{"wss://rv.example.net/"}}, {Command: "PEERS", CID: "F1", PeerKeys: keys},
		{Command: "FOUND", CID: "L1", PeerKey: peerKeyText, RouteID: routeText},
		{Command: "SIGNAL-FROM", RouteID: routeText, PeerKey: peerKeyText, Kind: "OFFER", Payload: bytes.Repeat([]byte("x"), MaxPayload)},
		{Command: "ERR", ID: "-", Code: BadState}, {Command: "@HELLO", ServerID: serverIDTxt, URI: "wss://rv.example.net/"},
		{Command: "@CHAL", Nonce: nonceText}, {Command: "@AUTH", PublicKey: serverPub, Signature: serverSig}, {Command: "@OK", What: "AUTH"},
		{Command: "@ERR", ID: "R1", Code: RateLimited}, {Command: "@LIST", FCID: "G1", Limit: 3},
		{Command: "@SERVERS", FCID: "G1", Servers: []Record{{serverIDTxt, "wss://rv.example.net/"}}},
		{Command: "@FIND", FCID: "R1", ServerID: serverIDTxt, PeerKey: peerKeyText, Limit: 3, TTL: 0},
		{Command: "@PEERS", FCID: "R1", ServerID: serverIDTxt, PeerKeys: keys},
		{Command: "@LOOKUP", RouteID: routeText, ServerID: serverIDTxt, Source: keys[0], Target: keys[1], TTL: 7},
		{Command: "@FOUND", RouteID: routeText, PeerKey: peerKeyText},
		{Command: "@SIGNAL", RouteID: routeText, PeerKey: peerKeyText, Kind: "ANSWER", Payload: []byte{}},
	}
}

func TestRoundTrip(t *testing.T) {
	for _, m := range samples() {
		raw, err := Encode(m)
		if err != nil {
			t.Errorf("%s: %v", m.Command, err)
			continue
		}
		directions := 0
		for d := range grammar {
			back, err := Decode(Direction(d), raw)
			if err != nil {
				continue
			}
			directions++
			again, err := Encode(back)
			if err != nil || !bytes.Equal(again, raw) {
				t.Errorf("%s: %q became %q, %v", m.Command, raw, again, err)
			}
		}
		if directions != 1 {
			t.Errorf("%s belongs to %d directions", m.Command, directions)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, m := range []*Message{
		{Command: "PING"}, {Command: "FIND", CID: "-", Limit: 3}, {Command: "FIND", CID: "A", Limit: 8}, {Command: "OK", What: "AUTH"},
		{Command: "TRY", CID: "-", URIs: []string{"wss://rv.example.net"}}, {Command: "PEERS", CID: "A", PeerKeys: make([]string, 8)},
		{Command: "SIGNAL", RouteID: routeText, Kind: "ICE", Payload: make([]byte, MaxPayload+1)},
		{Command: "@LOOKUP", RouteID: routeText, ServerID: serverIDTxt, Source: peerKeyText, Target: "A:AS3NN9TMCD3MR0M5VXEVYAYAPW", TTL: 1},
	} {
		if raw, err := Encode(m); err == nil {
			t.Errorf("%q was written", raw)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range samples() {
		raw, _ := Encode(m)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for d := range grammar {
			m, err := Decode(Direction(d), raw)
			if err != nil {
				continue
			}
			if again, err := Encode(m); err != nil || m.Command != "TRY" && !bytes.Equal(again, raw) {
				t.Errorf("%q became %q, %v", raw, again, err)
			}
		}
	})
}
