package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers"
	"github.com/warren-mq/warren/internal/broker"
)

// Requests to the API server, at most. An idle operator makes none; a burst
// of new subscriptions makes one status write each, and the API server's own
// priority and fairness does the rest.
const (
	apiRequestsPerSecond = 100
	apiBurst             = 200
)

type operatorFlags struct {
	metricsAddress          string
	healthAddress           string
	leaderElect             bool
	leaderElectionNamespace string
	watchNamespaces         []string
	clusterID               string
	logLevel                string
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
	flags.StringVar(&f.healthAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 switches them off")
	flags.BoolVar(&f.leaderElect, "leader-elect", false, "elect a leader, so that several replicas may run")
	flags.StringVar(&f.leaderElectionNamespace, "leader-election-namespace", "", "namespace of the leader's Lease (default: the one that the operator runs in)")
	flags.StringSliceVar(&f.watchNamespaces, "watch-namespaces", nil, "namespaces to serve, comma-separated; Roles in them then suffice (default: all)")
	flags.StringVar(&f.clusterID, "cluster-id", "", "first part of the owner's mark on what is declared; needed with --watch-namespaces (default: the UID of namespace kube-system)")
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
	mgr, err := newManager(config, f)
	if err != nil {
		return err
	}
	if f.clusterID == "" {
		if f.clusterID, err = clusterID(ctx, mgr.GetAPIReader()); err != nil {
			return err
		}
	}
	requests := newRequestMetrics(metrics.Registry)
	if err := controllers.Setup(ctx, mgr, controllers.Options{
		ClusterID:       f.clusterID,
		WatchNamespaces: len(f.watchNamespaces) == 0,
		NewSession: func(c broker.Config) controllers.Session {
			return broker.NewSession(c, broker.Options{OnRequest: requests.observe})
		},
		Metrics: metrics.Registry,
	}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func newManager(config *rest.Config, f operatorFlags) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	config.QPS, config.Burst = apiRequestsPerSecond, apiBurst
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cache.Options{DefaultNamespaces: cacheNamespaces(f.watchNamespaces)},
		Metrics:                       metricsserver.Options{BindAddress: f.metricsAddress},
		HealthProbeBindAddress:        f.healthAddress,
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
