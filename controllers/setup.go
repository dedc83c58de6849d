package controllers

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/controllers/binding"
	"github.com/warren-mq/warren/internal/broker"
)

// EventSource is the name under which Warren reports Events.
const EventSource = "warren.dev/operator"

// Options of the reconcilers.
type Options struct {
	// ClusterID is the first part of the owner's mark.
	ClusterID string
	// WatchNamespaces: namespaces are watched, so that a changed label counts
	// at once. Else they are read by GET when labels decide.
	WatchNamespaces bool
	// Identity is the holder of the Leases that say when a Broker was read.
	Identity string
	// NewSession connects to a broker.
	NewSession func(broker.Config) Session
	// Metrics, if set, gets what there is to tell of brokers and subscriptions.
	Metrics prometheus.Registerer
}

// Setup adds every reconciler to a manager, and gives what they know to who
// else must know whether something is ready.
func Setup(ctx context.Context, mgr ctrl.Manager, opts Options) (*Readiness, error) {
	if err := indexReferences(ctx, mgr); err != nil {
		return nil, err
	}
	brokers := NewBrokers()
	if opts.Metrics != nil {
		if err := opts.Metrics.Register(&collector{client: mgr.GetClient(), brokers: brokers}); err != nil {
			return nil, err
		}
	}
	recorder := mgr.GetEventRecorder(EventSource)
	namespaces := mgr.GetAPIReader()
	if opts.WatchNamespaces {
		namespaces = client.Reader(mgr.GetClient())
	}
	topics, subscriptions := newProofs(), newProofs()
	base := func(p *proofs) reconciler {
		settled := &settled{}
		if !opts.WatchNamespaces {
			settled.unwatched = func(broker client.ObjectKey) bool { return labelsDecide(ctx, mgr.GetClient(), broker) }
		}
		return reconciler{
			Client: mgr.GetClient(), Namespaces: namespaces, Brokers: brokers, Events: recorder,
			ClusterID: opts.ClusterID, watchNamespaces: opts.WatchNamespaces, attempts: &attempts{}, settled: settled, proofs: p,
			store: binding.Store{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}, checks: &checks{},
		}
	}
	if err := (&TopicReconciler{reconciler: base(topics)}).SetupWithManager(mgr); err != nil {
		return nil, err
	}
	looks := newInspections()
	if err := (&SubscriptionReconciler{reconciler: base(subscriptions), looks: looks}).SetupWithManager(mgr); err != nil {
		return nil, err
	}
	redrives := &RedriveReconciler{reconciler: base(newProofs()), Live: mgr.GetAPIReader(), Metrics: opts.Metrics, looks: looks}
	if err := redrives.SetupWithManager(mgr); err != nil {
		return nil, err
	}
	told := settling{client: mgr.GetClient(), topics: topics, subscriptions: subscriptions}
	// Last: it publishes to those that have subscribed before.
	err := (&BrokerReconciler{
		Client: mgr.GetClient(), Secrets: mgr.GetAPIReader(), Brokers: brokers, Events: recorder,
		ClusterID: opts.ClusterID, NewSession: opts.NewSession,
		Leases: &leases{client: mgr.GetClient(), holder: opts.Identity, settled: told.settled},
	}).SetupWithManager(mgr)
	find := lookup{client: mgr.GetClient(), namespaces: namespaces, brokers: brokers, clusterID: opts.ClusterID}
	return &Readiness{lookup: find, topics: topics, subscriptions: subscriptions}, err
}
