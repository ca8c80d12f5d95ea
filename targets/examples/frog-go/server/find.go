package server

import (
	"slices"
	"strings"

	"frog/wire"
)

// draw takes a random sample of the peers of a network, one of them left out (22, 35).
func (s *Server) draw(but string, limit int) []string {
	peers, place := s.networks[wire.Network(but)], -1
	if c := s.peers[but]; c != nil {
		place = c.place
	}
	n := len(peers)
	if place >= 0 {
		n--
	}
	var keys []string
	for _, i := range sample(n, limit) {
		if place >= 0 && i >= place { // the one who asks is not in the draw
			i++
		}
		keys = append(keys, peers[i].peerKey)
	}
	return keys
}

// find answers FIND with peers of this server, and if they are too few, with those of others.
func (c *conn) find(cid string, limit int) {
	s := c.server
	keys := s.draw(c.peerKey, limit)
	var to []*sister
	if len(keys) < limit {
		to = s.choose(s.config.Sister.FindFanout, "", s.id)
	}
	if len(to) == 0 || over(s.waiting, s.config.Limits.Lookups) {
		c.tellPeers(cid, keys)
		return
	}
	f := &flood{conn: c, cid: cid, limit: limit, keys: keys, request: &wire.Message{Command: "@FIND", FCID: newFCID(), ServerID: s.id,
		PeerKey: c.peerKey, Limit: limit - len(keys)}}
	s.open(f, s.config.Timers.FindTimeout, func() { c.tellPeers(cid, f.keys) })
	s.forward(f, to, s.config.Sister.FindTTL)
}

// tellPeers answers in the order of the keys, which tells nothing about who came when, or whence.
func (c *conn) tellPeers(cid string, keys []string) {
	slices.Sort(keys)
	slices.Reverse(keys)
	c.reply(&wire.Message{Command: "PEERS", CID: cid, PeerKeys: keys})
}

// find handles @FIND (35): it goes on first, and is answered then.
func (k *sister) find(m *wire.Message) {
	s := k.server
	if k.flooded(m) {
		return
	}
	f := &flood{request: m, from: k.remote.ID, heard: map[string]struct{}{}}
	s.open(f, s.config.Timers.FindTimeout, nil)
	if m.TTL > 0 {
		s.forward(f, s.choose(s.config.Sister.FindFanout, f.from, m.ServerID), m.TTL-1)
	}
	k.offer(k.encode(&wire.Message{Command: "@PEERS", FCID: m.FCID, ServerID: m.ServerID, PeerKeys: s.draw(m.PeerKey, m.Limit)}))
}

// hearPeers takes @PEERS: on to where @FIND came from, or into the answer to the client.
func (k *sister) hearPeers(m *wire.Message, raw []byte) {
	s := k.server
	f := s.floods[floodKey(m)]
	if f == nil || !f.pending {
		return // late, which is nobody's fault
	}
	if _, ok := f.asked[k.remote.ID]; !ok {
		k.fail(m.FCID, wire.BadState)
		return
	}
	network := wire.Network(f.request.PeerKey)
	foreign := func(key string) bool { return wire.Network(key) != network }
	if len(m.PeerKeys) > f.request.Limit || slices.ContainsFunc(m.PeerKeys, foreign) {
		k.fail(m.FCID, wire.BadRequest)
		return
	}
	if f.conn == nil {
		k.relayPeers(f, m, raw)
		return
	}
	for _, key := range m.PeerKeys {
		if len(f.keys) < f.limit && key != f.request.PeerKey && !slices.Contains(f.keys, key) {
			f.keys = append(f.keys, key)
		}
	}
	if len(f.keys) == f.limit {
		s.settle(f)
		f.conn.tellPeers(f.cid, f.keys)
	}
}

// relayPeers sends an answer towards the origin, once: it may come twice over two connections (31).
func (k *sister) relayPeers(f *flood, m *wire.Message, raw []byte) {
	answer := k.remote.ID + " " + strings.Join(m.PeerKeys, " ")
	if _, again := f.heard[answer]; again || len(f.heard) >= maxHeard {
		return
	}
	f.heard[answer] = struct{}{}
	if back := k.server.sisterTo(f.from); back != nil {
		back.offer(raw)
	}
}
