package broker

import (
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/test/amqptest"
)

// A move is at least half as fast as the bare loop that it is in essence. Both
// run one after the other, with the rest of the tests beside them.
func TestMoveIsFast(t *testing.T) {
	const n = 5_000
	onRemovals(t, Options{}, func(t *testing.T, r *removal) {
		messages := amqptest.Messages("m", n)
		for i := range messages {
			messages[i].Body = make([]byte, 200)
		}
		var bare, move time.Duration
		for range 2 {
			r.park(t, messages...)
			bare += timed(func() { r.bareLoop(t, n) })
			r.park(t, messages...)
			move += timed(func() {
				r.mustMove(t, r.all(func(m *Move) { m.Most = n }), MoveDone, MoveCounts{Moved: n})
			})
		}
		ratio := bare.Seconds() / move.Seconds()
		t.Logf("RabbitMQ %s: a bare loop moves %.0f messages a second, a move %.0f: %.2f of it",
			r.vhost.Broker.Version, 2*n/bare.Seconds(), 2*n/move.Seconds(), ratio)
		if ratio < 0.5 {
			t.Errorf("a move is %.2f times as fast as a bare loop, want 0.5 at least", ratio)
		}
	})
}

func timed(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}

// bareLoop consumes, publishes, awaits confirms and acknowledges.
func (r *removal) bareLoop(t *testing.T, n int) {
	t.Helper()
	reading, publishing := r.vhost.Dial(t, r.vhost.App), r.vhost.Dial(t, r.vhost.App)
	defer reading.Close()
	defer publishing.Close()
	in, err := reading.Channel()
	must(t, err)
	out, err := publishing.Channel()
	must(t, err)
	must(t, out.Confirm(false))
	confirms := out.NotifyPublish(make(chan amqp.Confirmation, n))
	must(t, in.Qos(maxUnderWay, 0, false))
	deliveries, err := in.Consume(r.names.Parking, consumerTag, false, false, false, false, nil)
	must(t, err)
	go func() {
		for range n {
			d := <-deliveries
			if out.PublishWithContext(t.Context(), r.names.Redrive(), d.RoutingKey, true, false, amqp.Publishing{MessageId: d.MessageId, Body: d.Body, DeliveryMode: amqp.Persistent}) != nil {
				return
			}
		}
	}()
	for tag := range uint64(n) {
		if c, open := <-confirms; !open || !c.Ack {
			t.Fatalf("message %d was not confirmed", tag+1)
		}
		must(t, in.Ack(tag+1, false))
	}
	must(t, in.Cancel(consumerTag, false))
}
