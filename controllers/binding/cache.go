package binding

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// ConfigMaps says which ConfigMaps are cached, of a cluster that has many:
// those that Warren made, and of them what tells whose they are and what they say.
func ConfigMaps() cache.ByObject {
	return cache.ByObject{
		Label:     labels.SelectorFromSet(labels.Set{v1alpha1.ConnectionLabel: "true"}),
		Transform: trim,
	}
}

func trim(o any) (any, error) {
	if m, ok := o.(metav1.Object); ok {
		m.SetManagedFields(nil)
	}
	return o, nil
}
