package broker

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
)

func TestMain(m *testing.M) { localenv.Main(m) }

// configOf reaches a vhost as the user with the fewest rights that Warren needs.
func configOf(v *localenv.Vhost) Config {
	return Config{
		AMQPURL: v.Broker.AMQPURL(), ManagementURL: v.Broker.ManagementURL(),
		Vhost: v.Name, Username: v.Operator.Name, Password: v.Operator.Password,
	}
}

// newSession ends with the test.
func newSession(t testing.TB, config Config, options Options) *Session {
	t.Helper()
	s := NewSession(config, options)
	t.Cleanup(s.Close)
	return s
}

func mustDeclare(t testing.TB, s *Session, objects ...topology.Object) {
	t.Helper()
	if err := s.Declare(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
}

func mustObserve(t testing.TB, s *Session) *Observation {
	t.Helper()
	seen, err := s.Observe(t.Context(), ObserveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// quorum is a queue as the topology declares it.
func quorum(name string, args topology.Arguments) topology.Queue {
	return topology.Queue{Name: name, Arguments: args.With("x-queue-type", "quorum")}
}

func admin(t testing.TB, b *localenv.RabbitMQ) *rabbithole.Client {
	t.Helper()
	client, err := rabbithole.NewClient(b.ManagementURL(), b.AdminUser, b.AdminPassword)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// eventually polls until check returns "" and fails with the last complaint.
func eventually(t testing.TB, within time.Duration, check func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		complaint := check()
		if complaint == "" {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("after %s: %s", within, complaint)
		case <-tick.C:
		}
	}
}

// wantError checks an error's class and words, and that it gives nothing away.
func wantError(t testing.TB, config Config, err error, class Class, words ...string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}
	if e.Class != class {
		t.Errorf("class is %s, want %s: %v", e.Class, class, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	wantNoSecret(t, config, err)
}

func wantNoSecret(t testing.TB, config Config, value any) {
	t.Helper()
	basic := base64.StdEncoding.EncodeToString([]byte(config.Username + ":" + config.Password))
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(form, value)
		if strings.Contains(text, config.Password) || strings.Contains(text, basic) {
			t.Errorf("%s of %T shows the password: %s", form, value, text)
		}
	}
}

// requests records what a session asks for.
type requests struct {
	mutex      sync.Mutex
	operations []string
}

func (r *requests) record(operation string, _ time.Duration, _ error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.operations = append(r.operations, operation)
}

// count tells how many of an operation were recorded.
func (r *requests) count(operation string) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	n := 0
	for _, o := range r.operations {
		if o == operation {
			n++
		}
	}
	return n
}

// take returns what was recorded since the last time.
func (r *requests) take() []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	taken := r.operations
	r.operations = nil
	return taken
}

// waitForBroker is long enough for the broker's statistics and caches.
const waitForBroker = 20 * time.Second

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
