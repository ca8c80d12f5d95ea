// Command peerbusd is the broker with a command line.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"peerbus/broker"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := run(log); err != nil {
		log.Error("peerbusd", "err", err)
		os.Exit(1)
	}
}

func run(log *slog.Logger) error {
	listen := flag.String("listen", "127.0.0.1:7300", "`address` to listen on")
	data := flag.String("data", ".", "`folder` of the store")
	tokens := flag.String("tokens", os.Getenv("PEERBUS_TOKENS"), "accepted tokens, between commas (default: $PEERBUS_TOKENS)")
	flag.Parse()

	b, err := broker.New(broker.Config{Tokens: strings.Split(*tokens, ","), StateDir: *data, Log: log})
	if err != nil {
		return err
	}
	defer b.Close()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	log.Info("listening", "address", l.Addr())
	server := &http.Server{Handler: b, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	select {
	case <-ctx.Done():
		return server.Close() // connections that are WebSockets now are ended by b.Close
	case err := <-served:
		return err
	case <-b.Failed():
		return errors.New("the store failed")
	}
}
