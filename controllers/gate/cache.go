package gate

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// Pods says which pods are cached, of a cluster that may have many: those with
// the label that no node was chosen for, and no more of them than is needed.
// A pod that runs is not even seen.
func Pods() cache.ByObject {
	return cache.ByObject{
		Label:     labels.SelectorFromSet(labels.Set{v1alpha1.GatedLabel: "true"}),
		Field:     fields.OneTermEqualSelector("spec.nodeName", ""),
		Transform: trim,
	}
}

func trim(o any) (any, error) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	annotations := map[string]string{}
	for name, value := range pod.Annotations {
		if strings.HasPrefix(name, awaitPrefix) {
			annotations[name] = value
		}
	}
	return &corev1.Pod{
		TypeMeta: pod.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
			Labels:      map[string]string{v1alpha1.GatedLabel: pod.Labels[v1alpha1.GatedLabel]},
			Annotations: annotations,
		},
		Spec: corev1.PodSpec{NodeName: pod.Spec.NodeName, SchedulingGates: pod.Spec.SchedulingGates},
	}, nil
}
