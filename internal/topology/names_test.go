package topology_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/internal/topology"
)

func TestNamesOf(t *testing.T) {
	cases := []struct {
		reason, spec string
		want         topology.Names
	}{
		{"by default", ``, topology.Names{Work: "shop.billing", Parking: "shop.billing.parking"}},
		{"parts without names", `{workQueue: {deliveryLimit: 20}, parkingQueue: {backlogThreshold: 1}}`, topology.Names{Work: "shop.billing", Parking: "shop.billing.parking"}},
		{"parking follows the work queue", `workQueue: {name: orders.billing}`, topology.Names{Work: "orders.billing", Parking: "orders.billing.parking"}},
		{"both are chosen", `{workQueue: {name: w}, parkingQueue: {name: dead letters}}`, topology.Names{Work: "w", Parking: "dead letters"}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, topology.NamesOf("shop", "billing", parseSpec(t, tc.spec))); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesKnowTheirOwn(t *testing.T) {
	n := topology.Names{Work: "w", Parking: "w.parking"}
	cases := []struct {
		name         string
		rung         int
		wait         bool
		ownsExchange bool
	}{
		{name: "w"},
		{name: "w.parking"},
		{name: "w.dead", ownsExchange: true},
		{name: "w.park", ownsExchange: true},
		{name: "w.redrive", ownsExchange: true},
		{name: "w.retry", ownsExchange: true},
		{name: "w.retry.first", ownsExchange: true},
		{name: "w.retry.first.b", ownsExchange: true},
		{name: "w.retry.second"},
		{name: "w.return", ownsExchange: true},
		{name: "w.return.1", rung: 1, ownsExchange: true},
		{name: "w.return.10", rung: 10, ownsExchange: true},
		{name: "w.return.11"},
		{name: "w.return.0"},
		{name: "w.return.-1"},
		{name: "w.return.+1"},
		{name: "w.return.01"},
		{name: "w.return.1 "},
		{name: "w.return.99999999999999999999"},
		{name: "w.return."},
		{name: "W.return.1"},
		{name: "ww.return.1"},
		{name: "w.wait.1.5s", wait: true},
		{name: "w.wait.30s", wait: true},
		{name: "w.wait"},
		{name: "w.waiting.1.5s"},
		{name: "ww.wait.1.5s"},
		{name: ""},
	}
	for _, tc := range cases {
		if got := n.Rung(tc.name); got != tc.rung {
			t.Errorf("Rung(%q) = %d, want %d", tc.name, got, tc.rung)
		}
		if got := n.IsWait(tc.name); got != tc.wait {
			t.Errorf("IsWait(%q) = %t", tc.name, got)
		}
		if got := n.OwnsExchange(tc.name); got != tc.ownsExchange {
			t.Errorf("OwnsExchange(%q) = %t", tc.name, got)
		}
	}
}

// Whatever spec a subscription had: its exchanges are known as its own.
func TestNamesOwnAllThatIsCompiled(t *testing.T) {
	for name, in := range everySubscription(t) {
		compiled := compile(t, in)
		for _, o := range compiled.Objects {
			switch o := o.(type) {
			case topology.Exchange:
				if !compiled.Names.OwnsExchange(o.Name) {
					t.Errorf("%s: %s is not owned", name, o)
				}
			case topology.Queue:
				if got := compiled.Names.IsWait(o.Name); got != (o.Role == topology.RoleWait) {
					t.Errorf("%s: %s is a wait queue: %t", name, o, got)
				}
			}
		}
	}
}
