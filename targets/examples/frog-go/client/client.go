// Package client is a FROG/1 client: it stays registered with one server of its list and finds,
// looks up and signals peers through it.
package client

import (
	"context"
	"crypto/ed25519"
	"errors"
	"sync"
	"time"

	"frog/clock"
	"frog/internal/link"
	"frog/wire"
)

// Config of a client. Bootstrap, Network and Key are required.
type Config struct {
	Bootstrap []string           // canonical URIs; repetitions do not matter
	Cache     []string           // what Learned returned in an earlier life
	Network   string             // the application's namespace
	Key       ed25519.PrivateKey // persistent or ephemeral (10)
	Backoff   time.Duration      // the first wait between two dials; zero is a second
	Clock     clock.Clock        // nil: the machine's
	Handler   Handler
}

// Handler receives what happens. The functions are called one after the other and must not
// block; each may be nil.
type Handler struct {
	// Status tells of a registration, with the URI of the server, and of its end.
	Status func(registered bool, uri string)
	Signal func(Signal)
	// Error gets an error of the server that answers no request, such as one for a route.
	Error func(id, code string)
}

// Signal is a signaling message from another peer.
type Signal struct {
	RouteID string
	Source  string // its peer key, as the server says: authenticate the data channel (45)
	Kind    string
	Payload []byte
}

// ServerError is an answer ERR.
type ServerError struct{ Code string }

func (e *ServerError) Error() string { return e.Code }

// Errors of requests that no server answered.
var (
	ErrNotRegistered = errors.New("not registered")
	ErrConnection    = errors.New("the connection was lost")
	ErrTimeout       = errors.New("no answer")
	ErrLeft          = errors.New("the client has left")
)

const (
	// handshakeTimeout and leaveTimeout are of the machine's clock: they guard the transport.
	handshakeTimeout = 10 * time.Second
	leaveTimeout     = 3 * time.Second
	// requestTimeout is of the client's clock, well above the lookup timeout of a server.
	requestTimeout = 10 * time.Second
	maxQueueBytes  = 16 << 20
)

// Client is a peer in one network.
type Client struct {
	config  Config
	peerKey string
	stop    context.CancelFunc
	ended   chan struct{}

	mu      sync.Mutex
	pool    *pool
	left    bool
	session *session // the current connection, from its HELLO on
}

// Start begins to connect and returns.
func Start(config Config) (*Client, error) {
	switch {
	case len(config.Bootstrap) == 0:
		return nil, errors.New("no bootstrap server")
	case !wire.ValidNetwork(config.Network):
		return nil, errors.New("invalid network " + config.Network)
	case len(config.Key) != ed25519.PrivateKeySize:
		return nil, errors.New("no Ed25519 key")
	}
	for _, uri := range config.Bootstrap {
		if !wire.ValidURI(uri) {
			return nil, errors.New("not canonical: " + uri)
		}
	}
	if config.Backoff <= 0 {
		config.Backoff = time.Second
	}
	if config.Clock == nil {
		config.Clock = clock.System
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &Client{
		config:  config,
		peerKey: config.Network + ":" + wire.Fingerprint(wire.PublicOf(config.Key)),
		pool:    newPool(config.Bootstrap, config.Cache),
		stop:    stop,
		ended:   make(chan struct{}),
	}
	go c.run(ctx)
	return c, nil
}

// PeerKey is the identity of this client.
func (c *Client) PeerKey() string { return c.peerKey }

// Learned lists the servers to cache for the next life.
func (c *Client) Learned() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pool.learned()
}

// Close drops the connection, if any, and ends the client.
func (c *Client) Close() {
	c.stop()
	c.mu.Lock()
	c.left = true
	if c.session != nil {
		c.session.link.Abort()
	}
	c.mu.Unlock()
	<-c.ended
}

// run keeps the client registered (41): dial, stay, and after the end wait a while and dial again.
func (c *Client) run(ctx context.Context) {
	defer close(c.ended)
	failures := 0
	for ctx.Err() == nil {
		c.mu.Lock()
		uri := c.pool.next()
		c.mu.Unlock()
		steady, ended := c.connect(ctx, uri)
		failures++
		if steady {
			failures = 1
		}
		c.sleepUntil(ctx, ended.Add(backoff(c.config.Backoff, failures)))
	}
}

func (c *Client) sleepUntil(ctx context.Context, when time.Time) {
	due := make(chan struct{})
	defer c.config.Clock.AfterFunc(when.Sub(c.config.Clock.Now()), func() { close(due) }).Stop()
	select {
	case <-due:
	case <-ctx.Done():
	}
}

// connect is one connection from dial to end. It returns whether the client was registered for
// long enough to be content with the server, and when that ended.
func (c *Client) connect(ctx context.Context, uri string) (steady bool, ended time.Time) {
	ws, err := link.Dial(ctx, uri, handshakeTimeout)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.pool.failed(uri)
		return false, c.config.Clock.Now()
	}
	s := newSession(c, uri, link.New(ws))
	if c.left {
		s.link.Abort()
		return false, c.config.Clock.Now()
	}
	c.session = s
	c.mu.Unlock()
	s.run()
	c.mu.Lock()
	steady = !s.since.IsZero() && s.ended.Sub(s.since) >= steadyFor*c.config.Backoff
	if !steady || s.redirected {
		c.pool.failed(uri)
	}
	return steady, s.ended
}

// Find asks for up to limit random peers of the network; they are hints, to be looked up (22).
func (c *Client) Find(ctx context.Context, limit int) ([]string, error) {
	answer, err := c.request(ctx, &wire.Message{Command: "FIND", Limit: limit})
	if err != nil {
		return nil, err
	}
	return answer.PeerKeys, nil
}

// Lookup finds a peer and returns the id of a route to it.
func (c *Client) Lookup(ctx context.Context, peerKey string) (routeID string, err error) {
	switch {
	case !wire.ValidPeerKey(peerKey):
		return "", errors.New("invalid peer key")
	case peerKey == c.peerKey:
		return "", errors.New("a client does not look itself up")
	case wire.Network(peerKey) != c.config.Network:
		return "", errors.New("a peer of another network")
	}
	answer, err := c.request(ctx, &wire.Message{Command: "LOOKUP", PeerKey: peerKey})
	if err != nil {
		return "", err
	}
	return answer.RouteID, nil
}

// GetServers asks for other servers. The client learns them by itself, too.
func (c *Client) GetServers(ctx context.Context, limit int) ([]string, error) {
	answer, err := c.request(ctx, &wire.Message{Command: "GETSERVERS", Limit: limit})
	if err != nil {
		return nil, err
	}
	return answer.URIs, nil
}

// Signal sends along a route that Lookup found or that a signal came by. It returns once the
// message is queued; nothing tells of its delivery.
func (c *Client) Signal(routeID, kind string, payload []byte) error {
	raw, err := wire.Encode(&wire.Message{Command: "SIGNAL", RouteID: routeID, Kind: kind, Payload: payload})
	if err != nil {
		return err
	}
	s, err := c.registered()
	if err != nil {
		return err
	}
	if !s.knows(routeID) {
		return errors.New("unknown route " + routeID)
	}
	if !s.link.Offer(raw, 0, maxQueueBytes) {
		return errors.New("too much is waiting to be sent")
	}
	return nil
}

// Leave unregisters and ends the client: it does not come back.
func (c *Client) Leave(ctx context.Context) error {
	c.mu.Lock()
	if c.left {
		c.mu.Unlock()
		return ErrLeft
	}
	c.left = true
	s := c.session
	c.mu.Unlock()
	c.stop()
	if s != nil {
		s.leave()
		// Should the answer stay away, the connection does not.
		defer time.AfterFunc(leaveTimeout, s.link.Abort).Stop()
	}
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) registered() (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.left:
		return nil, ErrLeft
	case c.session == nil || c.session.since.IsZero():
		return nil, ErrNotRegistered
	}
	return c.session, nil
}

func (c *Client) request(ctx context.Context, m *wire.Message) (*wire.Message, error) {
	s, err := c.registered()
	if err != nil {
		return nil, err
	}
	r, err := s.ask(m)
	if err != nil {
		return nil, err
	}
	defer s.take(r.sent.CID)
	defer c.config.Clock.AfterFunc(requestTimeout, func() { r.finish(nil, ErrTimeout) }).Stop()
	select {
	case <-r.done:
		return r.answer, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
