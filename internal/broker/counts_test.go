package broker

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
)

// openChannel is an application's.
func openChannel(t testing.TB, v *localenv.Vhost) *amqp.Channel {
	t.Helper()
	channel, err := v.Dial(t, v.App).Channel()
	must(t, err)
	return channel
}

// publish puts n messages into a queue.
func publish(t testing.TB, v *localenv.Vhost, queue string, n int) {
	t.Helper()
	channel := openChannel(t, v)
	must(t, channel.Confirm(false))
	for range n {
		confirm, err := channel.PublishWithDeferredConfirm("", queue, true, false, amqp.Publishing{Body: []byte("x"), DeliveryMode: amqp.Persistent})
		must(t, err)
		if acked, err := confirm.WaitContext(t.Context()); err != nil || !acked {
			t.Fatalf("not confirmed: %v", err)
		}
	}
}

// counters are those of a queue, as text; "?" is unknown.
func counters(q topology.SeenQueue) string {
	show := func(n *int64) string {
		if n == nil {
			return "?"
		}
		return fmt.Sprint(*n)
	}
	return fmt.Sprintf("messages %s, ready %s, unacknowledged %s, dead-lettering %s, delayed %s, consumers %s",
		show(q.Messages), show(q.Ready), show(q.Unacknowledged), show(q.DeadLettering), show(q.Delayed), show(q.Consumers))
}

// awaitUnknown declares queues until one is read before RabbitMQ has counted
// it, which it does every 5 s: all of its counters are unknown, and not 0.
func awaitUnknown(t *testing.T, s *Session) {
	t.Helper()
	n := 0
	eventually(t, waitForBroker, func() string {
		n++
		name := fmt.Sprintf("new-%d", n)
		mustDeclare(t, s, quorum(name, nil))
		return cmp.Diff("messages ?, ready ?, unacknowledged ?, dead-lettering ?, delayed ?, consumers ?",
			counters(mustObserve(t, s).Snapshot.Queues[name]))
	})
}

func TestCounters(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		t.Parallel()
		v := b.NewVhost(t)
		s := newSession(t, configOf(v), Options{})
		mustDeclare(t, s,
			quorum("work", nil),
			quorum("stuck", topology.Arguments{
				"x-message-ttl": int64(1), "x-dead-letter-exchange": "missing",
				"x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
			}))
		awaitUnknown(t, s)
		publish(t, v, "work", 5)
		publish(t, v, "stuck", 2)
		consumeWithoutAck(t, v, "work", 2)

		want := map[string]string{
			"work":  "messages 5, ready 3, unacknowledged 2, dead-lettering 0, delayed 0, consumers 1",
			"stuck": "messages 2, ready 0, unacknowledged 0, dead-lettering 2, delayed 0, consumers 0",
		}
		eventually(t, waitForBroker, func() string {
			seen := mustObserve(t, s).Snapshot.Queues
			return cmp.Diff(want, map[string]string{"work": counters(seen["work"]), "stuck": counters(seen["stuck"])})
		})
	})
}

func TestFreshCounters(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		t.Parallel()
		v := b.NewVhost(t)
		var asked requests
		s := newSession(t, configOf(v), Options{OnRequest: asked.record})
		fresh := func() *topology.Snapshot {
			seen, err := s.Observe(t.Context(), ObserveOptions{Fresh: func(q topology.SeenQueue) bool { return q.Name == "work" }})
			must(t, err)
			return seen.Snapshot
		}
		mustDeclare(t, s, quorum("work", nil), quorum("other", nil))
		publish(t, v, "work", 5)
		publish(t, v, "other", 5)
		work := fresh().Queues["work"]
		if diff := cmp.Diff([]*int64{new(int64(5)), new(int64(0))}, []*int64{work.Ready, work.Consumers}); diff != "" {
			t.Errorf("ready messages and consumers at once (-want +got):\n%s", diff)
		}
		if inspected := asked.count("inspect_queue"); inspected != 1 {
			t.Errorf("%d queues were asked, want 1", inspected)
		}
		eventually(t, waitForBroker, func() string {
			return cmp.Diff("messages 5, ready 5, unacknowledged 0, dead-lettering 0, delayed 0, consumers 0", counters(fresh().Queues["work"]))
		})
		publish(t, v, "work", 2)
		if got, want := counters(fresh().Queues["work"]), "messages 7, ready 7, unacknowledged 0, dead-lettering 0, delayed 0, consumers 0"; got != want {
			t.Errorf("at once: %s, want %s", got, want)
		}
	})
}

func TestDelayedAreCounted(t *testing.T) {
	t.Parallel()
	v := localenv.Broker(t, localenv.Series43).NewVhost(t)
	s := newSession(t, configOf(v), Options{})
	mustDeclare(t, s, quorum("work", topology.Arguments{"x-delayed-retry-type": "all", "x-delayed-retry-min": int64(600_000)}))
	publish(t, v, "work", 2)
	channel := openChannel(t, v)
	delivery, ok, err := channel.Get("work", false)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	must(t, delivery.Reject(true))
	eventually(t, waitForBroker, func() string {
		return cmp.Diff("messages 2, ready 1, unacknowledged 0, dead-lettering 0, delayed 1, consumers 0",
			counters(mustObserve(t, s).Snapshot.Queues["work"]))
	})
}

func consumeWithoutAck(t testing.TB, v *localenv.Vhost, queue string, prefetch int) {
	t.Helper()
	channel := openChannel(t, v)
	must(t, channel.Qos(prefetch, 0, false))
	deliveries, err := channel.Consume(queue, "", false, false, false, false, nil)
	must(t, err)
	for range prefetch {
		<-deliveries
	}
}
