package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/warren-mq/warren/hack/localenv"
)

func TestMain(m *testing.M) { localenv.Main(m) }

const (
	operatorNamespace = "warren-system"
	operatorAccount   = "warren-operator"
)

// operator is a running `warren operator`, with all that it needs.
type operator struct {
	plane   *localenv.ControlPlane
	kubectl kubectl
	// api is for polling: a kubectl for each look would take the machine's time.
	api rest.Interface
	// kubeconfig is that of its ServiceAccount.
	kubeconfig string
	// metrics and health are the addresses of its endpoints.
	metrics, health string
	process         *localenv.Process
	dir             string
	// readMetrics, if set, is how its metrics are read where it takes more than a GET.
	readMetrics func() (string, error)
	// env is added to the process's environment.
	env []string
}

// sharedOperator is the one that all tests use that don't stop it.
func sharedOperator(t testing.TB) *operator {
	t.Helper()
	o, err := startSharedOperator()
	if err != nil {
		t.Fatalf("the operator did not start: %v", err)
	}
	return o
}

var startSharedOperator = sync.OnceValues(func() (*operator, error) {
	return startOperator(localenv.ControlPlaneOptions{})
})

// startOperator starts a control plane with an operator in it, for all tests
// that ask for it.
func startOperator(options localenv.ControlPlaneOptions) (*operator, error) {
	dir, err := localenv.SharedDir()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	plane, err := localenv.StartControlPlane(ctx, filepath.Join(dir, "controlplane"), options)
	if err != nil {
		return nil, err
	}
	localenv.AtEnd(plane.Stop)
	o, err := install(ctx, plane, dir)
	if err != nil {
		return nil, err
	}
	// As with an API server that cannot stream lists (before 1.32); the
	// operators that tests start themselves have theirs streamed.
	o.env = []string{"KUBE_FEATURE_WatchListClient=false"}
	if err := o.start(ctx); err != nil {
		return nil, err
	}
	localenv.AtEnd(o.process.Stop)
	localenv.AtEnd(o.scan)
	return o, nil
}

// install does what the README says: kubectl apply -k config/default.
func install(ctx context.Context, plane *localenv.ControlPlane, dir string) (*operator, error) {
	clients, err := kubernetes.NewForConfig(plane.Config)
	if err != nil {
		return nil, err
	}
	o := &operator{
		plane:      plane,
		kubectl:    kubectl{path: plane.KubectlPath, kubeconfig: plane.Kubeconfig},
		api:        clients.Discovery().RESTClient(),
		kubeconfig: filepath.Join(dir, "operator.kubeconfig"),
		dir:        dir,
	}
	if out, err := o.kubectl.run(ctx, "", "apply", "-k", filepath.Join(repository, "config/default")); err != nil {
		return nil, fmt.Errorf("install: %w\n%s", err, out)
	}
	return o, localenv.ServiceAccountKubeconfig(ctx, plane.Config, operatorNamespace, operatorAccount, o.kubeconfig, 4*time.Hour)
}

// repository is where this package lies in.
const repository = "../.."

// buildWarren builds the binary that all tests run.
var buildWarren = sync.OnceValues(func() (string, error) {
	dir, err := localenv.SharedDir()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "warren")
	if out, err := exec.Command("go", "build", "-o", binary, repository).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return binary, nil
})

// start runs the binary until it says that it is ready.
func (o *operator) start(ctx context.Context, flags ...string) error {
	binary, err := buildWarren()
	if err != nil {
		return err
	}
	ports, err := localenv.FreePorts(2)
	if err != nil {
		return err
	}
	o.metrics, o.health = fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])
	args := append([]string{
		"operator", "--kubeconfig=" + o.kubeconfig, "--log-level=debug",
		"--metrics-bind-address=" + o.metrics, "--health-probe-bind-address=" + o.health,
	}, flags...)
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), o.env...)
	if o.process, err = localenv.StartProcess(o.dir, "operator", cmd); err != nil {
		return err
	}
	return o.awaitReady(ctx)
}

func (o *operator) awaitReady(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if resp, err := http.Get("http://" + o.health + "/readyz"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w\n%s", ctx.Err(), o.log())
		case <-tick.C:
		}
		if !o.process.Running() {
			return fmt.Errorf("it ended\n%s", o.log())
		}
	}
}

// log is what the operator has written.
func (o *operator) log() string {
	if o.process == nil {
		return ""
	}
	content, err := os.ReadFile(o.process.LogPath())
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// kubectl is the control plane's own.
type kubectl struct{ path, kubeconfig string }

// run runs kubectl with stdin, and gives what it printed, its errors included.
func (k kubectl) run(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, k.path, append([]string{"--kubeconfig=" + k.kubeconfig}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
