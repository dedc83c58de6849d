package localenv

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
)

// managementParameter names the part of an endpoint that an AMQP URL lacks.
const managementParameter = "management"

// Endpoint describes the broker and its administrator in one line, for another
// process to Connect to:
//
//	amqp://USER:PASSWORD@HOST:PORT?management=http://HOST:PORT
//
// It is also what WARREN_TEST_RABBITMQ_40 and WARREN_TEST_RABBITMQ_43 hold.
// User and password are percent-encoded where necessary.
func (b *RabbitMQ) Endpoint() string {
	credentials := url.UserPassword(b.AdminUser, b.AdminPassword)
	return amqpScheme + credentials.String() + "@" + b.amqpAddress() + "?" + managementParameter + "=" + b.managementURL
}

// Connect returns the running broker that an endpoint describes. It can do all
// that goes over the network; Stop, Kill, Restart and Ctl refuse.
func Connect(ctx context.Context, endpoint string) (*RabbitMQ, error) {
	broker, err := parseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	if err := broker.awaitReady(ctx); err != nil {
		return nil, err
	}
	return broker, nil
}

func parseEndpoint(endpoint string) (*RabbitMQ, error) {
	parsed, err := url.Parse(endpoint)
	if err != nil || parsed.Scheme+"://" != amqpScheme || parsed.User == nil {
		// Not the error itself: it repeats the password.
		return nil, errors.New("want amqp://USER:PASSWORD@HOST:PORT?management=http://HOST:PORT")
	}
	password, _ := parsed.User.Password()
	broker := &RabbitMQ{
		AdminUser:     parsed.User.Username(),
		AdminPassword: password,
		amqpURL:       amqpScheme + parsed.Host,
		managementURL: parsed.Query().Get(managementParameter),
	}
	if broker.AMQPPort, err = portOf(broker.amqpURL); err != nil {
		return nil, err
	}
	if broker.ManagementPort, err = portOf(broker.managementURL); err != nil {
		return nil, err
	}
	return broker, nil
}

// fromEnvironment returns the running broker that a variable describes, nil
// when it is not set.
func fromEnvironment(ctx context.Context, series Series) (*RabbitMQ, error) {
	source, err := series.source()
	if err != nil {
		return nil, err
	}
	endpoint := os.Getenv(source.envName)
	if endpoint == "" {
		return nil, nil
	}
	broker, err := Connect(ctx, endpoint)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source.envName, err)
	}
	return broker, nil
}

func portOf(address string) (int, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return 0, err
	}
	port, err := strconv.Atoi(parsed.Port())
	if err != nil {
		return 0, fmt.Errorf("%q names no port", address)
	}
	return port, nil
}
