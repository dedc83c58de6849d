package localenv

import (
	"context"
	"errors"
	"path/filepath"

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
