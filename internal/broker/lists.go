package broker

import (
	"context"
	"net/url"
	"slices"

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
	statisticsColumns = "name,messages,messages_ready,messages_unacknowledged,messages_dlx,messages_delayed,consumers,message_stats.deliver_get,message_stats.redeliver,message_stats.ack,delivery_limit"
)

// readLists makes six requests at once, and a seventh if need be:
//
//   - nodes: who runs, and which alarms block publishers;
//   - queues with disable_stats: what exists, its arguments, state and members,
//     right at once. On RabbitMQ 4.3 also policies, what comes of them and the
//     delivery limit; on 4.0 no more than the policy's name. Without
//     disable_stats these are right 5 to 8 s after a change only;
//   - queues with statistics: the counters;
//   - exchanges and bindings: right at once;
//   - policies: what the names stand for, and who competes with us.
func (m *management) readLists(ctx context.Context) (*lists, error) {
	if err := m.checkTags(ctx); err != nil {
		return nil, err
	}
	r := &lists{}
	queues := "queues/" + url.PathEscape(m.peer.config.Vhost)
	definitions := url.Values{"disable_stats": {"true"}, "columns": {queueColumns}}
	statistics := url.Values{"columns": {statisticsColumns}}

	group, groupCtx := errgroup.WithContext(ctx)
	read := func(f func(ctx context.Context) error) { group.Go(func() error { return f(groupCtx) }) }
	read(func(ctx context.Context) error {
		return m.get(ctx, task{op: "list nodes"}, "nodes", url.Values{"columns": {nodeColumns}}, &r.nodes)
	})
	read(func(ctx context.Context) error {
		return m.get(ctx, task{op: "list queues"}, queues, definitions, &r.queues)
	})
	read(func(ctx context.Context) error {
		return m.get(ctx, task{op: "list queue statistics"}, queues, statistics, &r.statistics)
	})
	read(listInto(m, "exchanges", (*rabbithole.Client).ListExchangesIn, &r.exchanges))
	read(listInto(m, "bindings", (*rabbithole.Client).ListBindingsIn, &r.bindings))
	read(listInto(m, "policies", (*rabbithole.Client).ListPoliciesIn, &r.policies))
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if !r.needsOperatorPolicies() {
		return r, nil
	}
	return r, listInto(m, "operator policies", (*rabbithole.Client).ListOperatorPoliciesIn, &r.operatorPolicies)(ctx)
}

// listInto reads one of the vhost's lists as rabbit-hole decodes it.
func listInto[T any](m *management, what string, list func(*rabbithole.Client, string) ([]T, error), into *[]T) func(context.Context) error {
	return func(ctx context.Context) error {
		return m.call(ctx, task{op: "list " + what}, func(c *rabbithole.Client) (err error) {
			*into, err = list(c, m.peer.config.Vhost)
			return err
		})
	}
}

// needsOperatorPolicies: RabbitMQ 4.3 tells which queues are under one and
// what comes of it, 4.0 does not.
func (r *lists) needsOperatorPolicies() bool {
	return slices.ContainsFunc(r.queues, func(q queueRecord) bool {
		return q.EffectivePolicy == nil || q.OperatorPolicy != ""
	})
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
