package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// Whatever the strategy: a consumer that fails by its contract gets the
// message again after each delay, and then it is parked as it was published.
func TestStrategiesRetryThenPark(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		travel(t, s, []journey{
			{
				queue: "fixed-delay", fail: parkingAt(3),
				spec:    `workQueue: {name: fixed-delay}, retry: {fixedDelay: {delay: 1s, maxAttempts: 3}}`,
				delays:  []time.Duration{time.Second, time.Second},
				through: []string{".wait.1s", ".wait.1s"},
			},
			{
				queue: "fixed-delay-at-most-once", fail: parkingAt(3),
				spec:    `workQueue: {name: fixed-delay-at-most-once, deadLetterStrategy: AtMostOnce}, retry: {fixedDelay: {delay: 1s, maxAttempts: 3}}`,
				delays:  []time.Duration{time.Second, time.Second},
				through: []string{".wait.1s", ".wait.1s"},
			},
			{
				queue: "native", fail: always(amqptest.RejectRequeue), only: localenv.Series43,
				spec:   `workQueue: {name: native, deliveryLimit: 3}, retry: {native: {minDelay: 1s, maxDelay: 2s}}`,
				delays: []time.Duration{time.Second, 2 * time.Second, 2 * time.Second},
				diesOf: "delivery_limit",
			},
			{
				queue: "native-at-most-once", fail: always(amqptest.RejectRequeue), only: localenv.Series43,
				spec:   `workQueue: {name: native-at-most-once, deliveryLimit: 1, deadLetterStrategy: AtMostOnce}, retry: {native: {minDelay: 1s, maxDelay: 2s}}`,
				delays: []time.Duration{time.Second},
				diesOf: "delivery_limit",
			},
			{
				queue: "immediate", fail: always(amqptest.RejectRequeue),
				spec:   `workQueue: {name: immediate, deliveryLimit: 3}, retry: {immediate: {}}`,
				delays: []time.Duration{0, 0, 0},
				diesOf: "delivery_limit",
			},
			{
				queue: "immediate-at-most-once", fail: always(amqptest.RejectRequeue),
				spec:   `workQueue: {name: immediate-at-most-once, deliveryLimit: 3, deadLetterStrategy: AtMostOnce}, retry: {immediate: {}}`,
				delays: []time.Duration{0, 0, 0},
				diesOf: "delivery_limit",
			},
		})
	})
}

// A rejection without requeue parks at once where nothing waits.
func TestRejectionParksAtOnceWithoutWaitQueues(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		travel(t, s, []journey{
			{queue: "native", spec: `workQueue: {name: native, deliveryLimit: 0}, retry: {native: {minDelay: 1s, maxDelay: 2s}}`, fail: always(amqptest.Reject), only: localenv.Series43, diesOf: "rejected"},
			{queue: "immediate", spec: `workQueue: {name: immediate, deliveryLimit: 0}, retry: {immediate: {}}`, fail: always(amqptest.Nack), diesOf: "rejected"},
		})
	})
}

// A broker that takes the arguments of native retry and ignores them gets
// nothing declared at all, and the status says why.
func TestNativeIsRefusedByAnOlderBroker(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series40))
	s := &stage{tenant: w, t: t, app: w.application()}
	s.apply(subscriptionManifest("native", `workQueue: {name: native}, retry: {native: {minDelay: 1s, maxDelay: 1m}}`))
	s.await("rsub/native",
		expected{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonUnsupportedByBroker},
		expected{Type: v1alpha1.ConditionEstablished, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonUnsupportedByBroker, Message: "RabbitMQ 4.3"})

	for _, collection := range []string{"queues", "exchanges", "policies"} {
		var objects []struct{ Name string }
		if err := s.manage(http.MethodGet, nil, &objects, collection); err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			// The default exchange and RabbitMQ's own are in every vhost.
			if o.Name != "" && !strings.HasPrefix(o.Name, "amq.") {
				t.Errorf("among the %s is %q, want nothing declared", collection, o.Name)
			}
		}
	}
}
