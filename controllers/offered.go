package controllers

import (
	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers/binding"
	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

// offered to consumers: where the work queue is.
func (r *SubscriptionReconciler) offered(sub *v1alpha1.ReliableSubscription) offered {
	return offered{
		object:     sub,
		generate:   sub.Spec.Consumer != nil && sub.Spec.Consumer.Credentials == v1alpha1.CredentialsGenerate,
		connection: sub.Status.Connection, binding: sub.Status.Binding, conditions: sub.Status.Conditions,
		offer: func(at broker.Endpoint) binding.Offer {
			return binding.Consumer(r.ClusterID, sub, at, topology.NamesOf(sub.Namespace, sub.Name, &sub.Spec))
		},
	}
}

// offered to publishers: where the exchange is.
func (r *TopicReconciler) offered(t *v1alpha1.Topic) offered {
	return offered{
		object:     t,
		generate:   t.Spec.Publisher != nil && t.Spec.Publisher.Credentials == v1alpha1.CredentialsGenerate,
		connection: t.Status.Connection, binding: t.Status.Binding, conditions: t.Status.Conditions,
		offer: func(at broker.Endpoint) binding.Offer {
			return binding.Publisher(r.ClusterID, t, at, topology.Topic{Name: t.Name, Spec: &t.Spec}.ExchangeName())
		},
	}
}
