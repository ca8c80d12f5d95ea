// Command shim offers the TrueSeal codec, client and relay to a test harness: JSON Lines on stdin and stdout, four verbs.
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
	Role     string          `json:"role"`
	Instance string          `json:"instance"`
	Op       string          `json:"op"`
	Args     json.RawMessage `json:"args"`
}

// refused and unsupported are the answers that are neither a result nor a failure.
type (
	refused     string
	unsupported string
)

func (r refused) Error() string     { return string(r) }
func (u unsupported) Error() string { return string(u) }

// object is a JSON object.
type object = map[string]any

// instance is something that was started.
type instance interface {
	// begin is called when the answer to start has gone out.
	begin()
	do(op string, args json.RawMessage) (object, error)
	stop() error
}

// starters make an instance of each role and say what start answers.
var starters = map[string]func(args json.RawMessage, emit func(event string, data object)) (instance, object, error){
	"trueseal/codec":  startCodec,
	"trueseal/client": startClient,
	"trueseal/relay":  startRelay,
}

var capabilities = map[string][]string{
	"trueseal/codec":  {"noise", "large_frames"},
	"trueseal/client": {"restart", "kill", "retry_ms", "large_frames", "heartbeat"},
	"trueseal/relay":  {"restart", "kill", "limit", "large_frames", "store_failure"},
}

// logger writes to stderr: stdout is the protocol.
var logger = slog.New(slog.NewTextHandler(os.Stderr, nil))

// shim routes requests. Those of one instance are served in their order, those of different instances side by side.
type shim struct {
	outMu sync.Mutex
	out   io.Writer

	queues map[string]chan request // of the instances that run
	wg     sync.WaitGroup
}

func main() {
	s := &shim{out: os.Stdout, queues: map[string]chan request{}}
	if err := s.serve(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "shim:", err)
		os.Exit(1)
	}
}

func (s *shim) serve(in io.Reader) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadBytes('\n') // an envelope makes a line of two megabytes and more
		if len(line) > 1 {
			var r request
			if err := json.Unmarshal(line, &r); err != nil {
				logger.Error("not a request", "err", err)
			} else {
				s.route(r)
			}
		}
		if err == nil {
			continue
		}
		for _, queue := range s.queues {
			close(queue)
		}
		s.wg.Wait()
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
}

func (s *shim) route(r request) {
	queue := s.queues[r.Instance]
	switch r.Verb {
	case "hello":
		s.answer(r, object{"name": "trueseal-go", "version": "0.1.0", "language": "go", "protocol": 1, "roles": capabilities}, nil)
	case "start":
		start := starters[r.Role]
		switch {
		case start == nil:
			s.answer(r, nil, unsupported("role "+r.Role))
		case queue != nil:
			s.answer(r, nil, fmt.Errorf("there is an instance %q", r.Instance))
		default:
			emit := func(event string, data object) {
				s.write(object{"event": event, "instance": r.Instance, "data": data})
			}
			inst, result, err := start(r.Args, emit)
			s.answer(r, result, err)
			if err != nil {
				return
			}
			inst.begin()
			queue = make(chan request, 64)
			s.queues[r.Instance] = queue
			s.wg.Go(func() { s.run(inst, queue) })
		}
	case "do":
		if queue != nil {
			queue <- r
			return
		}
		result, err := codec{}.do(r.Op, r.Args) // needs no instance
		if _, no := err.(unsupported); no && knownOps[r.Op] {
			err = fmt.Errorf("no instance %q", r.Instance)
		}
		s.answer(r, result, err)
	case "stop":
		if queue == nil {
			s.answer(r, object{}, nil) // one that never came up
			return
		}
		queue <- r
		close(queue)
		delete(s.queues, r.Instance)
	default:
		s.answer(r, nil, unsupported("verb "+r.Verb))
	}
}

var knownOps = map[string]bool{"push": true, "received": true, "heartbeat": true, "break_store": true}

// run serves one instance until its queue is closed.
func (s *shim) run(inst instance, queue chan request) {
	for r := range queue {
		if r.Verb == "stop" {
			s.answer(r, object{}, inst.stop())
			return
		}
		result, err := inst.do(r.Op, r.Args)
		s.answer(r, result, err)
	}
	if err := inst.stop(); err != nil { // end of input
		logger.Error("stop", "err", err)
	}
}

func (s *shim) answer(r request, result object, err error) {
	reply := object{"id": r.ID}
	var no refused
	var nothing unsupported
	switch {
	case errors.As(err, &no):
		reply["refused"] = err.Error()
	case errors.As(err, &nothing):
		reply["unsupported"] = err.Error()
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
		logger.Error("cannot write", "err", err)
		return
	}
	s.outMu.Lock()
	defer s.outMu.Unlock()
	s.out.Write(append(line, '\n'))
}
