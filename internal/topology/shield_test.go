package topology_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/internal/topology"
)

// ownMark is ours, as in the shield's tests.
const ownMark = "cluster/shop/billing"

func isOwnMark(mark string) bool { return strings.HasPrefix(mark, "cluster/") }

// vhostWith has quorum queues of these names. A trailing + marks one of ours
// that keeps messages, a trailing ! a work queue of ours.
func vhostWith(names ...string) *topology.Snapshot {
	seen := &topology.Snapshot{Queues: map[string]topology.SeenQueue{}}
	for _, name := range names {
		q := topology.SeenQueue{Type: "quorum", Arguments: topology.Arguments{"x-delivery-limit": topology.Unlimited}}
		if bare, ours := strings.CutSuffix(name, "+"); ours {
			name, q.Arguments[topology.OwnerArgument] = bare, ownMark
		}
		if bare, work := strings.CutSuffix(name, "!"); work {
			name, q.Arguments = bare, topology.Arguments{topology.OwnerArgument: ownMark, "x-delivery-limit": int64(20)}
		}
		seen.Queues[name] = q
	}
	return seen
}

func TestShield(t *testing.T) {
	const kept = `.*\.(?:parking|unroutable|wait\.(?:[0-9]+\.)?(?:[0-9]+(?:h|m|s|ms))+)`
	cases := []struct {
		reason string
		seen   *topology.Snapshot
		want   string
	}{
		{"before there is any queue", vhostWith(), "^(?:" + kept + ")$"},
		{"queues of ours with Warren's names", vhostWith("W!", "W.parking+", "W.wait.1.5s+", "W.wait.2.1m30s+", "W.wait.500ms+", "orders.unroutable+"), "^(?:" + kept + ")$"},
		{"a parking queue of another name", vhostWith("W!", "event.dead-letter+"), `^(?:` + kept + `|event\.dead-letter)$`},
		{"somebody's queue with such a name", vhostWith("theirs.parking", "theirs.wait.1.5s", "theirs"), `^(?!(?:theirs\.parking|theirs\.wait\.1\.5s)$)(?:` + kept + `)$`},
		{"a work queue with such a name", vhostWith("lot.parking!", "lot.parking.parking+"), `^(?!(?:lot\.parking)$)(?:` + kept + `)$`},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			got, unfitting := topology.Shield("shield", tc.seen, isOwnMark)
			want := topology.Policy{Name: "shield", Pattern: tc.want, ApplyTo: "quorum_queues", Priority: 1<<31 - 1, Definition: topology.Arguments{"overflow": "reject-publish"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("policy (-want +got):\n%s", diff)
			}
			if len(unfitting) > 0 {
				t.Errorf("did not fit: %v", unfitting)
			}
		})
	}
}

// RabbitMQ 4.3 refuses a pattern of more than 1,024 bytes: what does not fit is told.
func TestAShieldThatIsTooSmall(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("a-parking-queue-of-its-own-name-%02d+", i))
	}
	names = append(names, "theirs.parking")
	got, unfitting := topology.Shield("shield", vhostWith(names...), isOwnMark)
	if len(got.Pattern) > 1024 {
		t.Errorf("the pattern has %d bytes", len(got.Pattern))
	}
	if !strings.Contains(got.Pattern, `theirs\.parking`) {
		t.Errorf("somebody's queue is shielded: %s", got.Pattern)
	}
	if fitting := strings.Count(got.Pattern, "its-own-name"); fitting == 0 || fitting+len(unfitting) != 100 {
		t.Errorf("%d names are in the pattern and %d are told, want 100 in all", fitting, len(unfitting))
	}
}
