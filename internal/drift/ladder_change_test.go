package drift_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

const (
	oneDelay      = `{workQueue: {name: W}, retry: {backoff: {delays: [5s]}}}`
	anotherDelay  = `{workQueue: {name: W}, retry: {backoff: {delays: [10s]}}}`
	otherLastRung = `{workQueue: {name: W}, retry: {backoff: {delays: [5s, 30s, 1h]}}}`
	allOther      = `{workQueue: {name: W}, retry: {backoff: {delays: [7s, 40s, 2m, 1h]}}}`
	fixedDelay    = `{workQueue: {name: W}, retry: {fixedDelay: {delay: 30s, maxAttempts: 5}}}`
	native        = `{workQueue: {name: W}, retry: {native: {minDelay: 1s, maxDelay: 1m}}}`
)

// Plans as text, to be read in a review: what a change of the spec does to a live broker.
func TestGoldenPlans(t *testing.T) {
	cases := []struct {
		title, reason string
		before, after string
		sources       []topology.Source
	}{
		{title: "a rung in the middle", reason: "unbind, then bind: in between a rejection waits the first delay once more, and nothing is doubled",
			before: threeDelays, after: `{workQueue: {name: W}, retry: {backoff: {delays: [5s, 45s, 5m]}}}`},
		{title: "the last rung", reason: "as in the middle",
			before: threeDelays, after: otherLastRung},
		{title: "the first rung", reason: "bind on the idle side, then unbind: at no moment neither or both take a rejection",
			before: oneDelay, after: anotherDelay},
		{title: "every rung, and one more", reason: "the rungs first, the first one last",
			before: threeDelays, after: allOther},
		{title: "a shorter ladder", reason: "what waits on the rungs that go parks when it comes back and fails again",
			before: threeDelays, after: oneDelay},
		{title: "from backoff to immediate", reason: "rejections are kept out before the first rung goes",
			before: threeDelays, after: immediate},
		{title: "from immediate to backoff", reason: "rejections are let in when all of the ladder is there",
			before: immediate, after: oneDelay},
		{title: "from backoff to a fixed delay", reason: "the first rung changes sides",
			before: threeDelays, after: fixedDelay},
		{title: "another source", reason: "bind, then unbind: nothing is missed",
			before: immediate, after: immediate, sources: []topology.Source{{Exchange: "orders", Type: "topic", RoutingKeys: []string{"order.#"}}}},
		{title: "another parking queue", reason: "bind, then unbind: nothing is lost; the old queue keeps what it holds",
			before: immediate, after: `{workQueue: {name: W}, retry: {immediate: {}}, parkingQueue: {name: W.dead-letter}}`},
		{title: "settings into a policy", reason: "the arguments of a queue cannot be taken away, and say the same",
			before: immediate, after: `{workQueue: {name: W}, retry: {immediate: {}}, settings: Policy}`},
		{title: "settings out of a policy", reason: "nothing: the queue lives by the policy, which stays",
			before: `{workQueue: {name: W}, retry: {immediate: {}}, settings: Policy}`, after: immediate},
	}
	var b strings.Builder
	b.WriteString("# what a change of the spec does to a live broker\n")
	for _, tc := range cases {
		r := rabbitWith(subscription(t, tc.before))
		after := subscriptionOn(t, tc.after, r, tc.sources...)
		plan := drift.Compare(after, r.snapshot(), nothingOwned).Plan
		fmt.Fprintf(&b, "\n## %s\n# %s\n%s\n", tc.title, tc.reason, plan)
	}
	assertGolden(t, "plans", b.String())
}

func assertGolden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; run with -update if that is meant (-want +got):\n%s", path, diff)
	}
}

// ladders that are changed into each other.
var ladders = []string{immediate, native, fixedDelay, oneDelay, anotherDelay, threeDelays, otherLastRung, allOther}

// Whatever a ladder is changed into: after each single step of the plan a
// rejected message goes to one queue, not to none and not to two, and what a
// crash left over parks. After the last step there is nothing more to do.
func TestLadderChangesUnderFire(t *testing.T) {
	for _, before := range ladders {
		for _, after := range ladders {
			r := rabbitWith(subscription(t, before))
			change(t, r, after, fmt.Sprintf("from %s to %s", before, after))
		}
	}
}

// A change that is cut short at any step, and then changed once more, is as safe.
func TestLadderChangesThatAreCutShort(t *testing.T) {
	few := []string{immediate, fixedDelay, oneDelay, anotherDelay, threeDelays}
	for _, before := range few {
		for _, meant := range few {
			r := rabbitWith(subscription(t, before))
			for step := range planFor(t, r, meant) {
				for _, after := range few {
					r := rabbitWith(subscription(t, before))
					for _, action := range planFor(t, r, meant)[:step] {
						r.do(action)
					}
					change(t, r, after, fmt.Sprintf("from %s, %d steps to %s, then to %s", before, step, meant, after))
				}
			}
		}
	}
}

func planFor(t *testing.T, r *rabbit, spec string) drift.Plan {
	t.Helper()
	return drift.Compare(subscriptionOn(t, spec, r), r.snapshot(), nothingOwned).Plan
}

// change carries out the plan for a spec and looks after each step.
func change(t *testing.T, r *rabbit, spec, what string) {
	t.Helper()
	for _, action := range planFor(t, r, spec) {
		r.do(action)
		if hazard := hazard(r); hazard != "" {
			t.Errorf("%s: after %q: %s", what, action, hazard)
		}
	}
	if left := planFor(t, r, spec); len(left) > 0 {
		t.Errorf("%s: there is still to do:\n%s", what, left)
	}
}

// hazard gives what would go wrong for a message that dies in the work queue now, or "".
func hazard(r *rabbit) string {
	seen := r.snapshot()
	entrances := []string{"orders"}
	for _, b := range seen.BindingsTo(topology.KindQueue, "W") {
		entrances = append(entrances, b.Source)
	}
	for _, through := range entrances {
		for _, reason := range []string{"rejected", "delivery_limit", "expired"} {
			reached := topology.Resolve(seen, "W.dead", topology.Message{Headers: map[string]string{"x-last-death-reason": reason, "x-last-death-exchange": through}})
			if len(reached) != 1 || (reason != "rejected" && reached[0] != "W.parking") {
				return fmt.Sprintf("what came through %q and dies by %s goes to %q", through, reason, reached)
			}
		}
	}
	return ""
}

// A wait queue that no spec wants is kept until it is known to be empty, and
// long enough for counters that come late.
func TestDrainedWaitQueues(t *testing.T) {
	drainedFor := func(d time.Duration) func(*topology.SeenQueue) {
		return func(q *topology.SeenQueue) { q.Trouble.DrainedSince = now.Add(-d) }
	}
	cases := []struct {
		reason string
		change func(*topology.SeenQueue)
		gone   bool
	}{
		{"not known to be empty", func(*topology.SeenQueue) {}, false},
		{"empty for a moment", drainedFor(0), false},
		{"not long enough for late counters", drainedFor(9*time.Second + 999*time.Millisecond), false},
		{"empty long enough", drainedFor(10 * time.Second), true},
		{"empty for long", drainedFor(time.Hour), true},
		{"it bears no mark", func(q *topology.SeenQueue) {
			drainedFor(time.Hour)(q)
			delete(q.Arguments, topology.OwnerArgument)
		}, false},
		{"it bears another's mark", func(q *topology.SeenQueue) {
			drainedFor(time.Hour)(q)
			q.Arguments[topology.OwnerArgument] = other
		}, false},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			r := rabbitWith(subscription(t, anotherDelay), subscription(t, oneDelay))
			r.unbind(func(b topology.Binding) bool { return b.Destination == "W.wait.1.10s" })
			r.setQueue("W.wait.1.10s", tc.change)
			want := ""
			if tc.gone {
				want = `delete drained queue "W.wait.1.10s"`
			}
			assertPlan(t, planFor(t, r, oneDelay), want)
		})
	}
}

// Only wait queues of an earlier ladder are ever deleted.
func TestNothingElseIsDeleted(t *testing.T) {
	r := rabbitWith(subscription(t, threeDelays))
	for name := range r.queues {
		r.setQueue(name, func(q *topology.SeenQueue) { q.Trouble.DrainedSince = now.Add(-time.Hour) })
	}
	r.queues["WW.wait.1.5s"] = r.queues["W.wait.1.5s"] // a neighbour's, by its name
	r.setQueue("WW.wait.1.5s", func(q *topology.SeenQueue) { q.Name = "WW.wait.1.5s" })
	assertPlan(t, planFor(t, r, threeDelays), "")
}

// Rungs go in their own time, the one that is still in use last.
func TestAShortenedLadderIsClearedAway(t *testing.T) {
	r := rabbitWith(subscription(t, threeDelays))
	for _, action := range planFor(t, r, oneDelay) {
		r.do(action)
	}
	r.setQueue("W.wait.3.5m", func(q *topology.SeenQueue) { q.Trouble.DrainedSince = now.Add(-time.Minute) })
	assertPlan(t, planFor(t, r, oneDelay), `delete drained queue "W.wait.3.5m"`)
	r.do(drift.DeleteDrained{Queue: "W.wait.3.5m"})
	assertPlan(t, planFor(t, r, oneDelay), "")

	// What comes back late still finds its way: to W, and at the next rejection to parking.
	seen := r.snapshot()
	for _, k := range []string{"W.return.2", "W.return.3"} {
		if got := topology.Resolve(seen, k, topology.Message{}); !slices.Equal(got, []string{"W"}) {
			t.Errorf("%s leads to %v", k, got)
		}
		if got := topology.Resolve(seen, "W.dead", topology.Message{Headers: map[string]string{"x-last-death-reason": "rejected", "x-last-death-exchange": k}}); !slices.Equal(got, []string{"W.parking"}) {
			t.Errorf("a rejection after %s leads to %v", k, got)
		}
	}
}

// Bindings that Warren did not make stay, on its own exchanges and on the work queue.
func TestForeignBindingsStay(t *testing.T) {
	want := subscription(t, threeDelays)
	r := rabbitWith(want)
	r.queues["audit"] = topology.SeenQueue{Name: "audit", Type: "quorum", Durable: true, Arguments: topology.Arguments{topology.OwnerArgument: other}}
	r.exchanges["events"] = topology.SeenExchange{Name: "events", Type: "fanout", Durable: true}
	for _, b := range []topology.Binding{
		{Source: "W.dead", Destination: "audit", DestinationKind: topology.KindQueue},
		{Source: "W.retry", Destination: "audit", DestinationKind: topology.KindQueue},
		{Source: "W.park", Destination: "audit", DestinationKind: topology.KindQueue},
		{Source: "W.park", Destination: "not-even-there", DestinationKind: topology.KindQueue},
		{Source: "W.retry.first", Destination: "events", DestinationKind: topology.KindExchange},
		{Source: "events", Destination: "W", DestinationKind: topology.KindQueue},
		{Source: "orders", Destination: "W", DestinationKind: topology.KindQueue, RoutingKey: "#"},
		{Source: "orders", Destination: "W", DestinationKind: topology.KindQueue, RoutingKey: "*", Arguments: topology.Arguments{topology.OwnerArgument: other}},
	} {
		r.declare(b)
	}
	assertPlan(t, planFor(t, r, threeDelays), "")
}
