package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// twoSyncs are two sync periods of a tenant's Broker.
const twoSyncs = 2 * time.Second

// thresholds is a subscription that is published to directly.
func thresholds(name string, parked, unconsumed int) string {
	return fmt.Sprintf(`
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: %[1]s}
spec:
  brokerRef: {name: main}
  workQueue: {name: %[1]s}
  retry: {backoff: {delays: [5m]}}
  parkingQueue: {backlogThreshold: %[2]d}
  unconsumedThreshold: %[3]d
---`, name, parked, unconsumed)
}

// ParkingBacklog follows the count of parked messages, up and down.
func TestParkingBacklogFollowsTheCount(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(thresholds("billing", 3, 0) + thresholds("silent", 0, 0))
		w.awaitSettled("rsub/billing", "rsub/silent")
		app := w.application()
		is := func(status metav1.ConditionStatus, reason, message string) {
			t.Helper()
			began := time.Now()
			w.await("rsub/billing", expected{v1alpha1.ConditionParkingBacklog, status, reason, message})
			w.took("ParkingBacklog "+reason, began, twoSyncs)
			w.awaitReady("rsub/billing") // a backlog is no fault of the topology
		}

		is(metav1.ConditionFalse, v1alpha1.ReasonEmpty, `queue "billing.parking" is empty`)
		amqptest.Publish(t, app, "billing.park", "order.placed", amqptest.Messages("m", 2)...)
		is(metav1.ConditionFalse, v1alpha1.ReasonBelowThreshold, `queue "billing.parking" holds 2 parked messages (threshold 3)`)
		amqptest.Publish(t, app, "billing.park", "order.placed", amqptest.Message("m-3"))
		is(metav1.ConditionTrue, v1alpha1.ReasonBacklogReached,
			`queue "billing.parking" holds 3 parked messages (threshold 3): find out why, mend it, then bring them back with a Redrive whose subscriptionRef names "billing"`)
		since := w.subscription("billing").Status.ParkingQueue.Since
		if since == nil || time.Since(since.Time) > within {
			t.Errorf("status.parkingQueue.since is %v, want the time of the first message", since)
		}

		amqptest.Take(t, app, "billing.parking", 1)
		is(metav1.ConditionFalse, v1alpha1.ReasonBelowThreshold, `queue "billing.parking" holds 2 parked messages (threshold 3)`)
		amqptest.Take(t, app, "billing.parking", 2)
		is(metav1.ConditionFalse, v1alpha1.ReasonEmpty, `queue "billing.parking" is empty`)
		if since := w.subscription("billing").Status.ParkingQueue.Since; since != nil {
			t.Errorf("status.parkingQueue.since is %v with nothing parked, want none", since)
		}

		amqptest.Publish(t, app, "silent.park", "order.placed", amqptest.Message("m-1"))
		w.awaitCounts("silent", counts{parked: known(1)})
		w.await("rsub/silent", expected{v1alpha1.ConditionParkingBacklog, metav1.ConditionFalse, v1alpha1.ReasonDisabled, "parkingQueue.backlogThreshold is 0"})
	})
}

// Unconsumed is True while enough messages wait and nobody consumes.
func TestUnconsumedFollowsMessagesAndConsumers(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(thresholds("billing", 1, 2) + thresholds("silent", 1, 0))
		w.awaitSettled("rsub/billing", "rsub/silent")
		app := w.application()
		is := func(status metav1.ConditionStatus, reason, message string) {
			t.Helper()
			began := time.Now()
			w.await("rsub/billing", expected{v1alpha1.ConditionUnconsumed, status, reason, message})
			w.took("Unconsumed "+reason, began, twoSyncs)
		}

		is(metav1.ConditionFalse, v1alpha1.ReasonBelowThreshold, `queue "billing" holds 0 messages (threshold 2) and has no consumer`)
		amqptest.Publish(t, app, "", "billing", amqptest.Messages("m", 2)...)
		is(metav1.ConditionTrue, v1alpha1.ReasonNoConsumer, `queue "billing" holds 2 messages (threshold 2) and nobody consumes it: start its consumer`)
		consumer := amqptest.Consume(t, app, "billing", amqptest.InTurn(amqptest.Hang))
		is(metav1.ConditionFalse, v1alpha1.ReasonConsumed, `queue "billing" has 1 consumer`)
		consumer.Stop()
		is(metav1.ConditionTrue, v1alpha1.ReasonNoConsumer, "")
		amqptest.Take(t, app, "billing", 1)
		is(metav1.ConditionFalse, v1alpha1.ReasonBelowThreshold, `queue "billing" holds 1 message (threshold 2) and has no consumer`)

		amqptest.Publish(t, app, "", "silent", amqptest.Messages("m", 2)...)
		w.await("rsub/silent", expected{v1alpha1.ConditionUnconsumed, metav1.ConditionFalse, v1alpha1.ReasonDisabled, "unconsumedThreshold is 0"})
	})
}

// The status counts what is in the work queue, what waits for a retry and
// what is parked, and tells the delivery limit in force.
func TestTheStatusCounts(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(thresholds("billing", 1, 0))
		w.awaitSettled("rsub/billing")
		app := w.application()
		amqptest.Consume(t, app, "billing", amqptest.ByID(map[string]amqptest.Answer{
			"held-1": amqptest.InTurn(amqptest.Hang), "held-2": amqptest.InTurn(amqptest.Hang), "rejected": amqptest.InTurn(amqptest.Reject),
		}), amqptest.Prefetch(3))
		amqptest.Publish(t, app, "", "billing", amqptest.Message("rejected"), amqptest.Message("held-1"), amqptest.Message("held-2"))
		amqptest.AwaitReady(t, app, "billing", 0)
		// The parked message changes a condition, so that the counts come with it.
		amqptest.Publish(t, app, "billing.park", "order.placed", amqptest.Message("parked"))

		w.awaitCounts("billing", counts{
			messages: known(2), ready: known(0), unacknowledged: known(2), consumers: known(1), retrying: known(1), parked: known(1),
		})
		status := w.subscription("billing").Status
		if limit := status.WorkQueue.EffectiveDeliveryLimit; limit == nil || *limit != 20 {
			t.Errorf("status.workQueue.effectiveDeliveryLimit is %v, want 20", number(limit))
		}
		if got, want := []string{status.WorkQueue.Name, status.ParkingQueue.Name, status.ParkingQueue.Exchange},
			[]string{"billing", "billing.parking", "billing.park"}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the status names %v, want %v", got, want)
		}
	})
}

// While nothing but counts changes, the status is written every 30 s at most,
// and then it tells the latest ones.
func TestCountsAloneAreWrittenSeldom(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(thresholds("billing", 0, 0))
	w.awaitSettled("rsub/billing")
	app := w.application()
	amqptest.Publish(t, app, "", "billing", amqptest.Message("m"))
	w.await("rsub/billing", expected{v1alpha1.ConditionSpinning, metav1.ConditionFalse, v1alpha1.ReasonProgressing, ""})

	const most = 30 * time.Second
	published := int64(1)
	began := w.subscription("billing")
	for w.subscription("billing").ResourceVersion == began.ResourceVersion {
		amqptest.Publish(t, app, "", "billing", amqptest.Message("m"))
		published++
		if time.Since(began.Status.ObservedTime.Time) > most+within {
			t.Fatalf("no count was written for %s, although %d messages came", most+within, published)
		}
	}
	next := w.subscription("billing")
	if apart := next.Status.ObservedTime.Sub(began.Status.ObservedTime.Time); apart < most-time.Second { // told in whole seconds
		t.Errorf("counts were written %s apart, want %s at least", apart, most)
	}
	if told := *next.Status.WorkQueue.Messages; told <= 1 || told > published {
		t.Errorf("the status tells %d messages, want more than 1 and at most %d", told, published)
	}
}

// counts of a subscription's status; nil is any.
type counts struct {
	messages, ready, unacknowledged, consumers, retrying, parked *int64
}

func known(n int64) *int64 { return &n }

func number(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprint(*n)
}

// awaitCounts waits for counts, which alone are written every 30 s at most.
func (w *tenant) awaitCounts(name string, want counts) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		s := w.subscription(name).Status
		var errs []error
		for _, c := range []struct {
			field     string
			got, want *int64
		}{
			{"workQueue.messages", s.WorkQueue.Messages, want.messages},
			{"workQueue.ready", s.WorkQueue.Ready, want.ready},
			{"workQueue.unacknowledged", s.WorkQueue.Unacknowledged, want.unacknowledged},
			{"workQueue.consumers", s.WorkQueue.Consumers, want.consumers},
			{"retry.messages", s.Retry.Messages, want.retrying},
			{"parkingQueue.messages", s.ParkingQueue.Messages, want.parked},
		} {
			if c.want != nil && number(c.got) != number(c.want) {
				errs = append(errs, fmt.Errorf("status.%s is %s, want %s", c.field, number(c.got), number(c.want)))
			}
		}
		return errors.Join(errs...)
	})
}

// assertNoCounts: what is unknown is absent, and not 0.
func (w *tenant) assertNoCounts(name string) {
	w.t.Helper()
	s := w.subscription(name).Status
	for field, n := range map[string]*int64{
		"workQueue.messages": s.WorkQueue.Messages, "workQueue.ready": s.WorkQueue.Ready,
		"workQueue.unacknowledged": s.WorkQueue.Unacknowledged, "workQueue.consumers": s.WorkQueue.Consumers,
		"workQueue.effectiveDeliveryLimit": s.WorkQueue.EffectiveDeliveryLimit,
		"retry.messages":                   s.Retry.Messages, "parkingQueue.messages": s.ParkingQueue.Messages,
	} {
		if n != nil {
			w.t.Errorf("status.%s is %d, want it absent while unknown", field, *n)
		}
	}
}
