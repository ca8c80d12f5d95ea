package client

import (
	"math/rand/v2"
	"slices"
	"time"

	"frog/wire"
)

const (
	maxLearned  = 128
	maxFailures = 3 // a learned server that failed as often in a row is forgotten
)

// pool is the list of servers: the bootstrap list, which stays, and what was learned (21, 41).
type pool struct{ servers []*knownServer }

type knownServer struct {
	uri       string
	bootstrap bool
	failures  int       // in a row
	good      time.Time // the last registration
}

func newPool(bootstrap, cache []string) *pool {
	p := &pool{}
	for _, uri := range bootstrap {
		if p.find(uri) == nil {
			p.servers = append(p.servers, &knownServer{uri: uri, bootstrap: true})
		}
	}
	p.learn(cache)
	return p
}

func (p *pool) find(uri string) *knownServer {
	for _, s := range p.servers {
		if s.uri == uri {
			return s
		}
	}
	return nil
}

// learn adds the canonical ones of these URIs, each once, and only so many.
func (p *pool) learn(uris []string) {
	for _, uri := range uris {
		if wire.ValidURI(uri) && p.find(uri) == nil {
			p.servers = append(p.servers, &knownServer{uri: uri})
		}
	}
	p.rank()
	learned := 0
	p.servers = slices.DeleteFunc(p.servers, func(s *knownServer) bool {
		if s.bootstrap {
			return false
		}
		learned++
		return learned > maxLearned
	})
}

// rank orders by failures, then by the latest success; chance decides between equals.
func (p *pool) rank() {
	rand.Shuffle(len(p.servers), func(i, j int) { p.servers[i], p.servers[j] = p.servers[j], p.servers[i] })
	slices.SortStableFunc(p.servers, func(a, b *knownServer) int {
		if a.failures != b.failures {
			return a.failures - b.failures
		}
		return b.good.Compare(a.good)
	})
}

// next is the server to dial.
func (p *pool) next() string {
	p.rank()
	return p.servers[0].uri
}

// worked notes a registration.
func (p *pool) worked(uri string, now time.Time) {
	if s := p.find(uri); s != nil {
		s.failures, s.good = 0, now
	}
}

// failed notes a dial without registration, or a connection that soon ended: others come first now.
func (p *pool) failed(uri string) {
	s := p.find(uri)
	if s == nil {
		return
	}
	if s.failures++; s.failures >= maxFailures && !s.bootstrap {
		p.servers = slices.DeleteFunc(p.servers, func(o *knownServer) bool { return o == s })
	}
}

// learned lists what is not on the bootstrap list, best first.
func (p *pool) learned() []string {
	p.rank()
	var uris []string
	for _, s := range p.servers {
		if !s.bootstrap {
			uris = append(uris, s.uri)
		}
	}
	return uris
}
