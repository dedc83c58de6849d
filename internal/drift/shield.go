package drift

import "github.com/warren-mq/warren/internal/topology"

// PlanShield says what to do for a vhost's shield to be as wanted, and which
// queues its pattern has no room for. Ours tells whether a mark is one of ours.
func PlanShield(name string, wanted bool, seen *topology.Snapshot, ours func(mark string) bool) (plan Plan, unfitting []string) {
	there := named(seen.Policies, name)
	if !wanted {
		if there != nil {
			plan = Plan{DeletePolicy{name}}
		}
		return plan, nil
	}
	shield, unfitting := topology.Shield(name, seen, ours)
	if there == nil || !samePolicy(*there, shield) {
		plan = Plan{Declare{shield}}
	}
	return plan, unfitting
}
