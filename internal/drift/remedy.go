package drift

import (
	"fmt"

	"github.com/warren-mq/warren/internal/topology"
)

// remedy says what a person has to do.
func remedy(q topology.Queue, seen topology.SeenQueue, s setting, cause Cause) string {
	if cause == CausePolicy {
		return policyRemedy(seen, s)
	}
	return fmt.Sprintf("RabbitMQ cannot change %s of a queue: %s; or set the spec to what is there", s.argument, recreateQueue(q.Name))
}

func policyRemedy(seen topology.SeenQueue, s setting) string {
	switch {
	case seen.OperatorPolicy != "" && seen.Policy != "":
		return fmt.Sprintf("Take %s out of policy %q or operator policy %q, or have their patterns leave queue %q out.", s.policyKey, seen.Policy, seen.OperatorPolicy, seen.Name)
	case seen.OperatorPolicy != "":
		return fmt.Sprintf("Take %s out of operator policy %q, or have its pattern leave queue %q out.", s.policyKey, seen.OperatorPolicy, seen.Name)
	case seen.Policy != "":
		return fmt.Sprintf("Take %s out of policy %q, or have its pattern leave queue %q out.", s.policyKey, seen.Policy, seen.Name)
	}
	return fmt.Sprintf("No policy sets %s for queue %q now.", s.policyKey, seen.Name)
}

// recreateQueue never tells anybody to delete what holds messages.
func recreateQueue(name string) string {
	return fmt.Sprintf("stop what publishes into queue %q, let it drain, delete it when it is empty, and Warren declares it anew", name)
}
