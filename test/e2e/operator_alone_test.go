package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/warren-mq/warren/hack/localenv"
)

// quietPlane is a control plane where Warren is installed, without the operator
// that the other tests share. Tests run operators of their own there, each for
// a namespace of its own.
var quietPlane = sync.OnceValues(func() (*localenv.ControlPlane, error) {
	dir, err := localenv.SharedDir()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	plane, err := localenv.StartControlPlane(ctx, filepath.Join(dir, "controlplane"), localenv.ControlPlaneOptions{})
	if err != nil {
		return nil, err
	}
	localenv.AtEnd(plane.Stop)
	k := kubectl{path: plane.KubectlPath, kubeconfig: plane.Kubeconfig}
	if out, err := k.run(ctx, "", "apply", "-k", filepath.Join(repository, "config/default")); err != nil {
		return nil, fmt.Errorf("install: %w\n%s", err, out)
	}
	return plane, nil
})

// rolesInOneNamespace is all that an operator needs that serves one namespace.
const rolesInOneNamespace = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: warren}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: warren}
rules:
  - {apiGroups: [warren.dev], resources: [brokers, topics, reliablesubscriptions, redrives], verbs: [get, list, watch]}
  - {apiGroups: [warren.dev], resources: [topics, reliablesubscriptions], verbs: [patch]} # the finalizer
  - {apiGroups: [warren.dev], resources: [redrives], verbs: [delete]}
  - {apiGroups: [warren.dev], resources: [brokers/status, topics/status, reliablesubscriptions/status, redrives/status], verbs: [patch]}
  - {apiGroups: [""], resources: [secrets], verbs: [get, create, patch, delete]}
  - {apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, create, patch]}
  - {apiGroups: [events.k8s.io], resources: [events], verbs: [create, patch]}
  - {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: warren}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: warren}
subjects: [{kind: ServiceAccount, name: warren}]
`

// newTenantAlone is a tenant whose namespace no operator serves yet. startHere starts one.
func newTenantAlone(t *testing.T, b *localenv.RabbitMQ) *tenant {
	t.Helper()
	plane, err := quietPlane()
	if err != nil {
		t.Fatalf("control plane: %v", err)
	}
	clients, err := kubernetes.NewForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w := newTenantOf(t, &operator{
		plane:      plane,
		kubectl:    kubectl{path: plane.KubectlPath, kubeconfig: plane.Kubeconfig},
		api:        clients.Discovery().RESTClient(),
		kubeconfig: filepath.Join(dir, "operator.kubeconfig"),
		dir:        dir,
	}, b)
	w.apply(rolesInOneNamespace)
	w.actAs(w.namespace, "warren")
	return w
}

// actAs gives the operators that are started from now on the rights of a service account.
func (w *tenant) actAs(namespace, account string) {
	w.t.Helper()
	if err := localenv.ServiceAccountKubeconfig(w.t.Context(), w.plane.Config, namespace, account, w.kubeconfig, time.Hour); err != nil {
		w.t.Fatal(err)
	}
}

// clusterIDHere is the id that operators of tests give themselves.
const clusterIDHere = "e2e-cluster"

// startHere runs an operator that serves the tenant's namespace alone, until the test ends.
func (w *tenant) startHere(flags ...string) *operator {
	w.t.Helper()
	o := *w.operator
	o.dir = w.t.TempDir()
	ctx, cancel := context.WithTimeout(w.t.Context(), within)
	defer cancel()
	if err := o.start(ctx, append([]string{"--watch-namespaces=" + w.namespace, "--cluster-id=" + clusterIDHere}, flags...)...); err != nil {
		w.t.Fatalf("the operator did not start: %v", err)
	}
	w.t.Cleanup(func() {
		w.must(o.scan())
		if err := o.process.Stop(); err != nil {
			w.t.Errorf("stop the operator: %v", err)
		}
	})
	w.process = o.process
	return &o
}
