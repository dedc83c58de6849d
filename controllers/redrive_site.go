package controllers

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// site is where a Redrive works: an established subscription on a broker that
// was read.
type site struct {
	sub   *v1alpha1.ReliableSubscription
	names topology.Names
	view  *View
	// marks that queues of the subscription bear.
	marks []string
}

// site finds it, or says what keeps the Redrive from working there. Neither
// means that the broker has not been read yet.
func (r *RedriveReconciler) site(ctx context.Context, rd *v1alpha1.Redrive) (*site, *Problem, error) {
	switch {
	case rd.Spec.Suspend:
		return nil, problem(v1alpha1.ReasonSuspended, "spec.suspend is true: set it to false to go on"), nil
	case rd.Annotations[v1alpha1.PausedAnnotation] == "true":
		return nil, problem(v1alpha1.ReasonPaused, "annotation %s keeps Warren from writing to the broker for it", v1alpha1.PausedAnnotation), nil
	}
	var sub v1alpha1.ReliableSubscription
	key := subscriptionKey(rd)
	if err := r.Client.Get(ctx, key, &sub); apierrors.IsNotFound(err) {
		return nil, problem(v1alpha1.ReasonSubscriptionNotFound, "ReliableSubscription %q does not exist in namespace %q: create it, or delete this Redrive", key.Name, key.Namespace), nil
	} else if err != nil {
		return nil, nil, err
	}
	view, p, err := r.lookup().view(ctx, sub.Namespace, sub.Spec.BrokerRef)
	if err != nil || p != nil || view == nil {
		return nil, p, err
	}
	if p := notEstablished(&sub); p != nil {
		return nil, p, nil
	}
	s := &site{sub: &sub, view: view, names: topology.NamesOf(sub.Namespace, sub.Name, &sub.Spec), marks: []string{ownerMark(r.ClusterID, &sub)}}
	for _, id := range view.Broker.Spec.AcceptedOwners {
		s.marks = append(s.marks, ownerMark(id, &sub))
	}
	return s, nil, nil
}

func subscriptionKey(rd *v1alpha1.Redrive) client.ObjectKey {
	return client.ObjectKey{Namespace: rd.Namespace, Name: rd.Spec.SubscriptionRef.Name}
}

func notEstablished(sub *v1alpha1.ReliableSubscription) *Problem {
	c := newConditionSet(0, sub.Status.Conditions).get(v1alpha1.ConditionEstablished)
	switch {
	case !sub.DeletionTimestamp.IsZero():
		return problem(v1alpha1.ReasonSubscriptionNotEstablished, "ReliableSubscription %q is being deleted", sub.Name)
	case c.Status == metav1.ConditionTrue && c.ObservedGeneration == sub.Generation:
		return nil
	case c.Reason == "" || c.ObservedGeneration != sub.Generation:
		return problem(v1alpha1.ReasonSubscriptionNotEstablished, "ReliableSubscription %q is not established yet", sub.Name)
	}
	return problem(v1alpha1.ReasonSubscriptionNotEstablished, "ReliableSubscription %q is not established (%s): %s", sub.Name, c.Reason, c.Message)
}

// alarm: under one RabbitMQ takes nothing from publishers.
func (s *site) alarm(rd *v1alpha1.Redrive) *Problem {
	if rd.Spec.DryRun || rd.Spec.Action == v1alpha1.RedriveDiscard {
		return nil
	}
	if alarms := alarmSentence(brokerNodes(s.view.Observation.Info)); alarms != "" {
		return blockedByAlarm(alarms)
	}
	return nil
}

func blockedByAlarm(alarm string) *Problem {
	return problem(v1alpha1.ReasonResourceAlarm, "RabbitMQ takes no messages (%s): it goes on by itself when that is over; see condition ResourceAlarm of the Broker", alarm)
}

// queue is where the messages are taken from.
func (s *site) queue(rd *v1alpha1.Redrive) (string, *Problem) {
	from := rd.Spec.From
	if from == "" || from == s.names.Parking {
		return s.names.Parking, nil
	}
	if from == s.names.Work {
		return "", problem(v1alpha1.ReasonInvalidSpec, "spec.from is %q, the work queue itself: what is in it need not be brought back", from)
	}
	seen, there := s.view.Observation.Snapshot.Queues[from]
	if !there {
		return "", problem(v1alpha1.ReasonQueueNotFound, "spec.from: the broker has no queue %q", from)
	}
	for _, mark := range s.marks {
		if seen.Arguments.Owner() == mark {
			return from, nil
		}
	}
	return "", problem(v1alpha1.ReasonNotOwned, "spec.from: queue %q does not bear the owner's mark of ReliableSubscription %q, so that its messages are not its own to move", from, s.sub.Name)
}

// rival is another Redrive of the same subscription whose turn it is: the one
// that is at work, else the oldest.
func (r *RedriveReconciler) rival(ctx context.Context, rd *v1alpha1.Redrive) (*Problem, error) {
	own := client.ObjectKeyFromObject(rd)
	if busy := r.runs.at(subscriptionKey(rd)); busy != nil {
		if busy.key == own {
			return nil, nil
		}
		return behind(busy.key.Name), nil
	}
	var all v1alpha1.RedriveList
	if err := r.Client.List(ctx, &all, client.InNamespace(rd.Namespace), client.MatchingFields{subscriptionIndex: subscriptionKey(rd).String()}); err != nil {
		return nil, err
	}
	var first *v1alpha1.Redrive
	for i := range all.Items {
		if other := &all.Items[i]; wantsTurn(other) && older(other, rd) && (first == nil || older(other, first)) {
			first = other
		}
	}
	if first == nil {
		return nil, nil
	}
	return behind(first.Name), nil
}

func wantsTurn(rd *v1alpha1.Redrive) bool {
	return !finished(rd) && !rd.Spec.Suspend && rd.Annotations[v1alpha1.PausedAnnotation] != "true"
}

func behind(name string) *Problem {
	return problem(v1alpha1.ReasonWaitingForRedrive, "Redrive %q of the same subscription comes first: it goes on when that one is finished, suspended or deleted", name)
}
