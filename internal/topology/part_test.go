package topology_test

import (
	"slices"
	"testing"
	"time"

	"github.com/warren-mq/warren/internal/topology"
)

// neighbourhood is what a broker has for a subscription, and of others.
type neighbourhood struct {
	*topology.Snapshot
	bindings []topology.Binding
}

func (n *neighbourhood) queue(name string, change func(*topology.SeenQueue)) {
	q := n.Queues[name]
	q.Name = name
	change(&q)
	n.Queues[name] = q
}

func neighbourhoodOf(compiled *topology.Topology) *neighbourhood {
	n := &neighbourhood{Snapshot: snapshotOf(compiled)}
	n.Queues = map[string]topology.SeenQueue{}
	n.Broker = topology.Version{Major: 4, Minor: 3}
	n.Exchanges["orders"] = topology.SeenExchange{Name: "orders", Type: "topic", Durable: true}
	for _, o := range compiled.Objects {
		if b, ok := o.(topology.Binding); ok {
			n.bindings = append(n.bindings, b)
		}
	}
	for name, q := range queuesOf(compiled) {
		n.queue(name, func(seen *topology.SeenQueue) { seen.Arguments, seen.Messages = q.Arguments, new(int64) })
	}
	n.queue("stranger", func(seen *topology.SeenQueue) { seen.Messages = new(int64) })
	return n
}

// A reading concerns a resource when it shows something else of what the
// resource depends on, and not else.
func TestWhatConcernsAResource(t *testing.T) {
	in := subscription(t, `{workQueue: {name: W}, retry: {backoff: {delays: [5s, 30s]}}}`)
	in.Sources = []topology.Source{{Exchange: "orders", Type: "topic", RoutingKeys: []string{"order.*"}}}
	compiled := compile(t, in)
	set := func(queue string, change func(*topology.SeenQueue)) func(*neighbourhood) {
		return func(n *neighbourhood) { n.queue(queue, change) }
	}
	bind := func(b topology.Binding) func(*neighbourhood) {
		return func(n *neighbourhood) { n.bindings = append(n.bindings, b) }
	}
	cases := []struct {
		reason   string
		change   func(*neighbourhood)
		concerns bool
	}{
		{"nothing new", func(*neighbourhood) {}, false},
		{"a reading later", func(n *neighbourhood) { n.TakenAt = time.Now() }, false},
		{"another version of the broker", func(n *neighbourhood) { n.Broker.Minor = 4 }, true},
		{"a message", set("W", func(q *topology.SeenQueue) { q.Messages = new(int64(1)) }), true},
		{"a count that is not known any more", set("W", func(q *topology.SeenQueue) { q.Messages = nil }), true},
		{"dead letters that wait", set("W.wait.1.5s", func(q *topology.SeenQueue) { q.DeadLettering = new(int64(1)) }), true},
		{"dead letters that have waited for a while", set("W", func(q *topology.SeenQueue) { q.Trouble.DeadLetteringSince = time.Now() }), true},
		{"deliveries, which only grow", set("W", func(q *topology.SeenQueue) { q.Redeliveries, q.Acknowledgements = new(int64(9)), new(int64(9)) }), false},
		{"a consumer", set("W", func(q *topology.SeenQueue) { q.Consumers = new(int64(1)) }), true},
		{"a node that is away", set("W.parking", func(q *topology.SeenQueue) { q.Online = []string{"a"} }), true},
		{"another state", set("W.parking", func(q *topology.SeenQueue) { q.State = "minority" }), true},
		{"an argument", set("W", func(q *topology.SeenQueue) { q.Arguments = q.Arguments.With("x-expires", int64(1)) }), true},
		{"a policy in force", set("W", func(q *topology.SeenQueue) { q.Policy = "team" }), true},
		{"what it amounts to", set("W", func(q *topology.SeenQueue) { q.EffectivePolicy = topology.Arguments{"expires": int64(1)} }), true},
		{"that it amounts to nothing is known", set("W", func(q *topology.SeenQueue) { q.EffectivePolicy = topology.Arguments{} }), true},
		{"another limit in force", set("W", func(q *topology.SeenQueue) { q.DeliveryLimit = new(int64(5)) }), true},
		{"a queue that has gone", func(n *neighbourhood) { delete(n.Queues, "W.wait.1.5s") }, true},
		{"a queue of ours that the topology does not name", set("W.old", func(q *topology.SeenQueue) { q.Arguments = topology.Arguments{topology.OwnerArgument: in.Owner} }), true},
		{"a policy, of whatever queue", func(n *neighbourhood) { n.Policies = []topology.Policy{{Name: "team", Pattern: "^other$"}} }, true},
		{"an operator policy", func(n *neighbourhood) { n.OperatorPolicies = []topology.Policy{{Name: "team", Pattern: "^other$"}} }, true},
		{"an exchange that has gone", func(n *neighbourhood) { delete(n.Exchanges, "W.return.1") }, true},
		{"an exchange of another type", func(n *neighbourhood) { n.Exchanges["W.park"] = topology.SeenExchange{Type: "direct"} }, true},
		{"a source that has gone", func(n *neighbourhood) { delete(n.Exchanges, "orders") }, true},
		{"a binding that has gone", func(n *neighbourhood) { n.bindings = n.bindings[1:] }, true},
		{"a binding to the work queue", bind(topology.Binding{Source: "orders", Destination: "W", DestinationKind: topology.KindQueue, RoutingKey: "#"}), true},
		{"a share in an exchange of ours", bind(topology.Binding{Source: "W.redrive", Destination: "stranger", DestinationKind: topology.KindQueue}), true},
		{"a way into an exchange of ours", bind(topology.Binding{Source: "orders", Destination: "W.dead", DestinationKind: topology.KindExchange}), true},
		{"a message of somebody else's", set("stranger", func(q *topology.SeenQueue) { q.Messages = new(int64(1)) }), false},
		{"another queue of the source", bind(topology.Binding{Source: "orders", Destination: "stranger", DestinationKind: topology.KindQueue}), false},
		{"an exchange of somebody else's", func(n *neighbourhood) { n.Exchanges["events"] = topology.SeenExchange{} }, false},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			before, after := neighbourhoodOf(compiled), neighbourhoodOf(compiled)
			tc.change(after)
			before.Bindings = topology.NewBindings(slices.Clone(before.bindings))
			after.Bindings = topology.NewBindings(after.bindings)
			if got := !topology.PartOf(compiled, in.Owner).Same(before.Snapshot, after.Snapshot); got != tc.concerns {
				t.Errorf("concerns it: %t, want %t", got, tc.concerns)
			}
		})
	}
}
