package localenv

import (
	"errors"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

func TestSharedBroker(t *testing.T) {
	ForEachBroker(t, func(t *testing.T, broker *RabbitMQ) {
		if want := strings.TrimPrefix(t.Name(), "TestSharedBroker/"); !strings.HasPrefix(broker.Version, want+".") {
			t.Errorf("version %s, want %s.x", broker.Version, want)
		}
		vhost := broker.NewVhost(t)
		for _, user := range []User{vhost.Operator, vhost.App} {
			publishAndGet(t, vhost.Dial(t, user))
		}
	})
}

func TestVhostsAreIsolated(t *testing.T) {
	ForEachBroker(t, func(t *testing.T, broker *RabbitMQ) {
		mine, other := broker.NewVhost(t), broker.NewVhost(t)
		_, err := amqp.DialConfig(broker.AMQPURL(), amqp.Config{
			Vhost: other.Name,
			SASL:  []amqp.Authentication{&amqp.PlainAuth{Username: mine.App.Name, Password: mine.App.Password}},
		})
		if err == nil {
			t.Error("a user reached a vhost that is not his")
		}
	})
}

func TestKillAndRestartKeepsWhatIsDurable(t *testing.T) {
	for _, series := range AllSeries() {
		t.Run(string(series), func(t *testing.T) {
			broker := startOwn(t, series)
			vhost := broker.NewVhost(t)
			declareDurable(t, vhost)
			url := broker.AMQPURL()

			if err := broker.Kill(); err != nil {
				t.Fatal(err)
			}
			if _, err := amqp.Dial(url); err == nil {
				t.Error("a killed broker took a connection")
			}
			if err := broker.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			channel := open(t, vhost.Dial(t, vhost.App))
			if _, err := channel.QueueDeclarePassive("kept", true, false, false, false, nil); err != nil {
				t.Errorf("after the restart: %v", err)
			}
		})
	}
}

func TestConfigLinesAndMemoryAlarm(t *testing.T) {
	broker := startOwn(t, Series43, "channel_max = 17")
	out, err := broker.Ctl(t.Context(), "eval", "application:get_env(rabbit, channel_max).")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(out); got != "{ok,17}" {
		t.Errorf("channel_max is %s", got)
	}
	expectAlarmToBlockPublishers(t, broker)
}

func expectAlarmToBlockPublishers(t *testing.T, broker *RabbitMQ) {
	t.Helper()
	vhost := broker.NewVhost(t)
	connection := vhost.Dial(t, vhost.App)
	blocked := connection.NotifyBlocked(make(chan amqp.Blocking, 2))
	if err := broker.SetMemoryAlarm(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := open(t, connection).PublishWithContext(t.Context(), "", "nowhere", false, false, amqp.Publishing{}); err != nil {
		t.Fatal(err)
	}
	expectBlocking(t, blocked, true)
	if err := broker.SetMemoryAlarm(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	expectBlocking(t, blocked, false)
}

func TestConnectedBrokerCannotBeStopped(t *testing.T) {
	running := Broker(t, Series43)
	broker, err := Connect(t.Context(), running.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	if broker.Version != running.Version {
		t.Errorf("version %q, want %q", broker.Version, running.Version)
	}
	vhost := broker.NewVhost(t)
	publishAndGet(t, vhost.Dial(t, vhost.App))
	_, ctl := broker.Ctl(t.Context(), "status")
	for name, err := range map[string]error{
		"Stop": broker.Stop(), "Kill": broker.Kill(), "Restart": broker.Restart(t.Context()), "Ctl": ctl,
	} {
		if !errors.Is(err, errNotOurs) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnknownSeries(t *testing.T) {
	if _, err := StartRabbitMQ(t.Context(), t.TempDir(), "3.13", RabbitMQOptions{}); err == nil {
		t.Error("started a series that is not supported")
	}
}

func startOwn(t *testing.T, series Series, config ...string) *RabbitMQ {
	t.Helper()
	broker, err := StartRabbitMQ(t.Context(), t.TempDir(), series, RabbitMQOptions{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	endWithTest(t, broker.Stop)
	return broker
}

func endWithTest(t *testing.T, stop func() error) {
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stopping: %v", err)
		}
	})
}

func open(t *testing.T, connection *amqp.Connection) *amqp.Channel {
	t.Helper()
	channel, err := connection.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return channel
}

func declareDurable(t *testing.T, vhost *Vhost) {
	t.Helper()
	arguments := amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeQuorum}
	if _, err := open(t, vhost.Dial(t, vhost.App)).QueueDeclare("kept", true, false, false, false, arguments); err != nil {
		t.Fatal(err)
	}
}

// publishAndGet proves that the connection's user may do what an application does.
func publishAndGet(t *testing.T, connection *amqp.Connection) {
	t.Helper()
	channel := open(t, connection)
	queue, err := channel.QueueDeclare("", false, true, true, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := channel.Consume(queue.Name, "", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := channel.PublishWithContext(t.Context(), "", queue.Name, false, false, amqp.Publishing{Body: []byte("hello")}); err != nil {
		t.Fatal(err)
	}
	select {
	case message := <-messages:
		if string(message.Body) != "hello" {
			t.Errorf("got %q", message.Body)
		}
	case <-time.After(awaitTimeout):
		t.Error("the message did not arrive")
	}
}

func expectBlocking(t *testing.T, blocked <-chan amqp.Blocking, want bool) {
	t.Helper()
	select {
	case got := <-blocked:
		if got.Active != want {
			t.Errorf("blocked: %t, want %t", got.Active, want)
		}
	case <-time.After(awaitTimeout):
		t.Errorf("no notice (want blocked: %t)", want)
	}
}
