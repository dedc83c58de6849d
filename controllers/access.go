package controllers

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// allows tells whether resources of namespace may use something that lives in
// home and grants use by a. Namespaces are read only where labels decide.
func allows(ctx context.Context, namespaces client.Reader, a v1alpha1.AllowedNamespaces, home, namespace string) (bool, error) {
	switch {
	case namespace == home:
		return true, nil
	case a.From == v1alpha1.NamespacesFromAll:
		return true, nil
	case a.From != v1alpha1.NamespacesFromSelector:
		return false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(a.Selector)
	if err != nil {
		// A selector that cannot be read allows nobody.
		return false, nil
	}
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := namespaces.Get(ctx, client.ObjectKey{Name: namespace}, ns); err != nil {
		return false, fmt.Errorf("read the labels of namespace %s: %w", namespace, err)
	}
	return selector.Matches(labels.Set(ns.Labels)), nil
}

// labelsDecide tells whether the labels of a namespace say who may use a
// Broker, or a Topic on it.
func labelsDecide(ctx context.Context, c client.Reader, broker client.ObjectKey) bool {
	var b v1alpha1.Broker
	if err := c.Get(ctx, broker, &b); err != nil || b.Spec.AllowedNamespaces.Selector != nil || b.Spec.Adoption.Selector != nil {
		return true
	}
	var topics v1alpha1.TopicList
	err := c.List(ctx, &topics, client.MatchingFields{brokerIndex: broker.String()}, readOnly)
	return err != nil || slices.ContainsFunc(topics.Items, func(t v1alpha1.Topic) bool { return t.Spec.AllowedNamespaces.Selector != nil })
}
