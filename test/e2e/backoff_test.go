package e2e

import (
	"testing"
	"time"

	"github.com/warren-mq/warren/test/amqptest"
)

// A message that is rejected each time comes back after each delay in turn, N
// delays making N+1 deliveries, then parks as it was published; the others
// vanish with their ack. So it is however many delays there are, whichever the
// dead-letter strategy, and wherever the settings live.
func TestBackoffClimbsItsLadderThenParks(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		travel(t, s, []journey{
			{
				queue: "one-delay", fail: always(amqptest.Reject),
				spec:    `workQueue: {name: one-delay}, retry: {backoff: {delays: [1s]}}`,
				delays:  []time.Duration{time.Second},
				through: []string{".wait.1.1s"}, diesOf: "rejected",
			},
			{
				queue: "three-delays", fail: always(amqptest.Nack),
				spec:    `workQueue: {name: three-delays}, retry: {backoff: {delays: [1s, 3s, 2s]}}`,
				delays:  []time.Duration{time.Second, 3 * time.Second, 2 * time.Second},
				through: []string{".wait.1.1s", ".wait.2.3s", ".wait.3.2s"}, diesOf: "rejected",
			},
			{
				queue: "at-most-once", fail: always(amqptest.Reject),
				spec:    `workQueue: {name: at-most-once, deadLetterStrategy: AtMostOnce}, retry: {backoff: {delays: [1s, 2s, 3s]}}`,
				delays:  []time.Duration{time.Second, 2 * time.Second, 3 * time.Second},
				through: []string{".wait.1.1s", ".wait.2.2s", ".wait.3.3s"}, diesOf: "rejected",
			},
			{
				queue: "policy", fail: always(amqptest.Reject),
				spec:    `workQueue: {name: policy}, retry: {backoff: {delays: [1s, 2s]}}, settings: Policy`,
				delays:  []time.Duration{time.Second, 2 * time.Second},
				through: []string{".wait.1.1s", ".wait.2.2s"}, diesOf: "rejected",
			},
		})
	})
}
