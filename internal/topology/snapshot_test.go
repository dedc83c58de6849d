package topology_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/internal/topology"
)

func TestSnapshotBindings(t *testing.T) {
	plain := toQueue("e", "q")
	marked := matching(toQueue("e", "r"), topology.Arguments{topology.OwnerArgument: "o"})
	namesake := toExchange("f", "q")
	seen := seenWith(nil, plain, marked, namesake)

	if diff := cmp.Diff([]topology.Binding{plain, marked}, seen.BindingsFrom("e")); diff != "" {
		t.Errorf("from e (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]topology.Binding{plain}, seen.BindingsTo(topology.KindQueue, "q")); diff != "" {
		t.Errorf("to queue q (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]topology.Binding{namesake}, seen.BindingsTo(topology.KindExchange, "q")); diff != "" {
		t.Errorf("to exchange q (-want +got):\n%s", diff)
	}
	if !seen.HasBinding(toQueue("e", "r")) {
		t.Error("a binding with a mark routes as one without")
	}
	if seen.HasBinding(toExchange("e", "q")) {
		t.Error("a queue is not the exchange of its name")
	}
	if (&topology.Snapshot{}).HasBinding(plain) {
		t.Error("a snapshot without bindings has none")
	}
}

func TestArgumentInForce(t *testing.T) {
	queue := topology.SeenQueue{
		Arguments:       topology.Arguments{"x-dead-letter-exchange": "by argument"},
		EffectivePolicy: topology.Arguments{"dead-letter-exchange": "by policy", "overflow": "reject-publish", "single-active-consumer": true},
	}
	cases := []struct {
		reason, argument string
		want             any
	}{
		{"the argument beats the policy", "x-dead-letter-exchange", "by argument"},
		{"the policy where there is no argument", "x-overflow", "reject-publish"},
		{"neither", "x-dead-letter-strategy", nil},
		{"a policy has no such key, whatever it says", "x-single-active-consumer", nil},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			if got := queue.Argument(tc.argument); got != tc.want {
				t.Errorf("%s is %v, want %v", tc.argument, got, tc.want)
			}
		})
	}
}
