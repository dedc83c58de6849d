package localenv

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestControlPlaneServes(t *testing.T) {
	c := SharedControlPlane(t)
	out, err := exec.Command(c.KubectlPath, "--kubeconfig", c.Kubeconfig, "get", "namespace", "default", "-o", "name").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "namespace/default" {
		t.Errorf("kubectl: %v: %s", err, out)
	}
}

func TestServiceAccountHasOnlyItsRights(t *testing.T) {
	c := SharedControlPlane(t)
	admin := clientsFor(t, c.Config)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "warren"}}
	if _, err := admin.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "warren.kubeconfig")
	if err := ServiceAccountKubeconfig(t.Context(), c.Config, "default", "warren", path, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = clientsFor(t, config).CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "system:serviceaccount:default:warren") {
		t.Errorf("listing secrets without a role: %v", err)
	}
}

func TestAnonymousSeesHealthOnly(t *testing.T) {
	c := SharedControlPlane(t)
	anonymous := clientsFor(t, rest.AnonymousClientConfig(c.Config)).Discovery().RESTClient()
	if err := anonymous.Get().AbsPath("/readyz").Do(t.Context()).Error(); err != nil {
		t.Errorf("/readyz: %v", err)
	}
	if err := anonymous.Get().AbsPath("/version").Do(t.Context()).Error(); !apierrors.IsUnauthorized(err) {
		t.Errorf("/version: %v", err)
	}
}

func TestControllersFinishNamespaces(t *testing.T) {
	c, err := StartControlPlane(t.Context(), t.TempDir(), ControlPlaneOptions{Controllers: true})
	if err != nil {
		t.Fatal(err)
	}
	endWithTest(t, c.Stop)
	namespaces := clientsFor(t, c.Config).CoreV1().Namespaces()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gone-soon"}}
	if _, err := namespaces.Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := namespaces.Delete(t.Context(), namespace.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	err = await(t.Context(), nil, func(ctx context.Context) error {
		_, err := namespaces.Get(ctx, namespace.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("the namespace is still there: %w", err)
	})
	if err != nil {
		t.Error(err)
	}
}

func clientsFor(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}
