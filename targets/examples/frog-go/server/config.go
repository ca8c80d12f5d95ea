package server

import (
	"crypto/ed25519"
	"errors"
	"log/slog"
	"math"
	"strings"
	"time"

	"frog/clock"
	"frog/wire"
)

// Config is what an operator decides. The zero value of a bound or a rate is none.
type Config struct {
	Key    ed25519.PrivateKey // stable, for a public server (11)
	URI    string             // the canonical public URI, which clients sign
	Timers Timers
	Limits Limits
	Rates  Rates
	Sister Sister       // federation; the zero value turns every sister away
	Clock  clock.Clock  // nil: the machine's
	Log    *slog.Logger // nil: silent
}

// Timers of section 39. Zero means what that section says.
type Timers struct {
	ChallengeTTL  time.Duration
	RouteTTL      time.Duration
	LookupTimeout time.Duration
	FindTimeout   time.Duration
}

// Limits bound the memory of a server (40).
type Limits struct {
	Connections      int
	ConnectionsPerIP int
	Peers            int
	PeersPerNetwork  int
	Challenges       int
	Routes           int
	Lookups          int // lookups and finds of clients that wait for their answer
	Floods           int // requests of sisters that are remembered
	Sisters          int // connections with sisters
	Queue            int // messages on their way to one connection
}

// Rates are per minute: connections by address, those of sisters by server id, all others by
// connection (40).
type Rates struct {
	Connections int
	Joins       int
	FailedAuths int
	GetServers  int
	Finds       int
	Lookups     int
	Signals     int
	Floods      int // @FIND and @LOOKUP
	Lists       int // @LIST
	Relays      int // @SIGNAL
}

// Sister is the policy of federation (27).
type Sister struct {
	Seeds    []Seed        // dialled from Start on, and authorised if they prove who they are
	Allow    []string      // ids of servers that may federate when they dial
	Discover bool          // ask for further servers, verify them, federate with them
	Redial   time.Duration // the first wait before a seed is dialled again; zero: 2 s
	// Of the floods that begin here: zero is what section 39 says, negative is none.
	LookupTTL, FindTTL       int
	LookupFanout, FindFanout int
}

// Seed is a server to dial. With an ID, only the server with that id will do.
type Seed struct{ ID, URI string }

// ParseSeed reads URI or ID@URI.
func ParseSeed(text string) (Seed, error) {
	seed := Seed{URI: text}
	if id, uri, ok := strings.Cut(text, "@"); ok && wire.ValidID(id) {
		seed = Seed{ID: id, URI: uri}
	}
	if !wire.ValidURI(seed.URI) {
		return seed, errors.New("no canonical URI of a seed: " + text)
	}
	return seed, nil
}

// DefaultLimits suit a small public server.
var DefaultLimits = Limits{Connections: 10000, ConnectionsPerIP: 64, Peers: 10000, PeersPerNetwork: 10000,
	Challenges: 2000, Routes: 50000, Lookups: 5000, Floods: 50000, Sisters: 64, Queue: 256}

// DefaultRates suit browsers that look for a few peers.
var DefaultRates = Rates{Connections: 120, Joins: 30, FailedAuths: 10, GetServers: 30, Finds: 120, Lookups: 240, Signals: 3000,
	Floods: 3000, Lists: 60, Relays: 60000}

const (
	// queueBytes bounds what waits for one connection, whatever Limits.Queue says.
	queueBytes = 16 << 20
	// lookupGrace is how long a lookup that nobody else can answer waits for a peer that is
	// just coming back, before it fails.
	lookupGrace = 150 * time.Millisecond
	// graveTime is how long an expired route is still known as one (25).
	graveTime = 60 * time.Second
	maxGraves = 10000
	pingEvery = 30 * time.Second
	patience  = 20 * time.Second
	// linger is how long a sister connection that another one has replaced is still heard.
	linger = 500 * time.Millisecond
	// gossipEvery is how often a sister is asked for further servers.
	gossipEvery = time.Minute
	listLimit   = 5
	// retryAfter is how long a server that gossip named is left alone after a dial.
	retryAfter     = time.Minute
	maxVerifying   = 8    // dials at a time of servers that gossip named
	maxRecords     = 1000 // verified servers, and those that were tried
	openingTimeout = 10 * time.Second
	maxHeard       = 64 // different @PEERS to one @FIND
	longestWait    = 50 // times the first, before a seed is dialled again
	steadyAfter    = 4  // first waits: what lasted as long starts over with the first wait
)

func (c *Config) complete() error {
	if len(c.Key) != ed25519.PrivateKeySize {
		return errors.New("no Ed25519 key")
	}
	if !wire.ValidURI(c.URI) {
		return errors.New("the public URI is not canonical: " + c.URI)
	}
	for _, t := range []struct {
		value    *time.Duration
		standard time.Duration
	}{
		{&c.Timers.ChallengeTTL, 30 * time.Second},
		{&c.Timers.RouteTTL, 180 * time.Second},
		{&c.Timers.LookupTimeout, 3000 * time.Millisecond},
		{&c.Timers.FindTimeout, 1500 * time.Millisecond},
	} {
		if *t.value <= 0 {
			*t.value = t.standard
		}
	}
	if err := c.Sister.complete(); err != nil {
		return err
	}
	if c.Clock == nil {
		c.Clock = clock.System
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

func (f *Sister) complete() error {
	for _, seed := range f.Seeds {
		if seed.ID != "" && !wire.ValidID(seed.ID) || !wire.ValidURI(seed.URI) {
			return errors.New("no seed: " + seed.ID + " " + seed.URI)
		}
	}
	for _, id := range f.Allow {
		if !wire.ValidID(id) {
			return errors.New("no server id: " + id)
		}
	}
	if f.Redial <= 0 {
		f.Redial = 2 * time.Second
	}
	for _, n := range []struct {
		value          *int
		standard, most int
	}{
		{&f.LookupTTL, 5, wire.MaxTTL}, {&f.FindTTL, 3, wire.MaxTTL}, {&f.LookupFanout, 7, math.MaxInt}, {&f.FindFanout, 7, math.MaxInt},
	} {
		switch {
		case *n.value == 0:
			*n.value = n.standard
		case *n.value < 0:
			*n.value = 0
		case *n.value > n.most:
			return errors.New("a ttl is at most 7")
		}
	}
	return nil
}
