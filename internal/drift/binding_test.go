package drift_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// What the work queue gets besides is told, since its consumer may not expect
// it, and so is who has a share in the exchanges of its dead letters.
func TestUnexpectedBindings(t *testing.T) {
	want := subscription(t, immediate)
	r := rabbitWith(want)
	r.exchanges["events"] = topology.SeenExchange{Name: "events", Type: "fanout", Durable: true}
	r.declare(topology.Binding{Source: "orders", Destination: "W", DestinationKind: topology.KindQueue, RoutingKey: "#"})
	r.declare(topology.Binding{Source: "events", Destination: "W", DestinationKind: topology.KindQueue})
	r.declare(topology.Binding{Source: "W.dead", Destination: "W", DestinationKind: topology.KindQueue}) // our own exchange: routes tell
	r.declare(topology.Binding{Source: "W.park", Destination: "audit", DestinationKind: topology.KindQueue})
	r.declare(topology.Binding{Source: "events", Destination: "W.dead", DestinationKind: topology.KindExchange})

	var got []string
	for _, d := range drift.Compare(want, r.snapshot(), nothingOwned).Differences {
		got = append(got, fmt.Sprintf("%s %s: %s of %s is %s, wanted %s: %s", d.Impact, d.Cause, d.Field, d.Object, d.Observed, d.Desired, d.Remedy))
	}
	expected := []string{
		`Tolerable UnexpectedBinding: binding of queue "W" is binding of queue "W" to exchange "events", wanted none: the queue also gets what comes over this binding, which Warren did not make: add exchange "events" to spec.sources if that is wanted, or remove the binding`,
		`Tolerable UnexpectedBinding: binding of queue "W" is binding of queue "W" to exchange "orders" with key "#", wanted none: the queue also gets what comes over this binding, which Warren did not make: add exchange "orders" to spec.sources if that is wanted, or remove the binding`,
		`Tolerable UnexpectedBinding: binding of exchange "W.park" is binding of queue "audit" to exchange "W.park", wanted none: what comes to exchange "W.park" also goes over this binding, which Warren did not make, and dead letters wait until queue "audit" takes them too: remove the binding`,
		`Tolerable UnexpectedBinding: binding of exchange "W.dead" is binding of exchange "W.dead" to exchange "events", wanted none: messages of exchange "events" come in here past the work queue over this binding, which Warren did not make: remove the binding`,
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}
