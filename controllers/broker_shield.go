package controllers

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// shield is how the vhost's shield policy is, as far as it was read back.
type shield struct {
	// problem is why it is not as wanted, or nil.
	problem *Problem
	// unfitting queues have no room in its pattern.
	unfitting []string
}

// shieldName is this Broker's own: policies bear no mark, so that the name says whose it is.
func (r *BrokerReconciler) shieldName(b *v1alpha1.Broker) string {
	return fmt.Sprintf("%s%s.%s.%s", topology.ShieldPrefix, r.ClusterID, b.Namespace, b.Name)
}

// keepShield sets or removes the shield policy where a reading shows that it
// is not as the spec says. What came of it is told by the next reading.
func (r *BrokerReconciler) keepShield(ctx context.Context, b *v1alpha1.Broker, v View) *shield {
	if v.Problem != nil {
		return nil
	}
	ours := func(mark string) bool {
		cluster, _ := markedResource(mark)
		return cluster == r.ClusterID || slices.Contains(b.Spec.AcceptedOwners, cluster)
	}
	plan, unfitting := drift.PlanShield(r.shieldName(b), b.Spec.ShieldPolicy, v.Observation.Snapshot, ours)
	s := &shield{unfitting: unfitting}
	switch {
	case len(plan) == 0:
	case b.Annotations[v1alpha1.PausedAnnotation] == "true":
		s.problem = problem(v1alpha1.ReasonPaused, "annotation %s keeps Warren from this: %s", v1alpha1.PausedAnnotation, plan)
	default:
		s.problem = problem(v1alpha1.ReasonDeclaring, "policy %q is about to be set", r.shieldName(b))
		if err := execute(ctx, v.Session, plan); err != nil {
			log.FromContext(ctx).Info("the shield policy could not be kept", "reason", err.Error())
			s.problem = fromBroker(err)
			break
		}
		r.Brokers.Kick(client.ObjectKeyFromObject(b))
	}
	return s
}

func setShielded(set *conditionSet, b *v1alpha1.Broker, v View, s *shield) {
	const kind = v1alpha1.ConditionShielded
	switch {
	case !b.Spec.ShieldPolicy && (s == nil || s.problem == nil):
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonDisabled, "spec.shieldPolicy is false: a policy that matches wait or parking queues may expire or limit what they hold, and is reported")
	case s == nil:
		set.set(kind, metav1.ConditionUnknown, v.Problem.Reason, "the broker could not be read")
	case s.problem != nil:
		set.setProblem(kind, s.problem)
	case len(s.unfitting) > 0:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonNamesLeftOut, fmt.Sprintf(
			"a policy's pattern has room for 1,024 bytes, and these queues did not fit: %s; let parking queues have their default names", list(s.unfitting)))
	default:
		set.set(kind, metav1.ConditionTrue, v1alpha1.ReasonPolicyInForce, "policies of others are kept off wait, parking and unroutable queues")
	}
}
