// Package clock is the time of a server or client: the machine's, or one that can be moved ahead.
package clock

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Clock tells the time and calls back.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a callback that is due; Stop reports whether it prevented it.
type Timer interface{ Stop() bool }

// System is the machine's clock.
var System Clock = system{}

type system struct{}

func (system) Now() time.Time                            { return time.Now() }
func (system) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Skewed runs like the machine's clock, ahead of it by what Advance added up to.
type Skewed struct {
	mu     sync.Mutex
	ahead  time.Duration
	timers map[*timer]struct{}
}

type timer struct {
	clock *Skewed
	due   time.Time
	f     func()
	real  *time.Timer
}

// NewSkewed returns a clock that shows the machine's time.
func NewSkewed() *Skewed { return &Skewed{timers: map[*timer]struct{}{}} }

func (c *Skewed) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Skewed) now() time.Time { return time.Now().Add(c.ahead) }

func (c *Skewed) AfterFunc(d time.Duration, f func()) Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{clock: c, due: c.now().Add(d), f: f}
	c.timers[t] = struct{}{}
	t.real = time.AfterFunc(d, func() {
		if t.Stop() {
			t.f()
		}
	})
	return t
}

// Stop takes the timer off the clock; only one caller ever gets true.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	_, ok := t.clock.timers[t]
	delete(t.clock.timers, t)
	t.real.Stop()
	return ok
}

// Advance moves the clock ahead; the callbacks that fell due have run when it returns, in order.
func (c *Skewed) Advance(d time.Duration) {
	c.mu.Lock()
	c.ahead += d
	now := c.now()
	var due []*timer
	for t := range c.timers {
		if t.due.After(now) {
			t.real.Reset(t.due.Sub(now))
		} else {
			due = append(due, t)
		}
	}
	c.mu.Unlock()
	slices.SortFunc(due, func(a, b *timer) int { return cmp.Compare(a.due.UnixNano(), b.due.UnixNano()) })
	for _, t := range due {
		if t.Stop() {
			t.f()
		}
	}
}
