// A Touchstone shim for @ROLE@ in Go: JSON Lines on stdin and stdout, four verbs.
// stdout is the protocol: log to stderr. Fill in start, do and stop; OPERATIONS.md says what is asked.
// One shim may serve several roles: name them all in hello.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"sync"
)

const role = "@ROLE@"

// Return these for the answers that are no result; any other error means that you tried and could not.
type refused struct{ error }     // your implementation rejected the input: often just what a case wants
type unsupported struct{ error } // you do not offer this

type object = map[string]any

type request struct {
	ID       int             `json:"id"`
	Verb     string          `json:"verb"`
	Instance string          `json:"instance"`
	Role     string          `json:"role"`
	Op       string          `json:"op"`
	Args     json.RawMessage `json:"args"`
}

// Start an instance of the role; the harness gives it its name. A server answers {"address": "ws://127.0.0.1:1234"}.
func start(instance, wanted string, config json.RawMessage) (object, error) {
	if wanted != role {
		return nil, unsupported{errors.New("role " + wanted)}
	}
	return object{}, nil
}

// One operation on an instance.
func do(instance, op string, args json.RawMessage) (object, error) {
	return nil, unsupported{errors.New("operation " + op)}
}

func stop(instance string) {}

// Tell the harness that something happened at an instance.
func emit(instance, event string, data object) {
	say(object{"event": event, "instance": instance, "data": data})
}

func perform(r request) (object, error) {
	switch r.Verb {
	case "hello":
		return object{"name": "@NAME@", "version": "0.1.0", "language": "go", "protocol": 1, "roles": object{role: []string{}}}, nil
	case "start":
		return start(r.Instance, r.Role, r.Args)
	case "do":
		return do(r.Instance, r.Op, r.Args)
	}
	stop(r.Instance)
	return object{}, nil
}

func answer(r request) {
	result, err := perform(r)
	switch err.(type) {
	case nil:
		say(object{"id": r.ID, "result": result})
	case refused:
		say(object{"id": r.ID, "refused": err.Error()})
	case unsupported:
		say(object{"id": r.ID, "unsupported": err.Error()})
	default:
		say(object{"id": r.ID, "failed": err.Error()})
	}
}

var stdout sync.Mutex

func say(message object) {
	line, _ := json.Marshal(message)
	stdout.Lock()
	defer stdout.Unlock()
	os.Stdout.Write(append(line, '\n'))
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24) // a request may be large
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(err)
		}
		go answer(r) // answers may come in any order: an operation that takes its time holds up no other
	}
}
