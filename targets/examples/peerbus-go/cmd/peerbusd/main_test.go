package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"peerbus/wire"
)

// TestMain lets the test binary be the broker.
func TestMain(m *testing.M) {
	if os.Getenv("PEERBUSD") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func start(t *testing.T, address, dir string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-listen", address, "-data", dir)
	c.Env = append(os.Environ(), "PEERBUSD=1", "PEERBUS_TOKENS=a,b")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for range 200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return c
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("the broker does not listen")
	return nil
}

func join(t *testing.T, address, name string) *websocket.Conn {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	say(t, ws, wire.Register("b", name))
	hear(t, ws, `"peers"`)
	return ws
}

func say(t *testing.T, ws *websocket.Conn, frame []byte) {
	t.Helper()
	if err := ws.WriteMessage(websocket.TextMessage, frame); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, ws *websocket.Conn, part string) {
	t.Helper()
	_ = ws.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, data, err := ws.ReadMessage(); err != nil || !strings.Contains(string(data), part) {
		t.Fatalf("%s, %v: not %s", data, err, part)
	}
}

// What a fence has confirmed outlives SIGKILL (PB-3-22, PB-5-01).
func TestKill(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	kill := func(c *exec.Cmd) {
		_ = c.Process.Kill()
		_ = c.Wait()
	}

	broker := start(t, address, dir)
	join(t, address, "r").Close()
	for round := range 3 {
		s := join(t, address, "s")
		for i := range 40 {
			say(t, s, fmt.Appendf(nil, `{"protocol_version":"v1","id":"%d-%d","from":"s","to":"r","ts":"","source":"","kind":"msg","body":0,"hmac":""}`, round, i))
		}
		say(t, s, wire.PeersRequest())
		hear(t, s, `"peers"`)
		kill(broker)
		broker = start(t, address, dir)
	}
	for range 2 {
		r := join(t, address, "r")
		for round := range 3 {
			for i := range 40 {
				hear(t, r, fmt.Sprintf(`"%d-%d"`, round, i))
			}
		}
		kill(broker)
		broker = start(t, address, dir)
	}
	r := join(t, address, "r")
	for round := range 3 {
		for i := range 40 {
			hear(t, r, fmt.Sprintf(`"%d-%d"`, round, i))
			say(t, r, wire.Ack(fmt.Sprintf("%d-%d", round, i)))
		}
	}
	say(t, r, wire.PeersRequest())
	hear(t, r, `"peers"`)
	kill(broker)
	start(t, address, dir)
	r = join(t, address, "r")
	say(t, r, wire.PeersRequest())
	hear(t, r, `"peers"`)
}
