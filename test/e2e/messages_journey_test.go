package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// topicOrders is where the events come from.
const topicOrders = `
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {brokerRef: {name: main}}
`

// fromOrders is the part of a spec that subscribes to them.
const fromOrders = `sources: [{topicRef: {name: orders}, routingKeys: ["order.*"]}]`

// journey is the way of a message whose consumer fails each time.
type journey struct {
	// queue is the work queue, and the subscription's name.
	queue string
	// spec is what the subscription has beside its source.
	spec string
	// only is the one series of RabbitMQ on which it goes like this; "" means all.
	only localenv.Series
	// fail is how the consumer fails.
	fail consumerOf
	// unusual: not in the way that the strategy expects, and of which the
	// numbers in the status speak.
	unusual bool
	// delays before the second delivery, the third and so on.
	delays []time.Duration
	// through are the wait queues in which it waits meanwhile, less the work
	// queue's name; none if it waits nowhere else.
	through []string
	// diesOf is the reason for which it parks in the end; "" if its consumer parked it.
	diesOf string
}

// consumerOf makes a consumer's answer; the work queue's name is given.
type consumerOf func(s *stage, queue string) amqptest.Answer

// inTurn answers a message's first delivery with the first verb and so on; the last verb answers all further ones.
func inTurn(verbs ...amqptest.Verb) consumerOf {
	return func(*stage, string) amqptest.Answer { return amqptest.InTurn(verbs...) }
}

// always answers each delivery with the same verb.
func always(verb amqptest.Verb) consumerOf { return inTurn(verb) }

// poison is a message that no consumer can process.
func poison() amqp.Publishing {
	message := amqptest.Message("poison")
	message.Headers = amqp.Table{"tenant": "acme"}
	message.ContentType = "application/json"
	message.CorrelationId = "order-4711"
	return message
}

// travel sends one poison message and one good one past the consumers of all
// journeys at the same time, and checks each journey in a subtest.
func travel(t *testing.T, s *stage, journeys []journey) {
	t.Helper()
	manifests := topicOrders
	var under []journey
	var names []string
	for _, j := range journeys {
		if j.only != "" && j.only != s.series() {
			continue
		}
		under, names = append(under, j), append(names, j.queue)
		manifests += subscriptionManifest(j.queue, fromOrders+", "+j.spec)
	}
	s.establish(manifests, names...)
	consumers := map[string]*amqptest.Consumer{}
	for _, j := range under {
		consumers[j.queue] = s.consume(j.queue, amqptest.ByID(map[string]amqptest.Answer{"poison": j.fail(s, j.queue)}))
	}
	s.publish("orders", "order.placed", amqptest.Message("good"), poison())
	for _, j := range under {
		t.Run(j.queue, func(t *testing.T) { j.check(t, s, consumers[j.queue]) })
	}
}

func (j journey) check(t *testing.T, s *stage, consumer *amqptest.Consumer) {
	want := len(j.delays) + 1
	deliveries := consumer.AwaitMessage(t, "poison", want)
	parked := s.takeOnly(t, j.queue+".parking")

	assertDeliveries(t, consumer, "poison", want)
	assertDeliveries(t, consumer, "good", 1)
	assertDelays(t, deliveries, j.delays...)
	j.assertWaits(t, deliveries)
	for _, d := range append(deliveries, parked) {
		assertAsPublished(t, d, "order.placed", poison())
	}
	if reason := parked.LastDeath().Reason; reason != j.diesOf {
		t.Errorf("parked for reason %q, want %q", reason, j.diesOf)
	}
	amqptest.AwaitReady(t, s.app, j.queue, 0)
	if !j.unusual {
		j.assertNumbers(t, s)
	}
	s.await("rsub/"+j.queue,
		expected{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue},
		expected{Type: v1alpha1.ConditionDeadLetteringBlocked, Status: metav1.ConditionFalse},
		expected{Type: v1alpha1.ConditionParkingBacklog, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonEmpty})
}

// assertWaits: each delivery but the first comes out of the wait queue whose turn it was.
func (j journey) assertWaits(t *testing.T, deliveries []amqptest.Delivery) {
	t.Helper()
	want := make([]string, len(deliveries))
	for i, wait := range j.through {
		want[i+1] = j.queue + wait
	}
	var got []string
	for _, d := range deliveries {
		got = append(got, d.LastDeath().Queue)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wait queues that the deliveries came from (-want +got):\n%s", diff)
	}
}

// assertNumbers: what the status promises is what was counted.
func (j journey) assertNumbers(t *testing.T, s *stage) {
	t.Helper()
	var sum time.Duration
	for _, d := range j.delays {
		sum += d
	}
	retry := s.subscription(j.queue).Status.Retry
	if got, want := ptr.Deref(retry.MaxDeliveries, 0), int64(len(j.delays)+1); got != want {
		t.Errorf("status.retry.maxDeliveries is %d, and there were %d", got, want)
	}
	if got, want := retry.TimeToParking, v1alpha1.FormatDuration(sum); got != want {
		t.Errorf("status.retry.timeToParking is %s, and the delays add up to %s", got, want)
	}
}

// assertAsPublished: routing key, properties and the application's headers
// are those of the publisher, on each delivery and in the parking queue.
func assertAsPublished(t *testing.T, d amqptest.Delivery, key string, message amqp.Publishing) {
	t.Helper()
	type published struct {
		Key, ID, Body, ContentType, CorrelationID string
		Headers                                   amqp.Table
	}
	want := published{key, message.MessageId, string(message.Body), message.ContentType, message.CorrelationId, ofApplication(message.Headers)}
	got := published{d.RoutingKey, d.MessageId, string(d.Body), d.ContentType, d.CorrelationId, ofApplication(d.Headers)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not as it was published (-want +got):\n%s", d, diff)
	}
}

// ofApplication leaves out the headers that the broker adds, and those with
// which a consumer parks.
func ofApplication(headers amqp.Table) amqp.Table {
	own := amqp.Table{}
	for name, value := range headers {
		if !strings.HasPrefix(name, "x-") && !strings.HasPrefix(name, "warren-parked-") {
			own[name] = value
		}
	}
	return own
}

// assertDelays: a delay may be longer on a busy machine, never shorter.
func assertDelays(t *testing.T, deliveries []amqptest.Delivery, want ...time.Duration) {
	t.Helper()
	for i, least := range want {
		// The broker counts in whole milliseconds.
		if waited := deliveries[i+1].At.Sub(deliveries[i].At); waited < least-5*time.Millisecond {
			t.Errorf("delivery %d came after %s, want at least %s", i+2, waited, least)
		}
	}
}
