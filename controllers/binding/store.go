package binding

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// Store writes ConfigMaps and Secrets.
type Store struct {
	// Client writes, and reads the metadata of ConfigMaps from the cache.
	Client client.Client
	// Live reads by GET: no Secret is cached or watched.
	Live client.Reader
}

// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;patch;delete

// TakenError is for a name that somebody else's object has.
type TakenError struct {
	Kind, Name string
	// Owner is what has made it, as "Deployment \"orders\""; empty where it does not say.
	Owner string
}

// taken by an object that was seen.
func taken(kind string, seen client.Object) *TakenError {
	e := &TakenError{Kind: kind, Name: seen.GetName()}
	if owner := metav1.GetControllerOf(seen); owner != nil {
		e.Owner = fmt.Sprintf("%s %q", owner.Kind, owner.Name)
	}
	return e
}

func (e *TakenError) Error() string {
	if e.Owner != "" {
		return fmt.Sprintf("%s %q belongs to %s and was left untouched: this resource needs the name; make it anew under another one, or that one", e.Kind, e.Name, e.Owner)
	}
	return fmt.Sprintf("%s %q exists and is not of this resource: it was left untouched; delete or rename it", e.Kind, e.Name)
}

// ConfigMap is the metadata of one.
func ConfigMap() *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	return m
}

// KeepConnection writes the ConfigMap, if the cache does not show that it says the same.
func (s Store) KeepConnection(ctx context.Context, o Offer) error {
	seen := ConfigMap()
	err := s.Client.Get(ctx, o.key(), seen)
	if apierrors.IsNotFound(err) {
		if err = s.create(ctx, o, o.configMap()); !apierrors.IsAlreadyExists(err) {
			return err
		}
		// Somebody else's, or ours and too new for the cache.
		err = s.Live.Get(ctx, o.key(), seen)
	}
	switch {
	case err != nil:
		return err
	case !metav1.IsControlledBy(seen, o.Owner):
		return taken("ConfigMap", seen)
	case seen.Annotations[v1alpha1.RevisionAnnotation] == o.ConnectionRevision() && seen.Labels[v1alpha1.ConnectionLabel] != "":
		return nil
	}
	changed := o.configMap()
	return s.patch(ctx, o, changed, &corev1.ConfigMap{ObjectMeta: identity(seen)})
}

func (o Offer) key() client.ObjectKey {
	return client.ObjectKey{Namespace: o.Owner.GetNamespace(), Name: o.Name}
}

func (o Offer) configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.Owner.GetNamespace(), Name: o.Name,
			Labels:      map[string]string{v1alpha1.ConnectionLabel: "true"},
			Annotations: map[string]string{v1alpha1.RevisionAnnotation: o.ConnectionRevision()},
		},
		Data: o.Connection,
	}
}

// identity is of the object that a patch is for: a namesake made since, or a
// later version, is not written over.
func identity(seen client.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: seen.GetNamespace(), Name: seen.GetName(), UID: seen.GetUID(), ResourceVersion: seen.GetResourceVersion(),
	}
}

// create makes something that goes with its owner. blockOwnerDeletion is left
// out: some clusters want a right on the owner's finalizers for it.
func (s Store) create(ctx context.Context, o Offer, object client.Object) error {
	if err := controllerutil.SetControllerReference(o.Owner, object, s.Client.Scheme(), controllerutil.WithBlockOwnerDeletion(false)); err != nil {
		return err
	}
	return s.Client.Create(ctx, object)
}

func (s Store) patch(ctx context.Context, o Offer, object, before client.Object) error {
	if err := controllerutil.SetControllerReference(o.Owner, object, s.Client.Scheme(), controllerutil.WithBlockOwnerDeletion(false)); err != nil {
		return err
	}
	object.SetUID(before.GetUID())
	object.SetResourceVersion(before.GetResourceVersion())
	return s.Client.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
