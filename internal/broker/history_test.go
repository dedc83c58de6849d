package broker

import (
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
)

// reading is what one snapshot tells of a queue, at so many seconds.
type reading struct {
	at                                              int
	messages, deadLettering, redelivered, acknowled any // int, or nil for unknown
	held                                            any
	// drained: every counter is 0, and nothing is bound to the queue.
	drained bool
}

func (r reading) queue() topology.SeenQueue {
	counter := func(v any) *int64 {
		n, ok := topology.Integer(v)
		if !ok {
			return nil
		}
		return &n
	}
	if r.drained {
		zero := new(int64)
		return topology.SeenQueue{Name: "q", Messages: zero, Ready: zero, Unacknowledged: zero, DeadLettering: zero, Delayed: zero}
	}
	return topology.SeenQueue{
		Name: "q", Messages: counter(r.messages), DeadLettering: counter(r.deadLettering), Unacknowledged: counter(r.held),
		Redeliveries: counter(r.redelivered), Acknowledgements: counter(r.acknowled),
	}
}

func TestCarryTrouble(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
	cases := []struct {
		name     string
		reason   string
		readings []reading
		want     topology.Trouble
	}{
		{name: "unknown", reason: "no claim", readings: []reading{{at: 0}, {at: 30}}},
		{name: "empty", reason: "nothing is wrong", readings: []reading{{at: 0, messages: 0, deadLettering: 0}}},
		{
			name: "nonempty", reason: "since the first in a row",
			readings: []reading{{at: 0, messages: 0}, {at: 30, messages: 1}, {at: 60, messages: 1}}, want: topology.Trouble{NonemptySince: at(30), ChangedAt: at(30)},
		},
		{
			name: "emptied in between", reason: "starts anew",
			readings: []reading{{at: 0, messages: 1}, {at: 30, messages: 0}, {at: 60, messages: 5}}, want: topology.Trouble{NonemptySince: at(60), ChangedAt: at(60)},
		},
		{
			name: "unknown in between", reason: "a reading that found none is not one that found some",
			readings: []reading{{at: 0, messages: 1}, {at: 30}, {at: 60, messages: 5}}, want: topology.Trouble{NonemptySince: at(60)},
		},
		{
			name: "dead letters stuck", reason: "more and more",
			readings: []reading{{at: 0, deadLettering: 2}, {at: 30, deadLettering: 2}, {at: 60, deadLettering: 3}},
			want:     topology.Trouble{DeadLetteringSince: at(0)},
		},
		{
			name: "dead letters ease", reason: "draining after a repair",
			readings: []reading{{at: 0, deadLettering: 9}, {at: 30, deadLettering: 4}}, want: topology.Trouble{DeadLetteringSince: at(0), DeadLetteringEased: true},
		},
		{
			name: "dead letters gone", reason: "over, and fewer than before",
			readings: []reading{{at: 0, deadLettering: 9}, {at: 30, deadLettering: 0}}, want: topology.Trouble{DeadLetteringEased: true},
		},
		{
			name: "grew and shrank", reason: "the last time that it did either",
			readings: []reading{{at: 0, messages: 1}, {at: 30, messages: 5}, {at: 60, messages: 4}, {at: 90, messages: 4}}, want: topology.Trouble{NonemptySince: at(0), ChangedAt: at(60)},
		},
		{
			name: "first reading of messages", reason: "it does not tell whether there are more than before",
			readings: []reading{{at: 0, messages: 5}}, want: topology.Trouble{NonemptySince: at(0)},
		},
		{
			name: "drained", reason: "since the first in a row",
			readings: []reading{{at: 0, messages: 1}, {at: 30, drained: true}, {at: 60, drained: true}}, want: topology.Trouble{EmptySince: at(30), DrainedSince: at(30), ChangedAt: at(30)},
		},
		{
			name: "drained but for one unknown counter", reason: "no proof",
			readings: []reading{{at: 0, messages: 0, deadLettering: 0}},
		},
		{
			name: "first reading", reason: "counters since the beginning of time prove nothing",
			readings: []reading{{at: 0, redelivered: 1000, acknowled: 0}},
		},
		{
			name: "spinning", reason: "redelivered and nothing acknowledged, since the first reading that saw it",
			readings: []reading{{at: 0, messages: 1, redelivered: 10, acknowled: 5}, {at: 30, messages: 1, redelivered: 20, acknowled: 5}, {at: 60, messages: 1, redelivered: 30, acknowled: 5}},
			want:     topology.Trouble{NonemptySince: at(0), SpinningSince: at(30), RedeliveredAt: at(60)},
		},
		{
			name: "nothing left", reason: "what was redelivered is gone, wherever it went",
			readings: []reading{{at: 0, messages: 0, redelivered: 10, acknowled: 5}, {at: 30, messages: 0, redelivered: 20, acknowled: 5}},
		},
		{
			name: "slow but moving", reason: "something is acknowledged",
			readings: []reading{{at: 0, messages: 1, redelivered: 10, acknowled: 5}, {at: 30, messages: 1, redelivered: 20, acknowled: 6}},
			want:     topology.Trouble{NonemptySince: at(0)},
		},
		{
			name: "moves again", reason: "over",
			readings: []reading{{at: 0, messages: 1, redelivered: 10, acknowled: 5}, {at: 30, messages: 1, redelivered: 20, acknowled: 5}, {at: 60, messages: 1, redelivered: 30, acknowled: 6}},
			want:     topology.Trouble{NonemptySince: at(0)},
		},
		{
			name: "statistics began anew", reason: "smaller numbers are no progress and no proof",
			readings: []reading{{at: 0, messages: 1, redelivered: 10, acknowled: 5}, {at: 30, messages: 1, redelivered: 20, acknowled: 5}, {at: 60, messages: 1, redelivered: 3, acknowled: 0}},
			want:     topology.Trouble{NonemptySince: at(0)},
		},
		{
			name: "statistics began anew, then spinning", reason: "compared with the new beginning",
			readings: []reading{{at: 0, messages: 1, redelivered: 100, acknowled: 5}, {at: 30, messages: 1, redelivered: 3, acknowled: 0}, {at: 60, messages: 1, redelivered: 9, acknowled: 0}},
			want:     topology.Trouble{NonemptySince: at(0), SpinningSince: at(60), RedeliveredAt: at(60)},
		},
		{
			name: "absent in between", reason: "no claim over a gap",
			readings: []reading{{at: 0, messages: 1, redelivered: 10, acknowled: 5}, {at: 30}, {at: 60, messages: 1, redelivered: 30, acknowled: 5}},
			want:     topology.Trouble{NonemptySince: at(60)},
		},
		{
			name: "read faster than the statistics", reason: "the same counters again say nothing new",
			readings: []reading{
				{at: 0, messages: 1, redelivered: 10, acknowled: 5}, {at: 1, messages: 1, redelivered: 20, acknowled: 5}, {at: 2, messages: 1, redelivered: 20, acknowled: 5},
				{at: 5, messages: 1, redelivered: 20, acknowled: 5}, {at: 6, messages: 1, redelivered: 30, acknowled: 5}, {at: 12, messages: 1, redelivered: 30, acknowled: 5},
			},
			want: topology.Trouble{NonemptySince: at(0), SpinningSince: at(1), RedeliveredAt: at(6)},
		},
		{
			name: "held by a consumer that hangs", reason: "redelivered each time that the broker takes it back, with long pauses",
			readings: []reading{
				{at: 0, messages: 1, redelivered: 0, acknowled: 5, held: 1}, {at: 60, messages: 1, redelivered: 1, acknowled: 5, held: 1},
				{at: 90, messages: 1, redelivered: 1, acknowled: 5, held: 1}, {at: 120, messages: 1, redelivered: 2, acknowled: 5, held: 1}, {at: 150, messages: 1, redelivered: 2, acknowled: 5, held: 1},
			},
			want: topology.Trouble{NonemptySince: at(0), SpinningSince: at(60), RedeliveredAt: at(120)},
		},
		{
			name: "a long task begun anew", reason: "acknowledged in the end",
			readings: []reading{
				{at: 0, messages: 2, redelivered: 0, acknowled: 5, held: 1}, {at: 60, messages: 2, redelivered: 1, acknowled: 5, held: 1}, {at: 600, messages: 2, redelivered: 1, acknowled: 6, held: 1},
			},
			want: topology.Trouble{NonemptySince: at(0)},
		},
		{
			name: "the consumer that hung is gone", reason: "nobody holds it any more",
			readings: []reading{
				{at: 0, messages: 1, redelivered: 0, acknowled: 5, held: 1}, {at: 60, messages: 1, redelivered: 1, acknowled: 5, held: 1}, {at: 120, messages: 1, redelivered: 1, acknowled: 5, held: 0},
			},
			want: topology.Trouble{NonemptySince: at(0)},
		},
		{
			name: "stands still", reason: "nobody takes it any more: idle, not spinning",
			readings: []reading{
				{at: 0, messages: 1, redelivered: 10, acknowled: 5}, {at: 1, messages: 1, redelivered: 20, acknowled: 5}, {at: 6, messages: 1, redelivered: 20, acknowled: 5}, {at: 11, messages: 1, redelivered: 20, acknowled: 5},
			},
			want: topology.Trouble{NonemptySince: at(0)},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var past history
			var got topology.Trouble
			for _, r := range c.readings {
				now := &topology.Snapshot{TakenAt: at(r.at), Queues: map[string]topology.SeenQueue{"q": r.queue()}}
				past = past.carry(now)
				got = now.Queues["q"].Trouble
			}
			wantEqual(t, "trouble", got, c.want)
		})
	}
}

func TestBoundQueueIsNotDrained(t *testing.T) {
	now := &topology.Snapshot{TakenAt: time.Now(), Queues: map[string]topology.SeenQueue{"q": reading{drained: true}.queue()}}
	now.Bindings = topology.NewBindings([]topology.Binding{{Source: "x", Destination: "q", DestinationKind: topology.KindQueue}})
	history{}.carry(now)
	if since := now.Queues["q"].Trouble.DrainedSince; !since.IsZero() {
		t.Errorf("drained since %s, and the next message may be on its way", since)
	}
}

func TestCarryForgetsWhatIsGone(t *testing.T) {
	one := int64(1)
	past := history{"gone": memory{deadLettering: &one}}
	next := past.carry(&topology.Snapshot{Queues: map[string]topology.SeenQueue{"q": {}}})
	if _, there := next["gone"]; there || len(next) != 1 {
		t.Errorf("remembers %v", next)
	}
}

func TestSpinningConsumerIsSeen(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		t.Parallel()
		v := b.NewVhost(t)
		s := newSession(t, configOf(v), Options{})
		mustDeclare(t, s, quorum("work", topology.Arguments{"x-delivery-limit": topology.Unlimited}))
		publish(t, v, "work", 1)
		channel := openChannel(t, v)
		deliveries, err := channel.Consume("work", "c", false, false, false, false, nil)
		must(t, err)
		healed := make(chan struct{})
		go spinUntil(deliveries, healed)

		trouble := func() topology.Trouble { return mustObserve(t, s).Snapshot.Queues["work"].Trouble }
		eventually(t, 2*waitForBroker, func() string {
			if trouble().SpinningSince.IsZero() {
				return "not found to be spinning"
			}
			return ""
		})
		since := trouble().SpinningSince
		eventually(t, waitForBroker, func() string {
			now := trouble().SpinningSince
			if !now.Equal(since) {
				t.Fatalf("spinning since %s, then since %s", since, now)
			}
			if time.Since(since) < 7*time.Second {
				return "not long enough"
			}
			return ""
		})
		close(healed)
		eventually(t, 2*waitForBroker, func() string {
			if since := trouble().SpinningSince; !since.IsZero() {
				return "still spinning since " + since.String()
			}
			return ""
		})
	})
}

// spinUntil gives every message back, and acknowledges it once healed.
func spinUntil(deliveries <-chan amqp.Delivery, healed <-chan struct{}) {
	for d := range deliveries {
		select {
		case <-healed:
			_ = d.Ack(false)
		default:
			_ = d.Nack(false, true)
		}
	}
}
