package drift_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

const (
	tolerable = v1alpha1.ImpactTolerable
	unsafe    = v1alpha1.ImpactUnsafe
)

// setting is a difference between an argument as declared and as wanted.
type setting struct {
	argument          string
	desired, observed string
	impact            v1alpha1.Impact
	// consequence is what the remedy begins with.
	consequence string
}

// onQueue makes an entry of it, with the remedy for what cannot be changed.
func (s setting) onQueue(queue string) drift.Difference {
	return drift.Difference{
		Cause: drift.CauseImmutable,
		DriftEntry: v1alpha1.DriftEntry{
			Object: fmt.Sprintf("queue %q", queue), Field: s.argument, Desired: s.desired, Observed: s.observed, Impact: s.impact,
			Remedy: s.consequence + fmt.Sprintf(" RabbitMQ cannot change %s of a queue: stop what publishes into queue %q, let it drain, delete it when it is empty, and Warren declares it anew", s.argument, queue) + s.orSpec(queue),
		},
	}
}

// orSpec is the other way out, for what a spec can say.
func (s setting) orSpec(queue string) string {
	say := map[string]string{
		"x-delivery-limit": "W", "x-max-length": "W", "x-single-active-consumer": "W", "x-consumer-timeout": "W", "x-dead-letter-strategy": "W",
		"x-delayed-retry-type": "W", "x-delayed-retry-min": "W", "x-delayed-retry-max": "W",
		"x-quorum-initial-group-size": queue, "x-queue-leader-locator": queue,
	}
	if say[s.argument] == queue {
		return "; or set the spec to what is there"
	}
	return ""
}

const (
	atMostOnceInForce = "dead-lettering is at-most-once in force: at-least-once needs the strategy and overflow reject-publish together, and messages may be lost on their way."
	expires           = "the broker deletes the queue with all its messages when nobody uses it for that long."
	keyLost           = "the original routing key is lost when a message dies."
	standsStill       = "when the queue is full, every dead letter behind it stands still, retries too."
	keptExpires       = "what is kept here expires; it circles in the dead-letter line in place of being kept in sight."
	notQuite          = "the queue works, not quite as the spec says."
	twoMechanisms     = "two retry mechanisms work against each other: the queue's own delayed retry and the wait queues."
)

// Each setting in the arguments of each kind of queue. What is good for one
// kind is a fault in another.
func TestDifferingArguments(t *testing.T) {
	const work, wait, parking = "W", "W.wait.1.5s", "W.parking"
	cases := []struct {
		reason string
		spec   string
		on     topology.Version
		queue  string
		value  any
		want   setting
	}{
		{"no dead-letter exchange: over the limit messages are gone", threeDelays, rabbit43, work, nil,
			setting{"x-dead-letter-exchange", "W.dead", "none", unsafe, "messages that are rejected, expire or exceed the delivery limit (20 in force) are dropped."}},
		{"the default exchange without a key is none", threeDelays, rabbit43, work, "",
			setting{"x-dead-letter-exchange", "W.dead", `""`, unsafe, "the default exchange takes a dying message to the queue whose name is its routing key, and nowhere else."}},
		{"a dead-letter exchange of somebody else", threeDelays, rabbit43, work, "orders.dlx",
			setting{"x-dead-letter-exchange", "W.dead", "orders.dlx", unsafe, "dying messages do not come to Warren's exchange, so they are neither retried nor parked as the spec says."}},
		{"a wait queue that leads elsewhere", threeDelays, rabbit43, wait, "orders",
			setting{"x-dead-letter-exchange", "W.return.1", "orders", unsafe, "dying messages do not come to Warren's exchange, so they are neither retried nor parked as the spec says."}},
		{"a parking queue that lets go", threeDelays, rabbit43, parking, nil,
			setting{"x-dead-letter-exchange", "W.park", "none", unsafe, "messages that are rejected, expire or exceed the delivery limit are dropped."}},

		{"a key that replaces the message's", threeDelays, rabbit43, work, "dead",
			setting{"x-dead-letter-routing-key", "none", "dead", tolerable, keyLost}},
		{"a key that replaces it on the way back", threeDelays, rabbit43, wait, "W",
			setting{"x-dead-letter-routing-key", "none", "W", tolerable, keyLost}},

		{"the broker's default strategy", threeDelays, rabbit43, work, nil,
			setting{"x-dead-letter-strategy", "at-least-once", "none", unsafe, atMostOnceInForce}},
		{"at most once while it waits", threeDelays, rabbit43, wait, "at-most-once",
			setting{"x-dead-letter-strategy", "at-least-once", "at-most-once", unsafe, atMostOnceInForce}},
		{"at least once is more than was asked for", `{workQueue: {name: W, deadLetterStrategy: AtMostOnce}}`, rabbit43, work, "at-least-once",
			setting{"x-dead-letter-strategy", "at-most-once", "at-least-once", tolerable, "dead letters are moved at least once: slower than the spec says, and nothing is lost."}},
		{"drop-head makes at-least-once what it says it is not", threeDelays, rabbit43, work, "drop-head",
			setting{"x-overflow", "reject-publish", "drop-head", unsafe, atMostOnceInForce}},
		{"so does no overflow at all", threeDelays, rabbit43, parking, nil,
			setting{"x-overflow", "reject-publish", "none", unsafe, atMostOnceInForce}},

		{"a work queue that goes when it is idle", threeDelays, rabbit43, work, int64(60000),
			setting{"x-expires", "none", "60000", unsafe, expires}},
		{"a parking queue that goes when nobody looks", threeDelays, rabbit43, parking, int64(60000),
			setting{"x-expires", "none", "60000", unsafe, expires}},

		{"a work queue in which healthy messages die", threeDelays, rabbit43, work, int64(60000),
			setting{"x-message-ttl", "none", "60000", tolerable, "healthy messages park when the consumer is away for that long."}},
		{"a wait of another length", threeDelays, rabbit43, wait, int64(7000),
			setting{"x-message-ttl", "5000", "7000", tolerable, "messages wait for another time than the spec says."}},
		{"a wait without end", threeDelays, rabbit43, wait, nil,
			setting{"x-message-ttl", "5000", "none", unsafe, "messages that wait here never come back."}},
		{"a number that is a string", threeDelays, rabbit43, wait, "5000",
			setting{"x-message-ttl", "5000 (a number)", `"5000" (a string)`, tolerable, "messages wait for another time than the spec says."}},
		{"a parking queue from which messages vanish after a week", threeDelays, rabbit43, parking, int64(604800000),
			setting{"x-message-ttl", "none", "604800000", unsafe, keptExpires}},

		{"a full work queue refuses what returns", threeDelays, rabbit43, work, int64(1000),
			setting{"x-max-length", "none", "1000", tolerable, "publishers are refused when the queue is full, and returning retries starve."}},
		{"a full work queue in bytes", threeDelays, rabbit43, work, int64(1000),
			setting{"x-max-length-bytes", "none", "1000", tolerable, "publishers are refused when the queue is full, and returning retries starve."}},
		{"another length than the spec's", `{workQueue: {name: W, maxLength: 500}, retry: {immediate: {}}}`, rabbit43, work, int64(1000),
			setting{"x-max-length", "500", "1000", tolerable, "publishers are refused when the queue is full, and returning retries starve."}},
		{"a full wait queue stops all retries", threeDelays, rabbit43, wait, int64(1000),
			setting{"x-max-length", "none", "1000", unsafe, standsStill}},
		{"a full parking queue stops all retries", threeDelays, rabbit43, parking, int64(1000),
			setting{"x-max-length-bytes", "none", "1000", unsafe, standsStill}},

		{"delayed retry beside wait queues", threeDelays, rabbit43, work, "all",
			setting{"x-delayed-retry-type", "none", "all", unsafe, twoMechanisms}},
		{"delayed retry's shortest wait beside wait queues", threeDelays, rabbit43, work, int64(1000),
			setting{"x-delayed-retry-min", "none", "1000", unsafe, twoMechanisms}},
		{"delayed retry's longest wait beside wait queues", threeDelays, rabbit43, work, int64(1000),
			setting{"x-delayed-retry-max", "none", "1000", unsafe, twoMechanisms}},
		{"another delayed retry than the spec's", `{workQueue: {name: W}, retry: {native: {minDelay: 1s, maxDelay: 1m}}}`, rabbit43, work, "all",
			setting{"x-delayed-retry-type", "failed", "all", tolerable, "retries are not delayed as the spec says."}},
		{"no delayed retry", `{workQueue: {name: W}, retry: {native: {minDelay: 1s, maxDelay: 1m}}}`, rabbit43, work, nil,
			setting{"x-delayed-retry-min", "1000", "none", tolerable, "retries are not delayed as the spec says."}},

		{"no limit is the broker's", `{workQueue: {name: W, deliveryLimit: 30}}`, rabbit43, work, nil,
			setting{"x-delivery-limit", "30", "none", tolerable, "the broker's default of 20 is in force."}},
		{"a limit that is off", threeDelays, rabbit43, work, int64(-1),
			setting{"x-delivery-limit", "20", "-1", tolerable, "a message that crashes its consumer is redelivered for ever."}},
		{"another limit, from 4.3 on", threeDelays, rabbit43, work, int64(5),
			setting{"x-delivery-limit", "20", "5", tolerable, "a message parks after 5 crashes, requeues and returns."}},
		{"another limit, before 4.3", threeDelays, rabbit40, work, int64(5),
			setting{"x-delivery-limit", "20", "5", tolerable, "a message parks after 6 crashes or requeues in one stay in the queue."}},
		{"a limit under the retries, from 4.3 on", threeDelays, rabbit43, work, int64(2),
			setting{"x-delivery-limit", "20", "2", tolerable, "RabbitMQ 4.3.6 counts each return from a wait queue, so a message that then crashes its consumer parks before the last of 3 retries."}},
		{"a limit under the retries of a fixed delay", `{workQueue: {name: W}, retry: {fixedDelay: {delay: 5s, maxAttempts: 9}}}`, rabbit43, work, int64(2),
			setting{"x-delivery-limit", "20", "2", tolerable, "RabbitMQ 4.3.6 counts each return from a wait queue, so a message that then crashes its consumer parks before the last of 8 retries."}},
		{"a limit under the retries, before 4.3", threeDelays, rabbit40, work, int64(2),
			setting{"x-delivery-limit", "20", "2", tolerable, "a message parks after 3 crashes or requeues in one stay in the queue."}},
		{"a parking queue that forgets after 21 looks", threeDelays, rabbit43, parking, nil,
			setting{"x-delivery-limit", "-1", "none", unsafe, "a message leaves this queue after more than the broker's default of 20 looks at it."}},
		{"a parking queue that forgets after six", threeDelays, rabbit43, parking, int64(5),
			setting{"x-delivery-limit", "-1", "5", unsafe, "a message leaves this queue after more than 5 looks at it."}},
		{"a wait queue that one look can end", threeDelays, rabbit43, wait, int64(5),
			setting{"x-delivery-limit", "-1", "5", unsafe, "a message leaves this queue after more than 5 looks at it."}},

		{"no single active consumer", `{workQueue: {name: W, singleActiveConsumer: true}}`, rabbit43, work, nil,
			setting{"x-single-active-consumer", "true", "none", tolerable, notQuite}},
		{"another consumer timeout", `{workQueue: {name: W, consumerTimeout: 1h}}`, rabbit43, work, int64(60000),
			setting{"x-consumer-timeout", "3600000", "60000", tolerable, notQuite}},
		{"fewer replicas", `{workQueue: {name: W, replicas: 5}}`, rabbit43, parking, int64(3),
			setting{"x-quorum-initial-group-size", "5", "3", tolerable, notQuite}},
		{"leaders in another place", `{workQueue: {name: W, leaderLocator: Balanced}}`, rabbit43, work, "client-local",
			setting{"x-queue-leader-locator", "balanced", "client-local", tolerable, notQuite}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			r := newRabbit()
			r.version = tc.on
			want := subscriptionOn(t, tc.spec, r)
			for _, o := range want.Objects {
				r.declare(o)
			}
			r.setArgument(tc.queue, tc.want.argument, tc.value)

			got := drift.Compare(want, r.snapshot(), nothingOwned)
			if diff := cmp.Diff([]drift.Difference{tc.want.onQueue(tc.queue)}, got.Differences); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			assertPlan(t, got.Plan, "") // an immutable setting is reported, never touched
		})
	}
}

// A topic's catch-all keeps messages as a parking queue does.
func TestDifferingArgumentsOfACatchAll(t *testing.T) {
	cases := []struct {
		reason string
		value  any
		want   setting
	}{
		{"it lets messages expire", int64(60000), setting{"x-message-ttl", "none", "60000", unsafe, keptExpires}},
		{"it forgets after 21 looks", nil, setting{"x-delivery-limit", "-1", "none", unsafe, "a message leaves this queue after more than the broker's default of 20 looks at it."}},
		{"it refuses when it is full", int64(10), setting{"x-max-length", "none", "10", unsafe, standsStill}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			want := topic(t, v1alpha1.TopicSpec{Unroutable: &v1alpha1.UnroutableSpec{}})
			r := rabbitWith(want)
			r.setArgument("events.unroutable", tc.want.argument, tc.value)
			got := drift.Compare(want, r.snapshot(), nothingOwned)
			if diff := cmp.Diff([]drift.Difference{tc.want.onQueue("events.unroutable")}, got.Differences); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// Every difference is told, and not only the first as the broker does: the
// type before all others, the unsafe ones before the tolerable ones.
func TestTheWorstDifferenceComesFirst(t *testing.T) {
	want := subscription(t, threeDelays)
	r := rabbitWith(want)
	messages := int64(4711)
	r.setQueue("W", func(q *topology.SeenQueue) {
		q.Type, q.Messages = "classic", &messages
		q.Arguments = topology.Arguments{topology.OwnerArgument: mark, "x-queue-type": "classic", "x-message-ttl": int64(60000)}
	})
	r.setArgument("W.parking", "x-message-ttl", int64(60000))

	var got []string
	for _, d := range drift.Compare(want, r.snapshot(), nothingOwned).Differences {
		got = append(got, fmt.Sprintf("%s: %s of %s is %s, wanted %s", d.Impact, d.Field, d.Object, d.Observed, d.Desired))
	}
	expected := []string{
		`Unsafe: x-queue-type of queue "W" is classic, with 4711 messages, wanted quorum`,
		`Unsafe: x-message-ttl of queue "W.parking" is 60000, wanted none`,
		`Unsafe: x-dead-letter-exchange of queue "W" is none, wanted W.dead`,
		`Unsafe: x-dead-letter-strategy of queue "W" is none, wanted at-least-once`,
		`Unsafe: x-overflow of queue "W" is none, wanted reject-publish`,
		`Tolerable: x-message-ttl of queue "W" is 60000, wanted none`,
		`Tolerable: x-delivery-limit of queue "W" is none, wanted 20`,
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}
