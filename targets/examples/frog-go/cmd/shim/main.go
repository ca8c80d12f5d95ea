// Command shim offers the codec, the server and the client of this module to a test harness: JSON
// Lines on stdin and stdout, four verbs. Logs go to stderr.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	do(op string, args json.RawMessage, answer func(object, error))
	stop()
}

type shim struct {
	instances map[string]instance
	mu        sync.Mutex // of out
	out       *json.Encoder
}

func main() {
	s := &shim{instances: map[string]instance{}, out: json.NewEncoder(os.Stdout)}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			s.handle(line)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "shim:", err)
			}
			break
		}
	}
	for _, i := range s.instances {
		i.stop()
	}
}

// handle takes requests in their order; an operation that waits does so in the background.
func (s *shim) handle(line []byte) {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		fmt.Fprintln(os.Stderr, "shim:", err)
		return
	}
	answer := func(result object, err error) { s.answer(r.ID, result, err) }
	switch r.Verb {
	case "hello":
		answer(object{
			"name": "frog-go", "version": "0.1.0", "language": "go", "protocol": 1,
			"roles": object{
				"frog/codec":  []string{"to_server", "to_client", "sister", "verify"},
				"frog/server": []string{"seed", "uri", "timers", "bounds", "queue", "rates", "sister", "dials", "gossip", "floods", "clock", "restart", "kill"},
				"frog/client": []string{"cache", "backoff_ms", "clock", "kill"},
			},
		}, nil)
	case "start":
		i, result, err := s.start(r)
		if err == nil {
			if old := s.instances[r.Instance]; old != nil {
				old.stop()
			}
			s.instances[r.Instance] = i
		}
		answer(result, err)
	case "do":
		if i := s.instances[r.Instance]; i != nil {
			i.do(r.Op, r.Args, answer)
		} else {
			answer(nil, fmt.Errorf("no instance %q", r.Instance))
		}
	case "stop":
		if i := s.instances[r.Instance]; i != nil {
			i.stop()
			delete(s.instances, r.Instance)
		}
		answer(object{}, nil)
	default:
		answer(nil, unsupported("verb "+r.Verb))
	}
}

func (s *shim) start(r request) (instance, object, error) {
	switch r.Role {
	case "frog/codec":
		return codec{}, object{}, nil
	case "frog/server":
		return startServer(r.Args)
	case "frog/client":
		return startClient(r.Args, func(event string, data object) {
			s.write(object{"event": event, "instance": r.Instance, "data": data})
		})
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.out.Encode(v); err != nil {
		fmt.Fprintln(os.Stderr, "shim:", err)
		os.Exit(1)
	}
}

// parse reads arguments; those that are missing stay zero.
func parse(args json.RawMessage, into any) error {
	if len(args) == 0 {
		return nil
	}
	return json.Unmarshal(args, into)
}

// hexBytes travel as lower-case hex.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	*h = b
	return err
}

func (h hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h)), nil }
