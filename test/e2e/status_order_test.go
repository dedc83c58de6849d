package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// completeManifest is all that a publisher and two consumers need, one
// document each; every name in it ends with the suffix.
func (w *tenant) completeManifest(suffix string) []string {
	broker, topic := "late-"+suffix, "orders-"+suffix
	hears := func(name string) string {
		return fmt.Sprintf(`
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: %s-%s}
spec:
  brokerRef: {name: %s}
  sources: [{topicRef: {name: %s}, routingKeys: ["#"]}]
  retry: {immediate: {}}
`, name, suffix, broker, topic)
	}
	documents := strings.Split(w.brokerManifest(broker, "1s"), "---")
	return append(documents, strings.TrimSuffix(topicOn(topic, broker), "---"), hears("billing"), hears("shipping"))
}

// arrivals are orders of n things: the two that are most unlike each other,
// and random ones by seed.
func arrivals(n, random int) [][]int {
	var all [][]int
	forwards, backwards := make([]int, n), make([]int, n)
	for i := range n {
		forwards[i], backwards[i] = i, n-1-i
	}
	all = append(all, forwards, backwards)
	for seed := range random {
		all = append(all, rand.New(rand.NewPCG(uint64(seed), 0)).Perm(n))
	}
	return all
}

// A manifest may be applied as one file or piece by piece, in any order:
// everything becomes Ready, and no error stays.
func TestAManifestMayArriveInAnyOrder(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		var names []string
		var oneFile strings.Builder
		pieces := make([]strings.Builder, 5)
		for i, order := range arrivals(len(pieces), 2) {
			inOneFile, piecemeal := fmt.Sprintf("f%d", i), fmt.Sprintf("p%d", i)
			names = append(names, inOneFile, piecemeal)
			for step, document := range order {
				oneFile.WriteString("---" + w.completeManifest(inOneFile)[document])
				pieces[step].WriteString("---" + w.completeManifest(piecemeal)[document])
			}
		}
		w.apply(oneFile.String())
		for step := range pieces {
			w.apply(pieces[step].String())
		}
		for _, suffix := range names {
			w.awaitReady("broker/late-" + suffix)
			w.awaitReady("topic/orders-" + suffix)
			w.awaitReady("rsub/billing-" + suffix)
			w.awaitReady("rsub/shipping-" + suffix)
		}
		for _, line := range w.logLines(`"level":"error"`) {
			t.Errorf("the operator logged an error: %s", line)
		}
	})
}
