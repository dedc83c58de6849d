package controllers

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// fieldOwner is the name under which Warren applies statuses.
const fieldOwner = client.FieldOwner("warren")

// applyStatus writes a whole status by server-side apply: what is absent from
// it (a counter that is not known any more) goes. The UID keeps it from
// reaching a namesake that was created since.
func applyStatus(ctx context.Context, c client.Client, obj client.Object, kind string, status any) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return fmt.Errorf("encode the status of %s %s/%s: %w", kind, obj.GetNamespace(), obj.GetName(), err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"status": content}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	u.SetNamespace(obj.GetNamespace())
	u.SetName(obj.GetName())
	u.SetUID(obj.GetUID())
	err = c.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(u), fieldOwner, client.ForceOwnership)
	if err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status of %s %s/%s: %w", kind, obj.GetNamespace(), obj.GetName(), err))
	}
	return nil
}
