package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers"
	"github.com/warren-mq/warren/controllers/binding"
	"github.com/warren-mq/warren/controllers/gate"
	"github.com/warren-mq/warren/internal/broker"
)

// Requests to the API server, at most. An idle operator renews Leases; a burst
// of new subscriptions makes one status write each, and 200 gated pods that may
// go at once one patch each: that is the burst, so that none waits for another.
// The API server's own priority and fairness does the rest.
const (
	apiRequestsPerSecond = 100
	apiBurst             = 200
)

type operatorFlags struct {
	metricsAddress          string
	metricsSecure           bool
	healthAddress           string
	leaderElect             bool
	leaderElectionNamespace string
	watchNamespaces         []string
	clusterID               string
	podGate                 bool
	logLevel                string
	pprofAddress            string
}

func operatorCommand() *cobra.Command {
	var f operatorFlags
	cmd := &cobra.Command{
		Use:   "operator",
		Short: "Run the operator",
		Long: "Runs the operator: it declares what Brokers, Topics and ReliableSubscriptions say on RabbitMQ,\n" +
			"keeps it so, and tells in their status what is wrong and what to do.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runOperator(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.AddGoFlag(flag.Lookup("kubeconfig"))
	flags.StringVar(&f.metricsAddress, "metrics-bind-address", ":8080", "address of the metrics endpoint; 0 switches it off")
	flags.BoolVar(&f.metricsSecure, "metrics-secure", false, "serve metrics over TLS (with a self-signed certificate), to those only whose token the API server knows and who may GET /metrics; needs the rights of ClusterRole warren-metrics-auth")
	flags.StringVar(&f.healthAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 switches them off")
	flags.BoolVar(&f.leaderElect, "leader-elect", false, "elect a leader, so that several replicas may run")
	flags.StringVar(&f.leaderElectionNamespace, "leader-election-namespace", "", "namespace of the leader's Lease (default: the one that the operator runs in)")
	flags.StringSliceVar(&f.watchNamespaces, "watch-namespaces", nil, "namespaces to serve, comma-separated; Roles in them then suffice (default: all)")
	flags.StringVar(&f.clusterID, "cluster-id", "", "first part of the owner's mark on what is declared; needed with --watch-namespaces (default: the UID of namespace kube-system)")
	flags.BoolVar(&f.podGate, "pod-gate", true, "remove the scheduling gate warren.dev/topology from pods when what they await is ready; needs the rights of config/gate")
	flags.StringVar(&f.pprofAddress, "pprof-bind-address", "", "address of Go's profiles under /debug/pprof/, without any authentication: give a loopback one, such as 127.0.0.1:8082 (default: none)")
	flags.StringVar(&f.logLevel, "log-level", "info", "info or debug")
	return cmd
}

func runOperator(ctx context.Context, f operatorFlags) error {
	level, err := zapcore.ParseLevel(f.logLevel)
	if err != nil {
		return fmt.Errorf("--log-level: %w", err)
	}
	logger := zap.New(zap.Level(level))
	ctrl.SetLogger(logger)
	// client-go logs by klog, on lines that are no JSON.
	klog.SetLogger(logger)

	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("no way to the API server, give --kubeconfig outside of a cluster: %w", err)
	}
	if f.podGate, err = gatePermitted(ctx, logger, config, f); err != nil {
		return err
	}
	mgr, err := newManager(config, f)
	if err != nil {
		return err
	}
	if f.clusterID == "" {
		if f.clusterID, err = clusterID(ctx, mgr.GetAPIReader()); err != nil {
			return err
		}
	}
	err = addReconcilers(ctx, mgr, f)
	if err == nil {
		err = mgr.Start(ctx)
	}
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("the API server does not know Warren's kinds (kubectl apply -k config/crd), or not yet: %w", err)
	}
	return err
}

func addReconcilers(ctx context.Context, mgr ctrl.Manager, f operatorFlags) error {
	requests := newRequestMetrics(metrics.Registry)
	identity, err := os.Hostname() // the pod's name, in a cluster
	if err != nil {
		return err
	}
	ready, err := controllers.Setup(ctx, mgr, controllers.Options{
		ClusterID:       f.clusterID,
		Identity:        identity,
		WatchNamespaces: len(f.watchNamespaces) == 0,
		NewSession: func(c broker.Config) controllers.Session {
			return broker.NewSession(c, broker.Options{OnRequest: requests.observe})
		},
		Metrics: metrics.Registry,
	})
	if err != nil || !f.podGate {
		return err
	}
	return gate.Setup(ctx, mgr, ready, metrics.Registry)
}

// gatePermitted tells whether the pod gate is to run. A cluster may leave its
// rights out: the rest of Warren works, and gated pods stay where they are.
func gatePermitted(ctx context.Context, logger logr.Logger, config *rest.Config, f operatorFlags) (bool, error) {
	if !f.podGate {
		return false, nil
	}
	lack, err := gate.Permitted(ctx, config, f.watchNamespaces)
	if lack != "" {
		logger.Info("the pod gate is off: pods with the scheduling gate "+v1alpha1.TopologyGate+" stay unscheduled. "+
			"Apply config/gate and restart the operator, or start it with --pod-gate=false", "reason", lack)
	}
	return lack == "", err
}

func newManager(config *rest.Config, f operatorFlags) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = apiRequestsPerSecond, apiBurst
	cached := cache.Options{
		DefaultNamespaces: cacheNamespaces(f.watchNamespaces),
		// Who set which field is half of an object, and nobody here asks.
		DefaultTransform: cache.TransformStripManagedFields(),
	}
	cached.ByObject = map[client.Object]cache.ByObject{&corev1.ConfigMap{}: binding.ConfigMaps()}
	if f.podGate {
		cached.ByObject[&corev1.Pod{}] = gate.Pods()
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cached,
		Metrics:                       metricsOptions(f),
		HealthProbeBindAddress:        f.healthAddress,
		PprofBindAddress:              f.pprofAddress,
		LeaderElection:                f.leaderElect,
		LeaderElectionID:              "operator.warren.dev",
		LeaderElectionNamespace:       f.leaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, err
	}
	return mgr, errors.Join(
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("caches", cachesSynced(mgr)),
	)
}

func metricsOptions(f operatorFlags) metricsserver.Options {
	options := metricsserver.Options{BindAddress: f.metricsAddress}
	if f.metricsSecure {
		options.SecureServing = true
		options.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return options
}

func cacheNamespaces(names []string) map[string]cache.Config {
	if len(names) == 0 {
		return nil
	}
	namespaces := map[string]cache.Config{}
	for _, n := range names {
		namespaces[n] = cache.Config{}
	}
	return namespaces
}

// cachesSynced: ready is whoever knows what there is to do.
func cachesSynced(mgr ctrl.Manager) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	}
}

// clusterID is the UID of namespace kube-system: it is as old as the cluster,
// and no other cluster has it.
func clusterID(ctx context.Context, c client.Reader) (string, error) {
	var ns corev1.Namespace
	if err := c.Get(ctx, client.ObjectKey{Name: "kube-system"}, &ns); err != nil {
		return "", fmt.Errorf("read namespace kube-system for the cluster's id, or give --cluster-id: %w", err)
	}
	return string(ns.UID), nil
}
