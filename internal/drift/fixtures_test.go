package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

const (
	mark  = "cluster/shop/billing"
	other = "cluster/shop/shipping"
)

var orders = topology.Source{Exchange: "orders", Type: "topic", RoutingKeys: []string{"order.placed", "order.cancelled"}}

// Specs that these tests begin with. The work queue is W in all of them.
const (
	threeDelays = `{workQueue: {name: W}, retry: {backoff: {delays: [5s, 30s, 5m]}}}`
	inPolicy    = `{workQueue: {name: W}, retry: {backoff: {delays: [5s, 30s, 5m]}}, settings: Policy}`
	immediate   = `{workQueue: {name: W}, retry: {immediate: {}}}`
)

// subscription compiles shop/billing with this spec (YAML), bound to orders, for a broker that has nothing yet.
func subscription(t testing.TB, spec string) *topology.Topology {
	t.Helper()
	return subscriptionOn(t, spec, newRabbit())
}

// subscriptionOn compiles it for what a broker has, as a reconciler does.
func subscriptionOn(t testing.TB, spec string, r *rabbit, sources ...topology.Source) *topology.Topology {
	t.Helper()
	var parsed v1alpha1.ReliableSubscriptionSpec
	if err := yaml.UnmarshalStrict([]byte(spec), &parsed); err != nil {
		t.Fatalf("%v in: %s", err, spec)
	}
	if sources == nil {
		sources = []topology.Source{orders}
	}
	compiled, err := topology.Compile(topology.Subscription{
		Namespace: "shop", Name: "billing", Owner: mark, Spec: &parsed,
		Sources: sources,
		Broker:  r.version,
		Ladder:  topology.LadderOf(topology.NamesOf("shop", "billing", &parsed), r.snapshot()),
	})
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func topic(t testing.TB, spec v1alpha1.TopicSpec) *topology.Topology {
	t.Helper()
	compiled, err := topology.CompileTopic(topology.Topic{Name: "events", Spec: &spec, Owner: mark})
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// nothingOwned is what Warren claims where the spec adopts nothing.
var nothingOwned = drift.Claims{}

func assertPlan(t *testing.T, got drift.Plan, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// assertInSync wants nothing to report and nothing to do.
func assertInSync(t *testing.T, got drift.Result) {
	t.Helper()
	if diff := cmp.Diff(drift.Result{Marks: got.Marks}, got); diff != "" {
		t.Errorf("what differs (-want +got):\n%s", diff)
	}
}
