package main

import (
	"encoding/json"
	"net/netip"
	"syscall"

	"bccn/node"
)

type endpoint struct {
	node   *node.Node
	manual bool
	emit   func(string, object)
}

func startNode(args json.RawMessage, emit func(string, object)) (instance, error) {
	var a struct {
		Broadcast         string   `json:"broadcast"`
		Port              uint16   `json:"port"`
		Key               hexBytes `json:"key"`
		Name              latin1   `json:"name"`
		Sanity            *uint64  `json:"sanity"`
		TTL               float64  `json:"ttl"`
		HeartbeatInterval float64  `json:"heartbeat_interval"`
		HeartbeatsMissed  int      `json:"heartbeats_missed"`
		DuplicateSend     bool     `json:"duplicate_send"`
		Manual            bool     `json:"manual"`
	}
	if err := parse(args, &a); err != nil {
		return nil, err
	}
	address, err := netip.ParseAddr(a.Broadcast)
	if err != nil {
		return nil, refuse(err)
	}
	e := &endpoint{manual: a.Manual, emit: emit}
	conf := node.Config{
		Broadcast:         netip.AddrPortFrom(address, a.Port),
		Key:               a.Key,
		Name:              string(a.Name),
		Sanity:            a.Sanity,
		TTL:               seconds(a.TTL),
		HeartbeatInterval: seconds(a.HeartbeatInterval),
		HeartbeatsMissed:  a.HeartbeatsMissed,
		DuplicateSend:     a.DuplicateSend,
		OnDrop:            func(reason node.Reason) { emit("dropped", object{"reason": reason}) },
	}
	if !a.Manual {
		conf.OnMessage = func(m node.Message) { emit("delivered", received(m)) }
	}
	e.node, err = node.Open(conf)
	return e, refuse(err)
}

func received(m node.Message) object {
	data := message(m.Message)
	data["peer"] = []any{m.Peer.Addr().Unmap().String(), m.Peer.Port()}
	data["authenticated"] = m.Authenticated
	return data
}

func (e *endpoint) begin() {
	if !e.manual {
		go e.node.Run()
	}
}

func (e *endpoint) stop() { e.node.Close() }

func (e *endpoint) do(op string, args json.RawMessage) (object, error) {
	var a struct {
		Src      *latin1  `json:"src"`
		Chan     latin1   `json:"chan"`
		Payload  hexBytes `json:"payload"`
		Key      hexBytes `json:"key"`
		Name     latin1   `json:"name"`
		Seq      decimal  `json:"seq"`
		Pattern  latin1   `json:"pattern"`
		Target   latin1   `json:"target"`
		Topic    latin1   `json:"topic"`
		Interval float64  `json:"interval"`
		Seconds  float64  `json:"seconds"`
	}
	if err := parse(args, &a); err != nil {
		return nil, err
	}
	done := object{}
	switch op {
	case "send":
		src := e.node.Name()
		if a.Src != nil {
			src = string(*a.Src)
		}
		return done, refuse(e.node.SendAs(src, string(a.Chan), a.Payload, a.Key))
	case "set_name":
		return done, refuse(e.node.SetName(string(a.Name)))
	case "get_name":
		return object{"name": latin1(e.node.Name())}, nil
	case "set_seq":
		e.node.SetSeq(uint64(a.Seq))
		return done, nil
	case "get_seq":
		return object{"seq": decimal(e.node.Seq())}, nil
	case "recv":
		if !e.manual {
			return nil, refused("this node reads by itself")
		}
		m, err := e.node.Recv()
		if m == nil {
			return object{"message": nil}, refuse(err)
		}
		return object{"message": received(*m)}, nil
	case "readable":
		return e.readable()
	case "close":
		return done, refuse(e.node.Close())
	case "listen":
		pattern := a.Pattern
		e.node.Listen(string(pattern), func(m node.Message) {
			data := message(m.Message)
			data["pattern"] = pattern
			e.emit("called", data)
		})
		return done, nil
	case "dispatch":
		if !e.manual {
			return nil, refused("this node reads by itself")
		}
		return done, refuse(e.node.Dispatch())
	case "send_all":
		return done, refuse(e.node.SendAll(a.Payload))
	case "send_to":
		return done, refuse(e.node.SendTo(string(a.Target), a.Payload))
	case "send_topic":
		return done, refuse(e.node.SendTopic(string(a.Topic), a.Payload))
	case "heartbeat":
		return done, refuse(e.node.Heartbeat(seconds(a.Interval)))
	case "advance_clock":
		e.node.Advance(seconds(a.Seconds))
		return done, nil
	case "own_name":
		return object{"name": latin1(node.OwnName())}, nil
	}
	return nil, unsupported("operation " + op)
}

// readable asks select.
func (e *endpoint) readable() (object, error) {
	raw, err := e.node.SyscallConn()
	if err != nil {
		return nil, refuse(err)
	}
	var ready int
	var failed error
	err = raw.Control(func(fd uintptr) {
		var set syscall.FdSet
		if int(fd) >= 64*len(set.Bits) {
			failed = syscall.EINVAL
			return
		}
		set.Bits[fd/64] |= 1 << (fd % 64)
		ready, failed = syscall.Select(int(fd)+1, &set, nil, nil, &syscall.Timeval{})
	})
	if err == nil {
		err = failed
	}
	return object{"readable": ready > 0}, refuse(err)
}
