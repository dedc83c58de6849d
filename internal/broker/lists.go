package broker

import (
	"context"
	"net/url"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"
	"golang.org/x/sync/errgroup"
)

// lists is what the management API told in one reading, as it told it.
type lists struct {
	nodes []nodeRecord
	// queues as their definitions have them: right at once.
	queues []queueRecord
	// statistics of the queues: up to 5 s late, absent before the first ones,
	// and the only place that tells consumers, dead letters that cannot leave,
	// and deliveries.
	statistics       []queueRecord
	exchanges        []rabbithole.ExchangeInfo
	bindings         []rabbithole.BindingInfo
	policies         []rabbithole.Policy
	operatorPolicies []rabbithole.OperatorPolicy
}

type nodeRecord struct {
	Name        string `json:"name"`
	Running     bool   `json:"running"`
	MemoryAlarm bool   `json:"mem_alarm"`
	DiskAlarm   bool   `json:"disk_free_alarm"`
}

// Asking for columns spares the broker and us two thirds of the answers.
const (
	nodeColumns       = "name,running,mem_alarm,disk_free_alarm"
	queueColumns      = "name,type,durable,auto_delete,exclusive,arguments,state,members,online,policy,operator_policy,effective_policy_definition,delivery_limit"
	statisticsColumns = "name,messages,messages_ready,messages_unacknowledged,messages_dlx,messages_delayed,consumers,message_stats.redeliver,message_stats.ack,delivery_limit"
)

// readLists makes six requests at once, and a seventh if need be.
func (m *management) readLists(ctx context.Context) (*lists, error) {
	if err := m.checkTags(ctx); err != nil {
		return nil, err
	}
	vhost := m.peer.config.Vhost
	queues := "queues/" + url.PathEscape(vhost)
	r := &lists{}
	group, groupCtx := errgroup.WithContext(ctx)
	read := func(f func(ctx context.Context) error) { group.Go(func() error { return f(groupCtx) }) }

	read(func(ctx context.Context) error {
		return m.get(ctx, task{op: "list nodes"}, "nodes", url.Values{"columns": {nodeColumns}}, &r.nodes)
	})
	read(func(ctx context.Context) error {
		query := url.Values{"disable_stats": {"true"}, "columns": {queueColumns}}
		return m.get(ctx, task{op: "list queues"}, queues, query, &r.queues)
	})
	read(func(ctx context.Context) error {
		return m.get(ctx, task{op: "list queue statistics"}, queues, url.Values{"columns": {statisticsColumns}}, &r.statistics)
	})
	read(func(ctx context.Context) (err error) {
		r.exchanges, err = list(ctx, m, "exchanges", func(c *rabbithole.Client) ([]rabbithole.ExchangeInfo, error) { return c.ListExchangesIn(vhost) })
		return err
	})
	read(func(ctx context.Context) (err error) {
		r.bindings, err = list(ctx, m, "bindings", func(c *rabbithole.Client) ([]rabbithole.BindingInfo, error) { return c.ListBindingsIn(vhost) })
		return err
	})
	read(func(ctx context.Context) (err error) {
		r.policies, err = list(ctx, m, "policies", func(c *rabbithole.Client) ([]rabbithole.Policy, error) { return c.ListPoliciesIn(vhost) })
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return r, m.readOperatorPolicies(ctx, r)
}

// readOperatorPolicies reads them only where they matter: RabbitMQ 4.3 tells
// which queues are under one, 4.0 does not.
func (m *management) readOperatorPolicies(ctx context.Context, r *lists) (err error) {
	for _, q := range r.queues {
		if q.EffectivePolicy == nil || q.OperatorPolicy != "" {
			r.operatorPolicies, err = list(ctx, m, "operator policies", func(c *rabbithole.Client) ([]rabbithole.OperatorPolicy, error) {
				return c.ListOperatorPoliciesIn(m.peer.config.Vhost)
			})
			return err
		}
	}
	return nil
}

func (r *lists) nodeInfo() []Node {
	nodes := make([]Node, 0, len(r.nodes))
	for _, n := range r.nodes {
		node := Node{Name: n.Name, Running: n.Running}
		if n.MemoryAlarm {
			node.Alarms = append(node.Alarms, AlarmMemory)
		}
		if n.DiskAlarm {
			node.Alarms = append(node.Alarms, AlarmDisk)
		}
		nodes = append(nodes, node)
	}
	return nodes
}
