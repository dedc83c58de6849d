package e2e

import (
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// A message that crashes its consumer each time is delivered deliveryLimit+1
// times and then parks: whatever the strategy, it neither stays nor is lost.
func TestCrashingMessageParksAtTheDeliveryLimit(t *testing.T) {
	atOnce := []time.Duration{0, 0, 0}
	onStages(t, func(t *testing.T, s *stage) {
		var journeys []journey
		for _, j := range []journey{
			{queue: "backoff", spec: `workQueue: {name: backoff, deliveryLimit: 3}, retry: {backoff: {delays: [1s, 2s]}}`, delays: atOnce},
			{queue: "at-most-once", spec: `workQueue: {name: at-most-once, deliveryLimit: 3, deadLetterStrategy: AtMostOnce}, retry: {backoff: {delays: [1s, 2s]}}`, delays: atOnce},
			{queue: "policy", spec: `workQueue: {name: policy, deliveryLimit: 3}, retry: {backoff: {delays: [1s, 2s]}}, settings: Policy`, delays: atOnce},
			{queue: "fixed-delay", spec: `workQueue: {name: fixed-delay, deliveryLimit: 3}, retry: {fixedDelay: {delay: 1s, maxAttempts: 4}}`, delays: atOnce},
			{queue: "immediate", spec: `workQueue: {name: immediate, deliveryLimit: 3}, retry: {immediate: {}}`, delays: atOnce},
			{
				queue: "native", spec: `workQueue: {name: native, deliveryLimit: 3}, retry: {native: {minDelay: 1s, maxDelay: 2s}}`,
				delays: []time.Duration{time.Second, 2 * time.Second, 2 * time.Second}, only: localenv.Series43,
			},
		} {
			j.fail, j.diesOf, j.unusual = always(amqptest.Crash), "delivery_limit", true
			journeys = append(journeys, j)
		}
		travel(t, s, journeys)
	})
}

// Having climbed to the third rung, a message that begins to crash its
// consumer has deliveryLimit crashes forgiven there on RabbitMQ 4.0. 4.3 has
// counted each return from a wait queue, so that the first crash is one too
// many. Where nothing waits in between, crashes and requeues count alike. However it is, it parks.
func TestCrashAfterRetriesParks(t *testing.T) {
	rejecting := inTurn(amqptest.Reject, amqptest.Reject, amqptest.Reject, amqptest.Crash)
	requeueing := inTurn(amqptest.RejectRequeue, amqptest.RejectRequeue, amqptest.RejectRequeue, amqptest.Crash)
	onStages(t, func(t *testing.T, s *stage) {
		journeys := []journey{
			{queue: "immediate", spec: `workQueue: {name: immediate, deliveryLimit: 3}, retry: {immediate: {}}`, fail: requeueing, delays: []time.Duration{0, 0, 0}},
			{
				queue: "native", spec: `workQueue: {name: native, deliveryLimit: 3}, retry: {native: {minDelay: 1s, maxDelay: 1s}}`, fail: requeueing,
				delays: []time.Duration{time.Second, time.Second, time.Second}, only: localenv.Series43,
			},
		}
		for _, j := range []journey{
			{queue: "backoff", spec: `workQueue: {name: backoff, deliveryLimit: 3}, retry: {backoff: {delays: [1s, 1s, 1s]}}`, through: []string{".wait.1.1s", ".wait.2.1s", ".wait.3.1s"}},
			{queue: "at-most-once", spec: `workQueue: {name: at-most-once, deliveryLimit: 3, deadLetterStrategy: AtMostOnce}, retry: {backoff: {delays: [1s, 1s, 1s]}}`, through: []string{".wait.1.1s", ".wait.2.1s", ".wait.3.1s"}},
			{queue: "fixed-delay", spec: `workQueue: {name: fixed-delay, deliveryLimit: 3}, retry: {fixedDelay: {delay: 1s, maxAttempts: 4}}`, through: []string{".wait.1s", ".wait.1s", ".wait.1s"}},
		} {
			j.fail, j.delays = rejecting, []time.Duration{time.Second, time.Second, time.Second}
			if s.series() == localenv.Series40 {
				// It comes three times more, at once, and the last wait stays the one before.
				j.delays = append(j.delays, 0, 0, 0)
				j.through = append(j.through, slices.Repeat(j.through[2:], 3)...)
			}
			journeys = append(journeys, j)
		}
		for i := range journeys {
			journeys[i].diesOf, journeys[i].unusual = "delivery_limit", true
		}
		travel(t, s, journeys)
	})
}

// No message is delivered more often than status.retry.worstCaseDeliveries
// says, however crashes and failures are mixed, and there is a mix that gets there.
func TestWorstCaseIsTheMostDeliveries(t *testing.T) {
	// The limit is as low as it may be: the number of retries.
	const limit = 2
	cases := []struct {
		queue, spec string
		fail        consumerOf
		only        localenv.Series
	}{
		{queue: "backoff", spec: `workQueue: {name: backoff, deliveryLimit: 2}, retry: {backoff: {delays: [1s, 1s]}}`, fail: always(amqptest.Reject)},
		{queue: "fixed-delay", spec: `workQueue: {name: fixed-delay, deliveryLimit: 2}, retry: {fixedDelay: {delay: 1s, maxAttempts: 3}}`, fail: parkingAt(3)},
		{queue: "immediate", spec: `workQueue: {name: immediate, deliveryLimit: 2}, retry: {immediate: {}}`, fail: always(amqptest.RejectRequeue)},
		{queue: "native", spec: `workQueue: {name: native, deliveryLimit: 2}, retry: {native: {minDelay: 1s, maxDelay: 1s}}`, fail: always(amqptest.RejectRequeue), only: localenv.Series43},
	}
	onStages(t, func(t *testing.T, s *stage) {
		manifests, consumers := topicOrders, map[string]*amqptest.Consumer{}
		for _, tc := range cases {
			manifests += subscriptionManifest(tc.queue, fromOrders+", "+tc.spec)
		}
		s.apply(manifests)
		for _, tc := range cases {
			if tc.only == "" || tc.only == s.series() {
				s.awaitReady("rsub/" + tc.queue)
				consumers[tc.queue] = s.consume(tc.queue, worstFirst(limit, tc.fail(s, tc.queue)))
			}
		}
		s.publish("orders", "order.placed", amqptest.Message("crashes first"), amqptest.Message("crashes before each failure"))

		for queue, consumer := range consumers {
			amqptest.Take(t, s.app, queue+".parking", 2)
			worst := ptr.Deref(s.subscription(queue).Status.Retry.WorstCaseDeliveries, 0)
			first, each := len(consumer.DeliveriesOf("crashes first")), len(consumer.DeliveriesOf("crashes before each failure"))
			if got := int64(max(first, each)); got != worst {
				t.Errorf("%s: status.retry.worstCaseDeliveries is %d, and there were %d: crashing first %d, before each failure %d", queue, worst, got, first, each)
			}
		}
	})
}

// worstFirst crashes as often as the limit forgives, and fails then: one
// message at its start only, the other one before each failure.
func worstFirst(limit int, fail amqptest.Answer) amqptest.Answer {
	return func(d amqptest.Delivery) amqptest.Verb {
		if d.Nth <= limit || (d.MessageId == "crashes before each failure" && d.Nth%(limit+1) != 0) {
			return amqptest.Crash
		}
		return fail(d)
	}
}
