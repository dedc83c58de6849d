package broker

import (
	rabbithole "github.com/michaelklishin/rabbit-hole/v2"

	"github.com/warren-mq/warren/internal/topology"
)

func decodeQueues(a answer, shared *objects) ([]queueRecord, error) {
	var queues []queueRecord
	err := eachOf(a, func(q queueRecord) {
		shared.share(&q.Arguments)
		shared.share(&q.EffectivePolicy)
		queues = append(queues, q)
	})
	return queues, err
}

type exchangeRecord struct {
	Name       string                `json:"name"`
	Type       string                `json:"type"`
	Durable    bool                  `json:"durable"`
	AutoDelete rabbithole.AutoDelete `json:"auto_delete"`
	Internal   bool                  `json:"internal"`
	Arguments  object                `json:"arguments"`
}

func decodeExchanges(a answer, shared *objects) (map[string]topology.SeenExchange, error) {
	exchanges := map[string]topology.SeenExchange{}
	err := eachOf(a, func(e exchangeRecord) {
		exchanges[e.Name] = topology.SeenExchange{
			Name: e.Name, Type: e.Type, Durable: e.Durable, AutoDelete: bool(e.AutoDelete), Internal: e.Internal,
			Arguments: shared.share(&e.Arguments),
		}
	})
	return exchanges, err
}

type bindingRecord struct {
	Source          string `json:"source"`
	Destination     string `json:"destination"`
	DestinationType string `json:"destination_type"`
	RoutingKey      string `json:"routing_key"`
	Arguments       object `json:"arguments"`
}

// decodeBindings leaves out those of the default exchange: every queue has one.
func decodeBindings(a answer, shared *objects) (*topology.Bindings, error) {
	var bindings []topology.Binding
	err := eachOf(a, func(b bindingRecord) {
		if b.Source == "" {
			return
		}
		bindings = append(bindings, topology.Binding{
			Source: b.Source, Destination: b.Destination, DestinationKind: topology.Kind(b.DestinationType),
			RoutingKey: b.RoutingKey, Arguments: shared.share(&b.Arguments),
		})
	})
	return topology.NewBindings(bindings), err
}
