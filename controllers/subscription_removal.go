package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

func (r *SubscriptionReconciler) removable(sub *v1alpha1.ReliableSubscription) removable {
	policy := sub.Spec.DeletionPolicy
	return removable{
		Object: sub, brokerRef: sub.Spec.BrokerRef, adoption: sub.Spec.AdoptionPolicy,
		retain:       policy == "" || policy == v1alpha1.DeletionRetain,
		withMessages: policy == v1alpha1.DeletionDelete,
		revoke:       r.revocation(r.offered(sub)),
		compile: func(version topology.Version) (*topology.Topology, error) {
			// Sources are found by the mark on their bindings.
			return topology.Compile(topology.Subscription{
				Namespace: sub.Namespace, Name: sub.Name, Spec: &sub.Spec, Owner: ownerMark(r.ClusterID, sub), Broker: version,
			})
		},
		report: func(ctx context.Context, p *Problem) error { return r.reportTerminating(ctx, sub, p) },
	}
}

// reportTerminating says what a subscription waits for that is being deleted.
func (r *SubscriptionReconciler) reportTerminating(ctx context.Context, sub *v1alpha1.ReliableSubscription, p *Problem) error {
	status := sub.Status.DeepCopy()
	status.ObservedGeneration = sub.Generation
	set := newConditionSet(sub.Generation, status.Conditions)
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionEstablished} {
		set.set(kind, metav1.ConditionFalse, p.Reason, p.Message)
	}
	status.Conditions = set.conditions
	if equality.Semantic.DeepEqual(status, &sub.Status) {
		return nil
	}
	return applyStatus(ctx, r.Client, sub, "ReliableSubscription", status)
}
