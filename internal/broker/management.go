package broker

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"
)

// management is the client of the management HTTP API.
type management struct {
	peer    peer
	invalid error // of the URL, kept for the first use
	options Options
	http    *http.Transport
	// tagged is true once the user was found to have all tags.
	tagged atomic.Bool
	// last is of the last reading; one may be under way at a time.
	last lastLists
}

func newManagement(config Config, options Options) *management {
	const idleConnections, idleTime = 8, 90 * time.Second
	at, err := parseEndpoint(protocolManagement, config.ManagementURL, "http", "https")
	return &management{
		peer: peer{at, config}, invalid: err, options: options,
		// No proxy: the credentials are for the broker alone.
		http: &http.Transport{
			DialContext:         options.dialer().DialContext,
			TLSHandshakeTimeout: options.DialTimeout,
			TLSClientConfig:     config.TLS.clientConfig(at.host),
			MaxIdleConnsPerHost: idleConnections,
			IdleConnTimeout:     idleTime,
		},
	}
}

func (m *management) close() { m.http.CloseIdleConnections() }

// client is a rabbit-hole client for one task; making one costs nothing, since
// the connections belong to m. What rabbit-hole decodes well it may decode.
func (m *management) client(ctx context.Context, t task) (*rabbithole.Client, error) {
	if m.invalid != nil {
		return nil, m.invalid
	}
	c := m.peer.config
	return rabbithole.NewTLSClient(m.peer.root(), c.Username, c.Password, &trip{management: m, ctx: ctx, task: t})
}

// call makes one request through rabbit-hole.
func (m *management) call(ctx context.Context, t task, request func(*rabbithole.Client) error) error {
	client, err := m.client(ctx, t)
	if err != nil {
		return err
	}
	return m.classified(t, request(client))
}

// send makes one request whose answer holds nothing of use.
func (m *management) send(ctx context.Context, t task, request func(*rabbithole.Client) (*http.Response, error)) error {
	return m.call(ctx, t, func(c *rabbithole.Client) error {
		response, err := request(c)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	})
}

// fetch gets an answer that we decode ourselves, where rabbit-hole would turn
// what is absent into zeros, fail over a field that nobody needs, or decode
// again what has not changed. path is encoded.
func (m *management) fetch(ctx context.Context, t task, path string, query url.Values) (answer, error) {
	if m.invalid != nil {
		return answer{}, m.invalid
	}
	request, err := http.NewRequest(http.MethodGet, m.peer.root()+"/api/"+path+"?"+query.Encode(), nil)
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Accept-Encoding", "gzip")
	request.SetBasicAuth(m.peer.config.Username, m.peer.config.Password)
	response, err := (&trip{management: m, ctx: ctx, task: t}).RoundTrip(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	return response.Body.(*readBody).answer, nil
}

// get decodes what fetch gets.
func (m *management) get(ctx context.Context, t task, path string, query url.Values, into any) error {
	a, err := m.fetch(ctx, t, path, query)
	if err != nil {
		return err
	}
	return m.classified(t, a.decode(into))
}

// classified makes an [Error] of whatever rabbit-hole or the decoder returned.
func (m *management) classified(t task, err error) error {
	var known *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		// Without what net/http puts around it.
		return known
	}
	return t.wrap(&Error{
		Class: NotRabbitMQ, Target: m.peer.address, Err: err,
		Problem: m.peer.String() + " answers with something that is not understood",
		Advice:  "check that the URL is RabbitMQ's management API",
	})
}
