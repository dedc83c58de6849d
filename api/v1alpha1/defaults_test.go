package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the schema fills in is stored. What may be left out to follow the rest
// of the spec (retry, names, the delivery limit) is not: a stored default
// would make a union unchangeable.
func TestDefaults(t *testing.T) {
	cases := []struct {
		reason, kind, spec string
		// want has the fields that the API server adds.
		want string
	}{
		{"a Broker", "Broker", ``, `
vhost: /
allowedNamespaces: {from: Same}
adoption: {from: Same}
syncPeriod: 30s`},
		{"a Broker that trusts an authority of its own", "Broker", `tls: {caSecretRef: {name: ca}}`, `
tls: {caSecretRef: {name: ca, key: ca.crt}}
vhost: /
allowedNamespaces: {from: Same}
adoption: {from: Same}
syncPeriod: 30s`},
		{"a Topic", "Topic", ``, `
type: topic
allowedNamespaces: {from: Same}
adoptionPolicy: Adopt
deletionPolicy: Retain`},
		{"a Topic with a catch-all", "Topic", `unroutable: {}`, `
type: topic
unroutable: {backlogThreshold: 1}
allowedNamespaces: {from: Same}
adoptionPolicy: Adopt
deletionPolicy: Retain`},
		{"a redrive", "Redrive", ``, `action: Move`},
		{"a subscription", "ReliableSubscription", ``, `
unconsumedThreshold: 10000
gating: Required
settings: Arguments
onImmutableDrift: Report
adoptionPolicy: Refuse
deletionPolicy: Retain`},
		{"a subscription with parts that have defaults of their own", "ReliableSubscription",
			`{workQueue: {}, parkingQueue: {}, sources: [{exchange: e, headers: {type: order}}], retry: {native: {minDelay: 1s, maxDelay: 1m}}}`, `
workQueue: {}
sources: [{exchange: e, headers: {type: order}}]
retry: {native: {minDelay: 1s, maxDelay: 1m}}
parkingQueue: {backlogThreshold: 1}
unconsumedThreshold: 10000
gating: Required
settings: Arguments
onImmutableDrift: Report
adoptionPolicy: Refuse
deletionPolicy: Retain`},
	}
	c := theCluster(t)
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			object := manifest(t, tc.kind, tc.spec)
			if err := c.tryCreate(t, object); err != nil {
				t.Fatal(err)
			}
			want := manifest(t, tc.kind, tc.want)
			if diff := cmp.Diff(want.Object["spec"], object.Object["spec"]); diff != "" {
				t.Errorf("spec as stored (-want +got):\n%s", diff)
			}
		})
	}
}
