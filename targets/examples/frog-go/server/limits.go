package server

import (
	"math/rand/v2"
	"time"
)

func over(count, bound int) bool { return bound > 0 && count >= bound }

// window counts events in a minute that begins with the first of them.
type window struct {
	began time.Time
	count int
}

func (w *window) idle(now time.Time) bool { return now.Sub(w.began) >= time.Minute }

// full reports whether the rate is used up.
func (w *window) full(now time.Time, rate int) bool {
	return rate > 0 && !w.idle(now) && w.count >= rate
}

// take counts one event, unless the rate is used up.
func (w *window) take(now time.Time, rate int) bool {
	if w.full(now, rate) {
		return false
	}
	if w.idle(now) {
		w.began, w.count = now, 0
	}
	w.count++
	return true
}

// sample draws k of the numbers below n, or all of them, without repetition (Floyd's algorithm):
// the work depends on k only.
func sample(n, k int) []int {
	k = min(n, k)
	drawn := make([]int, 0, k)
	for j := n - k; j < n; j++ {
		i := rand.IntN(j + 1)
		for _, d := range drawn {
			if d == i {
				i = j
				break
			}
		}
		drawn = append(drawn, i)
	}
	return drawn
}
