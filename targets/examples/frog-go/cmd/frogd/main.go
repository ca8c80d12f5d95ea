// Command frogd is a FROG/1 rendezvous server.
package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"frog/server"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "frogd:", err)
		os.Exit(1)
	}
}

func run() error {
	config := server.Config{Limits: server.DefaultLimits, Rates: server.DefaultRates,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	listen := flag.String("listen", "127.0.0.1:8765", "address to listen at")
	uri := flag.String("uri", "", "canonical public URI, which clients sign (default ws://LISTEN/)")
	seed := flag.String("seed", "", "Ed25519 seed in hex, for tests: others may see the command line")
	keyFile := flag.String("key", "", "file with the Ed25519 seed in hex; made if it is not there")
	cert := flag.String("tls-cert", "", "certificate, to serve wss itself")
	certKey := flag.String("tls-key", "", "key of the certificate")

	flag.DurationVar(&config.Timers.ChallengeTTL, "challenge-ttl", 30*time.Second, "lifetime of a challenge")
	flag.DurationVar(&config.Timers.RouteTTL, "route-ttl", 180*time.Second, "lifetime of an unused route")
	flag.DurationVar(&config.Timers.LookupTimeout, "lookup-timeout", 3*time.Second, "timeout of a lookup")
	flag.DurationVar(&config.Timers.FindTimeout, "find-timeout", 1500*time.Millisecond, "timeout of a find")
	policy := &config.Sister
	seeds := flag.String("seeds", "", "servers to dial and to federate with: URI or ID@URI, separated by commas")
	sisters := flag.String("sisters", "", "ids of servers that may federate when they dial, separated by commas")
	flag.BoolVar(&policy.Discover, "discover", false, "ask sisters for further servers, verify them, and federate with those")
	flag.DurationVar(&policy.Redial, "redial", 2*time.Second, "first wait before a seed is dialled again")
	ttls := []struct {
		value *int
		given *int
	}{
		{&policy.LookupTTL, flag.Int("lookup-ttl", 5, "ttl of the lookups that begin here, at most 7")},
		{&policy.FindTTL, flag.Int("find-ttl", 3, "ttl of the finds that begin here, at most 7")},
		{&policy.LookupFanout, flag.Int("lookup-fanout", 7, "sisters that a lookup is sent to at most")},
		{&policy.FindFanout, flag.Int("find-fanout", 7, "sisters that a find is sent to at most")},
	}
	for _, bound := range []struct {
		value       *int
		name, usage string
	}{
		{&config.Limits.Connections, "max-connections", "connections"},
		{&config.Limits.ConnectionsPerIP, "max-connections-per-ip", "connections of one address"},
		{&config.Limits.Peers, "max-peers", "registered peers"},
		{&config.Limits.PeersPerNetwork, "max-peers-per-network", "registered peers of one network"},
		{&config.Limits.Challenges, "max-challenges", "pending challenges"},
		{&config.Limits.Routes, "max-routes", "routes"},
		{&config.Limits.Lookups, "max-lookups", "lookups and finds that wait"},
		{&config.Limits.Floods, "max-floods", "requests of sisters that are remembered"},
		{&config.Limits.Sisters, "max-sisters", "connections with sisters"},
		{&config.Limits.Queue, "max-queue", "messages on their way to one connection"},
		{&config.Rates.Connections, "rate-connections", "connections a minute from one address"},
		{&config.Rates.Joins, "rate-joins", "JOIN a minute on one connection"},
		{&config.Rates.FailedAuths, "rate-failed-auths", "failed AUTH a minute on one connection"},
		{&config.Rates.GetServers, "rate-getservers", "GETSERVERS a minute on one connection"},
		{&config.Rates.Finds, "rate-finds", "FIND a minute on one connection"},
		{&config.Rates.Lookups, "rate-lookups", "LOOKUP a minute on one connection"},
		{&config.Rates.Signals, "rate-signals", "SIGNAL a minute on one connection"},
		{&config.Rates.Floods, "rate-floods", "@FIND and @LOOKUP a minute from one sister"},
		{&config.Rates.Lists, "rate-lists", "@LIST a minute from one sister"},
		{&config.Rates.Relays, "rate-relays", "@SIGNAL a minute from one sister"},
	} {
		flag.IntVar(bound.value, bound.name, *bound.value, "at most so many "+bound.usage+"; 0: no limit")
	}
	flag.Parse()
	if flag.NArg() > 0 {
		return errors.New("unexpected argument " + flag.Arg(0))
	}

	for _, ttl := range ttls {
		if *ttl.value = *ttl.given; *ttl.given == 0 {
			*ttl.value = -1
		}
	}
	policy.Allow = split(*sisters)
	for _, text := range split(*seeds) {
		seed, err := server.ParseSeed(text)
		if err != nil {
			return err
		}
		policy.Seeds = append(policy.Seeds, seed)
	}
	var err error
	if config.Key, err = loadKey(*seed, *keyFile); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	if config.URI = *uri; config.URI == "" {
		config.URI = "ws://" + listener.Addr().String() + "/"
	}
	s, err := server.New(config)
	if err != nil {
		return err
	}
	h := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(config.Log.Handler(), slog.LevelDebug)}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	served := make(chan error, 1)
	go func() {
		if *cert != "" {
			served <- h.ServeTLS(listener, *cert, *certKey)
		} else {
			served <- h.Serve(listener)
		}
	}()
	s.Start()
	config.Log.Info("listening", "address", listener.Addr(), "uri", config.URI, "server_id", s.ID())
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	// Everybody is told where to go, and gets a moment to hear it.
	s.Drain()
	s.Wait(3 * time.Second)
	return h.Close()
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func loadKey(seed, file string) (ed25519.PrivateKey, error) {
	switch {
	case seed != "" && file != "":
		return nil, errors.New("either -seed or -key")
	case seed == "" && file == "":
		return nil, errors.New("a server needs a stable key: -key FILE")
	case file != "":
		raw, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			raw = []byte(hex.EncodeToString(newSeed()) + "\n")
			err = os.WriteFile(file, raw, 0o600)
		}
		if err != nil {
			return nil, err
		}
		seed = strings.TrimSpace(string(raw))
	}
	b, err := hex.DecodeString(seed)
	if err != nil || len(b) != ed25519.SeedSize {
		return nil, errors.New("the seed is not 32 bytes in hex")
	}
	return ed25519.NewKeyFromSeed(b), nil
}

func newSeed() []byte {
	b := make([]byte, ed25519.SeedSize)
	rand.Read(b)
	return b
}
