package topology

import (
	"regexp"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// policyPriority of the policy that holds a work queue's settings.
const policyPriority = 100

// workQueue is the queue that the consumer reads, and before it the policy
// that holds its settings, if they are to be in one: a queue that lived
// before its policy would have a gap without a dead-letter exchange.
func (c *compiler) workQueue() []Object {
	queue := c.queue(c.names.Work, RoleWork, c.workArguments())
	if c.in.Spec.Settings != v1alpha1.SettingsPolicy {
		return []Object{queue}
	}
	policy := Policy{
		Name:       policyName(c.in.Namespace, c.in.Name),
		Pattern:    "^" + regexp.QuoteMeta(c.names.Work) + "$",
		ApplyTo:    "quorum_queues",
		Priority:   policyPriority,
		Definition: Arguments{},
	}
	for arg, value := range queue.Arguments {
		if key, ok := policyKeys[arg]; ok {
			policy.Definition[key] = value
			delete(queue.Arguments, arg)
		}
	}
	return []Object{policy, queue}
}

func policyName(namespace, name string) string { return "warren." + namespace + "." + name }

// PolicyOfOwner names the policy that the resource with this mark has for its
// work queue, if it has one.
func PolicyOfOwner(mark string) string {
	parts := strings.SplitN(mark, "/", 3)
	if len(parts) != 3 {
		return ""
	}
	return policyName(parts[1], parts[2])
}

func (c *compiler) workArguments() Arguments {
	args := deadLetterTo(c.names.Dead(), c.deadLetterStrategy())
	args["x-delivery-limit"] = c.limit
	if c.work.SingleActiveConsumer {
		args["x-single-active-consumer"] = true
	}
	if c.consumerTimeout > 0 {
		args["x-consumer-timeout"] = c.consumerTimeout.Milliseconds()
	}
	if n := c.work.MaxLength; n != nil {
		args["x-max-length"] = *n
	}
	for k, v := range c.strategy.workArguments() {
		args[k] = v
	}
	return args
}

// policyKeys are the arguments that a policy can hold as well.
// x-single-active-consumer and x-quorum-initial-group-size are not among
// them: RabbitMQ has no such policy keys.
var policyKeys = map[string]string{
	"x-dead-letter-exchange": "dead-letter-exchange",
	"x-dead-letter-strategy": "dead-letter-strategy",
	"x-overflow":             "overflow",
	"x-delivery-limit":       "delivery-limit",
	"x-max-length":           "max-length",
	"x-max-length-bytes":     "max-length-bytes",
	"x-consumer-timeout":     "consumer-timeout",
	"x-queue-leader-locator": "queue-leader-locator",
	"x-delayed-retry-type":   "delayed-retry-type",
	"x-delayed-retry-min":    "delayed-retry-min",
	"x-delayed-retry-max":    "delayed-retry-max",
}
