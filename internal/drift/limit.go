package drift

import (
	"fmt"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// defaultDeliveryLimit of a quorum queue that nobody gave one, from RabbitMQ 4.0 on.
const defaultDeliveryLimit int64 = 20

// compareLimitInForce sets the limit that the broker says is in force beside
// the one that argument and policies amount to. A queue that kept an earlier
// limit when its policy changed looks right in every setting.
func (c *comparison) compareLimitInForce(q topology.Queue, seen topology.SeenQueue) {
	if seen.DeliveryLimit == nil || seen.EffectivePolicy == nil {
		return
	}
	settled := limitOf(inForce(seen, argumentDeliveryLimit))
	if settled == *seen.DeliveryLimit {
		return
	}
	impact, consequence := judgeDeliveryLimit(q.Role, *seen.DeliveryLimit, c.context(seen))
	c.differs(q, seen, CausePolicy, v1alpha1.DriftEntry{
		Field: argumentDeliveryLimit, Desired: fmt.Sprintf("%d in force", settled), Observed: fmt.Sprintf("%d in force", *seen.DeliveryLimit),
		Impact: impact,
		Remedy: consequence + fmt.Sprintf("Arguments and policies of queue %q amount to %d, but the broker has not taken it over: set the policy again, or have the queue's leader moved to another node.", q.Name, settled),
	})
}

func limitOf(setting any) int64 {
	n, ok := topology.Integer(setting)
	switch {
	case !ok:
		return defaultDeliveryLimit
	case n < 0:
		return topology.Unlimited
	}
	return n
}
