package controllers

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// setNamesIsolated tells a Broker's owner whether one of the namespaces that
// may use its vhost can take another's names. Naming is not required at admission: who is
// alone in his cluster, or trusts his tenants, needs none. all are the Brokers of this
// Kubernetes cluster: a vhost is what names are taken on, by whichever Broker it is reached.
func setNamesIsolated(set *conditionSet, b *v1alpha1.Broker, status *v1alpha1.BrokerStatus, all []v1alpha1.Broker) {
	const kind = v1alpha1.ConditionNamesIsolated
	by := namesIsolated(b)
	if by.Status == metav1.ConditionTrue {
		if other := lessIsolated(b, status, all); other != nil {
			by = sharedVhost(b, other, status.ClusterName)
		}
	}
	set.set(kind, by.Status, by.Reason, by.Message)
}

// namesIsolated judges those who may use the vhost through this Broker.
func namesIsolated(b *v1alpha1.Broker) *Problem {
	if b.Spec.Naming == "" {
		if ownNamespaceOnly(b) {
			return &Problem{Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonOwnNamespaceOnly, Message: "only the Broker's own namespace may use it (spec.allowedNamespaces)"}
		}
		return problem(v1alpha1.ReasonNoNaming,
			"spec.allowedNamespaces is %s and there is no spec.naming: a namespace can name a queue or exchange as another one would, and whoever is first has it; set spec.naming, such as '{namespace}\\..+', and name queues and exchanges after it", b.Spec.AllowedNamespaces.From)
	}
	name, overlaps, proved := topology.NamingOverlap(b.Spec.Naming)
	switch {
	case overlaps:
		return problem(v1alpha1.ReasonNamingOverlaps,
			"spec.naming is enforced and lets two namespaces have one name: %q fits namespace \"a\" and another one; have something around {namespace} that no namespace's name holds, such as '{namespace}\\..+'", name)
	case !proved:
		return &Problem{Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonNamingUnproved, Message: "spec.naming is enforced, and too intricate to tell whether two namespaces can have one name: write it simpler, such as '{namespace}\\..+'"}
	}
	return &Problem{Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonNamingEnforced, Message: "spec.naming is enforced, and no name fits two namespaces"}
}

func ownNamespaceOnly(b *v1alpha1.Broker) bool {
	from := b.Spec.AllowedNamespaces.From
	return from == "" || from == v1alpha1.NamespacesFromSame
}

// lessIsolated finds another Broker on the same vhost through which a namespace
// could take names that are kept apart here; the first by namespace and name.
func lessIsolated(b *v1alpha1.Broker, status *v1alpha1.BrokerStatus, all []v1alpha1.Broker) *v1alpha1.Broker {
	var found *v1alpha1.Broker
	here := toldPlace(b, status)
	for i := range all {
		other := &all[i]
		if other.UID == b.UID || !here.same(toldPlace(other, &other.Status)) || keptApart(b, other) {
			continue
		}
		if found == nil || client.ObjectKeyFromObject(other).String() < client.ObjectKeyFromObject(found).String() {
			found = other
		}
	}
	return found
}

// keptApart: one naming for both, or one namespace.
func keptApart(b, other *v1alpha1.Broker) bool {
	if b.Spec.Naming == "" && other.Spec.Naming == "" {
		return b.Namespace == other.Namespace && ownNamespaceOnly(b) && ownNamespaceOnly(other)
	}
	return b.Spec.Naming == other.Spec.Naming
}

// sharedVhost names the other Broker to those who may use it.
func sharedVhost(b, other *v1alpha1.Broker, cluster string) *Problem {
	name, naming := "a Broker of another namespace", "another spec.naming"
	if other.Namespace == b.Namespace || other.Spec.AllowedNamespaces.From == v1alpha1.NamespacesFromAll {
		name = fmt.Sprintf("Broker %q", client.ObjectKeyFromObject(other))
		naming = "spec.naming '" + other.Spec.Naming + "'"
		if other.Spec.Naming == "" {
			naming = "no spec.naming"
		}
	}
	return problem(v1alpha1.ReasonSharedVhost,
		"%s is on the same vhost (%q of RabbitMQ cluster %q) with %s: who may use that one can name a queue or exchange as a namespace here would; give both one spec.naming, such as '{namespace}\\..+', or a vhost each",
		name, b.Spec.Vhost, cluster, naming)
}

// knownBrokers are those of the cache.
func (r *BrokerReconciler) knownBrokers(ctx context.Context) ([]v1alpha1.Broker, error) {
	var all v1alpha1.BrokerList
	err := r.Client.List(ctx, &all, readOnly)
	return all.Items, err
}

// misnamed: the Broker's owner does not let the namespace have such a name.
func misnamed(b *v1alpha1.Broker, namespace string, t *topology.Topology) *Problem {
	naming, err := topology.NewNaming(b.Spec.Naming, namespace)
	if err == nil {
		err = naming.Check(t)
	}
	if err != nil {
		return refused(err)
	}
	return nil
}
