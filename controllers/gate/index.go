package gate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// Indexes of the cached pods, by what they await.
const (
	topicIndex        = "warren.awaitTopics"
	subscriptionIndex = "warren.awaitSubscriptions"
)

// awaits indexes gated pods by a part of what they await.
func awaits(part func(awaited) []types.NamespacedName) client.IndexerFunc {
	return func(o client.Object) []string {
		pod := o.(*corev1.Pod)
		need, err := awaitedBy(pod)
		if err != nil || !isGated(pod) {
			return nil
		}
		var values []string
		for _, key := range part(need) {
			values = append(values, key.String())
		}
		return values
	}
}

// waiting finds the pods that a change concerns.
type waiting struct {
	pods     client.Reader
	topicsOf func(context.Context, *v1alpha1.ReliableSubscription) []types.NamespacedName
}

func (w waiting) ofTopic(ctx context.Context, o client.Object) []reconcile.Request {
	return w.indexed(ctx, topicIndex, client.ObjectKeyFromObject(o))
}

// ofSubscription finds also those that await a topic which it hears.
func (w waiting) ofSubscription(ctx context.Context, o client.Object) []reconcile.Request {
	reqs := w.indexed(ctx, subscriptionIndex, client.ObjectKeyFromObject(o))
	for _, topic := range w.topicsOf(ctx, o.(*v1alpha1.ReliableSubscription)) {
		reqs = append(reqs, w.indexed(ctx, topicIndex, topic)...)
	}
	return reqs
}

func (w waiting) indexed(ctx context.Context, index string, key types.NamespacedName) []reconcile.Request {
	var pods corev1.PodList
	// Nothing is changed in them, and there may be many.
	if err := w.pods.List(ctx, &pods, client.MatchingFields{index: key.String()}, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "cannot list the pods that a change concerns")
		return nil
	}
	reqs := make([]reconcile.Request, 0, len(pods.Items))
	for i := range pods.Items {
		reqs = append(reqs, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pods.Items[i])})
	}
	return reqs
}
