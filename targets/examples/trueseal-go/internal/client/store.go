package client

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"path/filepath"
	"slices"
	"sync"

	"trueseal/internal/journal"
	"trueseal/internal/wire"
)

// The records of the client's journal.
const (
	recordQueued   = 1 // [id][recipient][envelope]
	recordAnswered = 2 // [id]
	recordReceived = 3 // [envelope]
	idSize         = 8
)

// compactAt is how much of the journal has to be answered blobs before it is rewritten, which happens only at the start.
const compactAt = 4 << 20

// store is the outbox, and what was received: envelopes on disk, an index in memory.
type store struct {
	journal *journal.Journal

	mu       sync.Mutex
	queued   map[uint64]journal.Ref
	order    []uint64 // of queued: who is pushed next
	received []journal.Ref
	seen     map[[sha256.Size]byte]struct{} // of received and fresh
	fresh    []journal.Ref                  // received, but not yet known to be on the disk
}

func openStore(dir string) (*store, error) {
	s := &store{queued: map[uint64]journal.Ref{}, seen: map[[sha256.Size]byte]struct{}{}}
	var err error
	if s.journal, err = journal.Open(filepath.Join(dir, "device.journal"), s.replay); err != nil {
		return nil, err
	}
	if err := s.compact(); err != nil {
		s.journal.Close()
		return nil, err
	}
	return s, nil
}

func (s *store) replay(r journal.Record, ref journal.Ref) {
	switch {
	case r.Kind == recordReceived:
		s.received = append(s.received, ref)
		s.seen[sha256.Sum256(r.Payload)] = struct{}{}
	case len(r.Payload) < idSize:
	case r.Kind == recordQueued:
		id := binary.BigEndian.Uint64(r.Payload)
		s.queued[id] = ref
		s.order = append(s.order, id)
	case r.Kind == recordAnswered:
		s.remove(binary.BigEndian.Uint64(r.Payload))
	}
}

func (s *store) compact() error {
	live := slices.Clone(s.received)
	for _, id := range s.order {
		live = append(live, s.queued[id])
	}
	waste := s.journal.Size()
	for _, ref := range live {
		waste -= ref.Space()
	}
	if waste < compactAt {
		return nil
	}
	refs, err := s.journal.Compact(live)
	if err != nil {
		return err
	}
	s.received = refs[:len(s.received):len(s.received)]
	for i, id := range s.order {
		s.queued[id] = refs[len(s.received)+i]
	}
	return nil
}

// enqueue returns when the blob is durable in the outbox.
func (s *store) enqueue(recipient wire.Key, envelope []byte) (uint64, error) {
	var b [idSize]byte
	rand.Read(b[:])
	id := binary.BigEndian.Uint64(b[:])
	payload := slices.Concat(b[:], recipient[:], envelope)
	refs, err := s.journal.Append(journal.Record{Kind: recordQueued, Payload: payload})
	if err == nil {
		err = s.journal.Sync()
	}
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued[id] = refs[0]
	s.order = append(s.order, id)
	return id, nil
}

// next is the first blob in the outbox that is not among skip.
func (s *store) next(skip []uint64) (uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.order {
		if !slices.Contains(skip, id) {
			return id, true
		}
	}
	return 0, false
}

// push is the Push frame of a blob.
func (s *store) push(id uint64) (wire.Frame, error) {
	s.mu.Lock()
	ref := s.queued[id]
	s.mu.Unlock()
	r, err := s.journal.Read(ref)
	if err != nil {
		return wire.Frame{}, err
	}
	raw := wire.Raw{Type: wire.Push, Size: uint32(len(r.Payload) - idSize), Body: r.Payload[idSize:]}
	return raw.Parse()
}

// answered takes a blob out of the outbox for good (TS-ACK-07, TS-ERR-05). It is durable after the next commit.
func (s *store) answered(id uint64) error {
	payload := binary.BigEndian.AppendUint64(nil, id)
	if _, err := s.journal.Append(journal.Record{Kind: recordAnswered, Payload: payload}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(id)
	return nil
}

func (s *store) remove(id uint64) {
	delete(s.queued, id)
	if i := slices.Index(s.order, id); i >= 0 {
		s.order = slices.Delete(s.order, i, i+1)
	}
}

// postpone puts a blob at the end of the queue: the session broke on it, perhaps because of it.
func (s *store) postpone(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.order, id); i >= 0 {
		s.order = append(slices.Delete(s.order, i, i+1), id)
	}
}

// receive keeps an envelope unless it is known already (TS-DLV-09), under whatever blob_id: a Push that was repeated because its
// Ack got lost comes under two. It is durable after the next commit.
func (s *store) receive(envelope []byte) (isNew bool, err error) {
	sum := sha256.Sum256(envelope)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.seen[sum]; ok {
		return false, nil
	}
	refs, err := s.journal.Append(journal.Record{Kind: recordReceived, Payload: envelope})
	if err != nil {
		return false, err
	}
	s.seen[sum] = struct{}{}
	s.fresh = append(s.fresh, refs[0])
	return true, nil
}

// commit returns when all that was received and answered so far is durable.
func (s *store) commit() error {
	end := s.journal.Size()
	if err := s.journal.Sync(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.fresh) > 0 && s.fresh[0].Off < end {
		s.received = append(s.received, s.fresh[0])
		s.fresh = s.fresh[1:]
	}
	return nil
}

// all returns the envelopes received, oldest first.
func (s *store) all() ([][]byte, error) {
	s.mu.Lock()
	refs := slices.Clone(s.received)
	s.mu.Unlock()
	out := make([][]byte, len(refs))
	for i, ref := range refs {
		r, err := s.journal.Read(ref)
		if err != nil {
			return nil, err
		}
		out[i] = r.Payload
	}
	return out, nil
}
