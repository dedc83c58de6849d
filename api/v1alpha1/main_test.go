package v1alpha1_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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

// theCluster starts with the first test that asks for it.
func theCluster(t *testing.T) *cluster {
	t.Helper()
	controlPlane := localenv.SharedControlPlane(t)
	c, err := install(controlPlane)
	if err != nil {
		t.Fatalf("the API server does not take the CRDs: %v", err)
	}
	return c
}

var (
	installOnce sync.Once
	installed   *cluster
	installErr  error
)

func install(p *localenv.ControlPlane) (*cluster, error) {
	installOnce.Do(func() {
		installed = &cluster{kubectl: p.KubectlPath, kubeconfig: p.Kubeconfig}
		if installed.definitions, installErr = envtest.InstallCRDs(p.Config, envtest.CRDInstallOptions{
			Paths:              []string{filepath.Join("..", "..", "config", "crd", "bases")},
			ErrorIfPathMissing: true,
		}); installErr != nil {
			return
		}
		installed.Client, installErr = client.New(p.Config, client.Options{})
	})
	return installed, installErr
}
