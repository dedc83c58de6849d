package broker

import (
	"bytes"
	"encoding/json"

	"github.com/warren-mq/warren/internal/topology"
)

// queueRecord is a queue's definition in a list of the management API.
type queueRecord struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	Durable    bool   `json:"durable"`
	AutoDelete bool   `json:"auto_delete"`
	Exclusive  bool   `json:"exclusive"`
	Arguments  object `json:"arguments"`

	State   string   `json:"state"`
	Members []string `json:"members"`
	Online  []string `json:"online"`

	Policy          string         `json:"policy"`
	OperatorPolicy  string         `json:"operator_policy"`
	EffectivePolicy object         `json:"effective_policy_definition"`
	DeliveryLimit   *deliveryLimit `json:"delivery_limit"`
}

// statisticsRecord is a queue in a list with statistics. A nil pointer is a
// key that was not there.
type statisticsRecord struct {
	Name           string         `json:"name"`
	Messages       *int64         `json:"messages"`
	Ready          *int64         `json:"messages_ready"`
	Unacknowledged *int64         `json:"messages_unacknowledged"`
	DeadLettering  *int64         `json:"messages_dlx"`
	Delayed        *int64         `json:"messages_delayed"`
	Consumers      *int64         `json:"consumers"`
	Deliveries     deliveryStats  `json:"message_stats"`
	DeliveryLimit  *deliveryLimit `json:"delivery_limit"`
}

// deliveryLimit is a number, or the word "unlimited".
type deliveryLimit int64

func (d *deliveryLimit) UnmarshalJSON(data []byte) error {
	if string(data) == `"unlimited"` {
		*d = deliveryLimit(topology.Unlimited)
		return nil
	}
	return json.Unmarshal(data, (*int64)(d))
}

// deliveryStats are absent before the first delivery, and then a list at times.
type deliveryStats struct {
	Delivered    *int64 `json:"deliver_get"`
	Redelivered  *int64 `json:"redeliver"`
	Acknowledged *int64 `json:"ack"`
}

func (s *deliveryStats) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return nil
	}
	type plain deliveryStats
	return json.Unmarshal(data, (*plain)(s))
}
