// Command shim offers codec and node to a test harness: JSON Lines on stdin and
// stdout, four verbs.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
)

type object map[string]any

type request struct {
	ID       int64           `json:"id"`
	Verb     string          `json:"verb"`
	Instance string          `json:"instance"`
	Role     string          `json:"role"`
	Op       string          `json:"op"`
	Args     json.RawMessage `json:"args"`
}

// instance is what start makes.
type instance interface {
	// begin is called once start is answered.
	begin()
	do(op string, args json.RawMessage) (object, error)
	stop()
}

type (
	refused     string
	unsupported string
)

func (r refused) Error() string     { return string(r) }
func (u unsupported) Error() string { return string(u) }

// refuse makes a refusal of an error of the implementation.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return refused(err.Error())
}

var roles = map[string][]string{
	"bccn/codec": {"algo:crc32", "envelope", "match"},
	"bccn/node": {
		"call_key", "clock", "close", "conventions", "duplicate_send", "fd", "heartbeat", "heartbeat_expiry",
		"identity", "patterns", "reasons", "recv", "sanity",
	},
}

var output sync.Mutex

func write(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		log.Fatal(err)
	}
	output.Lock()
	defer output.Unlock()
	if _, err := os.Stdout.Write(append(text, '\n')); err != nil {
		os.Exit(0) // nobody listens any more
	}
}

func answer(id int64, result object, err error) {
	line := object{"id": id}
	var no refused
	var none unsupported
	switch {
	case errors.As(err, &no):
		line["refused"] = string(no)
	case errors.As(err, &none):
		line["unsupported"] = string(none)
	case err != nil:
		line["failed"] = err.Error()
	default:
		line["result"] = result
	}
	write(line)
}

func parse(args json.RawMessage, into any) error {
	if len(args) == 0 {
		return nil
	}
	return json.Unmarshal(args, into)
}

func start(r request) (instance, error) {
	switch r.Role {
	case "bccn/codec":
		return codec{}, nil
	case "bccn/node":
		return startNode(r.Args, func(event string, data object) {
			write(object{"event": event, "instance": r.Instance, "data": data})
		})
	}
	return nil, unsupported("role " + r.Role)
}

func main() {
	log.SetFlags(0)
	instances := map[string]instance{}
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			if err != io.EOF {
				log.Print(err)
			}
			return
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			log.Printf("not understood: %v", err)
			continue
		}
		switch r.Verb {
		case "hello":
			answer(r.ID, object{
				"name": "bccn-go", "version": "0.1.0", "language": "go", "protocol": 1, "roles": roles,
			}, nil)
		case "start":
			if instances[r.Instance] != nil {
				answer(r.ID, nil, fmt.Errorf("instance %s runs", r.Instance))
				break
			}
			i, err := start(r)
			answer(r.ID, object{}, err)
			if err == nil {
				instances[r.Instance] = i
				i.begin()
			}
		case "do":
			i := instances[r.Instance]
			if i == nil {
				answer(r.ID, nil, fmt.Errorf("no instance %s", r.Instance))
				break
			}
			result, err := i.do(r.Op, r.Args)
			answer(r.ID, result, err)
		case "stop":
			if i := instances[r.Instance]; i != nil {
				i.stop()
				delete(instances, r.Instance)
			}
			answer(r.ID, object{}, nil)
		default:
			answer(r.ID, nil, unsupported("verb "+r.Verb))
		}
	}
}
