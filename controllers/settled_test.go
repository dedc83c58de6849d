package controllers_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
)

// reconciles counts, by name, how often a subscription is reconciled: each
// reconcile begins with reading it.
type reconciles struct {
	mutex sync.Mutex
	of    map[string]int
}

func (r *reconciles) counting(c client.WithWatch) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*v1alpha1.ReliableSubscription); ok {
				r.mutex.Lock()
				r.of[key.Name]++
				r.mutex.Unlock()
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
}

func (r *reconciles) take() map[string]int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	taken := r.of
	r.of = map[string]int{}
	return taken
}

// A reading of the broker concerns those only to whom it shows something new:
// many subscriptions that are as they should be cost nothing.
func TestOnlyWhatChangedIsReconciled(t *testing.T) {
	vhost := localenv.Broker(t, localenv.Series43).NewVhost(t)
	recorder, newSession := newRecorder()
	counted := &reconciles{of: map[string]int{}}
	w := newWorld(t, newSession, counted.counting)
	w.createBroker(configOf(vhost))
	w.create(topic("orders"))
	names := []string{"billing", "shipping", "search"}
	for _, name := range names {
		sub := subscription(name)
		w.create(sub)
		w.awaitCondition(sub, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReliable)
		w.awaitCondition(sub, v1alpha1.ConditionDeadLetteringBlocked, metav1.ConditionFalse, v1alpha1.ReasonFlowing)
	}
	// The counters of new queues come in one by one.
	w.eventually(func() error {
		counted.take()
		recorder.awaitReadings(w, 4)
		if n := counted.take(); len(n) > 0 {
			return fmt.Errorf("with nothing to do, reconciled: %v", n)
		}
		return nil
	})

	channel, err := vhost.Dial(t, vhost.App).Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := channel.QueueDelete("billing.parking", false, false, false); err != nil {
		t.Fatal(err)
	}
	w.eventually(func() error {
		_, writes, _ := recorder.seen()
		for _, write := range writes[len(writes)-2:] {
			if write == `declare queue "billing.parking"` {
				return nil
			}
		}
		return fmt.Errorf("the queue is not declared again; the last writes: %v", writes[len(writes)-2:])
	})
	recorder.awaitReadings(w, 3)
	n := counted.take()
	if n["billing"] == 0 || n["shipping"] > 0 || n["search"] > 0 {
		t.Errorf("a queue of billing was deleted, and reconciled were: %v", n)
	}
}
