package gate

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Permitted asks the API server whether the gate may do its work in the
// namespaces (all, if none is given), and says what it lacks; "" means that it may.
func Permitted(ctx context.Context, config *rest.Config, namespaces []string) (string, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", err
	}
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		for _, verb := range []string{"list", "watch", "patch"} {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Resource: "pods"},
			}}
			review, err := clients.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return "", fmt.Errorf("ask whether the pod gate may %s pods: %w", verb, err)
			}
			if !review.Status.Allowed {
				return fmt.Sprintf("Warren may not %s pods%s", verb, inNamespace(namespace)), nil
			}
		}
	}
	return "", nil
}

func inNamespace(namespace string) string {
	if namespace == metav1.NamespaceAll {
		return " in all namespaces"
	}
	return fmt.Sprintf(" in namespace %q", namespace)
}
