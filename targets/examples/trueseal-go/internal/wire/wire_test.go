package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

var anyLength = Assembler{Keep: math.MaxUint32, Drain: math.MaxUint32}

func counting() (k Key) {
	for i := range k {
		k[i] = byte(i)
	}
	return k
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenFrames(t *testing.T) {
	golden := []struct {
		frame Frame
		hex   string
	}{
		{Frame{Type: Heartbeat}, "0300000000"},
		{Frame{Type: Ack}, "0400000000"},
		{Frame{Type: Error}, "0500000000"},
		{Frame{Type: DeliverAck, BlobID: 0x0102030405060708}, "06000000080102030405060708"},
		{Frame{Type: Deliver, BlobID: 42, Envelope: []byte("hi")}, "020000000a000000000000002a6869"},
		{Frame{Type: Deliver, BlobID: math.MaxUint64}, "0200000008ffffffffffffffff"},
		{Frame{Type: Push, Recipient: counting(), Envelope: []byte("hi")},
			"0100000022000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f6869"},
	}
	for _, g := range golden {
		b, err := g.frame.Bytes()
		if err != nil || hex.EncodeToString(b) != g.hex {
			t.Errorf("%v: %x, %v", g.frame, b, err)
		}
		a := anyLength
		raw, err := a.Add(b)
		if err != nil || raw == nil {
			t.Fatalf("%s: %v", g.hex, err)
		}
		f, err := raw.Parse()
		if err != nil || f.Type != g.frame.Type || f.BlobID != g.frame.BlobID || f.Recipient != g.frame.Recipient ||
			!bytes.Equal(f.Envelope, g.frame.Envelope) {
			t.Errorf("%s: %+v, %v", g.hex, f, err)
		}
	}
}

func TestMalformedMessages(t *testing.T) {
	for _, s := range []string{
		"", "03", "0300", "030000", "03000000", // TS-FRM-05
		"0000000000", "0700000000", "ff00000000", "070000000100", // TS-TYP-02
		"030000000100",                         // TS-HB-04
		"030000000000", "04000000000400000000", // TS-FRM-08
		"0600000009" + "0102030405060708",                        // TS-FRM-06
		"0600000007" + "0102030405060708",                        // one byte too many
		"017fffffff00", "0280000000", "06fffffffa", "01ffffffff", // TS-FRM-07
	} {
		a := Assembler{Keep: 1 << 20, Drain: 8 << 20}
		if raw, err := a.Add(unhex(t, s)); raw != nil || !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v, %v", s, raw, err)
		}
	}
	for tag := range 256 {
		a := anyLength
		_, err := a.Add([]byte{byte(tag), 0, 0, 0, 0})
		if known := tag >= 1 && tag <= 6; known != (err == nil) {
			t.Errorf("tag %d: %v", tag, err)
		}
	}
}

func TestShortBodies(t *testing.T) {
	for typ, shortest := range map[Type]uint32{Push: 32, Deliver: 8, DeliverAck: 8} {
		for n := range shortest {
			if _, err := (&Raw{typ, n, make([]byte, n)}).Parse(); !errors.Is(err, ErrMalformed) {
				t.Errorf("type %d with %d bytes: %v", typ, n, err)
			}
		}
	}
	if _, err := (&Raw{DeliverAck, 9, make([]byte, 9)}).Parse(); err == nil {
		t.Error("DeliverAck of 9 bytes")
	}
}

func TestLargeFrames(t *testing.T) {
	for _, n := range []int{65482, 65483, 200_000, MaxEnvelope} {
		f := Frame{Type: Push, Recipient: counting(), Envelope: bytes.Repeat([]byte{1, 2, 3, 5, 7}, n/5+1)[:n]}
		b, _ := f.Bytes()
		pieces := Split(b)
		if one := n <= 65482; one != (len(pieces) == 1) {
			t.Fatalf("%d bytes in %d messages", n, len(pieces))
		}
		a := anyLength
		for i, p := range pieces {
			if len(p) == 0 || len(p) > MaxMessage || i == 0 && len(p) < HeaderSize {
				t.Fatalf("message %d has %d bytes", i, len(p))
			}
			raw, err := a.Add(p)
			if last := i == len(pieces)-1; err != nil || last != (raw != nil) || last == a.Partial() {
				t.Fatalf("message %d of %d: %v, %v", i, len(pieces), raw, err)
			}
			if raw != nil {
				if got, err := raw.Parse(); err != nil || !bytes.Equal(got.Envelope, f.Envelope) {
					t.Fatalf("%d bytes came back as %d, %v", n, len(got.Envelope), err)
				}
			}
		}
	}
}

func TestContinuation(t *testing.T) {
	head := []byte{1, 0, 1, 0, 0} // 65,536 bytes do not fit
	a := anyLength
	for _, msg := range [][]byte{head, {}, make([]byte, 1), make([]byte, 65519)} {
		if raw, err := a.Add(msg); raw != nil || err != nil {
			t.Fatal(raw, err)
		}
	}
	b := a
	b.cur = &Raw{Type: Push, Size: 65536}
	if _, err := b.Add(make([]byte, 17)); !errors.Is(err, ErrMalformed) { // one byte behind the end
		t.Error(err)
	}
	if raw, err := a.Add(make([]byte, 16)); raw == nil || err != nil || len(raw.Body) != 65536 {
		t.Error(raw, err)
	}
	// A frame that would fit is not continued.
	if _, err := a.Add(head[:4]); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
	if _, err := a.Add([]byte{1, 0, 0, 0, 33}); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

func TestOverlongBodyIsCountedNotKept(t *testing.T) {
	a := Assembler{Keep: 132, Drain: 1 << 20}
	head := append([]byte{1, 0, 2, 0, 0}, make([]byte, 60_000)...)
	if raw, err := a.Add(head); raw != nil || err != nil || len(a.cur.Body) != 0 {
		t.Fatal(raw, err)
	}
	a.Add(make([]byte, 65519))
	raw, err := a.Add(make([]byte, 131072-60_000-65519))
	if err != nil || raw == nil || raw.Size != 131072 || raw.Body != nil {
		t.Fatal(raw, err)
	}
	if _, err := raw.Parse(); err == nil {
		t.Error("it has no body to parse")
	}
}

func FuzzAssembler(f *testing.F) {
	f.Add([]byte{1, 0, 1, 0, 0, 9, 9, 9}, uint64(1))
	f.Add([]byte{3, 0, 0, 0, 0}, uint64(2))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		a := Assembler{Keep: 1000, Drain: 1 << 20}
		for len(data) > 0 {
			n := min(1+rng.IntN(40), len(data))
			raw, err := a.Add(data[:n])
			if err != nil {
				return
			}
			if raw != nil {
				raw.Parse()
			}
			data = data[n:]
		}
	})
}
