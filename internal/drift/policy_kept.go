package drift

import (
	"fmt"

	"github.com/warren-mq/warren/internal/topology"
)

// destroys tells whether setting our policy would cost dead letters that
// wait: RabbitMQ drops them when at-least-once ends for their queue (fact 22).
func (c *comparison) destroys(p topology.Policy) bool {
	work := c.seen.Queues[c.want.Names.Work]
	return atLeastOnceInForce(work) && p.Definition["dead-letter-strategy"] != "at-least-once" && mayWait(work.DeadLettering)
}

// mayWait: an unknown count is no proof that nothing waits.
func mayWait(deadLetters *int64) bool { return deadLetters == nil || *deadLetters > 0 }

// keptRemedy says why our policy is not set yet. Nobody has to do anything.
func (c *comparison) keptRemedy() string {
	return fmt.Sprintf("Warren sets %s when no dead letter waits in queue %q any more: those that wait would be lost with the change.", c.kept, c.want.Names.Work)
}
