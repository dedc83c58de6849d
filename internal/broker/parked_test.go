package broker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/internal/topology"
)

func died(queue, reason string, at int64) amqp.Table {
	return amqp.Table{"queue": queue, "reason": reason, "time": time.Unix(at, 0)}
}

func TestWhyAMessageWasParked(t *testing.T) {
	names := topology.Names{Work: "w", Parking: "p"}
	cases := []struct {
		reason   string
		exchange string
		headers  amqp.Table
		want     Parked
	}{
		{"rejected at once", "w.dead", amqp.Table{"x-death": []any{died("w", "rejected", 5)}}, Parked{Reason: ParkedRejected, Since: time.Unix(5, 0)}},
		{"rejected after its last delay", "w.dead",
			amqp.Table{"x-death": []any{died("w", "rejected", 5), died("w.wait.1.1s", "expired", 8)}},
			Parked{Reason: ParkedRejected, Since: time.Unix(8, 0)}},
		{"crashed its consumer after a rejection", "w.dead",
			amqp.Table{"x-death": []any{died("w", "delivery_limit", 9), died("w", "rejected", 5)}},
			Parked{Reason: ParkedDeliveryLimit, Since: time.Unix(9, 0)}},
		{"expired", "w.dead", amqp.Table{"x-death": []any{died("w", "expired", 5)}}, Parked{Reason: ParkedExpired, Since: time.Unix(5, 0)}},
		{"died once more in the parking queue", "w.park",
			amqp.Table{"x-death": []any{died("p", "rejected", 20), died("w", "expired", 5)}},
			Parked{Reason: ParkedExpired, Since: time.Unix(5, 0)}},
		{"parked by its consumer", "w.park",
			amqp.Table{"warren-parked-reason": "no such order", "warren-parked-at": "1970-01-01T00:00:30Z"},
			Parked{Reason: ParkedByConsumer, Since: time.Unix(30, 0).UTC()}},
		{"parked by its consumer, which copied all headers", "w.park",
			amqp.Table{"warren-parked-reason": "x", "x-death": []any{died("w", "rejected", 5)}},
			Parked{Reason: ParkedByConsumer, Since: time.Unix(5, 0)}},
		{"parked by its consumer and then looked at", "w.park",
			amqp.Table{"warren-parked-reason": "x", "x-death": []any{died("p", "rejected", 20)}},
			Parked{Reason: ParkedByConsumer}},
		{"died with a header that a client had left", "w.dead",
			amqp.Table{"warren-parked-reason": "x", "x-death": []any{died("w", "rejected", 5)}},
			Parked{Reason: ParkedRejected, Since: time.Unix(5, 0)}},
		{"published without a word", "w.park", nil, Parked{Reason: ParkedByConsumer}},
		{"headers that are not what they should be", "w.park",
			amqp.Table{"x-death": "often", "warren-parked-at": int64(3), "warren-redrive": true},
			Parked{Reason: ParkedByConsumer}},
		{"a time that is none", "w.park", amqp.Table{"warren-parked-at": "yesterday", "x-death": []any{"x", amqp.Table{"queue": 5}}}, Parked{Reason: ParkedByConsumer}},
		{"moved before", "w.dead",
			amqp.Table{"warren-redrive": "uid/17", "x-death": []any{died("w", "rejected", 5)}},
			Parked{Reason: ParkedRejected, Since: time.Unix(5, 0), Mark: "uid"}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			got := parkedOf(names, amqp.Delivery{Exchange: tc.exchange, Headers: tc.headers, MessageId: "id"})
			tc.want.MessageID = "id"
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
