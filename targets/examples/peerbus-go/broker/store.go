package broker

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	"lukechampine.com/blake3"
)

// The file has five buckets. Names and delivery keys may be of any length, so their SHA-256 stands for them.
//
//	peers   name -> nothing                                  who was ever registered
//	rows    delivery key -> recipient, number                what was ever sent; an acked row keeps its key
//	queue   recipient, number -> key, sender, envelope       what is not acked yet, in the order of sending
//	acked   number -> delivery key                           which rows to forget first
//	audit   number -> hash, event                            the chain
var (
	bucketPeers = []byte("peers")
	bucketRows  = []byte("rows")
	bucketQueue = []byte("queue")
	bucketAcked = []byte("acked")
	bucketAudit = []byte("audit")
)

// keepAcked is how many acked rows are remembered, so that a message sent again is known.
const keepAcked = 200_000

type digest = [sha256.Size]byte

func sum(text string) digest { return sha256.Sum256([]byte(text)) }

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

type store struct{ db *bbolt.DB }

func openStore(dir string) (*store, error) {
	db, err := bbolt.Open(filepath.Join(dir, "peerbus.db"), 0o600, &bbolt.Options{Timeout: 5 * time.Second})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{bucketPeers, bucketRows, bucketQueue, bucketAcked, bucketAudit} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		db.Close()
		return nil, err
	}
	return &store{db}, nil
}

func (s *store) close() error { return s.db.Close() }

// row is one message to one recipient.
type row struct {
	n        uint64
	key      string
	sender   string
	envelope []byte
}

func (r row) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(r.key)))
	b = append(b, r.key...)
	b = binary.AppendUvarint(b, uint64(len(r.sender)))
	b = append(b, r.sender...)
	return append(b, r.envelope...)
}

// decodeRow copies what it needs: b is good only during the transaction.
func decodeRow(n uint64, b []byte) (row, error) {
	r := row{n: n}
	for _, text := range []*string{&r.key, &r.sender} {
		size, used := binary.Uvarint(b)
		if used <= 0 || size > uint64(len(b)-used) {
			return row{}, fmt.Errorf("row %d is damaged", n)
		}
		b = b[used:]
		*text, b = string(b[:size]), b[size:]
	}
	r.envelope = bytes.Clone(b)
	return r, nil
}

// pending reads rows of a recipient behind number after: at least one if there is any, else no more than limit bytes.
func (s *store) pending(recipient string, after uint64, limit int) (rows []row, err error) {
	to := sum(recipient)
	err = s.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucketQueue).Cursor()
		for k, v := c.Seek(append(to[:], number(after+1)...)); bytes.HasPrefix(k, to[:]); k, v = c.Next() {
			r, err := decodeRow(binary.BigEndian.Uint64(k[len(to):]), v)
			if err != nil {
				return err
			}
			rows = append(rows, r)
			if limit -= len(v); limit <= 0 {
				break
			}
		}
		return nil
	})
	return rows, err
}

// audit reads the chain, oldest first: event and hash.
func (s *store) audit() (chain [][2][]byte, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketAudit).ForEach(func(_, v []byte) error {
			v = bytes.Clone(v)
			chain = append(chain, [2][]byte{v[32:], v[:32]})
			return nil
		})
	})
	return chain, err
}

// writing is a transaction that is begun by its first change. The first error sticks, and end returns it.
type writing struct {
	db  *bbolt.DB
	tx  *bbolt.Tx
	err error
}

func (w *writing) bucket(name []byte) *bbolt.Bucket {
	if w.tx == nil && w.err == nil {
		w.tx, w.err = w.db.Begin(true)
	}
	if w.tx == nil {
		return nil
	}
	return w.tx.Bucket(name)
}

func (w *writing) end() error {
	if w.tx == nil {
		return w.err
	}
	if w.err != nil {
		_ = w.tx.Rollback()
		return w.err
	}
	return w.tx.Commit()
}

func (w *writing) put(bucket, key, value []byte) {
	if b := w.bucket(bucket); b != nil && w.err == nil {
		w.err = b.Put(key, value)
	}
}

func (w *writing) delete(bucket, key []byte) {
	if b := w.bucket(bucket); b != nil && w.err == nil {
		w.err = b.Delete(key)
	}
}

func (w *writing) get(bucket, key []byte) []byte {
	if b := w.bucket(bucket); b != nil {
		return b.Get(key)
	}
	return nil
}

func (w *writing) next(bucket []byte) (n uint64) {
	if b := w.bucket(bucket); b != nil && w.err == nil {
		n, w.err = b.NextSequence()
	}
	return n
}

func (w *writing) know(name string) {
	id := sum(name)
	if w.get(bucketPeers, id[:]) == nil {
		w.put(bucketPeers, id[:], []byte{1})
	}
}

func (w *writing) known(name string) bool {
	id := sum(name)
	return w.get(bucketPeers, id[:]) != nil
}

// enqueue stores a message, unless there is or was one under that key: the first stands (PB-3-26).
func (w *writing) enqueue(recipient, key, sender string, envelope []byte) bool {
	id, to := sum(key), sum(recipient)
	if w.get(bucketRows, id[:]) != nil || w.err != nil {
		return false
	}
	n := number(w.next(bucketQueue))
	w.put(bucketRows, id[:], append(to[:], n...))
	w.put(bucketQueue, append(to[:], n...), row{key: key, sender: sender, envelope: envelope}.encode())
	w.append("send", key, sender, recipient)
	return true
}

// ack takes a message of this recipient off its queue. Unknown, acked and foreign keys change nothing (PB-2.2-06).
func (w *writing) ack(recipient, key string) {
	id, to := sum(key), sum(recipient)
	var sender string
	if place := bytes.Clone(w.get(bucketRows, id[:])); bytes.HasPrefix(place, to[:]) {
		if value := w.get(bucketQueue, place); value != nil {
			r, err := decodeRow(0, value)
			if err != nil {
				w.err = err
				return
			}
			sender = r.sender
			w.delete(bucketQueue, place)
			w.remember(id)
		}
	}
	w.append("ack", key, sender, recipient)
}

// remember keeps the key of an acked row, and forgets the oldest if there are many.
func (w *writing) remember(id digest) {
	n := w.next(bucketAcked)
	w.put(bucketAcked, number(n), id[:])
	if n <= keepAcked {
		return
	}
	if old := bytes.Clone(w.get(bucketAcked, number(n-keepAcked))); old != nil {
		w.delete(bucketRows, old)
		w.delete(bucketAcked, number(n-keepAcked))
	}
}

// append adds to the audit chain: each hash is over the hex of the one before and the event (PB-6-13).
func (w *writing) append(event, key, from, to string) {
	b := w.bucket(bucketAudit)
	if b == nil || w.err != nil {
		return
	}
	before := blake3.Sum256(nil)
	if _, last := b.Cursor().Last(); len(last) >= len(before) {
		copy(before[:], last)
	}
	data, err := json.Marshal(struct {
		Event string `json:"event"`
		ID    string `json:"id"`
		From  string `json:"from"`
		To    string `json:"to"`
	}{event, key, from, to})
	if err != nil {
		w.err = err
		return
	}
	hash := blake3.Sum256(append(hex.AppendEncode(nil, before[:]), data...))
	w.put(bucketAudit, number(w.next(bucketAudit)), append(hash[:], data...))
}
