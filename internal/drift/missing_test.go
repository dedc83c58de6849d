package drift_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// What has gone is declared again, the way out before the way in.
func TestWhatIsMissingIsDeclared(t *testing.T) {
	cases := []struct {
		reason string
		spec   string
		spoil  func(*rabbit)
		want   string
	}{
		{"the parking queue, and its binding with it", threeDelays, func(r *rabbit) { r.deleteQueue("W.parking") }, `
declare queue "W.parking"
declare binding of queue "W.parking" to exchange "W.park"`},
		{"the work queue: the bindings to the sources come last", threeDelays, func(r *rabbit) { r.deleteQueue("W") }, `
declare queue "W"
declare binding of queue "W" to exchange "W.return.1"
declare binding of queue "W" to exchange "W.return.2"
declare binding of queue "W" to exchange "W.return.3"
declare binding of queue "W" to exchange "W.redrive"
declare binding of queue "W" to exchange "orders" with key "order.placed"
declare binding of queue "W" to exchange "orders" with key "order.cancelled"`},
		{"an exchange, and its bindings with it", threeDelays, func(r *rabbit) { r.deleteExchange("W.dead") }, `
declare exchange "W.dead"
declare binding of exchange "W.retry" to exchange "W.dead" with {x-last-death-reason: rejected, x-match: all-with-x}`},
		{"one binding to a source", threeDelays, func(r *rabbit) {
			r.unbind(func(b topology.Binding) bool { return b.RoutingKey == "order.placed" })
		}, `
declare binding of queue "W" to exchange "orders" with key "order.placed"`},
		{"a binding that routes alike does as well, whoever made it", immediate, func(r *rabbit) {
			r.unbind(func(b topology.Binding) bool { return b.RoutingKey == "order.placed" })
			r.declare(topology.Binding{Source: "orders", Destination: "W", DestinationKind: topology.KindQueue, RoutingKey: "order.placed"})
		}, ""},
		{"a rung of the ladder", threeDelays, func(r *rabbit) { r.deleteQueue("W.wait.2.30s") }, `
declare queue "W.wait.2.30s"
declare binding of queue "W.wait.2.30s" to exchange "W.retry" with {x-last-death-exchange: W.return.1, x-match: all-with-x}`},
		{"the first rung is bound again where it was", threeDelays, func(r *rabbit) { r.deleteQueue("W.wait.1.5s") }, `
declare queue "W.wait.1.5s"
declare binding of queue "W.wait.1.5s" to exchange "W.retry.first"`},
		{"the policy comes before its queue", inPolicy, func(r *rabbit) { r.deleteQueue("W"); r.policies = nil }, `
declare policy "warren.shop.billing"
declare queue "W"
declare binding of queue "W" to exchange "W.return.1"
declare binding of queue "W" to exchange "W.return.2"
declare binding of queue "W" to exchange "W.return.3"
declare binding of queue "W" to exchange "W.redrive"
declare binding of queue "W" to exchange "orders" with key "order.placed"
declare binding of queue "W" to exchange "orders" with key "order.cancelled"`},
		{"the policy alone", inPolicy, func(r *rabbit) { r.policies = nil }, `
declare policy "warren.shop.billing"`},
		{"the policy, while an operator's is in force", inPolicy, func(r *rabbit) {
			r.policies = nil
			r.operatorPolicies = []topology.Policy{{Name: "limits", ApplyTo: "queues", Definition: topology.Arguments{"target-group-size": int64(3)}}}
		}, `
declare policy "warren.shop.billing"`},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			r := rabbitWith(subscription(t, tc.spec))
			tc.spoil(r)
			got := drift.Compare(subscriptionOn(t, tc.spec, r), r.snapshot(), nothingOwned)
			assertPlan(t, got.Plan, strings.TrimPrefix(tc.want, "\n"))
			if len(got.Differences) > 0 {
				t.Errorf("what Warren mends itself is no drift: %v", got.Differences)
			}
		})
	}
}

// A policy can be changed while the queue lives: whatever of it differs, it is set again.
func TestADifferingPolicyIsSetAgain(t *testing.T) {
	cases := []struct {
		reason string
		spoil  func(*topology.Policy)
	}{
		{"another value", func(p *topology.Policy) { p.Definition = p.Definition.With("delivery-limit", int64(99)) }},
		{"one key more", func(p *topology.Policy) { p.Definition = p.Definition.With("message-ttl", int64(1000)) }},
		{"one key less", func(p *topology.Policy) {
			p.Definition = topology.Arguments{"dead-letter-exchange": "W.dead"}
		}},
		{"another priority", func(p *topology.Policy) { p.Priority = 1 }},
		{"another pattern", func(p *topology.Policy) { p.Pattern = "^(W)$" }},
		{"other kinds of queues", func(p *topology.Policy) { p.ApplyTo = "queues" }},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			want := subscription(t, inPolicy)
			r := rabbitWith(want)
			tc.spoil(&r.policies[0])
			got := drift.Compare(want, r.snapshot(), nothingOwned)
			if diff := cmp.Diff([]string{`policy "warren.shop.billing"`}, names(got.Missing)); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			assertPlan(t, got.Plan, `declare policy "warren.shop.billing"`)
			if len(got.Differences) > 0 {
				t.Errorf("what Warren mends itself is no drift: %v", got.Differences)
			}
		})
	}
}

// While the broker does not tell what policies amount to, nothing is claimed about them.
func TestPoliciesNotKnownYet(t *testing.T) {
	want := subscription(t, inPolicy)
	seen := rabbitWith(want).snapshot()
	queue := seen.Queues["W"]
	queue.Policy, queue.EffectivePolicy = "", nil
	seen.Queues["W"] = queue
	if got := drift.Compare(want, seen, nothingOwned); len(got.Differences) > 0 || len(got.Plan) > 0 {
		t.Errorf("differences %v, plan %s", got.Differences, got.Plan)
	}
}

// A source that is not there yet keeps nothing else from being declared.
func TestSourcesThatAreNotThereYet(t *testing.T) {
	const spec = immediate
	r := newRabbit()
	later := topology.Source{Exchange: "later", RoutingKeys: []string{"a", "b"}}
	want := subscriptionOn(t, spec, r, orders, later)

	got := drift.Compare(want, r.snapshot(), nothingOwned)
	var pending []string
	for _, b := range got.Pending {
		pending = append(pending, b.String())
	}
	if diff := cmp.Diff([]string{
		`binding of queue "W" to exchange "later" with key "a"`,
		`binding of queue "W" to exchange "later" with key "b"`,
	}, pending); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	if n := len(want.Objects) - 2; len(got.Plan) != n || len(got.Missing) != n {
		t.Errorf("missing %v, plan:\n%s", got.Missing, got.Plan)
	}

	for _, action := range got.Plan {
		r.do(action)
	}
	r.exchanges["later"] = topology.SeenExchange{Name: "later", Type: "topic", Durable: true}
	assertPlan(t, drift.Compare(want, r.snapshot(), nothingOwned).Plan, `declare binding of queue "W" to exchange "later" with key "a"
declare binding of queue "W" to exchange "later" with key "b"`)
}

func names(objects []topology.Object) []string {
	var list []string
	for _, o := range objects {
		list = append(list, o.String())
	}
	return list
}
