package controllers

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// setNamesIsolated tells a Broker's owner whether one of the namespaces that
// may use it can take another's names. Naming is not required at admission: who is
// alone in his cluster, or trusts his tenants, needs none.
func setNamesIsolated(set *conditionSet, b *v1alpha1.Broker) {
	const kind = v1alpha1.ConditionNamesIsolated
	from := b.Spec.AllowedNamespaces.From
	if b.Spec.Naming == "" {
		if from == "" || from == v1alpha1.NamespacesFromSame {
			set.set(kind, metav1.ConditionTrue, v1alpha1.ReasonOwnNamespaceOnly, "only the Broker's own namespace may use it (spec.allowedNamespaces)")
			return
		}
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonNoNaming, fmt.Sprintf(
			"spec.allowedNamespaces is %s and there is no spec.naming: a namespace can name a queue or exchange as another one would, and whoever is first has it; set spec.naming, such as '{namespace}\\..+', and name queues and exchanges after it", from))
		return
	}
	name, overlaps, proved := topology.NamingOverlap(b.Spec.Naming)
	switch {
	case overlaps:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonNamingOverlaps, fmt.Sprintf(
			"spec.naming is enforced and lets two namespaces have one name: %q fits namespace \"a\" and another one; have something around {namespace} that no namespace's name holds, such as '{namespace}\\..+'", name))
	case !proved:
		set.set(kind, metav1.ConditionUnknown, v1alpha1.ReasonNamingUnproved,
			"spec.naming is enforced, and too intricate to tell whether two namespaces can have one name: write it simpler, such as '{namespace}\\..+'")
	default:
		set.set(kind, metav1.ConditionTrue, v1alpha1.ReasonNamingEnforced, "spec.naming is enforced, and no name fits two namespaces")
	}
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
