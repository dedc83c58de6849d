package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// Objects that exist prove nothing: each route is followed over what was read back.
func TestUnprovedRoutes(t *testing.T) {
	from := func(source string) func(topology.Binding) bool {
		return func(b topology.Binding) bool { return b.Source == source }
	}
	cases := []struct {
		reason string
		spec   string
		spoil  func(*rabbit)
		want   []string
	}{
		{"nothing is amiss", threeDelays, func(*rabbit) {}, nil},
		{"bindings of other applications are none of ours", threeDelays, func(r *rabbit) {
			r.declare(topology.Binding{Source: "W.park", Destination: "audit", DestinationKind: topology.KindQueue})
		}, nil},
		{"parking is not bound", immediate, func(r *rabbit) { r.unbind(from("W.park")) }, []string{
			`a message over the delivery limit reaches no queue, in place of "W.parking"`,
			`a message that expires in the work queue reaches no queue, in place of "W.parking"`,
			`a message that is rejected in the parking queue reaches no queue, in place of "W.parking"`,
			`a message that the consumer parks reaches no queue, in place of "W.parking"`,
			`a rejected message reaches no queue, in place of "W.parking"`,
		}},
		{"the way back from parking", immediate, func(r *rabbit) { r.unbind(from("W.redrive")) }, []string{
			`a redriven message reaches no queue, in place of "W"`,
		}},
		{"rejections are not let into the ladder: they park at once", threeDelays, func(r *rabbit) { r.unbind(from("W.dead")) }, []string{
			`a first rejection reaches W.parking, in place of "W.wait.1.5s" alone`,
			`a rejection after delay 1 reaches W.parking, in place of "W.wait.2.30s" alone`,
			`a rejection after delay 2 reaches W.parking, in place of "W.wait.3.5m" alone`,
		}},
		{"the last rung is not known: it starts afresh, for ever", threeDelays, func(r *rabbit) {
			r.unbind(func(b topology.Binding) bool { return b.Source == "W.retry" && b.Destination == "W.park" })
		}, []string{
			`a rejection after the last delay reaches W.wait.1.5s, in place of "W.parking" alone`,
		}},
		{"what waits does not come back", threeDelays, func(r *rabbit) { r.unbind(from("W.return.2")) }, []string{
			`the return after delay 2 reaches no queue, in place of "W"`,
		}},
		{"a queue is not there", threeDelays, func(r *rabbit) { delete(r.queues, "W.wait.1.5s") }, []string{
			`the return after delay 1: queue "W.wait.1.5s" is not there`,
		}},
		{"an alternate exchange that does nothing", immediate, func(r *rabbit) {
			r.setExchange("W.dead", func(e *topology.SeenExchange) { delete(e.Arguments, "alternate-exchange") })
		}, []string{
			`a message over the delivery limit reaches no queue, in place of "W.parking"`,
			`a message that expires in the work queue reaches no queue, in place of "W.parking"`,
			`a rejected message reaches no queue, in place of "W.parking"`,
		}},
		{"a dead-letter exchange that does not exist", immediate, func(r *rabbit) { r.setArgument("W", "x-dead-letter-exchange", "gone") }, []string{
			`a message over the delivery limit reaches no queue, in place of "W.parking"`,
			`a message that expires in the work queue reaches no queue, in place of "W.parking"`,
			`a rejected message reaches no queue, in place of "W.parking"`,
		}},
		{"everything comes back: a crashing consumer's messages would circle", threeDelays, func(r *rabbit) {
			r.declare(topology.Binding{Source: "W.dead", Destination: "W.wait.1.5s", DestinationKind: topology.KindQueue})
		}, []string{
			`a message over the delivery limit reaches W.wait.1.5s, in place of "W.parking" alone`,
			`a message that expires in the work queue reaches W.wait.1.5s, in place of "W.parking" alone`,
			`a rejection after delay 1 reaches W.wait.1.5s, W.wait.2.30s, in place of "W.wait.2.30s" alone`,
			`a rejection after delay 2 reaches W.wait.1.5s, W.wait.3.5m, in place of "W.wait.3.5m" alone`,
			`a rejection after the last delay reaches W.parking, W.wait.1.5s, in place of "W.parking" alone`,
		}},
		{"one of our queues too many", threeDelays, func(r *rabbit) {
			r.declare(topology.Binding{Source: "W.return.1", Destination: "W.parking", DestinationKind: topology.KindQueue})
		}, []string{
			`the return after delay 1 reaches W, W.parking, in place of "W" alone`,
		}},
		{"the policy with the dead-letter exchange is not in force", inPolicy, func(r *rabbit) {
			r.policies = []topology.Policy{{Name: "stray", Pattern: "^W$", ApplyTo: "queues", Priority: 200, Definition: topology.Arguments{}}}
		}, []string{
			`a message over the delivery limit reaches no queue, in place of "W.parking"`,
			`a message that expires in the work queue reaches no queue, in place of "W.parking"`,
			`a first rejection reaches no queue, in place of "W.wait.1.5s"`,
			`a rejection after delay 1 reaches no queue, in place of "W.wait.2.30s"`,
			`a rejection after delay 2 reaches no queue, in place of "W.wait.3.5m"`,
			`a rejection after the last delay reaches no queue, in place of "W.parking"`,
		}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			want := subscription(t, tc.spec)
			r := rabbitWith(want)
			tc.spoil(r)
			got := drift.Compare(want, r.snapshot(), nothingOwned)
			if diff := cmp.Diff(tc.want, got.Unproved); diff != "" {
				t.Errorf("unproved (-want +got):\n%s", diff)
			}
		})
	}
}
