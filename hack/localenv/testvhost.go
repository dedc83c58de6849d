package localenv

import (
	"context"
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Vhost is a vhost that a test has for itself, with two users who see no other.
type Vhost struct {
	// Broker is where the vhost is.
	Broker *RabbitMQ
	// Name holds characters that have to be encoded in URLs.
	Name string
	// Operator has exactly the rights that Warren asks for.
	Operator User
	// App is an application: all permissions, no tags.
	App User
}

// User is a name with its password.
type User struct{ Name, Password string }

const everything = ".*"

// NewVhost makes a vhost and its users, and removes them when the test ends.
func (b *RabbitMQ) NewVhost(t testing.TB) *Vhost {
	t.Helper()
	id := randomID()
	vhost := &Vhost{
		Broker:   b,
		Name:     fmt.Sprintf("%.150s/50%%2F %s", t.Name(), id),
		Operator: User{Name: "warren-" + id, Password: "p@ss/w:rd%" + id},
		App:      User{Name: "app-" + id, Password: "a+b c#d?" + id},
	}
	if err := b.CreateVhost(t.Context(), vhost.Name); err != nil {
		t.Fatal(err)
	}
	b.atEnd(t, func(ctx context.Context) error { return b.DeleteVhost(ctx, vhost.Name) })
	vhost.addUser(t, vhost.Operator, "policymaker", "monitoring")
	vhost.addUser(t, vhost.App)
	return vhost
}

func (v *Vhost) addUser(t testing.TB, user User, tags ...string) {
	t.Helper()
	if err := v.Broker.CreateUser(t.Context(), user.Name, user.Password, tags...); err != nil {
		t.Fatal(err)
	}
	v.Broker.atEnd(t, func(ctx context.Context) error { return v.Broker.DeleteUser(ctx, user.Name) })
	if err := v.Broker.SetPermissions(t.Context(), v.Name, user.Name, everything, everything, everything); err != nil {
		t.Fatal(err)
	}
}

// atEnd removes something from the broker when the test ends. From a broker
// that the test has ended there is nothing to remove.
func (b *RabbitMQ) atEnd(t testing.TB, remove func(context.Context) error) {
	t.Cleanup(func() {
		if b.node != nil && !b.node.process.running() {
			return
		}
		if err := remove(context.Background()); err != nil {
			t.Errorf("cleaning up: %v", err)
		}
	})
}

// Dial connects as one of the vhost's users until the test ends.
func (v *Vhost) Dial(t testing.TB, user User) *amqp.Connection {
	t.Helper()
	connection, err := amqp.DialConfig(v.Broker.AMQPURL(), amqp.Config{
		Vhost: v.Name,
		SASL:  []amqp.Authentication{&amqp.PlainAuth{Username: user.Name, Password: user.Password}},
	})
	if err != nil {
		t.Fatalf("connecting as %s to vhost %q: %v", user.Name, v.Name, err)
	}
	// A test may have closed it, or killed the broker.
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}
