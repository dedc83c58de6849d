package localenv

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ControlPlaneOptions say what runs besides etcd and kube-apiserver.
type ControlPlaneOptions struct {
	// Controllers adds kube-controller-manager and kube-scheduler, for what
	// needs deployments, garbage collection or namespaces that terminate.
	Controllers bool
	// Detached lets the control plane outlive this process; Down ends it.
	Detached bool
}

// ControlPlane is a running Kubernetes control plane without nodes.
type ControlPlane struct {
	// Kubeconfig is the path of a kubeconfig with all rights.
	Kubeconfig string
	// Config is the same for a client in this process.
	Config *rest.Config
	// KubectlPath is the kubectl of the same version.
	KubectlPath string

	dir       string
	bin       string
	options   ControlPlaneOptions
	pki       *pki
	ports     controlPlanePorts
	processes []*process
}

type controlPlanePorts struct{ etcd, etcdPeer, apiServer, controllerManager, scheduler int }

// StartControlPlane starts a control plane with its data and logs in dir, and
// waits until it serves: authorization by RBAC, admission as by default.
func StartControlPlane(ctx context.Context, dir string, options ControlPlaneOptions) (*ControlPlane, error) {
	c, err := planControlPlane(ctx, dir, options)
	if err != nil {
		return nil, err
	}
	steps := []func(context.Context) error{c.startEtcd, c.startAPIServer}
	if options.Controllers {
		steps = append(steps, c.startControllerManager, c.startScheduler)
	}
	for _, step := range append(steps, c.awaitUsable) {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, c.Stop())
		}
	}
	return c, nil
}

// Stop ends the control plane at once: nobody needs its data any more.
func (c *ControlPlane) Stop() error {
	var errs []error
	for i := len(c.processes) - 1; i >= 0; i-- {
		errs = append(errs, c.processes[i].kill())
	}
	return errors.Join(errs...)
}

func planControlPlane(ctx context.Context, dir string, options ControlPlaneOptions) (*ControlPlane, error) {
	bin, err := controlPlaneBinaries(ctx)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	authority, err := newPKI(filepath.Join(dir, "pki"))
	if err != nil {
		return nil, err
	}
	numbers, err := ports.take(5)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{
		KubectlPath: filepath.Join(bin, "kubectl"),
		dir:         dir,
		bin:         bin,
		options:     options,
		pki:         authority,
		ports:       controlPlanePorts{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]},
	}
	return c, c.writeAdmin()
}

// writeAdmin writes the admin's kubeconfig and loads it.
func (c *ControlPlane) writeAdmin() error {
	var err error
	if c.Kubeconfig, err = c.componentKubeconfig("admin", "admin", "system:masters"); err != nil {
		return err
	}
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return err
	}
	c.Config.QPS = -1 // a test must not wait for its own client
	return nil
}

func (c *ControlPlane) componentKubeconfig(file, user string, groups ...string) (string, error) {
	cert, key, err := c.pki.client(user, groups...)
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.dir, file+".kubeconfig")
	cluster := &clientcmdapi.Cluster{
		Server:                   "https://" + loopback(c.ports.apiServer),
		CertificateAuthorityData: encodeCert(c.pki.cert),
	}
	return path, writeKubeconfig(path, cluster, &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}, "")
}

func (c *ControlPlane) startEtcd(ctx context.Context) error {
	client := "http://" + loopback(c.ports.etcd)
	peer := "http://" + loopback(c.ports.etcdPeer)
	return c.start(ctx, "etcd", client+"/health",
		"--data-dir="+filepath.Join(c.dir, "etcd"),
		"--listen-client-urls="+client,
		"--advertise-client-urls="+client,
		"--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer,
		"--initial-cluster=default="+peer,
		"--unsafe-no-fsync",
		"--log-level=warn",
	)
}

// anonymousHealth lets anybody ask for health, and for nothing else.
const anonymousHealth = `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous:
  enabled: true
  conditions: [{path: /livez}, {path: /readyz}, {path: /healthz}]
`

func (c *ControlPlane) startAPIServer(ctx context.Context) error {
	authentication := filepath.Join(c.dir, "authentication.yaml")
	if err := os.WriteFile(authentication, []byte(anonymousHealth), 0o644); err != nil {
		return err
	}
	return c.start(ctx, "kube-apiserver", c.serverURL(c.ports.apiServer)+"/readyz", append(
		c.servingFlags(c.ports.apiServer),
		"--etcd-servers=http://"+loopback(c.ports.etcd),
		"--client-ca-file="+c.pki.path(caFile),
		"--authentication-config="+authentication,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.pki.path(serviceAccountKeyFile),
		"--service-account-signing-key-file="+c.pki.path(serviceAccountKeyFile),
		"--service-cluster-ip-range=10.96.0.0/16",
		// A loopback address may not be an endpoint of the kubernetes service.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
	)...)
}

func (c *ControlPlane) startControllerManager(ctx context.Context) error {
	return c.startController(ctx, "kube-controller-manager", c.ports.controllerManager,
		"--use-service-account-credentials",
		"--root-ca-file="+c.pki.path(caFile),
		"--service-account-private-key-file="+c.pki.path(serviceAccountKeyFile),
		// With the default of 20 per second it takes five seconds to begin.
		"--kube-api-qps=1000",
		"--kube-api-burst=1000",
	)
}

func (c *ControlPlane) startScheduler(ctx context.Context) error {
	return c.startController(ctx, "kube-scheduler", c.ports.scheduler)
}

func (c *ControlPlane) startController(ctx context.Context, name string, port int, flags ...string) error {
	kubeconfig, err := c.componentKubeconfig(name, "system:"+name)
	if err != nil {
		return err
	}
	flags = append(flags, "--kubeconfig="+kubeconfig, "--leader-elect=false")
	return c.start(ctx, name, c.serverURL(port)+"/healthz", append(c.servingFlags(port), flags...)...)
}

func (c *ControlPlane) serverURL(port int) string { return "https://" + loopback(port) }

func (c *ControlPlane) servingFlags(port int) []string {
	return []string{
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + c.pki.path(servingCertFile),
		"--tls-private-key-file=" + c.pki.path(servingKeyFile),
	}
}

// start starts a component and waits until its health endpoint says ok.
func (c *ControlPlane) start(ctx context.Context, name, healthURL string, flags ...string) error {
	p, err := startProcess(processSpec{
		name:      name,
		cmd:       exec.Command(filepath.Join(c.bin, name), flags...),
		dir:       c.dir,
		detached:  c.options.Detached,
		endSignal: syscall.SIGKILL,
	})
	if p != nil {
		c.processes = append(c.processes, p)
	}
	if err != nil {
		return err
	}
	client := c.healthClient()
	return await(ctx, p, func(ctx context.Context) error { return isHealthy(ctx, client, healthURL) })
}

// awaitUsable waits for what objects need besides a server that is ready: the
// default namespace and, where a controller makes it, its service account.
func (c *ControlPlane) awaitUsable(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	return await(ctx, nil, func(ctx context.Context) error {
		if c.options.Controllers {
			_, err := clients.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
			return err
		}
		_, err := clients.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return err
	})
}

func (c *ControlPlane) healthClient() *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(c.pki.cert)
	return &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true},
	}
}

func isHealthy(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	return nil
}
