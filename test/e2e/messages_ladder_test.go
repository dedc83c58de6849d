package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// ladderChange is a change of the retries while messages are under way.
type ladderChange struct {
	// queue is the work queue, and the subscription's name.
	queue string
	// work is what spec.workQueue has beside the name, after a comma.
	work string
	// retries are the spec's, one after another.
	retries []string
	// delays of the last one.
	delays []time.Duration
	// removed are the wait queues that are to go, less the work queue's name.
	removed []string
}

// Delays, rungs and the strategy can be changed under a stream of messages
// that are all rejected: each of them parks, and parks once. What comes after
// the change goes the new way, and a wait queue that is no longer wanted is
// removed when it has drained.
func TestLadderChangesUnderMessages(t *testing.T) {
	const first, second, third = time.Second, 2 * time.Second, 3 * time.Second
	changes := []ladderChange{
		{
			queue: "other-last-delay", delays: []time.Duration{first, third}, removed: []string{".wait.2.2s"},
			retries: []string{`{backoff: {delays: [1s, 2s]}}`, `{backoff: {delays: [1s, 3s]}}`},
		},
		{
			queue: "other-first-delay", delays: []time.Duration{second, second}, removed: []string{".wait.1.1s"},
			retries: []string{`{backoff: {delays: [1s, 2s]}}`, `{backoff: {delays: [2s, 2s]}}`},
		},
		{
			queue: "other-first-delay-and-back", delays: []time.Duration{first, second}, removed: []string{".wait.1.3s"},
			retries: []string{`{backoff: {delays: [1s, 2s]}}`, `{backoff: {delays: [3s, 2s]}}`, `{backoff: {delays: [1s, 2s]}}`},
		},
		{
			queue: "other-delays-at-most-once", work: ", deadLetterStrategy: AtMostOnce", delays: []time.Duration{second, third}, removed: []string{".wait.1.1s", ".wait.2.2s"},
			retries: []string{`{backoff: {delays: [1s, 2s]}}`, `{backoff: {delays: [2s, 3s]}}`},
		},
		{
			queue: "rungs-less", delays: []time.Duration{first}, removed: []string{".wait.2.1s", ".wait.3.2s"},
			retries: []string{`{backoff: {delays: [1s, 1s, 2s]}}`, `{backoff: {delays: [1s]}}`},
		},
		{
			queue: "rung-more", delays: []time.Duration{first, second},
			retries: []string{`{backoff: {delays: [1s]}}`, `{backoff: {delays: [1s, 2s]}}`},
		},
		{
			queue: "immediate-and-back", delays: []time.Duration{first, second},
			retries: []string{`{backoff: {delays: [1s, 2s]}}`, `{immediate: {}}`, `{backoff: {delays: [1s, 2s]}}`},
		},
		{
			queue: "immediate-in-the-end", delays: nil, removed: []string{".wait.1.1s", ".wait.2.2s"},
			retries: []string{`{backoff: {delays: [1s, 2s]}}`, `{immediate: {}}`},
		},
		{
			queue: "fixed-delay-in-the-end", delays: []time.Duration{second, second}, removed: []string{".wait.1.1s"},
			retries: []string{`{backoff: {delays: [1s]}}`, `{fixedDelay: {delay: 2s, maxAttempts: 3}}`},
		},
	}
	onStages(t, func(t *testing.T, s *stage) { changeUnderMessages(t, s, changes) })
}

func changeUnderMessages(t *testing.T, s *stage, changes []ladderChange) {
	s.apply(topicOrders)
	s.change(changes, 0)
	failing, parked := map[string]*amqptest.Consumer{}, map[string]*amqptest.Consumer{}
	for _, c := range changes {
		failing[c.queue] = s.consume(c.queue, c.fail(s), amqptest.Prefetch(20))
		parked[c.queue] = s.consume(c.queue+".parking", amqptest.InTurn(amqptest.Ack), amqptest.Prefetch(100))
	}

	events := s.stream("orders", "order.placed")
	for _, c := range changes {
		// Some have come back by now, and are on all rungs.
		failing[c.queue].Await(t, 300)
	}
	s.change(changes, 1)
	s.change(changes, 2)
	ids := events.stop(t)
	s.publish("orders", "order.placed", amqptest.Message("afterwards"))
	ids = append(ids, "afterwards")

	for _, c := range changes {
		t.Run(c.queue, func(t *testing.T) {
			c.assertEachParkedOnce(t, s, ids, parked[c.queue])
			afterwards := failing[c.queue].DeliveriesOf("afterwards")
			assertDeliveries(t, failing[c.queue], "afterwards", len(c.delays)+1)
			if len(afterwards) == len(c.delays)+1 {
				assertDelays(t, afterwards, c.delays...)
			}
			c.assertRemoved(t, s)
			t.Logf("%d messages, %d deliveries, %d parkings", len(ids), len(failing[c.queue].Deliveries()), len(parked[c.queue].Deliveries()))
		})
	}
}

// change sets the retries of that turn, of all that have so many.
func (s *stage) change(changes []ladderChange, turn int) {
	s.t.Helper()
	var manifests string
	var names []string
	for _, c := range changes {
		if turn < len(c.retries) {
			manifests += subscriptionManifest(c.queue, fmt.Sprintf("%s, workQueue: {name: %s%s}, retry: %s", fromOrders, c.queue, c.work, c.retries[turn]))
			names = append(names, c.queue)
		}
	}
	s.apply(manifests)
	for _, name := range names {
		s.await("rsub/"+name, expected{Type: v1alpha1.ConditionEstablished, Status: metav1.ConditionTrue})
	}
}

// fail rejects, and parks what has been run often enough where the consumer has to count.
func (c ladderChange) fail(s *stage) amqptest.Answer {
	if c.queue == "fixed-delay-in-the-end" {
		return parkingAt(3)(s, c.queue)
	}
	return amqptest.InTurn(amqptest.Reject)
}

func (c ladderChange) assertEachParkedOnce(t *testing.T, s *stage, ids []string, parked *amqptest.Consumer) {
	t.Helper()
	times := map[string]int{}
	amqptest.Eventually(t, amqptest.Deadline, func() error {
		clear(times)
		for _, d := range parked.Deliveries() {
			times[d.MessageId]++
		}
		var errs []error
		if missing := len(ids) - len(times); missing != 0 {
			errs = append(errs, fmt.Errorf("%d of %d messages have not parked", missing, len(ids)))
		}
		return errors.Join(append(errs, c.assertIdle(s))...)
	})
	for _, id := range ids {
		if times[id] != 1 {
			t.Errorf("message %q parked %d times, want once", id, times[id])
		}
	}
}

// assertIdle: nothing is left that could still park.
func (c ladderChange) assertIdle(s *stage) error {
	var queues []struct{ Name string }
	if err := s.manage("GET", nil, &queues, "queues"); err != nil {
		return err
	}
	for _, q := range queues {
		if q.Name != c.queue && !strings.HasPrefix(q.Name, c.queue+".wait.") {
			continue
		}
		if ready, err := amqptest.Ready(s.app, q.Name); err != nil || ready > 0 {
			return errors.Join(err, fmt.Errorf("queue %q has %d messages", q.Name, ready))
		}
	}
	return nil
}

func (c ladderChange) assertRemoved(t *testing.T, s *stage) {
	t.Helper()
	for _, wait := range c.removed {
		amqptest.Eventually(t, within, func() error {
			exists, err := s.exists(c.queue + wait)
			if exists {
				err = fmt.Errorf("queue %q is still there, and nothing leads to it", c.queue+wait)
			}
			return err
		})
	}
}

// stream is a publisher who goes on until it is stopped.
type stream struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	ids    []string
	err    error
}

// stream publishes a few messages ten times a second.
func (s *stage) stream(exchange, key string) *stream {
	ctx, cancel := context.WithCancel(s.t.Context())
	f := &stream{cancel: cancel}
	f.done.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for f.err == nil {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				messages := amqptest.Messages(fmt.Sprintf("m-%d", len(f.ids)), 5)
				for _, m := range messages {
					f.ids = append(f.ids, m.MessageId)
				}
				f.err = amqptest.Send(s.t.Context(), s.app, exchange, key, messages...)
			}
		}
	})
	return f
}

// stop returns the ids of what was published.
func (f *stream) stop(t *testing.T) []string {
	t.Helper()
	f.cancel()
	f.done.Wait()
	if f.err != nil {
		t.Fatalf("publishing message %d: %v", len(f.ids), f.err)
	}
	return f.ids
}
