package localenv

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Cluster is several RabbitMQ nodes that form one broker on loopback.
type Cluster struct {
	// Nodes can be killed and restarted one by one.
	Nodes []*RabbitMQ

	epmd *epmd
}

// StartCluster starts n nodes and waits until they have become one cluster.
func StartCluster(ctx context.Context, dir string, series Series, n int, options RabbitMQOptions) (*Cluster, error) {
	cluster, err := startNodes(ctx, dir, series, n, options)
	if err != nil {
		return nil, err
	}
	if err := cluster.each(func(b *RabbitMQ) error { return b.awaitRunningNodes(ctx, n) }); err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return cluster, nil
}

// Stop ends all nodes in an orderly manner. Their data stays.
func (c *Cluster) Stop() error {
	return errors.Join(c.each((*RabbitMQ).Stop), c.epmd.stop())
}

// startNodes starts n nodes and waits until clients can connect to each.
func startNodes(ctx context.Context, dir string, series Series, n int, options RabbitMQOptions) (*Cluster, error) {
	runtime, err := chooseRuntime(ctx, series)
	if err != nil {
		return nil, err
	}
	cluster, err := planCluster(dir, series, n, runtime, options)
	if err != nil {
		return nil, err
	}
	if err := cluster.each(func(b *RabbitMQ) error { return b.firstStart(ctx) }); err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return cluster, nil
}

// each calls f for all nodes at the same time: a node takes seconds to start
// and to stop, and the nodes of a new cluster wait for one another.
func (c *Cluster) each(f func(*RabbitMQ) error) error {
	errs := make([]error, len(c.Nodes))
	var wait sync.WaitGroup
	for i, broker := range c.Nodes {
		wait.Go(func() { errs[i] = f(broker) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// awaitRunningNodes returns when this node sees n nodes running, itself included.
func (b *RabbitMQ) awaitRunningNodes(ctx context.Context, n int) error {
	return await(ctx, b.process(), func(ctx context.Context) error {
		var nodes []struct {
			Running bool `json:"running"`
		}
		if err := b.get(ctx, &nodes, "nodes"); err != nil {
			return err
		}
		running := 0
		for _, node := range nodes {
			if node.Running {
				running++
			}
		}
		if running != n {
			return fmt.Errorf("%s sees %d of %d nodes", b.node.config.nodename(), running, n)
		}
		return nil
	})
}
