package broker

import (
	"regexp"

	"github.com/warren-mq/warren/internal/topology"
)

const (
	typeClassic = "classic"
	typeQuorum  = "quorum"
	typeStream  = "stream"
)

// policyBook finds out what policies amount to for a queue, where the broker
// itself does not tell: RabbitMQ 4.0's list of definitions names the policy
// and no more, and what its statistics tell comes up to 8 s late.
type policyBook struct {
	byName    map[string]topology.Policy
	operators []operatorPolicy
}

type operatorPolicy struct {
	topology.Policy
	// pattern is nil where Go does not understand what Erlang does.
	pattern *regexp.Regexp
}

func newPolicyBook(policies, operatorPolicies []topology.Policy) policyBook {
	book := policyBook{byName: make(map[string]topology.Policy, len(policies))}
	for _, p := range policies {
		book.byName[p.Name] = p
	}
	for _, p := range operatorPolicies {
		pattern, err := regexp.Compile(bytewise(p.Pattern))
		if err != nil {
			pattern = nil
		}
		book.operators = append(book.operators, operatorPolicy{p, pattern})
	}
	return book
}

// bytewise makes each byte a character of its own: RabbitMQ matches bytes, so
// that its dot takes half of an é.
func bytewise(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// fillIn sets the policies in force. EffectivePolicy stays nil where they are
// not known; a queue that is known to have none gets an empty one.
func (b policyBook) fillIn(seen *topology.SeenQueue, q queueRecord) {
	seen.Policy, seen.OperatorPolicy = q.Policy, q.OperatorPolicy
	if told := q.EffectivePolicy.get(); told != nil {
		seen.EffectivePolicy = told
		return
	}
	var definition topology.Arguments
	if q.Policy != "" {
		policy, ok := b.byName[q.Policy]
		if !ok {
			return // It was set after the policies had been read.
		}
		definition = policy.Definition
	}
	operator, known := b.operatorPolicyOf(seen)
	if !known {
		return
	}
	seen.OperatorPolicy = operator.Name
	seen.EffectivePolicy = mergePolicies(definition, operator.Definition)
}

// operatorPolicyOf finds the matching one of the highest priority. It is not
// known when two tie, or when one that might win is not understood.
func (b policyBook) operatorPolicyOf(q *topology.SeenQueue) (found topology.Policy, known bool) {
	known = true
	for _, p := range b.operators {
		if !appliesTo(p.ApplyTo, q.Type) || (p.pattern != nil && !p.pattern.MatchString(bytewise(q.Name))) {
			continue
		}
		switch {
		case found.Name == "" || p.Priority > found.Priority:
			found, known = p.Policy, p.pattern != nil
		case p.Priority == found.Priority:
			known = false
		}
	}
	return found, known
}

func appliesTo(applyTo, queueType string) bool {
	switch applyTo {
	case "all", "queues":
		return true
	case "classic_queues":
		return queueType == typeClassic
	case "quorum_queues":
		return queueType == typeQuorum
	case "streams":
		return queueType == typeStream
	}
	return false
}

// mergePolicies lets an operator policy limit a policy, as RabbitMQ does.
func mergePolicies(policy, operator topology.Arguments) topology.Arguments {
	merged := make(topology.Arguments, len(policy)+len(operator))
	for k, v := range policy {
		merged[k] = v
	}
	for k, v := range operator {
		merged[k] = v
		mine, isNumber := topology.Integer(policy[k])
		theirs, _ := topology.Integer(v)
		switch {
		case isNumber && k == "target-group-size":
			merged[k] = max(mine, theirs)
		case isNumber:
			merged[k] = min(mine, theirs)
		}
	}
	return merged
}
