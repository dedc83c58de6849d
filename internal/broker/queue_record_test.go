package broker

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/warren-mq/warren/internal/topology"
)

func TestQueueRecord(t *testing.T) {
	number := func(n int64) *int64 { return &n }
	cases := []struct {
		name       string
		reason     string
		definition string
		statistics string
		version    topology.Version
		want       topology.SeenQueue
	}{
		{
			name: "no statistics yet", reason: "every counter is unknown, and never 0", version: topology.Version{Major: 4},
			definition: `{"name":"q","type":"quorum","durable":true,"arguments":{}}`, statistics: `{"name":"q"}`,
			want: topology.SeenQueue{Name: "q", Type: "quorum", Durable: true, Arguments: topology.Arguments{}, EffectivePolicy: topology.Arguments{}, DeliveryLimit: number(20)},
		},
		{
			name: "4.0", reason: "it has no delayed retry, so that none is delayed", version: topology.Version{Major: 4},
			definition: `{"name":"q","type":"quorum","arguments":{"x-message-ttl":5000}}`,
			statistics: `{"name":"q","messages":3,"messages_ready":1,"messages_unacknowledged":1,"messages_dlx":1,"consumers":2,"message_stats":{"redeliver":7,"ack":8}}`,
			want: topology.SeenQueue{
				Name: "q", Type: "quorum", Arguments: topology.Arguments{"x-message-ttl": int64(5000)}, EffectivePolicy: topology.Arguments{}, DeliveryLimit: number(20),
				Messages: number(3), Ready: number(1), Unacknowledged: number(1), DeadLettering: number(1), Delayed: number(0), Consumers: number(2),
				Redeliveries: number(7), Acknowledgements: number(8),
			},
		},
		{
			name: "4.3", reason: "it tells policies and the limit at once, null where there is none", version: topology.Version{Major: 4, Minor: 3},
			definition: `{"name":"q","type":"quorum","arguments":{},"state":"running","members":["a","b"],"online":["a"],"policy":"p","operator_policy":null,"effective_policy_definition":{"max-length":5},"delivery_limit":"unlimited"}`,
			statistics: `{"name":"q","messages":1,"messages_ready":0,"messages_unacknowledged":0,"messages_dlx":0,"messages_delayed":1,"consumers":0,"message_stats":[],"delivery_limit":20}`,
			want: topology.SeenQueue{
				Name: "q", Type: "quorum", Arguments: topology.Arguments{}, State: "running", Members: []string{"a", "b"}, Online: []string{"a"},
				Policy: "p", EffectivePolicy: topology.Arguments{"max-length": int64(5)}, DeliveryLimit: number(topology.Unlimited),
				Messages: number(1), Ready: number(0), Unacknowledged: number(0), DeadLettering: number(0), Delayed: number(1), Consumers: number(0),
			},
		},
		{
			name: "classic", reason: "it has no limit, and can neither jam nor delay", version: topology.Version{Major: 4, Minor: 3},
			definition: `{"name":"q","type":"classic","arguments":{},"exclusive":true,"auto_delete":true,"effective_policy_definition":[]}`,
			statistics: `{"name":"q","messages":0,"messages_ready":0,"messages_unacknowledged":0,"consumers":1}`,
			want: topology.SeenQueue{
				Name: "q", Type: "classic", Exclusive: true, AutoDelete: true, Arguments: topology.Arguments{}, EffectivePolicy: topology.Arguments{},
				Messages: number(0), Ready: number(0), Unacknowledged: number(0), DeadLettering: number(0), Delayed: number(0), Consumers: number(1),
			},
		},
		{
			name: "policies not known", reason: "late statistics are better than nothing for the limit", version: topology.Version{Major: 4},
			definition: `{"name":"q","type":"quorum","arguments":{},"policy":"unheard of"}`, statistics: `{"name":"q","delivery_limit":9}`,
			want: topology.SeenQueue{Name: "q", Type: "quorum", Arguments: topology.Arguments{}, Policy: "unheard of", DeliveryLimit: number(9)},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var r lists
			must(t, json.Unmarshal([]byte("["+c.definition+"]"), &r.queues))
			must(t, json.Unmarshal([]byte(`{"q":`+c.statistics+`,"another":{"name":"another","messages":9}}`), &r.statistics))
			got := r.snapshot(time.Time{}, c.version)
			wantEqual(t, "queue", got.Queues["q"], c.want)
			if len(got.Queues) != 1 {
				t.Errorf("%d queues: what has statistics and no definition is gone", len(got.Queues))
			}
		})
	}
}
