package relay

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"path/filepath"
	"slices"
	"sync"

	"trueseal/internal/journal"
	"trueseal/internal/wire"
)

// The records of the relay's journal.
const (
	recordBlob    = 1 // [blob_id][recipient][envelope]
	recordDeleted = 2 // [blob_id][recipient]
	blobHead      = wire.IDSize + wire.KeySize
)

// compactAt is how much of the journal has to be waste before it is rewritten; so has half of it.
var compactAt int64 = 16 << 20

// Blob is what a Push asks to be stored.
type Blob struct {
	Recipient wire.Key
	Envelope  []byte
}

// Store holds the inboxes: envelopes on disk, an index in memory.
type Store struct {
	journal *journal.Journal

	gate sync.RWMutex // held for reading while a change is under way, for writing by compact

	mu      sync.Mutex // of the fields below
	inboxes map[wire.Key]*inbox
	live    int64 // bytes of the journal that are blobs waiting for their DeliverAck
	retryAt int64 // size of the journal below which a compaction that failed is not tried again
}

type inbox struct {
	blobs    map[uint64]journal.Ref
	watchers map[*Watcher]struct{}
}

// OpenStore opens the store in a folder, with what was in it before.
func OpenStore(dir string) (*Store, error) {
	s := &Store{inboxes: map[wire.Key]*inbox{}}
	var err error
	s.journal, err = journal.Open(filepath.Join(dir, "inbox.journal"), s.replay)
	if err != nil {
		return nil, err
	}
	s.tidy()
	return s, nil
}

func (s *Store) replay(r journal.Record, ref journal.Ref) {
	if len(r.Payload) < blobHead {
		return
	}
	id, key := binary.BigEndian.Uint64(r.Payload), wire.Key(r.Payload[wire.IDSize:])
	switch r.Kind {
	case recordBlob:
		s.inbox(key).blobs[id] = ref
		s.live += ref.Space()
	case recordDeleted:
		s.forget(key, id)
	}
}

// inbox finds or makes the inbox of a key; mu is held.
func (s *Store) inbox(key wire.Key) *inbox {
	box := s.inboxes[key]
	if box == nil {
		box = &inbox{map[uint64]journal.Ref{}, map[*Watcher]struct{}{}}
		s.inboxes[key] = box
	}
	return box
}

// forget takes a blob out of the index; mu is held.
func (s *Store) forget(key wire.Key, id uint64) {
	box := s.inboxes[key]
	if box == nil {
		return
	}
	if ref, ok := box.blobs[id]; ok {
		delete(box.blobs, id)
		s.live -= ref.Space()
	}
	s.dropIfEmpty(key, box)
}

func (s *Store) dropIfEmpty(key wire.Key, box *inbox) {
	if len(box.blobs) == 0 && len(box.watchers) == 0 {
		delete(s.inboxes, key)
	}
}

// Put stores blobs durably, all or none, and only then shows them to whoever watches (TS-ACK-03, TS-ACK-05).
func (s *Store) Put(blobs []Blob) error {
	s.gate.RLock()
	defer s.gate.RUnlock()
	ids := make([]uint64, len(blobs))
	records := make([]journal.Record, len(blobs))
	for i, b := range blobs {
		ids[i] = s.newID(b.Recipient)
		payload := make([]byte, 0, blobHead+len(b.Envelope))
		payload = binary.BigEndian.AppendUint64(payload, ids[i])
		payload = append(payload, b.Recipient[:]...)
		records[i] = journal.Record{Kind: recordBlob, Payload: append(payload, b.Envelope...)}
	}
	refs, err := s.journal.Append(records...)
	if err == nil {
		err = s.journal.Sync()
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, b := range blobs {
		box := s.inbox(b.Recipient)
		box.blobs[ids[i]] = refs[i]
		s.live += refs[i].Space()
		for w := range box.watchers {
			w.add(ids[i])
		}
	}
	return nil
}

// newID draws a random blob_id that is not in the inbox (TS-DLV-02). Two draws under way at once are told apart by chance alone: 2^-64.
func (s *Store) newID(key wire.Key) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		var b [wire.IDSize]byte
		rand.Read(b[:])
		id := binary.BigEndian.Uint64(b[:])
		if box := s.inboxes[key]; box == nil {
			return id
		} else if _, taken := box.blobs[id]; !taken {
			return id
		}
	}
}

// Get reads an envelope. It is not there (false) if it was acknowledged meanwhile.
func (s *Store) Get(key wire.Key, id uint64) ([]byte, bool, error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	s.mu.Lock()
	var ref journal.Ref
	box, ok := s.inboxes[key]
	if ok {
		ref, ok = box.blobs[id]
	}
	s.mu.Unlock()
	if !ok {
		return nil, false, nil
	}
	r, err := s.journal.Read(ref)
	if err != nil {
		return nil, false, err
	}
	return r.Payload[blobHead:], true, nil
}

// Delete takes a blob out of the inbox of key and of no other (TS-DACK-04, TS-DACK-07). It is durable after the next Sync.
// An id that is not there is no error (TS-DACK-08).
func (s *Store) Delete(key wire.Key, id uint64) error {
	if err := s.delete(key, id); err != nil {
		return err
	}
	s.tidy()
	return nil
}

func (s *Store) delete(key wire.Key, id uint64) error {
	s.gate.RLock()
	defer s.gate.RUnlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.inboxes[key]
	if box == nil {
		return nil
	}
	if _, ok := box.blobs[id]; !ok {
		return nil
	}
	payload := append(binary.BigEndian.AppendUint64(nil, id), key[:]...)
	if _, err := s.journal.Append(journal.Record{Kind: recordDeleted, Payload: payload}); err != nil {
		return err
	}
	s.forget(key, id)
	return nil
}

// Sync makes the deletions so far durable.
func (s *Store) Sync() error { return s.journal.Sync() }

// tidy rewrites the journal when most of it is waste. If that fails the journal goes on as it is.
func (s *Store) tidy() {
	wasteful := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		size := s.journal.Size()
		return size-s.live > compactAt && size > 2*s.live && size >= s.retryAt
	}
	if !wasteful() {
		return
	}
	s.gate.Lock()
	defer s.gate.Unlock()
	if !wasteful() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	type place struct {
		box *inbox
		id  uint64
		ref journal.Ref
	}
	var places []place
	for _, box := range s.inboxes {
		for id, ref := range box.blobs {
			places = append(places, place{box, id, ref})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.ref.Off, b.ref.Off) })
	old := make([]journal.Ref, len(places))
	for i, p := range places {
		old[i] = p.ref
	}
	refs, err := s.journal.Compact(old)
	s.retryAt = 0
	if err != nil {
		s.retryAt = s.journal.Size() + compactAt
	}
	for i, ref := range refs {
		places[i].box.blobs[places[i].id] = ref
	}
}

// Close closes the store.
func (s *Store) Close() error { return s.journal.Close() }

// Watcher hands out the blob_ids of one inbox, each once: those that wait, and those that come.
type Watcher struct {
	Wake chan struct{} // there may be something new

	mu     sync.Mutex
	ids    []uint64 // oldest first
	oldest bool     // which end is next
}

// Watch begins to follow an inbox (TS-SES-08, TS-SES-09).
func (s *Store) Watch(key wire.Key) *Watcher {
	w := &Watcher{Wake: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.inbox(key)
	for id := range box.blobs {
		w.ids = append(w.ids, id)
	}
	slices.SortFunc(w.ids, func(a, b uint64) int { return cmp.Compare(box.blobs[a].Off, box.blobs[b].Off) })
	box.watchers[w] = struct{}{}
	return w
}

// Unwatch ends it.
func (s *Store) Unwatch(key wire.Key, w *Watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if box := s.inboxes[key]; box != nil {
		delete(box.watchers, w)
		s.dropIfEmpty(key, box)
	}
}

// Next takes the newest, then the oldest, then the newest: the order is free (TS-DLV-12), and nothing waits for ever.
func (w *Watcher) Next() (id uint64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.ids)
	if n == 0 {
		w.ids = nil
		return 0, false
	}
	if w.oldest {
		id, w.ids = w.ids[0], w.ids[1:]
	} else {
		id, w.ids = w.ids[n-1], w.ids[:n-1]
	}
	w.oldest = !w.oldest
	return id, true
}

func (w *Watcher) add(id uint64) {
	w.mu.Lock()
	w.ids = append(w.ids, id)
	w.mu.Unlock()
	w.signal()
}

func (w *Watcher) signal() {
	select {
	case w.Wake <- struct{}{}:
	default:
	}
}
