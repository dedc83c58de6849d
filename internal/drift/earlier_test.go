package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/internal/drift"
)

// What an earlier spec, or an earlier name of the resource, left is told as
// this resource's: messages must not vanish from the status with a rename.
func TestQueuesOfAnEarlierSpec(t *testing.T) {
	const (
		renamedParking = `{workQueue: {name: W}, retry: {immediate: {}}, parkingQueue: {name: P}}`
		otherLadder    = `{workQueue: {name: W}, retry: {backoff: {delays: [1m]}}}`
	)
	abandoned := func(owner string) bool { return owner == other }
	cases := []struct {
		reason string
		owner  string
		spec   string
		claims drift.Claims
		want   []string
	}{
		{"the same spec", mark, threeDelays, drift.Claims{}, nil},
		{"another ladder", mark, otherLadder, drift.Claims{}, []string{"W.wait.1.5s", "W.wait.2.30s", "W.wait.3.5m"}},
		{"another parking queue, and no ladder", mark, renamedParking, drift.Claims{}, []string{"W.parking", "W.wait.1.5s", "W.wait.2.30s", "W.wait.3.5m"}},
		{"a cluster that we inherit from", "old/shop/billing", otherLadder, drift.Claims{Inherited: []string{"old/shop/billing"}}, []string{"W.wait.1.5s", "W.wait.2.30s", "W.wait.3.5m"}},
		{"the resource was renamed", other, otherLadder, drift.Claims{Adopt: true, Abandoned: abandoned}, []string{"W.wait.1.5s", "W.wait.2.30s", "W.wait.3.5m"}},
		{"another resource's", other, otherLadder, drift.Claims{Adopt: true}, nil},
		{"nobody's: a name alone says nothing", "", otherLadder, drift.Claims{Adopt: true}, nil},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			r := rabbitWith(subscription(t, threeDelays)).marked(tc.owner)
			got := drift.Compare(subscriptionOn(t, tc.spec, r), r.snapshot(), tc.claims)
			var names []string
			for _, q := range got.Earlier {
				names = append(names, q.Name)
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("earlier queues (-want +got):\n%s", diff)
			}
		})
	}
}
