package client

import (
	"math/rand/v2"
	"time"
)

// growth of the waits, in multiples of the first: gentler than doubling.
var growth = [...]time.Duration{1, 2, 3, 5, 8, 13, 21, 32}

// steadyFor is how many first waits a registration has to last to be taken for a success.
const steadyFor = 20

// backoff is the wait before the dial after so many failures in a row, with up to half of it as jitter on top.
func backoff(first time.Duration, failures int) time.Duration {
	wait := first * growth[min(max(failures, 1), len(growth))-1]
	return wait + rand.N(wait/2+1)
}
