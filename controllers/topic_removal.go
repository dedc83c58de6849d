package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

func (r *TopicReconciler) removable(t *v1alpha1.Topic) removable {
	return removable{
		Object: t, brokerRef: t.Spec.BrokerRef, adoption: topicAdoption(t),
		retain: t.Spec.DeletionPolicy != v1alpha1.TopicDeletionDelete,
		revoke: r.revocation(r.offered(t)),
		compile: func(topology.Version) (*topology.Topology, error) {
			return topology.CompileTopic(topology.Topic{Name: t.Name, Spec: &t.Spec, Owner: ownerMark(r.ClusterID, t)})
		},
		report: func(ctx context.Context, p *Problem) error { return r.reportTerminating(ctx, t, p) },
	}
}

// reportTerminating says what a topic waits for that is being deleted.
func (r *TopicReconciler) reportTerminating(ctx context.Context, t *v1alpha1.Topic, p *Problem) error {
	status := t.Status.DeepCopy()
	status.ObservedGeneration = t.Generation
	set := newConditionSet(t.Generation, status.Conditions)
	set.set(v1alpha1.ConditionReady, metav1.ConditionFalse, p.Reason, p.Message)
	status.Conditions = set.conditions
	if equality.Semantic.DeepEqual(status, &t.Status) {
		return nil
	}
	return applyStatus(ctx, r.Client, t, "Topic", status)
}
