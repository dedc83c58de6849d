package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/freshness"
)

// patience bounds each wait.
const patience = 30 * time.Minute

// awaitReady returns when all subscriptions of a namespace are Ready. It
// watches, which costs the API server next to nothing.
func (s *stage) awaitReady(ctx context.Context, w workload) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ready := map[string]bool{}
	for ctx.Err() == nil {
		changes, err := s.api.Watch(ctx, &v1alpha1.ReliableSubscriptionList{}, client.InNamespace(w.namespace()))
		if err != nil {
			return err
		}
		for change := range changes.ResultChan() {
			if sub, ok := change.Object.(*v1alpha1.ReliableSubscription); ok {
				note(ready, sub)
			}
			if len(ready) == w.count {
				changes.Stop()
				return nil
			}
		}
	}
	return fmt.Errorf("%d of %d are Ready: %w", len(ready), w.count, context.Cause(ctx))
}

func note(ready map[string]bool, sub *v1alpha1.ReliableSubscription) {
	if v1alpha1.Holds(sub.Status.Conditions, v1alpha1.ConditionReady, sub.Generation) {
		ready[sub.Name] = true
	} else {
		delete(ready, sub.Name)
	}
}

// renewal is the time in the Broker's Lease: when the reading began that it tells of.
func (s *stage) renewal(ctx context.Context, w workload) time.Time {
	var lease coordinationv1.Lease
	key := client.ObjectKey{Namespace: w.namespace(), Name: freshness.LeaseName(brokerName)}
	if err := s.api.Get(ctx, key, &lease); err != nil || lease.Spec.RenewTime == nil {
		return time.Time{} // there is none before the first good reading
	}
	return lease.Spec.RenewTime.Time
}

// awaitRenewal returns when the Lease tells of a reading begun after a moment.
// The operator renews it once it stands behind every condition.
func (s *stage) awaitRenewal(ctx context.Context, w workload, after time.Time) error {
	return poll(ctx, 20*time.Millisecond, func() error {
		if at := s.renewal(ctx, w); !at.After(after) {
			return fmt.Errorf("the Lease tells of a reading at %s", at)
		}
		return nil
	})
}

// awaitQueue returns when a queue is there.
func (s *stage) awaitQueue(ctx context.Context, connection *amqp.Connection, queue string) error {
	return poll(ctx, 20*time.Millisecond, func() error {
		channel, err := connection.Channel()
		if err != nil {
			return err
		}
		_, err = channel.QueueDeclarePassive(queue, true, false, false, false, nil)
		return errors.Join(err, closeOpen(channel))
	})
}

// closeOpen: the broker has closed the channel of a 404 itself.
func closeOpen(channel *amqp.Channel) error {
	if channel.IsClosed() {
		return nil
	}
	return channel.Close()
}

func poll(ctx context.Context, every time.Duration, met func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := met()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}
