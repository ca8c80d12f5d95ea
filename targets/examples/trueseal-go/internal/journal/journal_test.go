package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func open(t *testing.T, path string) (*Journal, []string) {
	t.Helper()
	var seen []string
	j, err := Open(path, func(r Record, _ Ref) { seen = append(seen, fmt.Sprintf("%d:%s", r.Kind, r.Payload)) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j, seen
}

func appendAll(t *testing.T, j *Journal, payloads ...string) []Ref {
	t.Helper()
	var all []Ref
	for _, p := range payloads {
		refs, err := j.Append(Record{1, []byte(p)})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, refs...)
	}
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
	return all
}

// A crash can leave the file at any length, and any bytes behind what was synced.
func TestTornTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whole")
	j, _ := open(t, path)
	payloads := []string{"first", "", "the third record"}
	refs := appendAll(t, j, payloads...)
	j.Close()
	whole, _ := os.ReadFile(path)

	for length := 0; length <= len(whole); length++ {
		intact := 0
		for _, ref := range refs {
			if ref.Off+ref.Space() <= int64(length) {
				intact++
			}
		}
		for i, tail := range [][]byte{nil, {0}, make([]byte, 4096), bytes.Repeat([]byte{0xff}, 100)} {
			if length < len(magic) && i > 0 {
				continue
			}
			cut := filepath.Join(t.TempDir(), "cut")
			os.WriteFile(cut, append(bytes.Clone(whole[:length]), tail...), 0o600)
			j, seen := open(t, cut)
			if len(seen) != intact {
				t.Fatalf("%d bytes and tail %d: %q", length, i, seen)
			}
			appendAll(t, j, "after")
			j.Close()
			j, seen = open(t, cut)
			if len(seen) != intact+1 || seen[intact] != "1:after" {
				t.Fatalf("%d bytes and tail %d, then one more: %q", length, i, seen)
			}
			j.Close()
		}
	}
}

func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, _ := open(t, path)
	refs := appendAll(t, j, "one", "two")
	b, _ := os.ReadFile(path)
	b[refs[1].Off+headerSize] ^= 1
	os.WriteFile(path, b, 0o600)
	if _, err := j.Read(refs[1]); err == nil {
		t.Error("a damaged record was read")
	}
	j.Close()
	j, seen := open(t, path)
	if len(seen) != 1 {
		t.Errorf("%q", seen)
	}
	j.Close()
	os.WriteFile(path, []byte("something else altogether"), 0o600)
	if _, err := Open(path, func(Record, Ref) {}); err == nil {
		t.Error("a foreign file was opened")
	}
}

func TestFailedWriteLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, _ := open(t, path)
	refs := appendAll(t, j, "kept")
	if err := j.Break(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := j.Append(Record{1, []byte("lost")}); err == nil {
			t.Fatal("written to a broken store")
		}
	}
	if r, err := j.Read(refs[0]); err != nil || string(r.Payload) != "kept" {
		t.Error(r, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if _, seen := open(t, path); len(seen) != 1 {
		t.Errorf("%q", seen)
	}
}

func TestCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, _ := open(t, path)
	refs := appendAll(t, j, "a", "b", "c", "d")
	refs, err := j.Compact([]Ref{refs[1], refs[3]})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, j, "e")
	if r, err := j.Read(refs[1]); err != nil || string(r.Payload) != "d" {
		t.Error(r, err)
	}
	j.Close()
	os.WriteFile(path+".new", []byte("of a compaction that was killed"), 0o600)
	if _, seen := open(t, path); fmt.Sprint(seen) != "[1:b 1:d 1:e]" {
		t.Errorf("%q", seen)
	}
}

func TestSecondOpenIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	open(t, path)
	if _, err := Open(path, func(Record, Ref) {}); err == nil {
		t.Error("two journals on one file")
	}
}

func TestConcurrentAppends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, _ := open(t, path)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 25 {
				payload := fmt.Sprintf("%d/%d", g, i)
				refs, err := j.Append(Record{1, []byte(payload)}, Record{2, []byte(payload)})
				if err != nil || j.Sync() != nil {
					t.Error(err)
					return
				}
				if r, err := j.Read(refs[1]); err != nil || string(r.Payload) != payload {
					t.Error(r, err)
				}
			}
		})
	}
	wg.Wait()
	j.Close()
	if _, seen := open(t, path); len(seen) != 400 {
		t.Error(len(seen))
	}
}
