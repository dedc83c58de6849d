package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// park publishes a delivery to a parking exchange as status.retry.contract
// asks it: with a confirm, the delivery's routing key and the two headers, and
// without expiration, CC and user-id. Whoever calls it acks then.
func park(ctx context.Context, connection *amqp.Connection, exchange string, d amqptest.Delivery, reason string) error {
	message := amqp.Publishing{
		MessageId: d.MessageId, ContentType: d.ContentType, CorrelationId: d.CorrelationId,
		Headers: ofApplication(d.Headers), Body: d.Body, DeliveryMode: amqp.Persistent,
	}
	message.Headers["warren-parked-reason"] = reason
	message.Headers["warren-parked-at"] = time.Now().UTC().Format(time.RFC3339)
	return amqptest.Send(ctx, connection, exchange, d.RoutingKey, message)
}

// runs counts, as status.retry.contract asks it, how often a message has
// been run before.
func runs(d amqptest.Delivery, queue string) int64 {
	deaths, _ := d.Headers["x-death"].([]any)
	for _, entry := range deaths {
		death, _ := entry.(amqp.Table)
		if death["queue"] == queue && death["reason"] == "rejected" {
			count, _ := death["count"].(int64)
			return count
		}
	}
	return 0
}

// parkingAt is a consumer whose runs all fail: it rejects, and when run
// number maxAttempts fails it parks.
func parkingAt(maxAttempts int64) consumerOf {
	return func(s *stage, queue string) amqptest.Answer {
		return func(d amqptest.Delivery) amqptest.Verb {
			if runs(d, queue)+1 < maxAttempts {
				return amqptest.Reject
			}
			if err := park(s.t.Context(), s.app, queue+".park", d, "out of attempts"); err != nil {
				s.t.Errorf("parking %s: %v", d, err)
				return amqptest.Hang
			}
			return amqptest.Ack
		}
	}
}

// A consumer that knows better than to retry parks at once, through W.park:
// its message is parked once and as it was. For that its RabbitMQ user needs
// to read W and to write to W.park, and nothing else; no right on the default
// exchange, through which it could reach any queue.
func TestConsumerParksAtOnceWithLeastRights(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(topicOrders+subscriptionManifest("billing", fromOrders+`, workQueue: {name: billing}`), "billing")
		exchange := s.subscription("billing").Status.ParkingQueue.Exchange
		restricted := s.vhost.Dial(t, s.user(t, `^$`, `^billing\.park$`, `^billing$`))

		amqptest.Consume(t, restricted, "billing", func(d amqptest.Delivery) amqptest.Verb {
			if err := park(t.Context(), restricted, exchange, d, "no such order"); err != nil {
				t.Errorf("parking %s: %v", d, err)
				return amqptest.Hang
			}
			return amqptest.Ack
		})
		s.publish("orders", "order.placed", poison())

		parked := s.takeOnly(t, "billing.parking")
		assertAsPublished(t, parked, "order.placed", poison())
		if reason := parked.Headers["warren-parked-reason"]; reason != "no such order" {
			t.Errorf("header warren-parked-reason is %v, want %q", reason, "no such order")
		}
		amqptest.AwaitReady(t, s.app, "billing", 0)

		for _, other := range []string{"", "orders", "billing.redrive"} {
			err := amqptest.Send(t.Context(), restricted, other, "billing", amqptest.Message("smuggled"))
			var reply *amqp.Error
			if !errors.As(err, &reply) || reply.Code != amqp.AccessRefused {
				t.Errorf("publishing to exchange %q: got %v, want code %d", other, err, amqp.AccessRefused)
			}
		}
	})
}

// user makes a RabbitMQ user with these rights in the tenant's vhost.
func (s *stage) user(t *testing.T, configure, write, read string) localenv.User {
	t.Helper()
	broker, user := s.vhost.Broker, localenv.User{Name: "consumer-" + s.namespace, Password: s.namespace}
	if err := broker.CreateUser(t.Context(), user.Name, user.Password); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := broker.DeleteUser(context.Background(), user.Name); err != nil {
			t.Error(err)
		}
	})
	if err := broker.SetPermissions(t.Context(), s.vhost.Name, user.Name, configure, write, read); err != nil {
		t.Fatal(err)
	}
	return user
}
