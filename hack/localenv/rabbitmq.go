package localenv

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
)

const amqpScheme = "amqp://"

// errNotOurs is returned by what only works on a node that this process started.
var errNotOurs = errors.New("this broker was not started here: it can neither be stopped nor reached by its command line tools")

// RabbitMQOptions say how a broker differs from the usual one.
type RabbitMQOptions struct {
	// Config holds additional lines for rabbitmq.conf.
	Config []string
	// Detached lets the broker outlive this process; Down ends it.
	Detached bool
	// TLS, if set, opens two more ports, which speak TLS.
	TLS *TLSFiles
}

// RabbitMQ is a running broker, or one node of a cluster.
type RabbitMQ struct {
	// Version is what the broker itself reports, for example 4.3.6.
	Version string
	// AMQPPort is where it takes AMQP 0-9-1 and 1.0 connections.
	AMQPPort int
	// ManagementPort is where the management plugin serves HTTP.
	ManagementPort int
	// AdminUser may do everything on the broker.
	AdminUser string
	// AdminPassword is AdminUser's password.
	AdminPassword string

	amqpURL, managementURL string

	node *node // nil for a broker that was not started here
}

// StartRabbitMQ starts one node of its own and waits until clients can
// connect. Its data, configuration and log are in dir.
func StartRabbitMQ(ctx context.Context, dir string, series Series, options RabbitMQOptions) (*RabbitMQ, error) {
	cluster, err := startNodes(ctx, dir, series, 1, options)
	if err != nil {
		return nil, err
	}
	broker := cluster.Nodes[0]
	broker.node.alone = true
	return broker, nil
}

// AMQPURL is the broker's address without credentials and vhost.
func (b *RabbitMQ) AMQPURL() string { return b.amqpURL }

func (b *RabbitMQ) amqpAddress() string { return strings.TrimPrefix(b.amqpURL, amqpScheme) }

// ManagementURL is the root of the management plugin's HTTP server.
func (b *RabbitMQ) ManagementURL() string { return b.managementURL }

// Stop ends the node in an orderly manner. Its data stays.
func (b *RabbitMQ) Stop() error {
	if b.node == nil {
		return errNotOurs
	}
	return b.node.stop()
}

// Kill ends the node as a crash would, with SIGKILL.
func (b *RabbitMQ) Kill() error {
	if b.node == nil {
		return errNotOurs
	}
	return b.node.kill()
}

// Restart starts the node with the same ports and data, after stopping it
// where it still runs, and waits until clients can connect.
func (b *RabbitMQ) Restart(ctx context.Context) error {
	if b.node == nil {
		return errNotOurs
	}
	if err := b.node.process.stop(); err != nil {
		return err
	}
	return b.start(ctx)
}

func (b *RabbitMQ) firstStart(ctx context.Context) error {
	if err := b.node.config.write(); err != nil {
		return err
	}
	return b.start(ctx)
}

func (b *RabbitMQ) start(ctx context.Context) error {
	if err := b.node.start(ctx); err != nil {
		return err
	}
	return b.awaitReady(ctx)
}

// awaitReady returns when both the management API and the AMQP listener,
// which is the last to open, answer.
func (b *RabbitMQ) awaitReady(ctx context.Context) error {
	return await(ctx, b.process(), func(ctx context.Context) error {
		var overview struct {
			Version string `json:"rabbitmq_version"`
		}
		if err := b.get(ctx, &overview, "overview"); err != nil {
			return err
		}
		b.Version = overview.Version
		connection, err := net.Dial("tcp", b.amqpAddress())
		if err != nil {
			return err
		}
		return connection.Close()
	})
}

// process is nil for a broker that was not started here.
func (b *RabbitMQ) process() *process {
	if b.node == nil {
		return nil
	}
	return b.node.process
}

// node is a RabbitMQ node that this process started.
type node struct {
	config  nodeConfig
	epmd    *epmd
	alone   bool // no other node needs epmd
	process *process
}

func newBroker(n *node) *RabbitMQ {
	c := n.config
	return &RabbitMQ{
		AMQPPort:       c.amqpPort,
		ManagementPort: c.managementPort,
		AdminUser:      c.adminUser,
		AdminPassword:  c.adminPassword,
		amqpURL:        amqpScheme + loopback(c.amqpPort),
		managementURL:  "http://" + loopback(c.managementPort),
		node:           n,
	}
}

func (n *node) start(ctx context.Context) error {
	if err := n.epmd.ensure(ctx); err != nil {
		return err
	}
	var err error
	n.process, err = startProcess(processSpec{
		name:      n.config.name,
		cmd:       n.epmd.runtime.server(n.config),
		dir:       filepath.Dir(n.config.dir),
		detached:  n.epmd.detached,
		endSignal: n.epmd.runtime.endSignal(),
	})
	return err
}

func (n *node) stop() error {
	err := n.process.stop()
	if n.alone {
		err = errors.Join(err, n.epmd.stop())
	}
	return err
}

func (n *node) kill() error {
	if !n.process.running() {
		return nil
	}
	return n.epmd.runtime.kill(context.Background(), n.config, n.process)
}
