package broker

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/internal/topology"
)

// link is one AMQP connection with its pool of channels. Nothing is ever
// published on it: RabbitMQ blocks a connection that has published while there
// is an alarm, and a declare on it would hang.
type link struct {
	connection *amqp.Connection
	socket     *socket
	peer       peer
	version    topology.Version
	// slots holds an item for each channel in use.
	slots chan struct{}
	idle  chan *amqp.Channel
}

func newLink(connection *amqp.Connection, socket *socket, peer peer) *link {
	size := connection.Config.ChannelMax
	return &link{
		connection: connection, socket: socket, peer: peer,
		slots: make(chan struct{}, size), idle: make(chan *amqp.Channel, size),
	}
}

func versionOf(connection *amqp.Connection) (topology.Version, error) {
	version, _ := connection.Properties["version"].(string)
	return topology.ParseVersion(version)
}

func (l *link) clusterName() string {
	name, _ := l.connection.Properties["cluster_name"].(string)
	return name
}

// close says goodbye, for a short time.
func (l *link) close() {
	const patience = 2 * time.Second
	_ = l.connection.CloseDeadline(time.Now().Add(patience))
	_ = l.socket.raw.Close()
}

// take gets a channel out of the pool, where it waits for a free one, and
// opens it if need be.
func (l *link) take(ctx context.Context, timeout time.Duration) (*amqp.Channel, error) {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case channel := <-l.idle:
		return channel, nil
	default:
	}
	var channel *amqp.Channel
	err := l.await(ctx, timeout, func() (err error) {
		channel, err = l.connection.Channel()
		return err
	})
	if err != nil {
		<-l.slots
	}
	return channel, err
}

// giveBack takes a channel back, unless an exception has closed it.
func (l *link) giveBack(channel *amqp.Channel) {
	if !channel.IsClosed() {
		l.idle <- channel
	}
	<-l.slots
}

// await makes one call of the AMQP library. That knows no context: when time
// is up the connection is cut, for an answer that does not come leaves the
// channel unusable and the connection in doubt.
func (l *link) await(ctx context.Context, timeout time.Duration, call func() error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { l.socket.cut(context.Cause(ctx)) })
	defer stop()
	return call()
}
