package controllers

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
)

// RabbitMQ's own cluster operator, as far as Warren reads its resource.
var rabbitmqClusterKind = schema.GroupVersionKind{Group: "rabbitmq.com", Version: "v1beta1", Kind: "RabbitmqCluster"}

const allowedNamespacesAnnotation = "rabbitmq.com/topology-allowed-namespaces"

// clusterConfig takes host, AMQP port and credentials from the default user's
// Secret of a RabbitmqCluster, and the management port, which that does not
// have, from whether the cluster speaks TLS.
func (r *BrokerReconciler) clusterConfig(ctx context.Context, b *v1alpha1.Broker) (broker.Config, *Problem, error) {
	cluster, p, err := r.cluster(ctx, b)
	if p != nil || err != nil {
		return broker.Config{}, p, err
	}
	secretName, _, _ := unstructured.NestedString(cluster.Object, "status", "binding", "name")
	if secretName == "" {
		return broker.Config{}, problem(v1alpha1.ReasonClusterNotFound,
			"RabbitmqCluster %s/%s has no status.binding yet: its operator has not made the default user's Secret", cluster.GetNamespace(), cluster.GetName()), nil
	}
	secret, p, err := r.credentials(ctx, cluster.GetNamespace(), secretName, "host", "port", "username", "password")
	if p != nil || err != nil {
		return broker.Config{}, p, err
	}
	config := broker.Config{
		AMQPURL:       "amqp://" + net.JoinHostPort(secret["host"], secret["port"]),
		ManagementURL: "http://" + net.JoinHostPort(secret["host"], "15672"),
		Vhost:         b.Spec.Vhost,
		Username:      secret["username"],
		Password:      secret["password"],
	}
	if serverCertificate, _, _ := unstructured.NestedString(cluster.Object, "spec", "tls", "secretName"); serverCertificate != "" {
		config.AMQPURL = "amqps://" + net.JoinHostPort(secret["host"], secret["port"])
		config.ManagementURL = "https://" + net.JoinHostPort(secret["host"], "15671")
	}
	ca, err := r.clusterCA(ctx, cluster)
	if err != nil {
		return broker.Config{}, nil, err
	}
	config.TLS, p, err = r.tls(ctx, b, ca)
	return config, p, err
}

// clusterCA is the authority that a RabbitmqCluster names, or that comes with
// its certificate, as cert-manager has it; "" where there is none.
func (r *BrokerReconciler) clusterCA(ctx context.Context, cluster *unstructured.Unstructured) (string, error) {
	for _, field := range []string{"caSecretName", "secretName"} {
		name, _, _ := unstructured.NestedString(cluster.Object, "spec", "tls", field)
		if name == "" {
			continue
		}
		var s corev1.Secret
		err := r.Secrets.Get(ctx, client.ObjectKey{Namespace: cluster.GetNamespace(), Name: name}, &s)
		switch ca := string(s.Data[corev1.ServiceAccountRootCAKey]); {
		case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
		case err != nil:
			return "", fmt.Errorf("read Secret %s/%s: %w", cluster.GetNamespace(), name, err)
		case ca != "":
			return ca, nil
		}
	}
	return "", nil
}

// cluster reads the RabbitmqCluster. One of another namespace that does not
// exist and one that does not allow us read alike.
func (r *BrokerReconciler) cluster(ctx context.Context, b *v1alpha1.Broker) (*unstructured.Unstructured, *Problem, error) {
	ref := b.Spec.RabbitmqClusterRef
	key := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
	if key.Namespace == "" {
		key.Namespace = b.Namespace
	}
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(rabbitmqClusterKind)
	err := r.Secrets.Get(ctx, key, cluster)
	foreign := key.Namespace != b.Namespace
	switch {
	case meta.IsNoMatchError(err):
		return nil, problem(v1alpha1.ReasonClusterNotFound, "this cluster knows no RabbitmqCluster: install RabbitMQ's cluster operator, or give amqp, management and credentialsSecretRef"), nil
	case foreign && (apierrors.IsNotFound(err) || err == nil && !allowsTopology(cluster, b.Namespace)):
		p := problem(v1alpha1.ReasonNotAllowed, "RabbitmqCluster %s does not exist or does not name namespace %q in its annotation %s", key, b.Namespace, allowedNamespacesAnnotation)
		p.Gone = apierrors.IsNotFound(err)
		return nil, p, nil
	case apierrors.IsNotFound(err):
		return nil, gone(v1alpha1.ReasonClusterNotFound, "RabbitmqCluster %s does not exist", key), nil
	case err != nil:
		return nil, nil, fmt.Errorf("read RabbitmqCluster %s: %w", key, err)
	}
	return cluster, nil, nil
}

func allowsTopology(cluster *unstructured.Unstructured, namespace string) bool {
	names := strings.Split(cluster.GetAnnotations()[allowedNamespacesAnnotation], ",")
	return slices.ContainsFunc(names, func(n string) bool {
		n = strings.TrimSpace(n)
		return n == "*" || n == namespace
	})
}
