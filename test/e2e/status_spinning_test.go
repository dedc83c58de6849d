package e2e

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// spinning and idle are what condition Spinning tells of queue billing.
var (
	spinning = expected{v1alpha1.ConditionSpinning, metav1.ConditionTrue, v1alpha1.ReasonNoProgress, `queue "billing" redelivers and nothing is acknowledged`}
	idle     = expected{v1alpha1.ConditionSpinning, metav1.ConditionFalse, v1alpha1.ReasonIdle, `queue "billing" is empty`}
)

// From RabbitMQ 4.3 on basic.nack with requeue is not counted, so that no
// limit ends it. Spinning tells, until the consumer is mended.
func TestConsumerThatRequeuesByNackIsSpinning(t *testing.T) {
	t.Parallel()
	s := newStage(t, localenv.Series43)
	s.establish(subscriptionManifest("billing", `workQueue: {name: billing, deliveryLimit: 2}, retry: {immediate: {}}`), "billing")
	var mended atomic.Bool
	consumer := s.consume("billing", func(amqptest.Delivery) amqptest.Verb {
		if mended.Load() {
			return amqptest.Ack
		}
		return amqptest.NackRequeue
	})
	s.publish("", "billing", amqptest.Message("again"))

	began := time.Now()
	s.await("rsub/billing", spinning)
	s.took("Spinning", began, 4*statistics)
	s.staysSpinning(began)
	s.awaitReady("rsub/billing") // it is no fault of the topology
	if n := len(consumer.Deliveries()); n <= 3 {
		t.Errorf("the message was delivered %d times, want more than its limit of 2 allows", n)
	}
	s.assertReady(t, "billing.parking", 0)
	mended.Store(true)
	s.await("rsub/billing", idle)
}

// statistics is how often RabbitMQ renews its counters.
const statistics = 5 * time.Second

// staysSpinning looks until the counters have been renewed several times: a
// loop goes on whatever a reading hits, a message that is held or one that is ready.
func (s *stage) staysSpinning(began time.Time) {
	s.t.Helper()
	amqptest.Eventually(s.t, within, func() error {
		var o object
		if err := s.read("rsub/billing", &o); err != nil {
			return err
		}
		if err := spinning.check(o); err != nil {
			s.t.Fatalf("after %s: %v", time.Since(began), err)
		}
		if since := meta.FindStatusCondition(o.Status.Conditions, spinning.Type).LastTransitionTime; time.Since(since.Time) < 4*statistics {
			return fmt.Errorf("spinning since %s only", since)
		}
		return nil
	})
}

// Nor is a consumer that hangs ended by a limit: RabbitMQ takes the message
// back after the consumer timeout, and does not count that either. It is
// redelivered once in a timeout, with nothing to be seen in between.
func TestConsumerThatHangsIsSpinning(t *testing.T) {
	t.Parallel()
	const timeout = time.Minute // the shortest there is
	s := newStage(t, localenv.Series43)
	s.establish(subscriptionManifest("billing", `workQueue: {name: billing, deliveryLimit: 2, consumerTimeout: 1m}, retry: {immediate: {}}`), "billing")
	consumer := s.consume("billing", amqptest.InTurn(amqptest.Hang))
	s.publish("", "billing", amqptest.Message("held"))

	s.awaitWithin(2*timeout+within, "rsub/billing", spinning)
	if n := len(consumer.Deliveries()); n < 3 {
		t.Errorf("the message was delivered %d times, want 3: one redelivery may be a consumer's restart", n)
	}
	consumer.Stop()
	s.await("rsub/billing", expected{v1alpha1.ConditionSpinning, metav1.ConditionFalse, v1alpha1.ReasonProgressing, ""})
	s.consume("billing", amqptest.InTurn(amqptest.Ack))
	s.await("rsub/billing", idle)
}
