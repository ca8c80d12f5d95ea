// Command relay runs a TrueSeal relay.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"trueseal/internal/relay"
	"trueseal/internal/secure"
	"trueseal/internal/wire"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv("TRUESEAL_RELAY_KEY"), os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "relay:", err)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, key string, out io.Writer) error {
	flags := flag.NewFlagSet("relay", flag.ContinueOnError)
	push := flags.String("push", "127.0.0.1:7401", "address for Push Sessions")
	receive := flags.String("receive", "127.0.0.1:7402", "address for Receive Sessions")
	state := flags.String("state", "", "folder for the inboxes (required)")
	limit := flags.Int("limit", wire.MaxEnvelope, "bytes of the largest envelope, at most the default")
	keyFlag := flags.String("key", "", "private key, 64 hex digits; else TRUESEAL_RELAY_KEY, else relay.key in the state folder, made if need be")
	verbose := flags.Bool("v", false, "log why sessions end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *state == "" || flags.NArg() > 0 {
		return errors.New("usage: relay -state folder [flags]; see -help")
	}
	if err := os.MkdirAll(*state, 0o700); err != nil {
		return err
	}
	private, err := privateKey(*keyFlag, key, *state)
	if err != nil {
		return err
	}
	pair, err := secure.Keypair(private)
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	server, err := relay.Start(relay.Config{
		Push: *push, Receive: *receive, Key: pair, StateDir: *state, Limit: *limit,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "public key %x\n", pair.Public)
	fmt.Fprintf(out, "listening, push %s, receive %s\n", server.PushAddr(), server.ReceiveAddr())
	<-ctx.Done()
	return server.Close()
}

func privateKey(byFlag, byEnv, state string) ([]byte, error) {
	text := byFlag
	if text == "" {
		text = byEnv
	}
	if text == "" {
		path := filepath.Join(state, "relay.key")
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return newKey(path)
		}
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	private, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(private) != wire.KeySize {
		return nil, errors.New("a private key is 64 hex digits") // the text itself is not for a log
	}
	return private, nil
}

func newKey(path string) ([]byte, error) {
	private := make([]byte, wire.KeySize)
	rand.Read(private)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(f, "%x\n", private)
	return private, errors.Join(err, f.Sync(), f.Close())
}
