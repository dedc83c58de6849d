package controllers

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

const (
	// brokerWorkers is how many brokers are read at once. A broker that does
	// not answer holds one of them for a time-out, and no other resource.
	brokerWorkers = 32
	// kickDelay gathers what is declared in a burst into one reading.
	kickDelay = 300 * time.Millisecond
	// statisticsInterval is how late a broker's counters may be. With a
	// shorter sync period ready messages and consumers are asked for directly.
	statisticsInterval = 5 * time.Second
	// retryDead is how long a broker that did not answer is left alone at most.
	retryDead = 15 * time.Second
)

// BrokerReconciler reads brokers: each sync period it reads the credentials,
// takes a snapshot and publishes it to the other reconcilers.
type BrokerReconciler struct {
	Client client.Client
	// Secrets reads Secrets (and RabbitmqClusters) by GET: nothing is cached or watched.
	Secrets client.Reader
	Brokers *Brokers
	Events  events.EventRecorder
	// ClusterID is the first part of the owner's mark.
	ClusterID string
	// NewSession connects to a broker. No I/O happens before its first use.
	NewSession func(broker.Config) Session

	// Leases say when a Broker was last read well.
	Leases *leases

	sessions sessions
}

// +kubebuilder:rbac:groups=warren.dev,resources=brokers,verbs=list;watch
// +kubebuilder:rbac:groups=warren.dev,resources=brokers/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups=rabbitmq.com,resources=rabbitmqclusters,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile reads one broker.
func (r *BrokerReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var b v1alpha1.Broker
	if err := r.Client.Get(ctx, req.NamespacedName, &b); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.sessions.drop(req.NamespacedName)
			r.Brokers.forget(req.NamespacedName)
			r.Leases.forget(req.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if wait := r.readingEnough(ctx, &b); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	view, err := r.readOnce(ctx, &b)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.Brokers.publish(req.NamespacedName, view)
	if err := r.report(ctx, &b, view, r.keepShield(ctx, &b, view)); err != nil {
		return reconcile.Result{}, err
	}
	r.Leases.renew(ctx, &b, view)
	return reconcile.Result{RequeueAfter: r.nextReading(req.NamespacedName, view)}, nil
}

// readingEnough is how long the last reading will do, 0 if a new one is due:
// the broker has a rest after each, and as long as what was read last has not
// been told of everywhere, nothing else is needed.
func (r *BrokerReconciler) readingEnough(ctx context.Context, b *v1alpha1.Broker) time.Duration {
	key := client.ObjectKeyFromObject(b)
	view, ok := r.Brokers.Get(key)
	if !ok || view.Broker.Generation != b.Generation {
		return 0
	}
	if rest := r.Brokers.rest(key); rest > 0 {
		return rest
	}
	if view.Problem != nil || !r.Leases.settling(key) || r.Brokers.wanted(key) || time.Since(view.Observation.Snapshot.TakenAt) >= view.SyncPeriod {
		return 0
	}
	r.Leases.renew(ctx, b, view)
	return r.Leases.due(key, view)
}

// nextReading is when a broker is read again. A new queue has no counters for
// some seconds: they are not left unknown for a whole sync period.
func (r *BrokerReconciler) nextReading(key types.NamespacedName, v View) time.Duration {
	switch {
	case v.Problem != nil:
		return min(v.SyncPeriod, retryDead)
	case r.Brokers.justWritten(key):
		return min(r.Leases.due(key, v), statisticsInterval+time.Second)
	}
	return r.Leases.due(key, v)
}

// readOnce reads, and notes how long that took.
func (r *BrokerReconciler) readOnce(ctx context.Context, b *v1alpha1.Broker) (View, error) {
	begun := time.Now()
	view, err := r.read(ctx, b)
	view.Took = time.Since(begun)
	r.Brokers.wasRead(client.ObjectKeyFromObject(b), view.Took, syncPeriod(b))
	return view, err
}

// read takes one reading. A broker that cannot be read is a view with a
// problem; the error is for an API server that cannot.
func (r *BrokerReconciler) read(ctx context.Context, b *v1alpha1.Broker) (View, error) {
	key := client.ObjectKeyFromObject(b)
	view := View{Broker: b, SyncPeriod: syncPeriod(b)}

	config, p, err := r.config(ctx, b)
	if err != nil {
		return View{}, err
	}
	if p != nil {
		r.sessions.drop(key)
		view.Problem = p
		return view, nil
	}
	view.Session = r.sessions.open(key, config, r.NewSession)
	view.Endpoint, _ = config.Endpoint()
	observation, err := view.Session.Observe(ctx, r.observeOptions(view.SyncPeriod))
	if err == nil {
		r.sessions.prove(key)
	}
	switch {
	case err != nil:
		view.Problem = fromBroker(err)
	case !observation.Info.Version.AtLeast(topology.MinimumVersion.Major, topology.MinimumVersion.Minor):
		view.Problem = problem(v1alpha1.ReasonUnsupportedVersion,
			"the broker is RabbitMQ %s and Warren needs %d.%d or newer: upgrade the broker; nothing is declared on it",
			observation.Info.Version, topology.MinimumVersion.Major, topology.MinimumVersion.Minor)
	default:
		view.Observation = observation
	}
	return view, nil
}

func syncPeriod(b *v1alpha1.Broker) time.Duration {
	d, err := b.Spec.SyncPeriod.Value()
	if err != nil {
		return 30 * time.Second
	}
	return d
}

// observeOptions: a short sync period is a wish to see counts as they are,
// which the broker's statistics are too late for.
func (r *BrokerReconciler) observeOptions(period time.Duration) broker.ObserveOptions {
	if period >= 2*statisticsInterval {
		return broker.ObserveOptions{}
	}
	mark := r.ClusterID + "/"
	return broker.ObserveOptions{Fresh: func(q topology.SeenQueue) bool {
		return strings.HasPrefix(q.Arguments.Owner(), mark)
	}}
}

// report writes the status, and an Event when the broker was lost or found.
func (r *BrokerReconciler) report(ctx context.Context, b *v1alpha1.Broker, v View, s *shield) error {
	all, err := r.knownBrokers(ctx)
	if err != nil {
		return err
	}
	status := brokerStatus(b, v, s, all)
	if equality.Semantic.DeepEqual(status, &b.Status) {
		return nil
	}
	brokerEvents(r.Events, b, status)
	return applyStatus(ctx, r.Client, b, "Broker", status)
}

// SetupWithManager registers the reconciler.
func (r *BrokerReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("broker").
		For(&v1alpha1.Broker{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.TypedChannel(r.Brokers.kicked, kickHandler())).
		WithOptions(controller.Options{MaxConcurrentReconciles: brokerWorkers}).
		Complete(r)
}

type keyEvent = event.TypedGenericEvent[types.NamespacedName]

type requestQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func kickHandler() handler.TypedEventHandler[types.NamespacedName, reconcile.Request] {
	return handler.TypedFuncs[types.NamespacedName, reconcile.Request]{
		GenericFunc: func(_ context.Context, e keyEvent, q requestQueue) {
			q.AddAfter(reconcile.Request{NamespacedName: e.Object}, kickDelay)
		},
	}
}
