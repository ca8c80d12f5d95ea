package wire

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"
)

type vector struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Context  string          `json:"context"`
	Input    json.RawMessage `json:"input"`
	Encoding string          `json:"input_encoding"`
	Valid    bool            `json:"valid"`
	Strict   bool            `json:"strict"`
	Reason   string          `json:"reason"`
	Errors   []string        `json:"errors"`
	Echo     *string         `json:"echo"`
	Severe   bool            `json:"framing_severe"`
	Size     int             `json:"decoded_bytes"`
	Value    string          `json:"value_hex"`
	Public   string          `json:"public_key"`
	Verifier string          `json:"verifier_string_hex"`
}

func (v vector) bytes(t *testing.T) []byte {
	t.Helper()
	var s string
	var long struct {
		Prefix string `json:"prefix_hex"`
		Fill   string `json:"fill_hex"`
		Count  int    `json:"fill_count"`
		Suffix string `json:"suffix_hex"`
	}
	if v.Encoding == "repeat" {
		if err := json.Unmarshal(v.Input, &long); err != nil {
			t.Fatal(v.ID, err)
		}
		return slices.Concat(unhex(t, long.Prefix), bytes.Repeat(unhex(t, long.Fill), long.Count), unhex(t, long.Suffix))
	}
	if err := json.Unmarshal(v.Input, &s); err != nil {
		t.Fatal(v.ID, err)
	}
	if v.Encoding == "hex" {
		return unhex(t, s)
	}
	return []byte(s)
}

func vectors(t *testing.T) map[string][]vector {
	t.Helper()
	raw, err := os.ReadFile("testdata/frog_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		t.Fatal(err)
	}
	out := map[string][]vector{}
	for _, name := range []string{"crockford", "identifiers", "uris", "framing", "auth"} {
		var rows []vector
		if err := json.Unmarshal(parts[name], &rows); err != nil || len(rows) == 0 {
			t.Fatal(name, err)
		}
		out[name] = rows
	}
	return out
}

// judge compares; where the text leaves it open, a difference is only told.
func judge(t *testing.T, v vector, got bool) {
	t.Helper()
	if got == v.Valid {
		return
	}
	if v.Strict {
		t.Errorf("%s %s (%s): got %v", v.ID, v.Input, v.Reason, got)
	} else {
		t.Logf("%s %s (%s): got %v, open", v.ID, v.Input, v.Reason, got)
	}
}

func TestVectorsOfText(t *testing.T) {
	all := vectors(t)
	kinds := map[string]func(string) bool{
		"network": ValidNetwork, "peer_key": ValidPeerKey, "peer_fingerprint": ValidID, "server_id": ValidID, "route_id": ValidID,
		"nonce": ValidID, "cid": ValidCID, "fcid": ValidCID, "public_key": ValidPublicKey, "signature": ValidSignature, "id26": ValidID,
		"decimal": func(s string) bool { _, ok := parseDecimal(s, 10); return ok },
	}
	for _, v := range append(all["crockford"], all["identifiers"]...) {
		valid, ok := kinds[v.Kind]
		if !ok {
			t.Fatal(v.Kind)
		}
		text := string(v.bytes(t))
		judge(t, v, valid(text))
		if v.Value != "" {
			if b, ok := DecodeBase32(text, v.Size); !ok || !bytes.Equal(b, unhex(t, v.Value)) || EncodeBase32(b) != text {
				t.Errorf("%s: %x", v.ID, b)
			}
		}
	}
	for _, v := range all["uris"] {
		judge(t, v, ValidURI(string(v.bytes(t))))
	}
	for _, v := range all["auth"] {
		public, _ := DecodeBase32(v.Public, publicKeySize)
		judge(t, v, Verify(v.Public, string(v.bytes(t)), Fingerprint(public), unhex(t, v.Verifier)))
	}
}

func TestVectorsOfFraming(t *testing.T) {
	directions := map[string]Direction{"c2s": ToServer, "s2c": ToClient, "sis": Sister}
	for _, v := range vectors(t)["framing"] {
		raw := v.bytes(t)
		m, err := Decode(directions[v.Context], raw)
		judge(t, v, err == nil)
		if err == nil {
			if again, err := Encode(m); m.Command != "TRY" && (err != nil || !bytes.Equal(again, raw)) {
				t.Errorf("%s became %q, %v", v.ID, again, err)
			}
			continue
		}
		e := err.(*Error)
		if len(v.Errors) > 0 && !slices.Contains(v.Errors, e.Code) {
			t.Errorf("%s (%s): %v", v.ID, v.Reason, e)
		}
		if v.Echo != nil && e.ID != *v.Echo {
			t.Errorf("%s (%s): echo %s, not %s", v.ID, v.Reason, e.ID, *v.Echo)
		}
		if e.Severe && v.Context == "c2s" && !v.Severe {
			t.Errorf("%s (%s): severe", v.ID, v.Reason)
		}
	}
}
