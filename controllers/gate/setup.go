package gate

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers"
)

// workers is how many gates are opened at once. How fast they open is the
// client's limit, which the operator sets.
const workers = 16

// Setup adds the gate to a manager whose cache was made with [Pods].
func Setup(ctx context.Context, mgr ctrl.Manager, ready *controllers.Readiness, registry prometheus.Registerer) error {
	pods := mgr.GetFieldIndexer()
	err := errors.Join(
		pods.IndexField(ctx, &corev1.Pod{}, topicIndex, awaits(func(a awaited) []types.NamespacedName { return a.topics })),
		pods.IndexField(ctx, &corev1.Pod{}, subscriptionIndex, awaits(func(a awaited) []types.NamespacedName { return a.subscriptions })),
		registry.Register(newCollector(mgr)),
	)
	if err != nil {
		return err
	}
	waiting := waiting{pods: mgr.GetClient(), topicsOf: ready.TopicsOf}
	topics, subscriptions := ready.Proved()
	return ctrl.NewControllerManagedBy(mgr).
		Named("gate").
		For(&corev1.Pod{}).
		Watches(&v1alpha1.Topic{}, handler.EnqueueRequestsFromMapFunc(waiting.ofTopic)).
		Watches(&v1alpha1.ReliableSubscription{}, handler.EnqueueRequestsFromMapFunc(waiting.ofSubscription)).
		WatchesRawSource(source.TypedChannel(topics, proved(&v1alpha1.Topic{}, mgr.GetClient(), waiting.ofTopic))).
		WatchesRawSource(source.TypedChannel(subscriptions, proved(&v1alpha1.ReliableSubscription{}, mgr.GetClient(), waiting.ofSubscription))).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&Reconciler{Client: mgr.GetClient(), Ready: ready, Events: mgr.GetEventRecorder(controllers.EventSource)})
}

type requestQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// proved enqueues the pods that await what was just seen to be there.
func proved(kind client.Object, c client.Reader, podsOf handler.MapFunc) handler.TypedEventHandler[types.NamespacedName, reconcile.Request] {
	return handler.TypedFuncs[types.NamespacedName, reconcile.Request]{
		GenericFunc: func(ctx context.Context, e event.TypedGenericEvent[types.NamespacedName], q requestQueue) {
			o := kind.DeepCopyObject().(client.Object)
			if err := c.Get(ctx, e.Object, o); err != nil {
				return // It has gone since, and its pods were told.
			}
			for _, req := range podsOf(ctx, o) {
				q.Add(req)
			}
		},
	}
}
