package topology_test

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// Whatever comes past the API server: a spec is refused or becomes a sound
// topology, and nothing panics. The seeds run with every test.
func FuzzCompile(f *testing.F) {
	seeds := []string{
		``,
		`retry: {}`,
		`retry: {backoff: {delays: []}}`,
		`retry: {backoff: {delays: [0s, -5s, 1d, "", 99999h]}}`,
		`retry: {backoff: {delays: [1s]}, native: {minDelay: 1s, maxDelay: 1m}}`,
		`retry: {fixedDelay: {delay: 1s, maxAttempts: 0}}`,
		`retry: {fixedDelay: {delay: 1s, maxAttempts: -2147483648}}`,
		`retry: {fixedDelay: {delay: 99999h99999h, maxAttempts: 2147483647}}`,
		`retry: {native: {minDelay: 0s, maxDelay: 0s}}`,
		`retry: {native: {minDelay: 1ns, maxDelay: 1h}}`,
		`retry: {native: {minDelay: 1h, maxDelay: 1s}}`,
		`{workQueue: {deliveryLimit: 2147483647}, retry: {native: {minDelay: 1ms, maxDelay: 99999h}}}`,
		`retry: {immediate: {}}`,
		`workQueue: {deliveryLimit: -1}`,
		`workQueue: {name: w, replicas: -1, maxLength: -1, consumerTimeout: never, leaderLocator: Somewhere, deadLetterStrategy: Hope}`,
		`{settings: Policy, workQueue: {name: "(.*[+"}}`,
		`parkingQueue: {name: shop.billing}`,
		`{workQueue: {name: w}, parkingQueue: {name: w.return.1}}`,
	}
	for _, seed := range seeds {
		spec, err := yaml.YAMLToJSON([]byte(seed))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(spec), 4, 3, 0, "", "")
		f.Add(string(spec), 4, 0, 10, "shop.billing.wait.1.5s", "w.wait.1s")
	}
	f.Fuzz(func(t *testing.T, raw string, major, minor, rung int, first, idle string) {
		var spec v1alpha1.ReliableSubscriptionSpec
		if json.Unmarshal([]byte(raw), &spec) != nil {
			return // not a spec: nothing to compile
		}
		in := topology.Subscription{
			Namespace: "shop", Name: "billing", Owner: "cluster/shop/billing", Spec: &spec,
			Sources: []topology.Source{orders},
			Broker:  topology.Version{Major: major, Minor: minor},
			Ladder:  topology.Ladder{HighestRung: rung % 11, First: first, FirstIdle: idle},
		}
		compiled, err := topology.Compile(in)
		if err != nil {
			return
		}
		for _, i := range invariants {
			if breach := i.breach(compiled); breach != "" {
				t.Errorf("%s: %s", i.rule, breach)
			}
		}
	})
}
