package main

import (
	"encoding/json"
	"net"
	"net/http"
	"time"

	"frog/clock"
	"frog/server"
)

type serverInstance struct {
	server *server.Server
	http   *http.Server
	clock  *clock.Skewed
}

func startServer(args json.RawMessage) (instance, object, error) {
	var a struct {
		Seed             hexBytes `json:"seed"`
		URI              string   `json:"uri"`
		ChallengeTTL     float64  `json:"auth_challenge_ttl_ms"`
		RouteTTL         float64  `json:"route_ttl_ms"`
		LookupTimeout    float64  `json:"lookup_timeout_ms"`
		FindTimeout      float64  `json:"find_timeout_ms"`
		Connections      int      `json:"max_connections"`
		ConnectionsPerIP int      `json:"max_connections_per_ip"`
		Peers            int      `json:"max_peers"`
		PeersPerNetwork  int      `json:"max_peers_per_network"`
		Challenges       int      `json:"max_challenges"`
		Routes           int      `json:"max_routes"`
		Queue            int      `json:"max_queue"`
		RateConnections  int      `json:"rate_connections"`
		RateJoins        int      `json:"rate_joins"`
		RateFailedAuths  int      `json:"rate_failed_auths"`
		RateGetServers   int      `json:"rate_getservers"`
		RateFinds        int      `json:"rate_finds"`
		RateLookups      int      `json:"rate_lookups"`
		RateSignals      int      `json:"rate_signals"`
		RateFloods       int      `json:"rate_floods"`
		Sisters          []string `json:"sisters"`
		Seeds            []string `json:"seeds"`
		Discover         int      `json:"discover"`
		Redial           float64  `json:"redial_ms"`
		LookupTTL        *int     `json:"lookup_ttl"`
		FindTTL          *int     `json:"find_ttl"`
		LookupFanout     *int     `json:"lookup_fanout"`
		FindFanout       *int     `json:"find_fanout"`
	}
	if err := parse(args, &a); err != nil {
		return nil, nil, err
	}
	key, err := keyOf(a.Seed)
	if err != nil {
		return nil, nil, err
	}
	policy := server.Sister{Allow: a.Sisters, Discover: a.Discover != 0, Redial: ms(a.Redial), LookupTTL: hops(a.LookupTTL),
		FindTTL: hops(a.FindTTL), LookupFanout: hops(a.LookupFanout), FindFanout: hops(a.FindFanout)}
	for _, text := range a.Seeds {
		seed, err := server.ParseSeed(text)
		if err != nil {
			return nil, nil, refused(err.Error())
		}
		policy.Seeds = append(policy.Seeds, seed)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	address := "ws://" + listener.Addr().String() + "/"
	if a.URI == "" {
		a.URI = address
	}
	i := &serverInstance{clock: clock.NewSkewed()}
	i.server, err = server.New(server.Config{
		Key: key, URI: a.URI, Clock: i.clock, Sister: policy,
		Timers: server.Timers{ChallengeTTL: ms(a.ChallengeTTL), RouteTTL: ms(a.RouteTTL), LookupTimeout: ms(a.LookupTimeout), FindTimeout: ms(a.FindTimeout)},
		Limits: server.Limits{Connections: a.Connections, ConnectionsPerIP: a.ConnectionsPerIP, Peers: a.Peers,
			PeersPerNetwork: a.PeersPerNetwork, Challenges: a.Challenges, Routes: a.Routes, Queue: a.Queue},
		Rates: server.Rates{Connections: a.RateConnections, Joins: a.RateJoins, FailedAuths: a.RateFailedAuths,
			GetServers: a.RateGetServers, Finds: a.RateFinds, Lookups: a.RateLookups, Signals: a.RateSignals, Floods: a.RateFloods},
	})
	if err != nil {
		listener.Close()
		return nil, nil, refused(err.Error())
	}
	i.http = &http.Server{Handler: i.server, ReadHeaderTimeout: 10 * time.Second}
	go i.http.Serve(listener)
	i.server.Start()
	return i, object{"address": address}, nil
}

func (i *serverInstance) do(op string, args json.RawMessage, answer func(object, error)) {
	if op != "advance_clock" {
		answer(nil, unsupported("operation "+op))
		return
	}
	answer(object{}, advance(i.clock, args))
}

func (i *serverInstance) stop() {
	i.http.Close()
	i.server.Drain()
	i.server.Wait(time.Second)
}

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// hops is a ttl or a fanout: nothing is the standard, and 0 is none.
func hops(n *int) int {
	switch {
	case n == nil:
		return 0
	case *n == 0:
		return -1
	}
	return *n
}

func advance(c *clock.Skewed, args json.RawMessage) error {
	var a struct{ Seconds float64 }
	if err := parse(args, &a); err != nil {
		return err
	}
	c.Advance(ms(a.Seconds * 1000))
	return nil
}
