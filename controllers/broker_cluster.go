package controllers

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

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

// clusterConfig takes host and credentials from the default user's Secret of
// a RabbitmqCluster, and the ports from whether it speaks TLS.
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
	secret, p, err := r.secret(ctx, cluster.GetNamespace(), secretName, "host", "username", "password")
	if p != nil || err != nil {
		return broker.Config{}, p, err
	}
	config := broker.Config{
		AMQPURL:       "amqp://" + net.JoinHostPort(secret["host"], "5672"),
		ManagementURL: "http://" + net.JoinHostPort(secret["host"], "15672"),
		Vhost:         b.Spec.Vhost,
		Username:      secret["username"],
		Password:      secret["password"],
	}
	if serverCertificate, _, _ := unstructured.NestedString(cluster.Object, "spec", "tls", "secretName"); serverCertificate != "" {
		config.AMQPURL = "amqps://" + net.JoinHostPort(secret["host"], "5671")
		config.ManagementURL = "https://" + net.JoinHostPort(secret["host"], "15671")
	}
	config.TLS, p, err = r.tls(ctx, b)
	return config, p, err
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
		return nil, problem(v1alpha1.ReasonNotAllowed, "RabbitmqCluster %s does not exist or does not name namespace %q in its annotation %s", key, b.Namespace, allowedNamespacesAnnotation), nil
	case apierrors.IsNotFound(err):
		return nil, problem(v1alpha1.ReasonClusterNotFound, "RabbitmqCluster %s does not exist", key), nil
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
