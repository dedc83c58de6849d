package broker

import (
	"context"
	"net/url"
	"slices"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"
	"golang.org/x/sync/errgroup"

	"github.com/warren-mq/warren/internal/topology"
)

// lists is what the management API told in one reading. Nobody changes what is
// in it: the next one shares what has stayed the same.
type lists struct {
	nodes []nodeRecord
	// queues as their definitions have them: right at once.
	queues []queueRecord
	// statistics of the queues: up to 5 s late, absent before the first ones,
	// and the only place that tells consumers, dead letters that cannot leave,
	// and deliveries.
	statistics       map[string]statisticsRecord
	exchanges        map[string]topology.SeenExchange
	bindings         *topology.Bindings
	policies         []rabbithole.Policy
	operatorPolicies []rabbithole.OperatorPolicy
}

// lastLists are the long ones.
type lastLists struct {
	queues    remembered[[]queueRecord]
	exchanges remembered[map[string]topology.SeenExchange]
	bindings  remembered[*topology.Bindings]
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
	exchangeColumns   = "name,type,durable,auto_delete,internal,arguments"
	bindingColumns    = "source,destination,destination_type,routing_key,arguments"
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
	group, groupCtx := errgroup.WithContext(ctx)
	read := func(f func(ctx context.Context) error) { group.Go(func() error { return f(groupCtx) }) }
	read(func(ctx context.Context) error {
		return m.get(ctx, task{op: "list nodes"}, "nodes", url.Values{"columns": {nodeColumns}}, &r.nodes)
	})
	read(func(ctx context.Context) (err error) { r.queues, err = m.queues(ctx); return err })
	read(func(ctx context.Context) (err error) { r.statistics, err = m.statistics(ctx); return err })
	read(func(ctx context.Context) (err error) { r.exchanges, err = m.exchanges(ctx); return err })
	read(func(ctx context.Context) (err error) { r.bindings, err = m.bindings(ctx); return err })
	read(listInto(m, "policies", (*rabbithole.Client).ListPoliciesIn, &r.policies))
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if !r.needsOperatorPolicies() {
		return r, nil
	}
	return r, listInto(m, "operator policies", (*rabbithole.Client).ListOperatorPoliciesIn, &r.operatorPolicies)(ctx)
}

// fetchList gets one of the vhost's long lists.
func (m *management) fetchList(ctx context.Context, what, kind string, query url.Values) (answer, task, error) {
	t := task{op: "list " + what, long: true}
	a, err := m.fetch(ctx, t, kind+"/"+url.PathEscape(m.peer.config.Vhost), query)
	return a, t, err
}

func (m *management) queues(ctx context.Context) ([]queueRecord, error) {
	a, t, err := m.fetchList(ctx, "queues", "queues", url.Values{"disable_stats": {"true"}, "columns": {queueColumns}})
	if err != nil {
		return nil, err
	}
	queues, err := m.last.queues.of(a, decodeQueues)
	return queues, m.classified(t, err)
}

func (m *management) statistics(ctx context.Context) (map[string]statisticsRecord, error) {
	a, t, err := m.fetchList(ctx, "queue statistics", "queues", url.Values{"columns": {statisticsColumns}})
	if err != nil {
		return nil, err
	}
	statistics := map[string]statisticsRecord{}
	err = eachOf(a, func(q statisticsRecord) { statistics[q.Name] = q })
	return statistics, m.classified(t, err)
}

func (m *management) exchanges(ctx context.Context) (map[string]topology.SeenExchange, error) {
	a, t, err := m.fetchList(ctx, "exchanges", "exchanges", url.Values{"columns": {exchangeColumns}})
	if err != nil {
		return nil, err
	}
	exchanges, err := m.last.exchanges.of(a, decodeExchanges)
	return exchanges, m.classified(t, err)
}

func (m *management) bindings(ctx context.Context) (*topology.Bindings, error) {
	a, t, err := m.fetchList(ctx, "bindings", "bindings", url.Values{"columns": {bindingColumns}})
	if err != nil {
		return nil, err
	}
	bindings, err := m.last.bindings.of(a, decodeBindings)
	return bindings, m.classified(t, err)
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
		return q.EffectivePolicy.get() == nil || q.OperatorPolicy != ""
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
