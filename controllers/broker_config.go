package controllers

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
)

// config reads all that is needed to connect. Secrets are read by GET at each
// call: none is watched or cached. The error is for an API server that failed.
func (r *BrokerReconciler) config(ctx context.Context, b *v1alpha1.Broker) (broker.Config, *Problem, error) {
	if b.Spec.RabbitmqClusterRef != nil {
		return r.clusterConfig(ctx, b)
	}
	config := broker.Config{
		AMQPURL:       b.Spec.AMQP.URL,
		ManagementURL: b.Spec.Management.URL,
		Vhost:         b.Spec.Vhost,
	}
	secret, p, err := r.credentials(ctx, b.Namespace, b.Spec.CredentialsSecretRef.Name, "username", "password")
	if p != nil || err != nil {
		return broker.Config{}, p, err
	}
	config.Username, config.Password = secret["username"], secret["password"]
	config.TLS, p, err = r.tls(ctx, b, "")
	return config, p, err
}

// credentials is secret for a username and a password, both of which must be
// fit for AMQP and HTTP.
func (r *BrokerReconciler) credentials(ctx context.Context, namespace, name string, keys ...string) (map[string]string, *Problem, error) {
	values, p, err := r.secret(ctx, namespace, name, keys...)
	if p == nil && err == nil && strings.Contains(values["username"], ":") {
		p = problem(v1alpha1.ReasonSecretInvalid,
			"the username in Secret %q in namespace %q has a colon, at which the management API (HTTP Basic authentication) would end it: use a RabbitMQ user without one; a password may have any character", name, namespace)
	}
	return values, p, err
}

// secret reads a Secret that must have the keys. A newline at a value's end
// is dropped: it comes from how the Secret was made, and no credential ends with one.
func (r *BrokerReconciler) secret(ctx context.Context, namespace, name string, keys ...string) (map[string]string, *Problem, error) {
	var s corev1.Secret
	err := r.Secrets.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &s)
	switch {
	case apierrors.IsNotFound(err):
		return nil, gone(v1alpha1.ReasonSecretNotFound, "Secret %q does not exist in namespace %q: create it with the keys %s", name, namespace, strings.Join(keys, " and ")), nil
	case apierrors.IsForbidden(err):
		return nil, problem(v1alpha1.ReasonSecretNotFound, "Warren may not read Secret %q in namespace %q: grant its service account get on secrets there", name, namespace), nil
	case err != nil:
		return nil, nil, fmt.Errorf("read Secret %s/%s: %w", namespace, name, err)
	}
	values := map[string]string{}
	for _, key := range keys {
		value := strings.TrimRight(string(s.Data[key]), "\r\n")
		if value == "" {
			return nil, problem(v1alpha1.ReasonSecretInvalid, "Secret %q in namespace %q has no key %q, or an empty one: it needs %s", name, namespace, key, strings.Join(keys, " and ")), nil
		}
		values[key] = value
	}
	return values, nil, nil
}

// tls gives nil where neither the spec nor the caller names an authority: the
// system's then count. What the spec names comes before ca.
func (r *BrokerReconciler) tls(ctx context.Context, b *v1alpha1.Broker, ca string) (*broker.TLS, *Problem, error) {
	spec := b.Spec.TLS
	switch {
	case spec == nil && ca == "":
		return nil, nil, nil
	case spec == nil:
		spec = &v1alpha1.BrokerTLS{}
	}
	var certificate, key string
	if ref := spec.CASecretRef; ref != nil {
		values, p, err := r.secret(ctx, b.Namespace, ref.Name, ref.Key)
		if p != nil || err != nil {
			return nil, p, err
		}
		ca = values[ref.Key]
	}
	if ref := spec.ClientCertificateSecretRef; ref != nil {
		values, p, err := r.secret(ctx, b.Namespace, ref.Name, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
		if p != nil || err != nil {
			return nil, p, err
		}
		certificate, key = values[corev1.TLSCertKey], values[corev1.TLSPrivateKeyKey]
	}
	config, err := broker.NewTLS([]byte(ca), []byte(certificate), []byte(key), spec.ServerName)
	if err != nil {
		return nil, problem(v1alpha1.ReasonSecretInvalid, "spec.tls: %s", err), nil
	}
	return config, nil, nil
}
