package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"trueseal/internal/secure"
	"trueseal/internal/wire"
)

// TestMain turns the test binary into the shim itself when it is run as a child: something real to kill.
func TestMain(m *testing.M) {
	if os.Getenv("SHIM_TEST_CHILD") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

type message struct {
	ID                           int64
	Result                       json.RawMessage
	Refused, Unsupported, Failed string
	Event                        string
	Data                         map[string]string
}

// child is a shim process.
type child struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	next int64

	mu      sync.Mutex
	cond    *sync.Cond
	answers map[int64]message
	events  []string
}

func spawn(t *testing.T) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0]), answers: map[int64]message{}}
	c.cond = sync.NewCond(&c.mu)
	c.cmd.Env = append(os.Environ(), "SHIM_TEST_CHILD=1")
	c.cmd.Stderr = os.Stderr
	c.in, _ = c.cmd.StdinPipe()
	out, _ := c.cmd.StdoutPipe()
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	go func() {
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var m message
			if err := json.Unmarshal(line, &m); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			c.mu.Lock()
			if m.Event != "" {
				c.events = append(c.events, m.Event+" "+m.Data["id"]+m.Data["envelope"])
			} else {
				c.answers[m.ID] = m
			}
			c.cond.Broadcast()
			c.mu.Unlock()
		}
	}()
	return c
}

// kill is SIGKILL.
func (c *child) kill() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

// wait waits until ready, with the lock held.
func (c *child) wait(what string, ready func() bool) {
	c.t.Helper()
	timer := time.AfterFunc(20*time.Second, c.cond.Broadcast)
	defer timer.Stop()
	deadline := time.Now().Add(20 * time.Second)
	c.mu.Lock()
	defer c.mu.Unlock()
	for !ready() {
		if time.Now().After(deadline) {
			c.t.Fatalf("no %s; events %.300q", what, c.events)
		}
		c.cond.Wait()
	}
}

func (c *child) ask(verb, instance, role, op string, args any) message {
	c.t.Helper()
	c.next++
	id := c.next
	line, _ := json.Marshal(map[string]any{"id": id, "verb": verb, "instance": instance, "role": role, "op": op, "args": args})
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		c.t.Fatal(err)
	}
	var m message
	c.wait("answer to "+verb+" "+op, func() (ok bool) { m, ok = c.answers[id]; return ok })
	return m
}

// get asks for something that must have a result.
func (c *child) get(into any, verb, instance, role, op string, args any) {
	c.t.Helper()
	m := c.ask(verb, instance, role, op, args)
	if m.Result == nil {
		c.t.Fatalf("%s %s: %+v", verb, op, m)
	}
	if into != nil {
		if err := json.Unmarshal(m.Result, into); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *child) awaitEvent(want string) {
	c.t.Helper()
	c.wait(want, func() bool { return c.count(want) > 0 })
}

func (c *child) count(event string) (n int) {
	for _, e := range c.events {
		if e == event {
			n++
		}
	}
	return n
}

func private(fill byte) string { return hex.EncodeToString(bytes.Repeat([]byte{fill}, 32)) }

func public(fill byte) string {
	k, _ := secure.Keypair(bytes.Repeat([]byte{fill}, 32))
	return hex.EncodeToString(k.Public)
}

type ports struct{ Push, Receive int }

func (c *child) startRelay(dir string) ports {
	c.t.Helper()
	var r struct{ Addresses map[string]string }
	c.get(&r, "start", "r", "trueseal/relay", "", object{"private_key": private(1), "state_dir": dir, "limit": 1 << 20})
	return ports{c.port(r.Addresses["push"]), c.port(r.Addresses["receive"])}
}

func (c *child) port(address string) int {
	c.t.Helper()
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		c.t.Fatal(err)
	}
	return int(at.Port())
}

func (c *child) startClient(dir string, fill byte, p ports) {
	c.t.Helper()
	c.get(nil, "start", "c", "trueseal/client", "", object{
		"push_port": p.Push, "receive_port": p.Receive, "relay_key": public(1), "private_key": private(fill), "state_dir": dir, "retry_ms": 50,
	})
}

func (c *child) push(to byte, envelope string) string {
	c.t.Helper()
	var r struct{ ID string }
	c.get(&r, "do", "c", "", "push", object{"recipient": public(to), "envelope": envelope})
	return r.ID
}

// Client against relay, both killed and started again on what they left.
func TestEndToEnd(t *testing.T) {
	relayDir, aliceDir, bobDir := t.TempDir(), t.TempDir(), t.TempDir()
	large := strings.Repeat("5e", 1<<20)

	relay := spawn(t)
	p := relay.startRelay(relayDir)
	alice := spawn(t)
	alice.startClient(aliceDir, 2, p)
	for _, e := range []string{"01", "02", large} { // bob is not there
		alice.awaitEvent("pushed " + alice.push(3, e))
	}
	relay.kill() // right after the Ack

	// Without a relay it stays in the outbox, also over the client's death.
	late := alice.push(3, "03")
	alice.kill()

	relay = spawn(t)
	p = relay.startRelay(relayDir)
	bob := spawn(t)
	bob.startClient(bobDir, 3, p)
	for _, e := range []string{"01", "02", large} {
		bob.awaitEvent("received " + e)
	}
	alice = spawn(t)
	alice.startClient(aliceDir, 2, p)
	alice.awaitEvent("pushed " + late)
	bob.awaitEvent("received 03")

	// Bob dies while things arrive; what he acknowledged he knows, what he did not comes again.
	var ids []string
	for i := range 100 {
		ids = append(ids, alice.push(3, fmt.Sprintf("aa%02x", i)))
		if i == 50 {
			bob.kill()
		}
	}
	for _, id := range ids {
		alice.awaitEvent("pushed " + id)
	}
	bob = spawn(t)
	bob.startClient(bobDir, 3, p)
	var known struct{ Envelopes []string }
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		bob.get(&known, "do", "c", "", "received", nil)
		if len(known.Envelopes) >= 104 || time.Now().After(deadline) {
			break
		}
	}
	seen := map[string]int{}
	for _, e := range known.Envelopes {
		seen[e]++
	}
	if len(seen) != 104 || len(known.Envelopes) != 104 || seen["aa00"] != 1 || seen["aa63"] != 1 || seen[large] != 1 {
		t.Fatalf("%d envelopes, %d different", len(known.Envelopes), len(seen))
	}

	// One Heartbeat of the client's own makes both answer each other for ever, slowly; the session is still of use.
	bob.get(nil, "do", "c", "", "heartbeat", nil)
	alice.push(3, "04")
	bob.awaitEvent("received 04")
	bob.get(nil, "stop", "c", "", "", nil)
	relay.get(nil, "stop", "r", "", "", nil)
	if m := alice.ask("do", "c", "", "push", object{"recipient": public(3), "envelope": large + "00"}); m.Refused == "" {
		t.Errorf("%+v", m)
	}
}

// A relay killed at any moment still delivers all that it Acked.
func TestKilledRelayKeepsWhatItAcked(t *testing.T) {
	dir := t.TempDir()
	acked := map[string]bool{}
	key := func(fill byte) wire.Key {
		b, _ := hex.DecodeString(public(fill))
		return wire.Key(b)
	}
	dial := func(port int, shake func(net.Conn) (*secure.Conn, error)) *secure.Conn {
		nc, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		conn, err := shake(nc)
		if err != nil {
			t.Fatal(err)
		}
		conn.ReadTimeout = 10 * time.Second
		conn.Frames = wire.Assembler{Keep: 1 << 20, Drain: 1 << 20}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	for round := range 4 {
		relay := spawn(t)
		p := relay.startRelay(dir)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for pusher := range 3 {
			conn := dial(p.Push, func(nc net.Conn) (*secure.Conn, error) { return secure.DialNK(nc, key(1)) })
			wg.Go(func() {
				for i := 0; ; i++ {
					envelope := fmt.Sprintf("%d/%d/%d/%s", round, pusher, i, strings.Repeat("x", i*100%5000))
					if conn.Write(wire.Frame{Type: wire.Push, Recipient: key(3), Envelope: []byte(envelope)}) != nil {
						return
					}
					if raw, err := conn.ReadFrame(); err != nil || raw.Type != wire.Ack {
						return
					}
					mu.Lock()
					acked[envelope] = true
					mu.Unlock()
				}
			})
		}
		time.Sleep(time.Duration(30+40*round) * time.Millisecond)
		relay.kill()
		wg.Wait()
	}
	p := spawn(t).startRelay(dir)
	device, _ := secure.Keypair(bytes.Repeat([]byte{3}, 32))
	conn := dial(p.Receive, func(nc net.Conn) (*secure.Conn, error) { return secure.DialXX(nc, device, key(1)) })
	total := len(acked)
	for len(acked) > 0 {
		raw, err := conn.ReadFrame()
		if err != nil {
			t.Fatalf("%d of %d are missing: %v", len(acked), total, err)
		}
		f, _ := raw.Parse()
		delete(acked, string(f.Envelope))
	}
	t.Logf("%d blobs", total)
}

func TestSaysNo(t *testing.T) {
	c := spawn(t)
	c.get(nil, "hello", "", "", "", nil)
	if m := c.ask("start", "x", "trueseal/other", "", nil); m.Unsupported == "" {
		t.Errorf("%+v", m)
	}
	if m := c.ask("do", "x", "", "levitate", nil); m.Unsupported == "" {
		t.Errorf("%+v", m)
	}
	c.get(nil, "start", "x", "trueseal/codec", "", nil)
	if m := c.ask("do", "x", "", "push", nil); m.Unsupported == "" {
		t.Errorf("%+v", m)
	}
	c.get(nil, "stop", "x", "", "", nil)
	c.get(nil, "stop", "x", "", "", nil)
}

func TestCodec(t *testing.T) {
	c := spawn(t)
	c.get(nil, "start", "x", "trueseal/codec", "", nil)
	var encoded struct{ Messages []string }
	c.get(&encoded, "do", "x", "", "encode", object{"frame": object{"type": "deliver_ack", "blob_id": "18446744073709551615"}})
	if fmt.Sprint(encoded.Messages) != "[0600000008ffffffffffffffff]" {
		t.Error(encoded)
	}
	var decoded struct{ Frames []map[string]string }
	c.get(&decoded, "do", "x", "", "decode", object{"messages": append(encoded.Messages, "0200000008000000000000002a")})
	if fmt.Sprint(decoded.Frames) != "[map[blob_id:18446744073709551615 type:deliver_ack] map[blob_id:42 envelope: type:deliver]]" {
		t.Error(decoded)
	}
	for _, frame := range []object{
		{"type": "deliver_ack", "blob_id": "18446744073709551616"},
		{"type": "push", "recipient": "00", "envelope": ""},
		{"type": "other"},
	} {
		if m := c.ask("do", "x", "", "encode", object{"frame": frame}); m.Refused == "" {
			t.Errorf("%v: %+v", frame, m)
		}
	}
	for _, messages := range [][]string{{""}, {"01"}, {"0100000000"}, {"0100010000"}, {"0700000000"}} {
		if m := c.ask("do", "x", "", "decode", object{"messages": messages}); m.Refused == "" {
			t.Errorf("%q: %+v", messages, m)
		}
	}
}

func TestNoise(t *testing.T) {
	b, err := os.ReadFile("../../internal/secure/testdata/noise_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name         string `json:"protocol_name"`
			Prologue     string `json:"init_prologue"`
			InitStatic   string `json:"init_static"`
			InitE        string `json:"init_ephemeral"`
			RemoteStatic string `json:"init_remote_static"`
			RespStatic   string `json:"resp_static"`
			RespE        string `json:"resp_ephemeral"`
			Hash         string `json:"handshake_hash"`
			Messages     []struct{ Payload, Ciphertext string }
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	c := spawn(t)
	for _, v := range file.Vectors {
		for side, args := range map[string]object{
			"initiator": {"ephemeral": v.InitE, "static": v.InitStatic, "remote_static": v.RemoteStatic},
			"responder": {"ephemeral": v.RespE, "static": v.RespStatic},
		} {
			var script [][2]string
			var want []string
			for i, m := range v.Messages {
				if (i%2 == 0) == (side == "initiator") {
					script, want = append(script, [2]string{"write", m.Payload}), append(want, m.Ciphertext)
				} else {
					script, want = append(script, [2]string{"read", m.Ciphertext}), append(want, m.Payload)
				}
			}
			args["pattern"], args["side"], args["prologue"], args["script"] = strings.Split(v.Name, "_")[1], side, v.Prologue, script
			var got struct {
				Results []string
				Hash    string
			}
			c.get(&got, "do", "x", "", "noise", args)
			if fmt.Sprint(got.Results) != fmt.Sprint(want) || got.Hash != v.Hash {
				t.Errorf("%s %s: %v", v.Name, side, got)
			}
			script[1][1] = strings.Repeat("00", 100)
			args["script"] = script[:2]
			if m := c.ask("do", "x", "", "noise", args); side == "initiator" && m.Refused == "" {
				t.Errorf("%s: %+v", v.Name, m)
			}
		}
	}
}
