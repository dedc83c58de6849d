package drift_test

import (
	"strings"
	"testing"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// everySpec combines what decides how a topology is declared.
func everySpec() []string {
	var specs []string
	for _, retry := range []string{
		``,
		`retry: {backoff: {delays: [5s]}}`,
		`retry: {backoff: {delays: [1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s, 9s, 24h]}}`,
		`retry: {fixedDelay: {delay: 30s, maxAttempts: 5}}`,
		`retry: {native: {minDelay: 1s, maxDelay: 1m}}`,
		`retry: {immediate: {}}`,
	} {
		for _, work := range []string{
			``,
			`workQueue: {name: "Events: (all) ä", deadLetterStrategy: AtMostOnce}`,
			`workQueue: {name: W, deliveryLimit: 40, singleActiveConsumer: true, consumerTimeout: 1h, replicas: 5, leaderLocator: Balanced}`,
		} {
			for _, mode := range []string{`settings: Arguments`, `settings: Policy`} {
				specs = append(specs, strings.Join([]string{retry, work, mode}, "\n"))
			}
		}
	}
	return specs
}

// A broker that has what was declared needs nothing: no report, no write.
func TestWhatWasDeclaredIsInSync(t *testing.T) {
	for _, spec := range everySpec() {
		t.Run(spec, func(t *testing.T) {
			want := subscription(t, spec)
			r := rabbitWith(want)
			assertInSync(t, drift.Compare(want, r.snapshot(), nothingOwned))

			again := subscriptionOn(t, spec, r)
			assertInSync(t, drift.Compare(again, r.snapshot(), nothingOwned))
		})
	}
}

func TestATopicThatWasDeclaredIsInSync(t *testing.T) {
	for _, spec := range []v1alpha1.TopicSpec{
		{},
		{Type: v1alpha1.ExchangeHeaders},
		{Unroutable: &v1alpha1.UnroutableSpec{}},
		{Exchange: "shop.events", Unroutable: &v1alpha1.UnroutableSpec{Queue: "lost"}},
	} {
		want := topic(t, spec)
		assertInSync(t, drift.Compare(want, rabbitWith(want).snapshot(), nothingOwned))
	}
}

// An empty broker gets all of it, in declare order; then there is nothing left to do.
func TestOnePlanDeclaresEverything(t *testing.T) {
	for _, spec := range everySpec() {
		t.Run(spec, func(t *testing.T) {
			want, r := subscription(t, spec), newRabbit()
			result := drift.Compare(want, r.snapshot(), nothingOwned)
			if len(result.Plan) != len(want.Objects) {
				t.Fatalf("%d actions for %d objects", len(result.Plan), len(want.Objects))
			}
			for i, action := range result.Plan {
				if got, want := action.String(), "declare "+want.Objects[i].String(); got != want {
					t.Errorf("action %d: %s, want %s", i, got, want)
				}
				r.do(action)
			}
			assertInSync(t, drift.Compare(want, r.snapshot(), nothingOwned))
		})
	}
}

// What is in sync stays so, however the broker writes its numbers.
func TestNumbersAreComparedByValue(t *testing.T) {
	want := subscription(t, threeDelays)
	r := rabbitWith(want)
	for name := range r.queues {
		r.setQueue(name, func(q *topology.SeenQueue) {
			for argument, value := range q.Arguments {
				if n, ok := topology.Integer(value); ok {
					q.Arguments[argument] = float64(n)
				}
			}
		})
	}
	assertInSync(t, drift.Compare(want, r.snapshot(), nothingOwned))
}

// What somebody added and nobody forbids is no difference.
func TestWhatNobodyAskedForIsTolerated(t *testing.T) {
	cases := []struct {
		reason string
		add    func(*rabbit)
	}{
		{"a queue of another application", func(r *rabbit) {
			r.declare(topology.Queue{Name: "audit"})
			r.declare(topology.Binding{Source: "orders", Destination: "audit", DestinationKind: topology.KindQueue, RoutingKey: "#"})
		}},
		{"an argument that no broker knows", func(r *rabbit) { r.setArgument("W", "x-team", "billing") }},
		{"a single active consumer", func(r *rabbit) { r.setArgument("W", "x-single-active-consumer", true) }},
		{"replicas, a leader's place and a timeout", func(r *rabbit) {
			r.setArgument("W", "x-quorum-initial-group-size", int64(5))
			r.setArgument("W", "x-queue-leader-locator", "balanced")
			r.setArgument("W", "x-consumer-timeout", int64(60000))
		}},
		{"a policy of other queues", func(r *rabbit) {
			r.policies = append(r.policies, topology.Policy{Name: "audit", Pattern: "^audit$", ApplyTo: "queues", Priority: 999, Definition: topology.Arguments{"message-ttl": int64(1)}})
		}},
		{"a policy that says the same", func(r *rabbit) {
			r.policies = append(r.policies, topology.Policy{Name: "all", ApplyTo: "all", Definition: topology.Arguments{"dead-letter-strategy": "at-least-once"}})
		}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			want := subscription(t, threeDelays)
			r := rabbitWith(want)
			tc.add(r)
			assertInSync(t, drift.Compare(want, r.snapshot(), nothingOwned))
		})
	}
}
