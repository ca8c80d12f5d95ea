// Package journal is a durable append-only file of small records.
//
// A record is [payload length u32][CRC-32C of kind and payload u32][kind u8][payload], big-endian. What Sync has confirmed
// survives a crash; a torn tail behind it is found by its checksum and cut off when the file is opened again.
package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
)

const (
	magic      = "TSJRNL1\n"
	headerSize = 9
	maxPayload = 2 << 20 // an envelope and what belongs to it
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Record is one entry.
type Record struct {
	Kind    byte
	Payload []byte
}

// Ref says where a record stands.
type Ref struct {
	Off  int64 // later records have larger offsets
	Size int   // of the payload
}

// Space is how many bytes of the file the record takes.
func (r Ref) Space() int64 { return headerSize + int64(r.Size) }

// Journal is an open file. All methods may be called concurrently.
type Journal struct {
	path string
	lock *os.File

	mu     sync.RWMutex // of the fields below
	w, r   *os.File     // two handles: a store that cannot write can still read
	end    int64
	broken error // set when it is not known any more what the file holds: nothing is written from then on

	syncMu sync.Mutex // one fsync at a time; those that wait for it often find theirs done
	synced int64
}

// Open opens or creates the file and calls replay for every record in it. The payload is good only during the call.
func Open(path string, replay func(Record, Ref)) (*Journal, error) {
	j := &Journal{path: path}
	if err := j.open(replay); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

func (j *Journal) open(replay func(Record, Ref)) (err error) {
	if j.lock, err = lock(j.path + ".lock"); err != nil {
		return err
	}
	os.Remove(j.path + ".new") // of a compaction that did not finish
	if j.w, err = os.OpenFile(j.path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if j.r, err = os.Open(j.path); err != nil {
		return err
	}
	if err := j.recover(replay); err != nil {
		return err
	}
	j.synced = j.end
	return nil
}

func (j *Journal) recover(replay func(Record, Ref)) error {
	info, err := j.w.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, min(info.Size(), int64(len(magic))))
	if _, err := j.w.ReadAt(head, 0); err != nil {
		return err
	}
	if !bytes.HasPrefix([]byte(magic), head) {
		return fmt.Errorf("%s is not a journal", j.path)
	}
	if len(head) < len(magic) { // new, or its creator died in the middle
		if _, err := j.w.WriteAt([]byte(magic), 0); err != nil {
			return err
		}
		j.end = int64(len(magic))
	} else if j.end, err = scan(j.w, info.Size(), replay); err != nil {
		return err
	}
	if j.end < info.Size() {
		if err := j.cut(info.Size()); err != nil {
			return err
		}
	}
	if err := j.w.Sync(); err != nil {
		return err
	}
	return syncDir(j.path)
}

// cut removes the torn tail, which is kept beside the journal for whoever wants to look.
func (j *Journal) cut(size int64) error {
	if tail, err := os.Create(j.path + ".cut"); err == nil {
		io.Copy(tail, io.NewSectionReader(j.w, j.end, size-j.end))
		tail.Close()
	}
	return j.w.Truncate(j.end)
}

// scan reads records up to the end or the first one that is not whole, and returns where that is.
func scan(f io.ReaderAt, size int64, replay func(Record, Ref)) (int64, error) {
	off := int64(len(magic))
	in := bufio.NewReaderSize(io.NewSectionReader(f, off, size-off), 256<<10)
	var head [headerSize]byte
	var payload []byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return off, ignoreEOF(err)
		}
		n := int64(binary.BigEndian.Uint32(head[:]))
		if n > maxPayload || n > size-off-headerSize {
			return off, nil
		}
		if int64(cap(payload)) < n {
			payload = make([]byte, n)
		}
		payload = payload[:n]
		if _, err := io.ReadFull(in, payload); err != nil {
			return off, ignoreEOF(err)
		}
		if checksum(head[8], payload) != binary.BigEndian.Uint32(head[4:]) {
			return off, nil
		}
		replay(Record{head[8], payload}, Ref{off, int(n)})
		off += headerSize + n
	}
}

// ignoreEOF keeps the errors that are the disk's and not the end of the file: those must not cost records.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func checksum(kind byte, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte{kind}, castagnoli), castagnoli, payload)
}

// Append writes records, all or none. They are durable after the next Sync.
func (j *Journal) Append(records ...Record) ([]Ref, error) {
	size := 0
	for _, r := range records {
		if len(r.Payload) > maxPayload {
			return nil, fmt.Errorf("a record of %d bytes", len(r.Payload))
		}
		size += headerSize + len(r.Payload)
	}
	buf := make([]byte, 0, size)
	for _, r := range records {
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(r.Payload)))
		buf = binary.BigEndian.AppendUint32(buf, checksum(r.Kind, r.Payload))
		buf = append(buf, r.Kind)
		buf = append(buf, r.Payload...)
	}

	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return nil, j.broken
	}
	if _, err := j.w.WriteAt(buf, j.end); err != nil {
		if cut := j.w.Truncate(j.end); cut != nil { // a full disk may have space again later; this will not heal
			j.broken = fmt.Errorf("%w, and %w", err, cut)
		}
		return nil, err
	}
	refs := make([]Ref, len(records))
	for i, r := range records {
		refs[i] = Ref{j.end, len(r.Payload)}
		j.end += refs[i].Space()
	}
	return refs, nil
}

// Sync returns when everything that was appended before is on the disk.
func (j *Journal) Sync() error {
	j.mu.RLock()
	target := j.end
	j.mu.RUnlock()

	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	j.mu.RLock()
	w, end, err := j.w, j.end, j.broken
	j.mu.RUnlock()
	if err != nil || j.synced >= target {
		return err
	}
	if err := w.Sync(); err != nil { // the kernel may have dropped the pages: a second try would lie
		j.mu.Lock()
		j.broken = err
		j.mu.Unlock()
		return err
	}
	j.synced = end
	return nil
}

// Read returns a record again.
func (j *Journal) Read(ref Ref) (Record, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return readAt(j.r, ref)
}

func readAt(f io.ReaderAt, ref Ref) (Record, error) {
	buf := make([]byte, ref.Space())
	if _, err := f.ReadAt(buf, ref.Off); err != nil {
		return Record{}, err
	}
	r := Record{buf[8], buf[headerSize:]}
	if checksum(r.Kind, r.Payload) != binary.BigEndian.Uint32(buf[4:]) {
		return Record{}, fmt.Errorf("the record at %d is damaged", ref.Off)
	}
	return r, nil
}

// Size is the length of the file.
func (j *Journal) Size() int64 {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.end
}

// Compact replaces the file by one that holds only the records in live, in that order, and returns where they are now.
// Records that are not in live are gone, also those appended but not yet in the caller's books: the caller keeps others off.
func (j *Journal) Compact(live []Ref) ([]Ref, error) {
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return nil, j.broken
	}
	w, err := os.OpenFile(j.path+".new", os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	fail := func(err error) ([]Ref, error) {
		w.Close()
		os.Remove(j.path + ".new")
		return nil, err
	}
	out := bufio.NewWriterSize(w, 256<<10)
	out.WriteString(magic)
	end := int64(len(magic))
	refs := make([]Ref, len(live))
	for i, ref := range live {
		if _, err := io.Copy(out, io.NewSectionReader(j.r, ref.Off, ref.Space())); err != nil {
			return fail(err)
		}
		refs[i] = Ref{end, ref.Size}
		end += ref.Space()
	}
	if err := errors.Join(out.Flush(), w.Sync()); err != nil {
		return fail(err)
	}
	r, err := os.Open(j.path + ".new")
	if err != nil {
		return fail(err)
	}
	if err := os.Rename(j.path+".new", j.path); err != nil {
		r.Close()
		return fail(err)
	}
	j.w.Close()
	j.r.Close()
	j.w, j.r, j.end, j.synced = w, r, end, end
	if err := syncDir(j.path); err != nil { // after a crash it could be the old file again, without what comes now
		j.broken = err
	}
	return refs, j.broken
}

// Break makes every later write fail, by way of the operating system, as a test of what the caller does then.
func (j *Journal) Break() error {
	readOnly, err := os.Open(j.path)
	if err != nil {
		return err
	}
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.w.Close()
	j.w = readOnly
	return nil
}

// Close syncs and closes the file.
func (j *Journal) Close() error {
	var errs []error
	if j.end > 0 && j.broken == nil { // what was broken has been reported
		errs = append(errs, j.Sync())
	}
	for _, f := range []*os.File{j.w, j.r, j.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// syncDir makes the name of a file durable.
func syncDir(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
