package wire

// A field of a header. Each knows its member name (empty for a literal), reads its words into a
// message, and writes them from one.
type field interface {
	name() string
	// parse takes the words that are left and the payload, and returns the words it leaves.
	parse(m *Message, words []string, payload []byte) ([]string, *Error)
	format(m *Message) ([]string, *Error)
}

var grammar = [...]map[string][]field{
	ToServer: {
		"HELLO":      {version},
		"JOIN":       {peerKey},
		"AUTH":       {publicKey, signature},
		"LEAVE":      {},
		"GETSERVERS": {cid, limit},
		"FIND":       {cid, limit},
		"LOOKUP":     {cid, peerKey},
		"SIGNAL":     {routeID, kind, payload},
	},
	ToClient: {
		"HELLO":       {version, serverID},
		"CHAL":        {nonce},
		"OK":          {what("JOIN", "LEAVE")},
		"TRY":         {cidOrDash, uris},
		"PEERS":       {cid, peerKeys},
		"FOUND":       {cid, peerKey, routeID},
		"SIGNAL-FROM": {routeID, peerKey, kind, payload},
		"ERR":         {reference, code},
	},
	Sister: {
		"@HELLO":   {version, serverID, uri},
		"@CHAL":    {nonce},
		"@AUTH":    {publicKey, signature},
		"@OK":      {what("AUTH")},
		"@ERR":     {reference, code},
		"@LIST":    {fcid, limit},
		"@SERVERS": {fcid, servers},
		"@FIND":    {fcid, serverID, peerKey, limit, ttl},
		"@PEERS":   {fcid, serverID, peerKeys},
		"@LOOKUP":  {routeID, serverID, source, target, ttl},
		"@FOUND":   {routeID, peerKey},
		"@SIGNAL":  {routeID, peerKey, kind, payload},
	},
}

var (
	version   = literal(protocolVersion)
	peerKey   = word{member: "peer_key", at: func(m *Message) *string { return &m.PeerKey }, valid: ValidPeerKey}
	source    = word{member: "source", at: func(m *Message) *string { return &m.Source }, valid: ValidPeerKey}
	target    = word{member: "target", at: func(m *Message) *string { return &m.Target }, valid: ValidPeerKey}
	serverID  = word{member: "server_id", at: func(m *Message) *string { return &m.ServerID }, valid: ValidID}
	routeID   = word{member: "route_id", at: func(m *Message) *string { return &m.RouteID }, valid: ValidID}
	nonce     = word{member: "nonce", at: func(m *Message) *string { return &m.Nonce }, valid: ValidID}
	cid       = word{member: "cid", at: func(m *Message) *string { return &m.CID }, valid: ValidCID}
	cidOrDash = word{member: "cid", at: func(m *Message) *string { return &m.CID }, valid: validReference}
	fcid      = word{member: "fcid", at: func(m *Message) *string { return &m.FCID }, valid: ValidCID}
	reference = word{member: "id", at: func(m *Message) *string { return &m.ID }, valid: validReference}
	code      = word{member: "code", at: func(m *Message) *string { return &m.Code }, valid: validCode}
	kind      = word{member: "kind", at: func(m *Message) *string { return &m.Kind }, valid: ValidKind}
	uri       = word{member: "uri", at: func(m *Message) *string { return &m.URI }, valid: ValidURI}
	// 17 and 29 count the form of key and signature among what is verified: the failure is one of authentication.
	publicKey = word{member: "public_key", at: func(m *Message) *string { return &m.PublicKey }, valid: ValidPublicKey, failure: AuthFailed}
	signature = word{member: "signature", at: func(m *Message) *string { return &m.Signature }, valid: ValidSignature, failure: AuthFailed}
	limit     = number{member: "limit", at: func(m *Message) *int { return &m.Limit }, low: 1, high: MaxCount}
	ttl       = number{member: "ttl", at: func(m *Message) *int { return &m.TTL }, low: 0, high: MaxTTL}
	uris      = uriList{}
	peerKeys  = keyList{}
	servers   = recordList{}
	payload   = body{}
)

func what(words ...string) field {
	return word{member: "what", at: func(m *Message) *string { return &m.What }, valid: func(s string) bool {
		for _, w := range words {
			if s == w {
				return true
			}
		}
		return false
	}}
}

// Members lists the members of a command, in the order of its header; ok is false for a word
// that is no command in that direction.
func Members(direction Direction, command string) (members []string, ok bool) {
	fields, ok := grammar[direction][command]
	for _, f := range fields {
		if f.name() != "" {
			members = append(members, f.name())
		}
	}
	return members, ok
}

func bad(reason string) *Error { return &Error{Code: BadRequest, ID: noID, Reason: reason} }

type literal string

func (l literal) name() string { return "" }

func (l literal) parse(_ *Message, words []string, _ []byte) ([]string, *Error) {
	if len(words) == 0 || words[0] != string(l) {
		return nil, bad("expected " + string(l))
	}
	return words[1:], nil
}

func (l literal) format(*Message) ([]string, *Error) { return []string{string(l)}, nil }

type word struct {
	member  string
	at      func(*Message) *string
	valid   func(string) bool
	failure string // the code for an invalid one, if not BAD_REQUEST
}

func (w word) name() string { return w.member }

func (w word) check(s string) *Error {
	if w.valid(s) {
		return nil
	}
	e := bad("invalid " + w.member)
	if w.failure != "" {
		e.Code = w.failure
	}
	return e
}

func (w word) parse(m *Message, words []string, _ []byte) ([]string, *Error) {
	if len(words) == 0 {
		return nil, bad("no " + w.member)
	}
	*w.at(m) = words[0]
	return words[1:], w.check(words[0])
}

func (w word) format(m *Message) ([]string, *Error) {
	s := *w.at(m)
	return []string{s}, w.check(s)
}

type number struct {
	member    string
	at        func(*Message) *int
	low, high int
}

func (n number) name() string { return n.member }

func (n number) parse(m *Message, words []string, _ []byte) ([]string, *Error) {
	if len(words) == 0 {
		return nil, bad("no " + n.member)
	}
	value, ok := parseDecimal(words[0], n.high)
	if !ok || value < n.low || value > n.high {
		return nil, bad("invalid " + n.member)
	}
	*n.at(m) = value
	return words[1:], nil
}

func (n number) format(m *Message) ([]string, *Error) {
	value := *n.at(m)
	if value < n.low || value > n.high {
		return nil, bad("invalid " + n.member)
	}
	return []string{itoa(value)}, nil
}

// counted reads the count of a list and the words that it announces, width of them per item.
func counted(words []string, width int) ([]string, *Error) {
	if len(words) == 0 {
		return nil, bad("no count")
	}
	count, ok := parseDecimal(words[0], MaxCount)
	if !ok || count > MaxCount {
		return nil, bad("invalid count")
	}
	if len(words)-1 != count*width {
		return nil, bad("the count is not that of the items")
	}
	return words[1:], nil
}

func formatCounted[T any](items []T, words func(T) ([]string, bool)) ([]string, *Error) {
	if len(items) > MaxCount {
		return nil, bad("too many items")
	}
	out := []string{itoa(len(items))}
	for _, item := range items {
		w, ok := words(item)
		if !ok {
			return nil, bad("invalid item")
		}
		out = append(out, w...)
	}
	return out, nil
}

// uriList is that of TRY: a client ignores a URI that is not canonical and keeps the others (8).
type uriList struct{}

func (uriList) name() string { return "uris" }

func (uriList) parse(m *Message, words []string, _ []byte) ([]string, *Error) {
	items, err := counted(words, 1)
	for _, item := range items {
		if ValidURI(item) {
			m.URIs = append(m.URIs, item)
		}
	}
	return nil, err
}

func (uriList) format(m *Message) ([]string, *Error) {
	return formatCounted(m.URIs, func(s string) ([]string, bool) { return []string{s}, ValidURI(s) })
}

type keyList struct{}

func (keyList) name() string { return "peer_keys" }

func (keyList) parse(m *Message, words []string, _ []byte) ([]string, *Error) {
	items, err := counted(words, 1)
	for _, item := range items {
		if !ValidPeerKey(item) {
			return nil, bad("invalid peer key")
		}
	}
	m.PeerKeys = items
	return nil, err
}

func (keyList) format(m *Message) ([]string, *Error) {
	return formatCounted(m.PeerKeys, func(s string) ([]string, bool) { return []string{s}, ValidPeerKey(s) })
}

// recordList is that of @SERVERS: one URI that is not canonical spoils the message (8).
type recordList struct{}

func (recordList) name() string { return "servers" }

func (recordList) parse(m *Message, words []string, _ []byte) ([]string, *Error) {
	items, err := counted(words, 2)
	for ; len(items) > 0; items = items[2:] {
		if !ValidID(items[0]) || !ValidURI(items[1]) {
			return nil, bad("invalid server")
		}
		m.Servers = append(m.Servers, Record{items[0], items[1]})
	}
	return nil, err
}

func (recordList) format(m *Message) ([]string, *Error) {
	return formatCounted(m.Servers, func(r Record) ([]string, bool) {
		return []string{r.ID, r.URI}, ValidID(r.ID) && ValidURI(r.URI)
	})
}

// body is the length that ends a header, and the payload after it.
type body struct{}

func (body) name() string { return "payload" }

func (body) parse(m *Message, words []string, payload []byte) ([]string, *Error) {
	if len(words) == 0 {
		return nil, bad("no payload length")
	}
	length, ok := parseDecimal(words[0], MaxPayload)
	switch {
	case !ok:
		return nil, bad("invalid payload length")
	case length > MaxPayload: // what is declared counts, whatever came (38)
		return nil, &Error{Code: PayloadTooLarge, ID: noID, Reason: "payload too large"}
	case len(words) == 1 && length != len(payload):
		return nil, bad("the payload has another length")
	}
	m.Payload = payload
	return words[1:], nil
}

func (body) format(m *Message) ([]string, *Error) {
	if len(m.Payload) > MaxPayload {
		return nil, &Error{Code: PayloadTooLarge, ID: noID, Reason: "payload too large"}
	}
	return []string{itoa(len(m.Payload))}, nil
}
