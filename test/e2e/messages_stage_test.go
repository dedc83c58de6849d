package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// stage is a tenant on which real messages play, sent and consumed by an application.
type stage struct {
	*tenant
	t   *testing.T
	app *amqp.Connection
}

// onStages runs a test on each series of RabbitMQ, beside all other tests.
func onStages(t *testing.T, test func(t *testing.T, s *stage)) {
	t.Helper()
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		test(t, &stage{tenant: w, t: t, app: w.application()})
	})
}

// series tells the behaviours apart where they differ.
func (s *stage) series() localenv.Series {
	for _, series := range localenv.AllSeries() {
		if strings.HasPrefix(s.vhost.Broker.Version, string(series)+".") {
			return series
		}
	}
	s.t.Fatalf("RabbitMQ %s is of no series among %v", s.vhost.Broker.Version, localenv.AllSeries())
	return ""
}

// subscriptionManifest is a ReliableSubscription on Broker main. The spec is
// in YAML's flow style, without the braces.
func subscriptionManifest(name, spec string) string {
	return subscriptionManifestOn("main", name, spec)
}

func subscriptionManifestOn(broker, name, spec string) string {
	return fmt.Sprintf(`
---
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: %s}
spec: {brokerRef: {name: %s}, %s}
`, name, broker, spec)
}

// establish applies subscriptions, by name, and waits until all are Ready.
func (s *stage) establish(manifests string, names ...string) {
	s.t.Helper()
	s.apply(manifests)
	for _, name := range names {
		s.awaitReady("rsub/" + name)
	}
}

func (s *stage) publish(exchange, key string, messages ...amqp.Publishing) {
	s.t.Helper()
	amqptest.Publish(s.t, s.app, exchange, key, messages...)
}

func (s *stage) consume(queue string, answer amqptest.Answer, options ...amqptest.Option) *amqptest.Consumer {
	s.t.Helper()
	return amqptest.Consume(s.t, s.app, queue, answer, options...)
}

// do runs f on a channel of its own.
func (s *stage) do(f func(*amqp.Channel) error) error {
	channel, err := s.app.Channel()
	if err != nil {
		return err
	}
	defer channel.Close()
	return f(channel)
}

func (s *stage) mustDo(t *testing.T, f func(*amqp.Channel) error) {
	t.Helper()
	if err := s.do(f); err != nil {
		t.Fatal(err)
	}
}

// queue declares a quorum queue of the application's own, by its type alone.
func (s *stage) queue(t *testing.T, name string) {
	t.Helper()
	s.mustDo(t, func(channel *amqp.Channel) error {
		_, err := channel.QueueDeclare(name, true, false, false, false, amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeQuorum})
		return err
	})
}

func (s *stage) bind(t *testing.T, queue, exchange, key string) {
	t.Helper()
	s.mustDo(t, func(channel *amqp.Channel) error { return channel.QueueBind(queue, key, exchange, false, nil) })
}

func (s *stage) unbind(t *testing.T, queue, exchange, key string) {
	t.Helper()
	s.mustDo(t, func(channel *amqp.Channel) error { return channel.QueueUnbind(queue, key, exchange, nil) })
}

// takeOnly takes a message out of a queue and checks that it was the only one.
func (s *stage) takeOnly(t *testing.T, queue string) amqptest.Delivery {
	t.Helper()
	taken := amqptest.Take(t, s.app, queue, 1)[0]
	amqptest.AwaitReady(t, s.app, queue, 0)
	return taken
}

func assertDeliveries(t *testing.T, consumer *amqptest.Consumer, id string, want int) {
	t.Helper()
	deliveries := consumer.DeliveriesOf(id)
	if len(deliveries) == want {
		return
	}
	t.Errorf("message %q was delivered %d times, want %d", id, len(deliveries), want)
	for _, d := range deliveries {
		t.Logf("\t%s", d)
	}
}

// exists asks the broker itself, not its statistics.
func (s *stage) exists(queue string) (bool, error) {
	_, err := amqptest.Ready(s.app, queue)
	var reply *amqp.Error
	if errors.As(err, &reply) && reply.Code == amqp.NotFound {
		return false, nil
	}
	return err == nil, err
}

// manage calls the management API of the tenant's vhost as an administrator
// does, and decodes the answer into what is not nil.
func (w *tenant) manage(method string, body, into any, collection string, path ...string) error {
	address := w.vhost.Broker.ManagementURL() + "/api/" + collection + "/" + url.PathEscape(w.vhost.Name)
	for _, segment := range path {
		address += "/" + url.PathEscape(segment)
	}
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(w.t.Context(), method, address, bytes.NewReader(content))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.SetBasicAuth(w.vhost.Broker.AdminUser, w.vhost.Broker.AdminPassword)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %s", method, request.URL.EscapedPath(), response.Status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// queueState is a queue as the management API shows it, some seconds late.
// A number that is not there is unknown.
type queueState struct {
	Arguments       map[string]any  `json:"arguments"`
	Policy          string          `json:"policy"`
	EffectivePolicy json.RawMessage `json:"effective_policy_definition"` // an empty one may be a list
	Messages        *int            `json:"messages"`
	DeadLetters     *int            `json:"messages_dlx"`
}

func (s *stage) queueState(queue string) (queueState, error) {
	var state queueState
	err := s.manage(http.MethodGet, nil, &state, "queues", queue)
	return state, err
}

// awaitHeld waits until a queue holds n messages, all of them in its
// dead-letter line, where no consumer gets them.
func (s *stage) awaitHeld(t *testing.T, queue string, n int) {
	t.Helper()
	amqptest.Eventually(t, amqptest.Deadline, func() error {
		state, err := s.queueState(queue)
		switch {
		case err != nil:
			return err
		case state.Messages == nil || state.DeadLetters == nil:
			return fmt.Errorf("no counts of queue %q yet", queue)
		case *state.Messages != n || *state.DeadLetters != n:
			return fmt.Errorf("queue %q holds %d messages, %d of them dead letters; want %d and %d", queue, *state.Messages, *state.DeadLetters, n, n)
		}
		return nil
	})
}

// setPolicy sets a policy on every queue of the vhost, as a team might that
// does not know Warren, and waits until a queue is under it.
func (s *stage) setPolicy(t *testing.T, name string, definition map[string]any, queue string) {
	t.Helper()
	policy := map[string]any{"pattern": ".*", "apply-to": "queues", "definition": definition}
	if err := s.manage(http.MethodPut, policy, nil, "policies", name); err != nil {
		t.Fatal(err)
	}
	s.awaitPolicy(t, queue, name)
}

func (s *stage) removePolicy(t *testing.T, name, queue string) {
	t.Helper()
	if err := s.manage(http.MethodDelete, nil, nil, "policies", name); err != nil {
		t.Fatal(err)
	}
	s.awaitPolicy(t, queue, "")
}

func (s *stage) awaitPolicy(t *testing.T, queue, name string) {
	t.Helper()
	amqptest.Eventually(t, amqptest.Deadline, func() error {
		state, err := s.queueState(queue)
		if err == nil && state.Policy != name {
			err = fmt.Errorf("queue %q is under policy %q, want %q", queue, state.Policy, name)
		}
		return err
	})
}
