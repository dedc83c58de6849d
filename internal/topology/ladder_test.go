package topology_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/internal/topology"
)

func TestLadderOf(t *testing.T) {
	const w = "orders.billing"
	names := topology.Names{Work: w, Parking: w + ".parking"}
	cases := []struct {
		reason    string
		exchanges []string
		bindings  []topology.Binding
		want      topology.Ladder
	}{
		{"nothing yet", nil, nil, topology.Ladder{}},
		{"the highest rung counts, whatever the order", []string{w + ".return.2", w + ".return.10", w + ".return.1"}, nil,
			topology.Ladder{HighestRung: 10}},
		{"other exchanges are no rungs", []string{w + ".return", w + ".return.x", w + ".return.07", "other.return.3", w + ".retry"}, nil,
			topology.Ladder{}},
		{"a number that no ladder has was not made by us, and must not cost a million bindings", []string{w + ".return.11", w + ".return.1000000"}, nil,
			topology.Ladder{}},
		{"the first rung on its side", nil, []topology.Binding{toQueue(w+".retry.first", w+".wait.1.5s")},
			topology.Ladder{First: w + ".wait.1.5s"}},
		{"the first rung on the idle side", nil, []topology.Binding{toQueue(w+".retry.first.b", w+".wait.1.5s")},
			topology.Ladder{FirstIdle: w + ".wait.1.5s"}},
		{"both, in the middle of a change", nil, []topology.Binding{toQueue(w+".retry.first", w+".wait.1.5s"), toQueue(w+".retry.first.b", w+".wait.1.10s")},
			topology.Ladder{First: w + ".wait.1.5s", FirstIdle: w + ".wait.1.10s"}},
		{"the wait queue of a fixed delay", nil, []topology.Binding{toQueue(w+".retry.first", w+".wait.30s")},
			topology.Ladder{First: w + ".wait.30s"}},
		{"a queue of somebody else is no rung", nil, []topology.Binding{toQueue(w+".retry.first", "audit"), toQueue(w+".retry.first", w+".wait.1.5s")},
			topology.Ladder{First: w + ".wait.1.5s"}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			seen := &topology.Snapshot{Exchanges: map[string]topology.SeenExchange{}}
			for _, name := range tc.exchanges {
				seen.Exchanges[name] = topology.SeenExchange{Name: name}
			}
			seen.Bindings = topology.NewBindings(tc.bindings)
			if diff := cmp.Diff(tc.want, topology.LadderOf(names, seen)); diff != "" {
				t.Errorf("ladder (-want +got):\n%s", diff)
			}
		})
	}
}

func toQueue(exchange, queue string) topology.Binding {
	return topology.Binding{Source: exchange, Destination: queue, DestinationKind: topology.KindQueue}
}

// The first rung changes sides, so that no rejection finds neither or both.
func TestSideOfTheFirstRung(t *testing.T) {
	const first, idle = "orders.billing.retry.first", "orders.billing.retry.first.b"
	const wanted, other, third = "orders.billing.wait.1.5s", "orders.billing.wait.1.10s", "orders.billing.wait.30s"
	cases := []struct {
		reason string
		ladder topology.Ladder
		want   string
	}{
		{"a new subscription", topology.Ladder{}, first},
		{"nothing to change", topology.Ladder{First: wanted}, first},
		{"nothing to change on the idle side", topology.Ladder{FirstIdle: wanted}, idle},
		{"another delay", topology.Ladder{First: other}, idle},
		{"another delay the next time", topology.Ladder{FirstIdle: other}, first},
		{"another strategy", topology.Ladder{First: third}, idle},
		{"a change that was cut short goes on where it was", topology.Ladder{First: other, FirstIdle: wanted}, idle},
		{"a change that was taken back in the middle", topology.Ladder{First: wanted, FirstIdle: other}, first},
		{"a change that was changed in the middle: the first side still has the messages", topology.Ladder{First: other, FirstIdle: third}, idle},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			in := subscription(t, `{workQueue: {name: orders.billing}, retry: {backoff: {delays: [5s]}}}`)
			in.Ladder = tc.ladder
			var sides []string
			for _, o := range compile(t, in).Objects {
				if b, ok := o.(topology.Binding); ok && b.Destination == wanted {
					sides = append(sides, b.Source)
				}
			}
			if diff := cmp.Diff([]string{tc.want}, sides); diff != "" {
				t.Errorf("bound to (-want +got):\n%s", diff)
			}
		})
	}
}

// What still waits on a rung that was removed parks when it comes back and fails again.
func TestRemovedRungsPark(t *testing.T) {
	cases := []struct {
		reason string
		delays string
		before int
		want   []string
	}{
		{"no rung was removed", "5s, 30s, 5m", 3, []string{"orders.billing.return.3"}},
		{"a new ladder", "5s, 30s, 5m", 0, []string{"orders.billing.return.3"}},
		{"two were", "5s", 3, []string{"orders.billing.return.1", "orders.billing.return.2", "orders.billing.return.3"}},
		{"one was added", "5s, 30s, 5m, 1h", 3, []string{"orders.billing.return.4"}},
		{"as high as a ladder goes", "1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s", 10, []string{"orders.billing.return.9", "orders.billing.return.10"}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			in := subscription(t, `{workQueue: {name: orders.billing}, retry: {backoff: {delays: [`+tc.delays+`]}}}`)
			in.Ladder.HighestRung = tc.before
			var parks []string
			for _, o := range compile(t, in).Objects {
				b, ok := o.(topology.Binding)
				if ok && b.Source == "orders.billing.retry" && b.Destination == "orders.billing.park" {
					parks = append(parks, b.Arguments["x-last-death-exchange"].(string))
				}
			}
			if diff := cmp.Diff(tc.want, parks); diff != "" {
				t.Errorf("returns that park (-want +got):\n%s", diff)
			}
		})
	}
}

// The delay is in the name: a changed delay is another queue, and an equal one the same.
func TestWaitQueuesAreNamedAfterTheirDelay(t *testing.T) {
	in := subscription(t, `{workQueue: {name: w}, retry: {backoff: {delays: [60s, 1m, 90s, 1500ms]}}}`)
	var waits []string
	for _, o := range compile(t, in).Objects {
		if q, ok := o.(topology.Queue); ok && q.Role == topology.RoleWait {
			waits = append(waits, q.Name)
		}
	}
	if got, want := strings.Join(waits, " "), "w.wait.1.1m w.wait.2.1m w.wait.3.1m30s w.wait.4.1s500ms"; got != want {
		t.Errorf("wait queues %s, want %s", got, want)
	}
}
