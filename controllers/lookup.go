package controllers

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// lookup finds what a resource refers to, and whether it may.
type lookup struct {
	client client.Reader
	// namespaces reads the labels of namespaces.
	namespaces client.Reader
	brokers    *Brokers
	clusterID  string
}

// view gives the last reading of the Broker that a resource refers to.
// Neither a view nor a problem means that the broker has not been read yet.
func (l lookup) view(ctx context.Context, namespace string, ref v1alpha1.BrokerReference) (*View, *Problem, error) {
	key := brokerKey(namespace, ref)
	var b v1alpha1.Broker
	err := l.client.Get(ctx, key, &b)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, nil, err
	}
	if p, err := l.permit(ctx, "Broker", key, namespace, err == nil, b.Spec.AllowedNamespaces, v1alpha1.ReasonBrokerNotFound); p != nil || err != nil {
		return nil, p, err
	}
	view, ok := l.brokers.Get(key)
	if !ok {
		return nil, nil, nil
	}
	if p := view.Problem; p != nil {
		return &view, aboutBroker(key, p), nil
	}
	return &view, nil, nil
}

// aboutBroker is a Broker's problem as what is on it tells it.
func aboutBroker(key types.NamespacedName, p *Problem) *Problem {
	about := *p
	about.Message = "Broker " + key.String() + ": " + p.Message
	if p.Reason == v1alpha1.ReasonUnsupportedVersion {
		about.Reason = v1alpha1.ReasonUnsupportedByBroker
	}
	return &about
}

// permit says whether something may be used from a namespace. Of another
// namespace, what does not exist and what does not allow us read alike.
func (l lookup) permit(ctx context.Context, kind string, key types.NamespacedName, from string, exists bool, grant v1alpha1.AllowedNamespaces, notFound string) (*Problem, error) {
	if !exists && key.Namespace == from {
		return gone(notFound, "%s %q does not exist in namespace %q: create it, or correct the reference", kind, key.Name, key.Namespace), nil
	}
	allowed := false
	if exists {
		var err error
		if allowed, err = allows(ctx, l.namespaces, grant, key.Namespace, from); err != nil {
			return nil, err
		}
	}
	if !allowed {
		p := problem(v1alpha1.ReasonNotAllowed,
			"%s %s does not exist or does not allow namespace %q: its owner can allow it in spec.allowedNamespaces", kind, key, from)
		p.Gone = !exists
		return p, nil
	}
	return nil, nil
}

// topic finds a Topic that a resource of a namespace names as a source.
func (l lookup) topic(ctx context.Context, namespace string, ref v1alpha1.TopicReference) (*v1alpha1.Topic, *Problem, error) {
	key := topicKey(namespace, ref)
	var t v1alpha1.Topic
	err := l.client.Get(ctx, key, &t)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, nil, err
	}
	p, permitErr := l.permit(ctx, "Topic", key, namespace, err == nil, t.Spec.AllowedNamespaces, v1alpha1.ReasonTopicNotDeclared)
	if p != nil || permitErr != nil {
		return nil, p, permitErr
	}
	return &t, nil, nil
}
