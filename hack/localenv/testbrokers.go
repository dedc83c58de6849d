package localenv

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
)

var sharedBrokers = map[Series]func() (*RabbitMQ, error){
	Series40: sync.OnceValues(func() (*RabbitMQ, error) { return startSharedBroker(Series40) }),
	Series43: sync.OnceValues(func() (*RabbitMQ, error) { return startSharedBroker(Series43) }),
}

// ForEachBroker runs a subtest for each supported series against the broker
// that all tests of the binary share.
func ForEachBroker(t *testing.T, test func(t *testing.T, broker *RabbitMQ)) {
	t.Helper()
	for _, series := range AllSeries() {
		t.Run(string(series), func(t *testing.T) { test(t, Broker(t, series)) })
	}
}

// Broker returns the broker of a series that all tests of the binary share,
// started by the first test that asks: the one that WARREN_TEST_RABBITMQ_40 or
// _43 describes, else one of our own. Tests that stop, kill or block a broker
// start one for themselves with StartRabbitMQ.
func Broker(t testing.TB, series Series) *RabbitMQ {
	t.Helper()
	broker, err := sharedBrokers[series]()
	if err != nil {
		t.Fatalf("RabbitMQ %s: %v", series, err)
	}
	return broker
}

func startSharedBroker(series Series) (*RabbitMQ, error) {
	// Not the context of the test that happens to be the first: it ends with it.
	ctx := context.Background()
	if broker, err := fromEnvironment(ctx, series); broker != nil || err != nil {
		return broker, err
	}
	dir, err := sharedParts.tempDir()
	if err != nil {
		return nil, err
	}
	broker, err := StartRabbitMQ(ctx, filepath.Join(dir, "rabbitmq-"+string(series)), series, RabbitMQOptions{})
	if err == nil {
		sharedParts.atEnd(broker.discard)
	}
	return broker, err
}

// discard ends a broker whose data nobody needs, which takes no time.
func (b *RabbitMQ) discard() error { return errors.Join(b.Kill(), b.Stop()) }
