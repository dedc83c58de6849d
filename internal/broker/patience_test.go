package broker

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/warren-mq/warren/hack/localenv"
)

// slowFor stands before a management API and holds what begins with a path
// back, for a while or until the client gives up.
func slowFor(t testing.TB, managementURL, path string, while time.Duration) string {
	t.Helper()
	target, err := url.Parse(managementURL)
	must(t, err)
	forward := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, path) {
			select {
			case <-time.After(while):
			case <-r.Context().Done():
				return
			}
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A vhost that is full, or a broker that makes thousands of queues, takes its
// time for the long lists; a broker that hangs takes it for everything.
func TestLongListsMayTakeLonger(t *testing.T) {
	const request, list = 2 * time.Second, 30 * time.Second
	v := localenv.Broker(t, localenv.Series43).NewVhost(t)
	cases := []struct {
		path string
		long bool
	}{
		{"/api/queues", true},
		{"/api/exchanges", true},
		{"/api/bindings", true},
		{"/api/nodes", false},
		{"/api/policies", false},
	}
	for _, c := range cases {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			config := configOf(v)
			config.ManagementURL = slowFor(t, config.ManagementURL, c.path, request+request/2)
			s := newSession(t, config, Options{RequestTimeout: request, ListTimeout: list})
			if c.long {
				mustObserve(t, s)
				return
			}
			_, err := s.Observe(t.Context(), ObserveOptions{})
			wantError(t, config, err, Timeout, "did not answer in time")
		})
	}
}
