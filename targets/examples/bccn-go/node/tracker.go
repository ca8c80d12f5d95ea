package node

import "time"

// maxSenders bounds the tracker, whoever makes up names.
const maxSenders = 1 << 16

// tracker remembers the last seq of each sender.
type tracker struct {
	sanity uint64
	ttl    time.Duration
	// byHeartbeat: only a heartbeat keeps an entry alive.
	byHeartbeat bool
	senders     map[string]*sender
	nextSweep   time.Time
}

type sender struct {
	last  uint64
	alive time.Time
}

// accept says whether a message is neither a duplicate nor stale, and takes note
// of it.
func (t *tracker) accept(key string, seq uint64, heartbeat bool, now time.Time) bool {
	t.sweep(now)
	s := t.senders[key]
	if s == nil || t.expired(s, now) {
		if s == nil && len(t.senders) >= maxSenders {
			for any := range t.senders {
				delete(t.senders, any)
				break
			}
		}
		t.senders[key] = &sender{seq, now}
		return true
	}
	if heartbeat || !t.byHeartbeat {
		s.alive = now
	}
	if seq <= s.last && s.last-seq < t.sanity {
		return false
	}
	s.last = seq // downwards too: the sender began anew
	return true
}

func (t *tracker) expired(s *sender, now time.Time) bool { return now.Sub(s.alive) >= t.ttl }

// sweep forgets who has expired, now and then.
func (t *tracker) sweep(now time.Time) {
	if now.Before(t.nextSweep) {
		return
	}
	t.nextSweep = now.Add(t.ttl)
	for key, s := range t.senders {
		if t.expired(s, now) {
			delete(t.senders, key)
		}
	}
}
