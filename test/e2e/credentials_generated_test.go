package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"
	amqp "github.com/rabbitmq/amqp091-go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

const generatedTopic = `
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {brokerRef: {name: main}, publisher: {credentials: Generate}}
`

func generating(mode string) string {
	return subscriptionManifest("billing", fromOrders+`, workQueue: {name: billing}, consumer: {credentials: `+mode+`}`)
}

// may gives Warren's own user tags.
func (s *stage) may(tags ...string) {
	s.t.Helper()
	u := s.vhost.Operator
	if err := s.vhost.Broker.CreateUser(s.t.Context(), u.Name, u.Password, tags...); err != nil {
		s.t.Fatal(err)
	}
}

var generated = expected{v1alpha1.ConditionCredentialsReady, metav1.ConditionTrue, v1alpha1.ReasonGenerated, "Secret "}

func (w *tenant) readSecret(name string) (*corev1.Secret, error) {
	var s corev1.Secret
	return &s, w.read("secret/"+name, &s)
}

// awaitUser waits for a Secret with another password than before, that works, and connects with it.
func (s *stage) awaitUser(name, before string) (user localenv.User, connection *amqp.Connection) {
	s.t.Helper()
	amqptest.Eventually(s.t, within, func() error {
		secret, err := s.readSecret(name)
		if err != nil {
			return err
		}
		user = localenv.User{Name: string(secret.Data["username"]), Password: string(secret.Data["password"])}
		if user.Password == before {
			return errors.New("the password is the old one")
		}
		connection, err = amqp.Dial(string(secret.Data["uri"]))
		return err
	})
	s.t.Cleanup(func() { _ = connection.Close() })
	keepSecret(user)
	return user, connection
}

func (s *stage) assertRefused(what string, connection *amqp.Connection, do func(*amqp.Channel) error) {
	s.t.Helper()
	channel, err := connection.Channel()
	if err != nil {
		s.t.Fatal(err)
	}
	var reply *amqp.Error
	if err := do(channel); !errors.As(err, &reply) || reply.Code != amqp.AccessRefused {
		s.t.Errorf("%s: got %v, want code %d", what, err, amqp.AccessRefused)
	}
}

func (s *stage) awaitNoUser(name string) {
	s.t.Helper()
	amqptest.Eventually(s.t, within, func() error {
		_, err := s.management().GetUser(name)
		var response rabbithole.ErrorResponse
		if errors.As(err, &response) && response.StatusCode == http.StatusNotFound {
			return nil
		}
		return errors.Join(fmt.Errorf("user %q is not known to be gone", name), err)
	})
}

// A generated user consumes and parks, and may do nothing else; its password
// is rotated and a lost Secret made anew; it goes with its resource.
func TestGeneratedCredentials(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.apply(generatedTopic + generating("Generate"))
		s.awaitReady("rsub/billing")
		s.await("rsub/billing", expected{v1alpha1.ConditionCredentialsReady, metav1.ConditionFalse, v1alpha1.ReasonAccessRefused,
			fmt.Sprintf("read user %q: user %q may not manage users: it lacks the tag administrator", s.username("billing"), s.vhost.Operator.Name)})
		s.may("administrator")
		s.await("rsub/billing", generated)
		s.await("topic/orders", generated)

		consumer, connection := s.awaitUser("billing-binding", "")
		_, publisher := s.awaitUser("orders-topic-publisher", "")
		s.assertConsumerParks(connection, publisher)
		s.assertConsumerConfined(connection)
		s.assertPublisherConfined(publisher)

		s.mustKubectl("annotate", "rsub/billing", "-n", s.namespace, v1alpha1.RotateAnnotation+"=1")
		rotated, second := s.awaitUser("billing-binding", consumer.Password)
		if connection.IsClosed() {
			t.Error("the rotation closed the connection that was open")
		}
		if _, err := amqp.DialConfig(s.vhost.Broker.AMQPURL(), amqp.Config{Vhost: s.vhost.Name, SASL: []amqp.Authentication{&amqp.PlainAuth{Username: consumer.Name, Password: consumer.Password}}}); err == nil {
			t.Error("the old password still opens connections")
		}
		s.mustKubectl("delete", "secret", "billing-binding", "-n", s.namespace)
		s.awaitUser("billing-binding", rotated.Password)

		s.apply(generating("None"))
		s.awaitNoUser(consumer.Name)
		amqptest.Eventually(t, within, func() error {
			if sub := s.subscription("billing"); sub.Status.Binding != nil || len(sub.Finalizers) > 0 {
				return fmt.Errorf("binding %v, finalizers %v", sub.Status.Binding, sub.Finalizers)
			}
			if !second.IsClosed() {
				return errors.New("the connection of the user that went is still open")
			}
			return nil
		})
		s.apply(generating("Generate"))
		s.awaitUser("billing-binding", "")
		s.remove("rsub/billing")
		s.awaitGone("rsub/billing")
		s.awaitNoUser(consumer.Name)
		s.assertThere(`queue "billing"`)
	})
}

// username of a subscription's user, as its condition names it.
func (s *stage) username(name string) string {
	s.t.Helper()
	var user string
	amqptest.Eventually(s.t, within, func() error {
		for _, c := range s.subscription(name).Status.Conditions {
			if _, rest, ok := strings.Cut(c.Message, `read user "`); ok && c.Type == v1alpha1.ConditionCredentialsReady {
				user, _, _ = strings.Cut(rest, `"`)
				return nil
			}
		}
		return errors.New("no condition tells of the user")
	})
	return user
}

func (s *stage) assertConsumerParks(consumer, publisher *amqp.Connection) {
	s.t.Helper()
	amqptest.Consume(s.t, consumer, "billing", func(d amqptest.Delivery) amqptest.Verb {
		if err := park(s.t.Context(), consumer, "billing.park", d, "no such order"); err != nil {
			s.t.Errorf("parking %s: %v", d, err)
			return amqptest.Hang
		}
		return amqptest.Ack
	})
	if err := amqptest.Send(s.t.Context(), publisher, "orders", "order.placed", poison()); err != nil {
		s.t.Fatal(err)
	}
	s.takeOnly(s.t, "billing.parking")
}

func (s *stage) assertConsumerConfined(connection *amqp.Connection) {
	s.t.Helper()
	for _, exchange := range []string{"", "orders", "billing.redrive", "billing.dead"} {
		s.assertRefused(fmt.Sprintf("publishing to exchange %q", exchange), connection, func(*amqp.Channel) error {
			return amqptest.Send(s.t.Context(), connection, exchange, "billing", amqptest.Message("smuggled"))
		})
	}
	s.assertRefused("reading another queue", connection, func(c *amqp.Channel) error {
		_, err := c.Consume("billing.parking", "", false, false, false, false, nil)
		return err
	})
	s.assertRefused("declaring", connection, func(c *amqp.Channel) error {
		_, err := c.QueueDeclare("mine", true, false, false, false, nil)
		return err
	})
	s.assertRefused("purging another queue", connection, func(c *amqp.Channel) error {
		_, err := c.QueuePurge("billing.parking", false)
		return err
	})
	s.mustBe("declaring the work queue passively", connection, func(c *amqp.Channel) error {
		_, err := c.QueueDeclarePassive("billing", true, false, false, false, nil)
		return err
	})
}

func (s *stage) assertPublisherConfined(connection *amqp.Connection) {
	s.t.Helper()
	s.assertRefused("publishing to the default exchange", connection, func(*amqp.Channel) error {
		return amqptest.Send(s.t.Context(), connection, "", "billing", amqptest.Message("smuggled"))
	})
	s.assertRefused("reading a queue", connection, func(c *amqp.Channel) error {
		_, _, err := c.Get("billing", true)
		return err
	})
	s.assertRefused("declaring", connection, func(c *amqp.Channel) error {
		return c.ExchangeDeclare("mine", "topic", true, false, false, false, nil)
	})
}

func (s *stage) mustBe(what string, connection *amqp.Connection, do func(*amqp.Channel) error) {
	s.t.Helper()
	channel, err := connection.Channel()
	if err == nil {
		err = do(channel)
	}
	if err != nil {
		s.t.Errorf("%s: %v", what, err)
	}
}

// What somebody else has under a name that Warren would take is left untouched;
// a ConfigMap of Warren's own that was lost is made again.
func TestNamesOfBindingsThatAreTaken(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.may("administrator")
		s.apply(`
apiVersion: v1
kind: ConfigMap
metadata: {name: billing-binding}
data: {whose: theirs}
---
apiVersion: v1
kind: Secret
metadata: {name: billing-binding}
stringData: {whose: theirs}
---` + topicOrders + generating("Generate") + subscriptionManifest("other", ""))
		taken := func(kind string) string {
			return kind + ` "billing-binding" exists and is not of this resource: it was left untouched`
		}
		s.await("rsub/billing",
			expected{v1alpha1.ConditionConnectionBlocked, metav1.ConditionTrue, v1alpha1.ReasonNameTaken, taken("ConfigMap")},
			expected{v1alpha1.ConditionCredentialsReady, metav1.ConditionFalse, v1alpha1.ReasonNameTaken, taken("Secret")})
		s.awaitReady("rsub/billing")
		var theirs corev1.ConfigMap
		if err := s.read("configmap/billing-binding", &theirs); err != nil || theirs.Data["whose"] != "theirs" || len(theirs.Data) != 1 {
			t.Errorf("their ConfigMap has %v, %v", theirs.Data, err)
		}
		if secret, err := s.readSecret("billing-binding"); err != nil || string(secret.Data["whose"]) != "theirs" || len(secret.Data) != 1 {
			t.Errorf("their Secret was changed: %d keys, %v", len(secret.Data), err)
		}

		s.mustKubectl("delete", "configmap,secret", "billing-binding", "-n", s.namespace)
		s.await("rsub/billing", generated)
		user, _ := s.awaitUser("billing-binding", "")
		s.mustKubectl("delete", "configmap", "other-binding", "-n", s.namespace)
		amqptest.Eventually(t, within, func() error {
			var ours corev1.ConfigMap
			return s.read("configmap/other-binding", &ours)
		})

		// A user that is there without Warren's tag is somebody's.
		s.apply(generating("None"))
		s.awaitNoUser(user.Name)
		if err := s.vhost.Broker.CreateUser(t.Context(), user.Name, "theirs"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.must(s.vhost.Broker.DeleteUser(cleanupContext(), user.Name)) })
		s.apply(generating("Generate"))
		s.await("rsub/billing", expected{v1alpha1.ConditionCredentialsReady, metav1.ConditionFalse, v1alpha1.ReasonNameTaken,
			fmt.Sprintf("RabbitMQ user %q exists and was not generated by Warren", user.Name)})
		s.remove("rsub/billing")
		s.awaitGone("rsub/billing")
		if _, err := s.management().GetUser(user.Name); err != nil {
			t.Errorf("their user is gone: %v", err)
		}
	})
}
