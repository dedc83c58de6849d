package topology_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// The two lines of RabbitMQ that differ in what Warren relies on.
var (
	rabbit40 = topology.Version{Major: 4, Minor: 0, Patch: 5}
	rabbit43 = topology.Version{Major: 4, Minor: 3, Patch: 6}
)

// orders is the source that a subscription has when a test does not care.
var orders = topology.Source{Exchange: "orders", Type: "topic", RoutingKeys: []string{"order.placed", "order.cancelled"}}

// subscription is shop/billing with this spec (YAML), on RabbitMQ 4.3, bound to orders.
func subscription(t testing.TB, spec string) topology.Subscription {
	t.Helper()
	return topology.Subscription{
		Namespace: "shop", Name: "billing", Owner: "cluster/shop/billing",
		Spec:    parseSpec(t, spec),
		Sources: []topology.Source{orders},
		Broker:  rabbit43,
	}
}

func parseSpec(t testing.TB, text string) *v1alpha1.ReliableSubscriptionSpec {
	t.Helper()
	var spec v1alpha1.ReliableSubscriptionSpec
	if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
		t.Fatalf("%v in: %s", err, text)
	}
	return &spec
}

func compile(t testing.TB, in topology.Subscription) *topology.Topology {
	t.Helper()
	compiled, err := topology.Compile(in)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// Parts of specs, to be combined.
var (
	retries = map[string]string{
		"default":     ``,
		"one delay":   `retry: {backoff: {delays: [5s]}}`,
		"ten delays":  `retry: {backoff: {delays: [1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s, 9s, 24h]}}`,
		"fixed delay": `retry: {fixedDelay: {delay: 30s, maxAttempts: 5}}`,
		"native":      `retry: {native: {minDelay: 1s, maxDelay: 1m}}`,
		"immediate":   `retry: {immediate: {}}`,
	}
	workQueues = map[string]string{
		"plain":        `workQueue: {name: orders.billing}`,
		"longest name": `workQueue: {name: ` + strings.Repeat("w", 230) + `}`,
		"at most once": `workQueue: {name: orders.billing, deadLetterStrategy: AtMostOnce}`,
		"all options":  `workQueue: {name: orders.billing, deliveryLimit: 40, singleActiveConsumer: true, consumerTimeout: 1h, replicas: 5, leaderLocator: Balanced}`,
	}
	modes = map[string]string{
		"arguments": `settings: Arguments`,
		"policy":    `settings: Policy`,
	}
	ladders = map[string]topology.Ladder{
		"new":           {},
		"longer before": {HighestRung: 10, First: "orders.billing.wait.1.7s"},
		"on the idle":   {HighestRung: 1, FirstIdle: "orders.billing.wait.1.5s"},
	}
)

// everySubscription yields all combinations of what a topology depends on.
func everySubscription(t testing.TB) iter.Seq2[string, topology.Subscription] {
	return func(yield func(string, topology.Subscription) bool) {
		for retry, retrySpec := range retries {
			for work, workSpec := range workQueues {
				for mode, modeSpec := range modes {
					for ladder, state := range ladders {
						in := subscription(t, strings.Join([]string{retrySpec, workSpec, modeSpec}, "\n"))
						in.Ladder = state
						if !yield(fmt.Sprintf("%s, %s, %s, %s", retry, work, mode, ladder), in) {
							return
						}
					}
				}
			}
		}
	}
}

// snapshotOf is a broker that has exactly what a topology wants.
func snapshotOf(compiled *topology.Topology) *topology.Snapshot {
	seen := &topology.Snapshot{Exchanges: map[string]topology.SeenExchange{}}
	var bindings []topology.Binding
	for _, o := range compiled.Objects {
		switch o := o.(type) {
		case topology.Exchange:
			seen.Exchanges[o.Name] = topology.SeenExchange{Name: o.Name, Type: o.Type, Durable: true, Arguments: o.Arguments}
		case topology.Binding:
			bindings = append(bindings, o)
		}
	}
	seen.Bindings = topology.NewBindings(bindings)
	return seen
}

// queuesOf lists the queues of a topology by name, with what their policy says among the arguments.
func queuesOf(compiled *topology.Topology) map[string]topology.Queue {
	queues := map[string]topology.Queue{}
	fromPolicy := topology.Arguments{}
	for _, o := range compiled.Objects {
		switch o := o.(type) {
		case topology.Policy:
			fromPolicy = o.Definition
		case topology.Queue:
			if o.Role == topology.RoleWork {
				for key, value := range fromPolicy {
					o.Arguments = o.Arguments.With("x-"+key, value)
				}
			}
			queues[o.Name] = o
		}
	}
	return queues
}
