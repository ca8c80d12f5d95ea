package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	public := func(key string) string {
		ctx, cancel := context.WithCancel(context.Background())
		out, in := io.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- run(ctx, []string{"-push", "127.0.0.1:0", "-receive", "127.0.0.1:0", "-state", dir, "-limit", "1000"}, key, in)
			in.Close()
		}()
		lines := bufio.NewReader(out)
		first, _ := lines.ReadString('\n')
		second, _ := lines.ReadString('\n')
		cancel()
		if err := <-done; err != nil || !strings.HasPrefix(second, "listening") {
			t.Fatal(err, second)
		}
		return first
	}
	got := public("4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893")
	if got != "public key 31e0303fd6418d2f8c0e78b91f22e8caed0fbe48656dcf4767e4834f701b8f62\n" {
		t.Error(got)
	}
	if a, b := public(""), public(""); a != b {
		t.Error("the key was not kept", a, b)
	}
	if err := run(context.Background(), []string{"-state", dir}, "abc", io.Discard); err == nil {
		t.Error("a short key")
	}
}
