package amqptest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/hack/localenv"
)

func TestMain(m *testing.M) { localenv.Main(m) }

func TestSendSaysWhyTheBrokerDidNotTakeIt(t *testing.T) {
	connection := dial(t)
	declare(t, connection, "full", amqp.Table{amqp.QueueMaxLenArg: 0, amqp.QueueOverflowArg: "reject-publish"})
	// The queue refuses a little later than its limit says.
	Eventually(t, Deadline, func() error {
		if err := Send(t.Context(), connection, "", "full", Message("m")); !errors.Is(err, ErrNacked) {
			return errors.Join(errors.New("not nacked"), err)
		}
		return nil
	})
	if err := Send(t.Context(), connection, "", "no queue", Messages("m", 3)...); !errors.Is(err, ErrReturned) {
		t.Errorf("to no queue: got %v, want %v", err, ErrReturned)
	}
	var reply *amqp.Error
	if err := Send(t.Context(), connection, "no exchange", "", Message("m")); !errors.As(err, &reply) || reply.Code != amqp.NotFound {
		t.Errorf("to no exchange: got %v, want code %d", err, amqp.NotFound)
	}
}

func TestConsumerAnswersInTurn(t *testing.T) {
	connection := dial(t)
	declare(t, connection, "work", nil)
	Publish(t, connection, "", "work", Messages("m", 2)...)
	consumer := Consume(t, connection, "work", ByID(map[string]Answer{"m-1": InTurn(RejectRequeue, Crash, NackRequeue, Ack)}))
	consumer.Await(t, 5)
	consumer.Stop()

	answers := map[string][]Verb{}
	for _, d := range consumer.Deliveries() {
		answers[d.MessageId] = append(answers[d.MessageId], d.Verb)
	}
	want := map[string][]Verb{"m-1": {RejectRequeue, Crash, NackRequeue, Ack}, "m-2": {Ack}}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	AwaitReady(t, connection, "work", 0)
}

func TestStoppedConsumerLeavesTheRest(t *testing.T) {
	connection := dial(t)
	declare(t, connection, "work", nil)
	Publish(t, connection, "", "work", Messages("m", 5)...)
	consumer := Consume(t, connection, "work", InTurn(Hang), Prefetch(2))
	consumer.Await(t, 2)
	consumer.Stop()
	AwaitReady(t, connection, "work", 5)
}

func TestTakeTakesNoMoreThanAsked(t *testing.T) {
	connection := dial(t)
	declare(t, connection, "work", nil)
	Publish(t, connection, "", "work", Messages("m", 3)...)
	for i, d := range Take(t, connection, "work", 2) {
		if want := Messages("m", 2)[i].MessageId; d.MessageId != want {
			t.Errorf("message %d is %q, want %q", i, d.MessageId, want)
		}
	}
	AwaitReady(t, connection, "work", 1)
}

func dial(t *testing.T) *amqp.Connection {
	t.Helper()
	vhost := localenv.Broker(t, localenv.Series43).NewVhost(t)
	return vhost.Dial(t, vhost.App)
}

func declare(t *testing.T, connection *amqp.Connection, queue string, arguments amqp.Table) {
	t.Helper()
	channel, err := connection.Channel()
	if err != nil {
		t.Fatal(err)
	}
	defer channel.Close()
	table := amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeQuorum}
	for name, value := range arguments {
		table[name] = value
	}
	if _, err := channel.QueueDeclare(queue, true, false, false, false, table); err != nil {
		t.Fatal(err)
	}
}
