package link

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"frog/wire"
)

// dialer follows no redirect: the URI that is signed is the one that was dialled (12).
var dialer = &http.Client{
	Transport:     selective{transport()},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// selective hangs up at once on a server that did not select the subprotocol (4).
type selective struct{ http.RoundTripper }

// transport dials anew each time.
func transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableKeepAlives = true
	return t
}

func (s selective) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusSwitchingProtocols && response.Header.Get("Sec-WebSocket-Protocol") != wire.Subprotocol {
		response.Body.Close()
		return nil, errors.New("the server did not select " + wire.Subprotocol)
	}
	return response, err
}

// Dial opens a WebSocket to exactly this URI.
func Dial(ctx context.Context, uri string, timeout time.Duration) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, uri, &websocket.DialOptions{HTTPClient: dialer, Subprotocols: []string{wire.Subprotocol}})
	return ws, err
}
