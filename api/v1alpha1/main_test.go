package v1alpha1_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/warren-mq/warren/hack/localenv"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of envtest, which installs the CRDs
	localenv.Main(m)
}

// cluster is a real API server that knows Warren's kinds.
type cluster struct {
	client.Client
	kubectl, kubeconfig string
	// definitions as they are in config/crd/bases.
	definitions []*apiextensionsv1.CustomResourceDefinition
}

var (
	startOnce sync.Once
	started   *cluster
	startErr  error
)

// theCluster is shared by all tests. It starts with the first one that asks for it.
func theCluster(t *testing.T) *cluster {
	t.Helper()
	controlPlane := localenv.SharedControlPlane(t)
	startOnce.Do(func() { started, startErr = install(controlPlane) })
	if startErr != nil {
		t.Fatalf("the API server does not take the CRDs: %v", startErr)
	}
	return started
}

func install(p *localenv.ControlPlane) (*cluster, error) {
	definitions, err := envtest.InstallCRDs(p.Config, envtest.CRDInstallOptions{
		Paths:              []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfPathMissing: true,
	})
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := client.New(p.Config, client.Options{Scheme: scheme})
	return &cluster{Client: c, kubectl: p.KubectlPath, kubeconfig: p.Kubeconfig, definitions: definitions}, err
}
