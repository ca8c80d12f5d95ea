package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/peerbus_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Secret  string `json:"secret_ascii"`
		Vectors []struct {
			Name      string
			Wire      string `json:"wire_hex"`
			Parses    bool
			Canonical string `json:"canonical_hex"`
			HMAC      string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, v := range file.Vectors {
		raw, err := hex.DecodeString(v.Wire)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Parse(raw)
		if (err == nil) != v.Parses {
			t.Errorf("%s: parses: %v", v.Name, err)
		}
		if err != nil || !v.Parses {
			continue
		}
		canonical, err := e.Canonical()
		if err != nil || hex.EncodeToString(canonical) != v.Canonical {
			t.Errorf("%s: canonical %s, %v", v.Name, canonical, err)
		}
		if mac, err := e.MAC([]byte(file.Secret)); err != nil || mac != v.HMAC {
			t.Errorf("%s: MAC %s, %v", v.Name, mac, err)
		}
	}
}

func TestSignAndVerify(t *testing.T) {
	secret := []byte(strings.Repeat("s", MinSecret))
	signed := Signed{Version, "1", "a<b", "b", "", "", KindDirect, json.RawMessage(`{ "z" : "<", "a" : 1.0 }`)}
	frame, err := signed.Sign(secret)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Parse(frame)
	if err != nil || !e.Verify(secret) {
		t.Fatal(err, "own signature")
	}
	upper := e
	upper.HMAC = strings.ToUpper(e.HMAC)
	if !upper.Verify(secret) {
		t.Error("upper-case hex")
	}
	for _, mac := range []string{"", "zz", e.HMAC[:62], e.HMAC[:63], e.HMAC + "00", strings.Repeat("0", 64)} {
		bad := e
		bad.HMAC = mac
		if bad.Verify(secret) {
			t.Errorf("%q is taken", mac)
		}
	}
	if e.Verify(secret[:31]) || e.Verify(nil) {
		t.Error("a short secret is taken")
	}
	if _, err := signed.Sign(secret[:31]); err == nil {
		t.Error("signs with a short secret")
	}
}

func TestFrames(t *testing.T) {
	got := string(Deliver(`m"<|b`, []byte(`{ "id":"m" }`)))
	if got != `{"protocol_version":"v1","type":"deliver","delivery_key":"m\"<|b","envelope":{ "id":"m" }}` {
		t.Error(got)
	}
	if got := string(Peers(nil)); got != `{"protocol_version":"v1","type":"peers","names":[]}` {
		t.Error(got)
	}
	for _, bad := range []string{``, ` `, `null`, `[]`, `"a"`, `{}{}`, `{}x`, `{`, `{"a":1,}`, strings.Repeat(`{"a":`, 20000)} {
		if _, err := ParseObject([]byte(bad)); err == nil {
			t.Errorf("%.20q is taken", bad)
		}
	}
}

func TestLines(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", MaxLine-8) + `"}`
	stream := "{\"a\":1}\n\n{}{}\r\n{\"b\":\"\\n\"}\r\n" + long + "\n" + long + " \n[]\n{\"c\":3}"
	for _, step := range []int{1 << 30, 65536, 1000} {
		var l Lines
		var got []string
		for chunk := range slices.Chunk([]byte(stream), step) {
			l.Feed(chunk, func(o []byte) { got = append(got, strings.TrimSpace(string(o))) })
		}
		if !slices.Equal(got, []string{`{"a":1}`, ``, ``, `{"b":"\n"}`, long, ``, ``}) {
			t.Errorf("step %d: %d lines", step, len(got))
		}
	}
	out, err := AppendLine(nil, []byte("{\n \"a\" : [1,\n2] }"))
	if err != nil || !bytes.Equal(out, []byte("{\"a\":[1,2]}\n")) {
		t.Error(string(out), err)
	}
	if _, err := AppendLine(nil, []byte(long[:len(long)-1]+`,"b":1}`)); err == nil {
		t.Error("a line that is too long")
	}
}
