package server

import "frog/wire"

// askServers asks a sister for further servers, now and from time to time (33).
func (k *sister) askServers() {
	s := k.server
	k.list = newFCID()
	k.reply(&wire.Message{Command: "@LIST", FCID: k.list, Limit: listLimit})
	k.gossip = s.after(gossipEvery, func() {
		if k.live {
			k.askServers()
		}
	})
}

// newFCID has 130 random bits (7.10) and is never a route id, so that an error refers to one of both.
func newFCID() string { return "F_" + wire.RandomID() }

// tellServers answers @LIST with verified servers, from the latest to the earliest and round: who
// asks again hears of the next ones.
func (k *sister) tellServers(m *wire.Message) {
	s := k.server
	if !k.within(&s.remotes[k.remote.ID].lists, s.config.Rates.Lists, m.FCID) {
		return
	}
	reply := &wire.Message{Command: "@SERVERS", FCID: m.FCID}
	for range s.verified {
		s.turn = (s.turn + 1) % len(s.verified)
		r := s.verified[len(s.verified)-1-s.turn]
		if r.ID != s.id && r.URI != s.config.URI && r.ID != k.remote.ID {
			reply.Servers = append(reply.Servers, r)
		}
		if len(reply.Servers) == m.Limit {
			break
		}
	}
	k.reply(reply)
}

// hearServers takes candidates. None of them counts as verified before it was dialled (30).
func (k *sister) hearServers(m *wire.Message) {
	switch {
	case k.list == "" || m.FCID != k.list:
		k.fail(m.FCID, wire.BadState)
	case len(m.Servers) > listLimit:
		k.list = ""
		k.fail(m.FCID, wire.BadRequest)
	default:
		k.list = ""
		for _, r := range m.Servers {
			k.server.consider(r)
		}
	}
}
