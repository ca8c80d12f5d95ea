package node

import (
	"sync/atomic"
	"time"
)

// Clock is time that can be put forward.
type Clock struct{ ahead atomic.Int64 }

// Now is the time by this clock.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *Clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }
