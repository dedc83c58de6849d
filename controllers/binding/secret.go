package binding

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// secretType is the one that the Service Binding specification recommends.
const secretType = corev1.SecretType("servicebinding.io/rabbitmq")

// Secret reads an offer's Secret; nil when there is none.
func (s Store) Secret(ctx context.Context, o Offer) (*corev1.Secret, error) {
	var seen corev1.Secret
	err := s.Live.Get(ctx, o.key(), &seen)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !metav1.IsControlledBy(&seen, o.Owner):
		return nil, taken("Secret", &seen)
	}
	return &seen, nil
}

// KeepSecret writes the Secret with a password, if what was seen is another one.
func (s Store) KeepSecret(ctx context.Context, o Offer, seen *corev1.Secret, password string) error {
	want := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Owner.GetNamespace(), Name: o.Name},
		Type:       secretType,
		Data:       inBytes(o.Secret(password)),
	}
	switch {
	case seen == nil:
		err := s.create(ctx, o, want)
		if apierrors.IsAlreadyExists(err) {
			return &TakenError{Kind: "Secret", Name: o.Name}
		}
		return err
	case maps.EqualFunc(seen.Data, want.Data, func(a, b []byte) bool { return string(a) == string(b) }):
		return nil
	}
	next := seen.DeepCopy()
	next.Data = want.Data
	return s.Client.Patch(ctx, next, client.MergeFromWithOptions(seen, client.MergeFromWithOptimisticLock{}))
}

// DeleteSecret removes the Secret, if it is the owner's.
func (s Store) DeleteSecret(ctx context.Context, o Offer) error {
	seen, err := s.Secret(ctx, o)
	if err != nil || seen == nil {
		return err
	}
	return client.IgnoreNotFound(s.Client.Delete(ctx, seen, client.Preconditions{UID: &seen.UID}))
}

func inBytes(values map[string]string) map[string][]byte {
	data := make(map[string][]byte, len(values))
	for key, value := range values {
		data[key] = []byte(value)
	}
	return data
}

// NewPassword has 256 bits, in characters that need no escaping anywhere.
func NewPassword() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // It never fails.
	return base64.RawURLEncoding.EncodeToString(random)
}
