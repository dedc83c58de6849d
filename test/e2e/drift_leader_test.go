package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// Quorum queues of a cluster that lost two of its three nodes have no leader.
// That is told with the members; nothing is declared or deleted, and all is
// well, with what was in the queue, when the nodes are back. Field case E9.
func TestE9QueuesWithoutALeader(t *testing.T) {
	t.Parallel()
	for _, series := range localenv.AllSeries() {
		t.Run(string(series), func(t *testing.T) {
			t.Parallel()
			cluster := ownCluster(t, series)
			w := newTenant(t, cluster.Nodes[0])
			w.apply(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}`))
			w.awaitSettled("rsub/billing")
			amqptest.Publish(t, w.application(), "", "billing", amqptest.Message("kept"))
			before, acts := w.onBroker(), len(w.logLines("acting on the broker"))

			for _, node := range cluster.Nodes[1:] {
				if err := node.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			const message = `queue "billing.parking" is minority (1 of 3 members online), queue "billing" is minority (1 of 3 members online): bring the broker's nodes back; it is not touched`
			w.awaitExactly("rsub/billing",
				expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonQueueUnavailable, message},
				expected{v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonQueueUnavailable, message},
				expected{v1alpha1.ConditionStalled, metav1.ConditionFalse, v1alpha1.ReasonHelpsItself, helpsItselfMessage})
			w.staysUntouched(before)

			for _, node := range cluster.Nodes[1:] {
				if err := node.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			w.awaitReady("rsub/billing")
			w.awaitExactly("rsub/billing", asDeclared)
			if now := w.logLines("acting on the broker"); len(now) != acts {
				t.Errorf("the operator acted:\n%s", now[acts:])
			}
			amqptest.AwaitReady(t, w.application(), "billing", 1)
			w.staysUntouched(before)
		})
	}
}

// ownCluster has three nodes, which a test may kill.
func ownCluster(t *testing.T, series localenv.Series) *localenv.Cluster {
	t.Helper()
	cluster, err := localenv.StartCluster(t.Context(), t.TempDir(), series, 3, localenv.RabbitMQOptions{})
	if err != nil {
		t.Fatalf("a cluster of RabbitMQ %s: %v", series, err)
	}
	t.Cleanup(func() {
		for _, node := range cluster.Nodes {
			_ = node.Kill() // Nobody needs its data.
		}
		_ = cluster.Stop()
	})
	return cluster
}
