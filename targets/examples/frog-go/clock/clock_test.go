package clock

import (
	"slices"
	"testing"
	"time"
)

func TestAdvanceFiresInOrder(t *testing.T) {
	c := NewSkewed()
	var got []int
	c.AfterFunc(2*time.Hour, func() { got = append(got, 2) })
	c.AfterFunc(time.Hour, func() { got = append(got, 1) })
	c.AfterFunc(4*time.Hour, func() { got = append(got, 4) })
	stopped := c.AfterFunc(time.Hour, func() { got = append(got, 0) })
	if !stopped.Stop() || stopped.Stop() {
		t.Error("Stop")
	}
	before := c.Now()
	c.Advance(3 * time.Hour)
	if !slices.Equal(got, []int{1, 2}) {
		t.Error(got)
	}
	if d := c.Now().Sub(before); d < 3*time.Hour {
		t.Error(d)
	}
}

func TestRunsByItself(t *testing.T) {
	c := NewSkewed()
	c.Advance(time.Hour)
	fired := make(chan struct{})
	c.AfterFunc(time.Millisecond, func() { close(fired) })
	select {
	case <-fired:
	case <-time.After(5 * time.Second):
		t.Error("never fired")
	}
}
