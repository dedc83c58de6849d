package broker

import "github.com/warren-mq/warren/internal/topology"

// defaultDeliveryLimit of a quorum queue that nobody gave one, from RabbitMQ 4.0 on.
const defaultDeliveryLimit int64 = 20

// limitOf is the delivery limit in force, nil for a queue that has none by its
// type or where it is not known. What the broker tells at once is believed
// first (4.3); then what follows from arguments and policies; and its
// statistics last, for they are late.
func limitOf(seen topology.SeenQueue, definition queueRecord, statistics statisticsRecord) *int64 {
	switch {
	case definition.DeliveryLimit != nil:
		return (*int64)(definition.DeliveryLimit)
	case seen.Type != typeQuorum:
		return nil
	case seen.EffectivePolicy == nil:
		return (*int64)(statistics.DeliveryLimit)
	}
	limit := lowestLimit(seen.Arguments["x-delivery-limit"], seen.EffectivePolicy["delivery-limit"])
	return &limit
}

// lowestLimit of those that are set; unlimited is above all others.
func lowestLimit(settings ...any) int64 {
	limit, set := topology.Unlimited, false
	for _, setting := range settings {
		n, ok := topology.Integer(setting)
		if !ok {
			continue
		}
		set = true
		if limit < 0 || (n >= 0 && n < limit) {
			limit = n
		}
	}
	if !set {
		return defaultDeliveryLimit
	}
	return limit
}
