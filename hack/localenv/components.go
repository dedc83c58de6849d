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
)

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

// auditPods notes who did what to which pod, and all that Warren's own service
// accounts ask for; of the rest, nothing.
const auditPods = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: Metadata, resources: [{group: "", resources: [pods]}]}
  - {level: Metadata, userGroups: ["system:serviceaccounts:warren-system"]}
  - {level: None}
`

func (c *ControlPlane) startAPIServer(ctx context.Context) error {
	authentication, audit := filepath.Join(c.dir, "authentication.yaml"), filepath.Join(c.dir, "audit.yaml")
	if err := errors.Join(
		os.WriteFile(authentication, []byte(anonymousHealth), 0o644),
		os.WriteFile(audit, []byte(auditPods), 0o644),
	); err != nil {
		return err
	}
	return c.start(ctx, "kube-apiserver", c.serverURL(c.ports.apiServer)+"/readyz", append(
		c.servingFlags(c.ports.apiServer),
		"--audit-policy-file="+audit,
		"--audit-log-path="+c.AuditLog(),
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
		// There is no kubelet: a Node that a test makes stays as it was made.
		"--node-monitor-grace-period=24h",
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

// AuditLog is where the API server notes each request about pods, one JSON a line.
func (c *ControlPlane) AuditLog() string { return filepath.Join(c.dir, "audit.log") }

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
