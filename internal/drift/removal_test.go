package drift_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// counted gives every queue its counters: all known to be 0, for a minute.
func (r *rabbit) counted() *rabbit {
	for name := range r.queues {
		r.setQueue(name, func(q *topology.SeenQueue) {
			for _, c := range []**int64{&q.Messages, &q.Ready, &q.Unacknowledged, &q.DeadLettering, &q.Delayed, &q.Consumers} {
				*c = new(int64)
			}
			q.Trouble.EmptySince = now.Add(-time.Minute)
		})
	}
	return r
}

// remove carries out plan after plan, and gives them as text with what is
// waited for at the end.
func (r *rabbit) remove(want *topology.Topology, how drift.Removing) (plans, waiting []string) {
	for range 10 {
		next := drift.PlanRemoval(want, r.snapshot(), nothingOwned, how)
		if len(next.Waiting) > 0 || len(next.Plan) == 0 {
			return plans, next.Waiting
		}
		plans = append(plans, next.Plan.String())
		for _, action := range next.Plan {
			r.do(action)
		}
	}
	return plans, []string{"it does not end"}
}

// What is deleted goes backwards: nothing comes in any more before anything goes.
func TestRemovalGoesBackwards(t *testing.T) {
	for name, how := range map[string]drift.Removing{"when empty": {}, "with messages": {WithMessages: true}} {
		t.Run(name, func(t *testing.T) {
			want := subscription(t, inPolicy)
			r := rabbitWith(want).counted()
			r.declare(topology.Queue{Name: "theirs", Arguments: topology.Arguments{topology.OwnerArgument: other}})
			plans, waiting := r.remove(want, how)
			empty := "empty "
			if how.WithMessages {
				empty = ""
			}
			expected := []string{
				"remove binding of queue \"W\" to exchange \"orders\" with key \"order.placed\"\nremove binding of queue \"W\" to exchange \"orders\" with key \"order.cancelled\"",
				strings.ReplaceAll("delete EMPTYqueue \"W\"\ndelete EMPTYqueue \"W.wait.1.5s\"\ndelete EMPTYqueue \"W.wait.2.30s\"\ndelete EMPTYqueue \"W.wait.3.5m\"", "EMPTY", empty),
				"delete " + empty + "queue \"W.parking\"",
				"delete exchange \"W.dead\"\ndelete exchange \"W.park\"\ndelete exchange \"W.redrive\"\ndelete exchange \"W.retry\"\ndelete exchange \"W.retry.first\"\ndelete exchange \"W.retry.first.b\"\n" +
					"delete exchange \"W.return.1\"\ndelete exchange \"W.return.2\"\ndelete exchange \"W.return.3\"\ndelete policy \"warren.shop.billing\"",
			}
			if diff := cmp.Diff(expected, plans); diff != "" {
				t.Errorf("plans (-want +got):\n%s", diff)
			}
			if len(waiting) > 0 {
				t.Errorf("at the end it waits for %v", waiting)
			}
			if len(r.queues) != 1 || len(r.exchanges) != 1 || len(r.policies) != 0 {
				t.Errorf("left: %v, %v, %v; want what is somebody else's", r.queues, r.exchanges, r.policies)
			}
		})
	}
}

// A queue goes when it is known to be empty and unused, for long enough.
func TestWhatARemovalWaitsFor(t *testing.T) {
	one := new(int64(1))
	on := func(queue string, change func(*topology.SeenQueue)) func(*rabbit) {
		return func(r *rabbit) { r.setQueue(queue, change) }
	}
	cases := []struct {
		reason string
		spoil  func(*rabbit)
		how    drift.Removing
		want   []string
	}{
		{"all is empty", func(*rabbit) {}, drift.Removing{}, nil},
		{"a message", on("W", func(q *topology.SeenQueue) { q.Ready = one }), drift.Removing{}, []string{`queue "W" has 1 ready`}},
		{"one is being worked on", on("W", func(q *topology.SeenQueue) { q.Unacknowledged, q.Consumers = one, one }), drift.Removing{}, []string{`queue "W" has 1 unacknowledged, 1 consumers`}},
		{"a consumer that has nothing to do", on("W", func(q *topology.SeenQueue) { q.Consumers = one }), drift.Removing{}, []string{`queue "W" has 1 consumers`}},
		{"one waits, and will come back", on("W.wait.2.30s", func(q *topology.SeenQueue) { q.Ready = one }), drift.Removing{}, []string{`queue "W.wait.2.30s" has 1 ready`}},
		{"a dead letter that cannot leave", on("W", func(q *topology.SeenQueue) { q.DeadLettering = one }), drift.Removing{}, []string{`queue "W" has 1 waiting to be dead-lettered`}},
		{"a delayed one", on("W", func(q *topology.SeenQueue) { q.Delayed = one }), drift.Removing{}, []string{`queue "W" has 1 delayed`}},
		{"unknown is not zero", on("W", func(q *topology.SeenQueue) { q.DeadLettering = nil }), drift.Removing{}, []string{`queue "W" is not known to be empty: the broker does not tell its counters`}},
		{"empty for a moment", on("W", func(q *topology.SeenQueue) { q.Trouble.EmptySince = now.Add(-9 * time.Second) }), drift.Removing{}, []string{`queue "W" is empty, and must be so for 10s`}},
		{"empty since before it was unbound", func(*rabbit) {}, drift.Removing{QuietSince: now.Add(-9 * time.Second)}, []string{
			`queue "W" is empty, and must be so for 10s`, `queue "W.wait.1.5s" is empty, and must be so for 10s`, `queue "W.wait.2.30s" is empty, and must be so for 10s`, `queue "W.wait.3.5m" is empty, and must be so for 10s`}},
		{"parked messages keep the parking queue alone", on("W.parking", func(q *topology.SeenQueue) { q.Ready = one }), drift.Removing{}, []string{`queue "W.parking" has 1 ready`}},
		{"somebody bound the queue to something", func(r *rabbit) {
			r.declare(topology.Binding{Source: "orders", Destination: "W", DestinationKind: topology.KindQueue, RoutingKey: "#"})
		}, drift.Removing{}, []string{`queue "W" still gets messages over the binding of queue "W" to exchange "orders" with key "#", which Warren did not make: remove it`}},
		{"with messages nothing is waited for", on("W", func(q *topology.SeenQueue) { q.Ready, q.DeadLettering = one, nil }), drift.Removing{WithMessages: true}, nil},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			want := subscription(t, threeDelays)
			r := rabbitWith(want).counted()
			tc.spoil(r)
			_, waiting := r.remove(want, tc.how)
			if diff := cmp.Diff(tc.want, waiting); diff != "" {
				t.Errorf("waits for (-want +got):\n%s", diff)
			}
		})
	}
}

// What bears no mark of ours stays, unless it was adopted and is to go too.
func TestRemovalLeavesWhatIsNotOurs(t *testing.T) {
	adopt := drift.Claims{Adopt: true}
	for name, tc := range map[string]struct {
		owner string
		how   drift.Removing
		stays bool
	}{
		"adopted":                    {"", drift.Removing{WithMessages: true}, true},
		"adopted, and to be gone":    {"", drift.Removing{WithMessages: true, Adopted: true}, false},
		"another's":                  {other, drift.Removing{WithMessages: true, Adopted: true}, true},
		"another's, when it is ours": {mark, drift.Removing{WithMessages: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			want := subscription(t, immediate)
			r := rabbitWith(want).marked(tc.owner)
			r.unbind(func(b topology.Binding) bool { return b.Source == "orders" })
			next := drift.PlanRemoval(want, r.snapshot(), adopt, tc.how)
			if stays := len(next.Plan) == 0; stays != tc.stays || len(next.Waiting) > 0 {
				t.Errorf("stays: %t, want %t; plan:\n%s\nwaits for %v", stays, tc.stays, next.Plan, next.Waiting)
			}
		})
	}
}

// A topic's exchange goes before the queue that catches what reaches no other.
func TestRemovalOfATopic(t *testing.T) {
	want := topic(t, v1alpha1.TopicSpec{Exchange: "orders", Unroutable: &v1alpha1.UnroutableSpec{Queue: "lost"}})
	begin := func() *rabbit {
		r := rabbitWith(want)
		r.setExchange("orders", func(e *topology.SeenExchange) {
			e.Arguments = topology.Arguments{topology.OwnerArgument: mark, "alternate-exchange": "lost"}
		})
		return r.counted()
	}
	bound := begin()
	bound.declare(topology.Binding{Source: "orders", Destination: "lost", DestinationKind: topology.KindQueue, RoutingKey: "#"})
	plans, waiting := bound.remove(want, drift.Removing{})
	if diff := cmp.Diff([]string{`exchange "orders" has 1 bindings, and goes when nothing is bound to it`}, waiting); diff != "" || len(plans) > 0 {
		t.Errorf("while something is bound, it does %v and waits for (-want +got):\n%s", plans, diff)
	}
	plans, waiting = begin().remove(want, drift.Removing{})
	if diff := cmp.Diff([]string{`delete exchange "orders"`, `delete empty queue "lost"`, `delete exchange "lost"`}, plans); diff != "" || len(waiting) > 0 {
		t.Errorf("it waits for %v; plans (-want +got):\n%s", waiting, diff)
	}
}
