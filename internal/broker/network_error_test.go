package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
)

func TestTLS(t *testing.T) {
	ours, foreign := newAuthority(t, "ours"), newAuthority(t, "foreign")
	plain := func(certificate tls.Certificate) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{certificate}}
	}
	good := plain(ours.issue(t, leaf{name: "rabbit"}))
	mutual := plain(ours.issue(t, leaf{name: "rabbit"}))
	mutual.ClientAuth, mutual.ClientCAs = tls.RequireAndVerifyClientCert, ours.pool()
	trusting := func(ca *authority, client *authority, serverName string) *TLS {
		var roots, certificate, key []byte
		if ca != nil {
			roots = ca.pem
		}
		if client != nil {
			certificate, key = client.issuePEM(t, leaf{name: "warren"})
		}
		config, err := NewTLS(roots, certificate, key, serverName)
		must(t, err)
		return config
	}
	cases := []struct {
		name   string
		reason string
		server *tls.Config
		client *TLS
		want   Class
		words  []string
	}{
		{name: "trusted", reason: "the usual case", server: good, client: trusting(ours, nil, "rabbit")},
		{name: "mutual", reason: "the broker asks who we are", server: mutual, client: trusting(ours, ours, "rabbit")},
		{
			name: "no CA given", reason: "the system does not know a company's own authority", server: good, client: trusting(nil, nil, "rabbit"),
			want: TLSFailed, words: []string{"authority that is not trusted", "as CA"},
		},
		{
			name: "another CA", reason: "the CA was renewed on one side", server: good, client: trusting(foreign, nil, "rabbit"),
			want: TLSFailed, words: []string{"authority that is not trusted"},
		},
		{
			name: "name mismatch", reason: "the URL has an address or another name", server: good, client: trusting(ours, nil, ""),
			want: TLSFailed, words: []string{"127.0.0.1", "set the server name"},
		},
		{
			name: "expired", reason: "says since when", server: plain(ours.issue(t, leaf{name: "rabbit", expired: true})),
			client: trusting(ours, nil, "rabbit"), want: TLSFailed, words: []string{"its certificate is valid from", "renew"},
		},
		{
			name: "no client certificate", reason: "TLS 1.3 tells only after the handshake", server: mutual,
			client: trusting(ours, nil, "rabbit"), want: TLSFailed, words: []string{"refuses our side", "certificate required", "client certificate"},
		},
		{
			name: "client certificate of another authority", reason: "the broker does not trust us", server: mutual,
			client: trusting(ours, foreign, "rabbit"), want: TLSFailed, words: []string{"refuses our side", "client certificate"},
		},
	}
	v := localenv.Broker(t, localenv.Series43).NewVhost(t)
	for _, c := range cases {
		for _, side := range []string{"AMQP", "the management API"} {
			t.Run(c.name+"/"+side, func(t *testing.T) {
				config := configOf(v)
				config.TLS = c.client
				if side == "AMQP" {
					config.AMQPURL = newProxy(t, config.AMQPURL, c.server).url("amqps")
				} else {
					config.ManagementURL = newProxy(t, config.ManagementURL, c.server).url("https")
				}
				s := newSession(t, config, Options{})
				if c.want == "" {
					mustObserve(t, s)
					return
				}
				_, err := s.Observe(t.Context(), ObserveOptions{})
				wantError(t, config, err, c.want, append(c.words, side+" at 127.0.0.1:")...)
			})
		}
	}
}

func TestPlainURLAtTLSPort(t *testing.T) {
	v := localenv.Broker(t, localenv.Series43).NewVhost(t)
	// What RabbitMQ says to whom does not speak TLS: alert 70, protocol version.
	port := alwaysSays(t, "\x15\x03\x03\x00\x02\x02\x46")

	config := configOf(v)
	config.AMQPURL = "amqp://" + port
	_, err := newSession(t, config, Options{}).Observe(t.Context(), ObserveOptions{})
	wantError(t, config, err, TLSFailed, "speaks TLS", "use an amqps:// URL")

	config = configOf(v)
	config.ManagementURL = "http://" + port
	_, err = newSession(t, config, Options{}).Observe(t.Context(), ObserveOptions{})
	wantError(t, config, err, TLSFailed, "speaks TLS", "use an https:// URL")
}

// strangers answer in place of the management API.
func TestStrangeManagementServers(t *testing.T) {
	var elsewhere atomic.Int32
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer target.Close()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	cases := []struct {
		name    string
		reason  string
		handler http.HandlerFunc
		want    Class
		words   []string
	}{
		{
			name: "redirect", reason: "the password must not go elsewhere",
			handler: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, target.URL, http.StatusTemporaryRedirect)
			},
			want: NotRabbitMQ, words: []string{"redirect (307)", "not followed"},
		},
		{name: "a web page", reason: "another server listens there", handler: answer(200, "<html>hello"), want: NotRabbitMQ, words: []string{"check that the URL"}},
		{name: "its page for what is missing", reason: "another server listens there", handler: answer(404, "<html>no"), want: NotRabbitMQ, words: []string{"answers 404"}},
		{name: "other JSON", reason: "another API listens there", handler: answer(200, `[1]`), want: NotRabbitMQ},
		{name: "a proxy without a broker behind", reason: "it may come back", handler: answer(503, "<html>no upstream"), want: Unreachable, words: []string{"answers 503", "what stands before it"}},
		{name: "an internal error", reason: "it may pass", handler: answer(500, `{"error":"Internal Server Error","reason":"crash"}`), want: Unreachable, words: []string{"answers 500", "crash"}},
		{
			name: "an echo", reason: "what it was sent must not be quoted",
			handler: func(w http.ResponseWriter, r *http.Request) {
				_, password, _ := r.BasicAuth()
				answer(400, `{"error":"bad_request","reason":"`+r.Header.Get("Authorization")+" "+password+`"}`)(w, r)
			},
			want: Refused,
		},
	}
	v := localenv.Broker(t, localenv.Series43).NewVhost(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			config := configOf(v)
			config.ManagementURL = server.URL
			_, err := newSession(t, config, Options{}).Observe(t.Context(), ObserveOptions{})
			wantError(t, config, err, c.want, c.words...)
		})
	}
	if elsewhere.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

func TestSilentServers(t *testing.T) {
	v := localenv.Broker(t, localenv.Series43).NewVhost(t)
	cases := []struct {
		name   string
		reason string
		change func(*Config)
		words  string
	}{
		{name: "AMQP", reason: "accepts, and never answers", change: func(c *Config) { c.AMQPURL = "amqp://" + mute(t) }, words: "AMQP at"},
		{name: "amqps", reason: "never ends the TLS handshake", change: func(c *Config) { c.AMQPURL = "amqps://" + mute(t) }, words: "AMQP at"},
		{name: "management", reason: "accepts, and never answers", change: func(c *Config) { c.ManagementURL = "http://" + mute(t) }, words: "the management API at"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			config := configOf(v)
			c.change(&config)
			s := newSession(t, config, Options{DialTimeout: time.Second, RequestTimeout: time.Second})
			start := time.Now()
			_, err := s.Observe(t.Context(), ObserveOptions{})
			wantError(t, config, err, Timeout, c.words, "did not answer in time")
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

// A broker that falls silent in the middle must cost no more than the
// time-out, leave no goroutine behind, and be used again when it is back.
func TestBrokerFallsSilent(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		config := configOf(b.NewVhost(t))
		network := newProxy(t, config.AMQPURL, nil)
		config.AMQPURL = network.url("amqp")
		s := newSession(t, config, Options{DialTimeout: time.Second, RequestTimeout: time.Second})
		mustDeclare(t, s, quorum("q", nil))
		before := runtime.NumGoroutine()

		network.freeze()
		start := time.Now()
		err := s.Declare(t.Context(), []topology.Object{quorum("q", nil)})
		wantError(t, config, err, Timeout, `declare queue "q"`, "did not answer in time")
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("took %s", took)
		}
		if s.liveLink() != nil {
			t.Error("the connection is still in use")
		}
		network.cut()
		network.thaw()
		mustDeclare(t, s, quorum("q", nil))
		eventually(t, waitForBroker, func() string {
			if now := runtime.NumGoroutine(); now > before {
				return "goroutines are left behind"
			}
			return ""
		})
	})
}

func TestCallerGivesUp(t *testing.T) {
	config := Config{AMQPURL: "amqp://" + mute(t), ManagementURL: "http://127.0.0.1:1", Username: "u", Password: "p4ssw0rd"}
	s := newSession(t, config, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := s.Declare(ctx, nil)
	wantError(t, config, err, Timeout)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	err = s.Declare(cancelled, nil)
	wantError(t, config, err, Timeout, "cancelled")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not wrap the cause", err)
	}
}
