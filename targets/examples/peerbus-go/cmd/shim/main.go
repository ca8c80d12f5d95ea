// Command shim offers the codec, the client and the broker of this module to a test harness: JSON Lines on stdin and
// stdout, four verbs. Logs go to stderr.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
)

type request struct {
	ID       int64           `json:"id"`
	Verb     string          `json:"verb"`
	Instance string          `json:"instance"`
	Role     string          `json:"role"`
	Op       string          `json:"op"`
	Args     json.RawMessage `json:"args"`
}

// The answers that are no result.
type (
	refused     string
	unsupported string
)

func (r refused) Error() string     { return string(r) }
func (u unsupported) Error() string { return string(u) }

type object = map[string]any

// instance is something that was started. An operation that takes its time answers later.
type instance interface {
	begin() // the answer to start has gone out
	do(op string, args json.RawMessage, answer func(object, error))
	stop() error
}

var capabilities = map[string][]string{
	"peerbus/codec":  {"profile:code"},
	"peerbus/client": {"profile:code", "cache_size", "backoff_ms", "kill"},
	"peerbus/broker": {"profile:document", "restart", "kill", "audit"},
}

type shim struct {
	instances map[string]instance
	mu        sync.Mutex // of out
	out       io.Writer
	log       *slog.Logger
}

func main() {
	s := &shim{instances: map[string]instance{}, out: os.Stdout, log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	s.serve(os.Stdin)
}

func (s *shim) serve(in io.Reader) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			s.handle(line)
		}
		if err != nil {
			break
		}
	}
	for _, i := range s.instances {
		_ = i.stop()
	}
}

func (s *shim) handle(line []byte) {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		s.log.Error("not a request", "err", err)
		return
	}
	answer := func(result object, err error) { s.answer(r.ID, result, err) }
	i := s.instances[r.Instance]
	switch r.Verb {
	case "hello":
		answer(object{"name": "peerbus-go", "version": "0.1.0", "language": "go", "protocol": 1, "roles": capabilities}, nil)
	case "start":
		if i != nil {
			answer(nil, fmt.Errorf("there is an instance %q", r.Instance))
			return
		}
		i, result, err := s.start(r)
		answer(result, err)
		if err == nil {
			s.instances[r.Instance] = i
			i.begin()
		}
	case "do":
		if i == nil {
			answer(nil, fmt.Errorf("no instance %q", r.Instance))
			return
		}
		i.do(r.Op, r.Args, answer)
	case "stop":
		delete(s.instances, r.Instance)
		var err error
		if i != nil {
			err = i.stop()
		}
		answer(object{}, err)
	default:
		answer(nil, unsupported("verb "+r.Verb))
	}
}

func (s *shim) start(r request) (instance, object, error) {
	switch r.Role {
	case "peerbus/codec":
		return codec{}, object{}, nil
	case "peerbus/client":
		return startClient(r.Args, s.log, func(event string, data object) {
			s.write(object{"event": event, "instance": r.Instance, "data": data})
		})
	case "peerbus/broker":
		return startBroker(r.Args, s.log)
	}
	return nil, nil, unsupported("role " + r.Role)
}

func (s *shim) answer(id int64, result object, err error) {
	reply := object{"id": id}
	var no refused
	var not unsupported
	switch {
	case errors.As(err, &no):
		reply["refused"] = string(no)
	case errors.As(err, &not):
		reply["unsupported"] = string(not)
	case err != nil:
		reply["failed"] = err.Error()
	default:
		reply["result"] = result
	}
	s.write(reply)
}

func (s *shim) write(v object) {
	line, err := json.Marshal(v)
	if err != nil {
		s.log.Error("cannot write", "err", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.Write(append(line, '\n')); err != nil {
		os.Exit(1) // nobody listens
	}
}

// parse reads arguments; those that are missing stay zero.
func parse(args json.RawMessage, into any) error {
	if len(args) == 0 {
		return nil
	}
	return json.Unmarshal(args, into)
}
