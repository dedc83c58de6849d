package controllers

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/internal/broker"
)

// eventSource is the name under which Warren reports Events.
const eventSource = "warren.dev/operator"

// Options of the reconcilers.
type Options struct {
	// ClusterID is the first part of the owner's mark.
	ClusterID string
	// WatchNamespaces: namespaces are watched, so that a changed label counts
	// at once. Else they are read by GET when labels decide.
	WatchNamespaces bool
	// NewSession connects to a broker.
	NewSession func(broker.Config) Session
	// Metrics, if set, gets what there is to tell of brokers and subscriptions.
	Metrics prometheus.Registerer
}

// Setup adds every reconciler to a manager.
func Setup(ctx context.Context, mgr ctrl.Manager, opts Options) error {
	if err := indexReferences(ctx, mgr); err != nil {
		return err
	}
	brokers := NewBrokers()
	if opts.Metrics != nil {
		if err := opts.Metrics.Register(&collector{client: mgr.GetClient(), brokers: brokers}); err != nil {
			return err
		}
	}
	recorder := mgr.GetEventRecorder(eventSource)
	namespaces := mgr.GetAPIReader()
	if opts.WatchNamespaces {
		namespaces = client.Reader(mgr.GetClient())
	}
	base := func() reconciler {
		return reconciler{
			Client: mgr.GetClient(), Namespaces: namespaces, Brokers: brokers, Events: recorder,
			ClusterID: opts.ClusterID, watchNamespaces: opts.WatchNamespaces, attempts: &attempts{}, settled: &settled{},
		}
	}
	if err := (&TopicReconciler{reconciler: base()}).SetupWithManager(mgr); err != nil {
		return err
	}
	if err := (&SubscriptionReconciler{reconciler: base()}).SetupWithManager(mgr); err != nil {
		return err
	}
	redrives := &RedriveReconciler{reconciler: base(), Live: mgr.GetAPIReader()}
	if err := redrives.SetupWithManager(mgr); err != nil {
		return err
	}
	// Last: it publishes to those that have subscribed before.
	return (&BrokerReconciler{
		Client: mgr.GetClient(), Secrets: mgr.GetAPIReader(), Brokers: brokers, Events: recorder,
		ClusterID: opts.ClusterID, NewSession: opts.NewSession,
	}).SetupWithManager(mgr)
}
