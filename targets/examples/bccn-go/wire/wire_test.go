package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func sealed(body string) string { return fmt.Sprintf("BCCN1[%d]%s", len(body), body) }

func TestKnownTags(t *testing.T) {
	for _, c := range []struct{ key, body, tag string }{
		{"secret", "test:1:test/chan|hello", "dda368837299c7cf"},
		{"secret", "a:1:c|", "3f97e5073787f5a7"},
		{strings.Repeat("k", 65), "a:1:c|x", "c5c2b5926f019255"},
	} {
		if tag := Tag([]byte(c.key), []byte(c.body)); tag != c.tag {
			t.Errorf("%s: %s", c.body, tag)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	m := Message{Src: "]s[", Seq: 1<<64 - 1, Chan: "!h/*", Payload: []byte("a|b:c\x00\xff]\n")}
	for _, algo := range []string{"", CRC32} {
		datagram, err := m.Encode(nil, algo)
		if err != nil {
			t.Fatal(err)
		}
		got, authenticated, err := Decode(datagram, nil)
		if err != nil || authenticated || fmt.Sprint(got) != fmt.Sprint(m) {
			t.Errorf("%q: %v %v", datagram, got, err)
		}
	}
	key := []byte("secret")
	datagram, _ := m.Encode(key, "")
	if _, authenticated, err := Decode(datagram, key); err != nil || !authenticated {
		t.Error(err)
	}
	for i := range datagram {
		datagram[i] ^= 1
		if _, _, err := Decode(datagram, key); err == nil {
			t.Errorf("%q", datagram)
		}
		datagram[i] ^= 1
	}
	for i := range datagram {
		if _, _, err := Decode(datagram[:i], key); err == nil {
			t.Errorf("%q", datagram[:i])
		}
	}
}

func TestWhatIsAtFault(t *testing.T) {
	const body = "test:1:test/chan|hello"
	long := strings.Repeat("x", 1400)
	for _, c := range []struct {
		datagram string
		key      string
		fault    error
	}{
		{"", "", ErrEnvelope},
		{"bccn1[22]" + body, "", ErrEnvelope},
		{"BCCN2[22]" + body, "", ErrEnvelope},
		{"BCCN1 [22]" + body, "", ErrEnvelope},
		{"BCCN1[21]" + body, "", ErrEnvelope},
		{"BCCN1[022]" + body, "", ErrEnvelope},
		{"BCCN1[+22]" + body, "", ErrEnvelope},
		{"BCCN1[22 ]" + body, "", ErrEnvelope},
		{"BCCN1[18446744073709551638]" + body, "", ErrEnvelope},
		{"BCCN1[22:]" + body, "", ErrEnvelope},
		{"BCCN1[22:hmac]" + body, "", ErrEnvelope},
		{"BCCN1[22:hmac=]" + body, "", ErrEnvelope},
		{"BCCN1[22:hmac=dda368837299c7cf:x=1]" + body, "secret", ErrEnvelope},
		{"BCCN1[22:HMAC=dda368837299c7cf]" + body, "secret", ErrEnvelope},
		{sealed("a:1:c|" + long), "", ErrEnvelope},
		{"BCCN1[22:hmac=dda368837299c7cf]" + body, "secret", nil},
		{"BCCN1[22:sig=dda368837299c7cf]" + body, "secret", ErrCheck},
		{"BCCN1[22:hmac=dda368837299c7]" + body, "secret", ErrCheck},
		{"BCCN1[22]" + body, "secret", ErrCheck},
		{"BCCN1[22:hmac=dda368837299c7cf]" + body, "", ErrCheck},
		{"BCCN1[22:crc32=00000000]" + body, "", ErrCheck},
		{sealed("a:1:c"), "", ErrBody},
		{sealed("a:1:c:d|"), "", ErrBody},
		{sealed(":1:c|"), "", ErrBody},
		{sealed("a:1:|"), "", ErrBody},
		{sealed("a::c|"), "", ErrBody},
		{sealed("a:01:c|"), "", ErrBody},
		{sealed("a:-1:c|"), "", ErrBody},
		{sealed("a:18446744073709551616:c|"), "", ErrBody},
		{sealed("a b:1:c|"), "", ErrBody},
		{sealed("a:1:c\v|"), "", ErrBody},
		{sealed(long[:129] + ":1:c|"), "", ErrBody},
		{sealed(long[:128] + ":0:" + long[:1024] + "|"), "", nil},
		{sealed("a:1:" + long[:1025] + "|"), "", ErrBody},
	} {
		_, _, err := Decode([]byte(c.datagram), []byte(c.key))
		if !errors.Is(err, c.fault) {
			t.Errorf("%.60q: %v", c.datagram, err)
		}
	}
}

func TestSize(t *testing.T) {
	m := Message{Src: "a", Seq: 1, Chan: "c", Payload: make([]byte, 1389-6)}
	if datagram, err := m.Encode(nil, ""); err != nil || len(datagram) != MaxDatagram {
		t.Error(len(datagram), err)
	}
	if _, err := m.Encode([]byte("k"), ""); err == nil {
		t.Error("too long with its tag")
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		name, target string
		matches      bool
	}{
		{"h/n/12", "h/n/12", true},
		{"h/n/12/3", "h/n/12", false},
		{"h/n/12/3", "h/n/12/*", true},
		{"h/n/12", "h/n/12/*", true},
		{"h/n/123", "h/n/12/*", false},
		{"h/n/12", "h", true},
		{"hX/n/12", "h", false},
		{"h/n/-1/5", "h/n/-1", true},
		{"12345/1", "12345", false},
		{"a/b/c", "a/*/*", false},
		{"host1/p/1", "host*", false},
		{"h/n/1", "*", false},
		{"h/n/1", "/*", false},
		{"/n/1", "/*", true},
		{"a/b", "a/", false},
		{"a/b", "", false},
		{"!", "!", true},
		{"?", "?", false},
		{"?/x", "?/*", false},
	} {
		if Matches(c.name, c.target) != c.matches {
			t.Errorf("%s for %s", c.target, c.name)
		}
	}
}
