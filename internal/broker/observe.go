package broker

import (
	"context"
	"errors"

	"github.com/warren-mq/warren/internal/topology"
)

// ObserveOptions say what to read beyond the lists.
type ObserveOptions struct {
	// Fresh chooses queues whose Ready and Consumers are asked for one by one
	// (thousands a second), since the lists tell them up to 5 s late. Their
	// other counters stay late: a message that was delivered a moment ago may
	// be counted neither as ready nor yet as unacknowledged.
	Fresh func(topology.SeenQueue) bool
}

// Observation is what [Session.Observe] found.
type Observation struct {
	Info     Info
	Snapshot *topology.Snapshot
}

// Info is about the broker as a whole.
type Info struct {
	Version     topology.Version
	ClusterName string
	Nodes       []Node
}

// Node of a cluster.
type Node struct {
	Name    string
	Running bool
	// Alarms that block publishers: [AlarmMemory], [AlarmDisk].
	Alarms []string
}

// The alarms of a node.
const (
	AlarmMemory = "memory"
	AlarmDisk   = "disk"
)

// Observe reads the vhost and changes nothing. It makes six or seven requests,
// however many queues there are, and one more the first time. AMQP comes
// first, because it alone tells a missing vhost from one that the user may
// not see.
func (s *Session) Observe(ctx context.Context, options ObserveOptions) (*Observation, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.ObserveTimeout)
	defer cancel()
	select {
	case s.observing <- struct{}{}:
		defer func() { <-s.observing }()
	case <-ctx.Done():
		return nil, task{op: "observe"}.wrap(s.management.peer.transportError(context.Cause(ctx)))
	}
	seen, err := s.observe(ctx, options)
	if err != nil {
		return nil, err
	}
	s.past = s.past.carry(seen.Snapshot)
	return seen, nil
}

func (s *Session) observe(ctx context.Context, options ObserveOptions) (*Observation, error) {
	l, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	begin := s.options.Clock.Now()
	read, err := s.management.readLists(ctx)
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	snapshot := read.snapshot(begin, l.version)
	if err := s.freshen(ctx, snapshot, options.Fresh); err != nil {
		return nil, err
	}
	return &Observation{
		Info:     Info{Version: l.version, ClusterName: l.clusterName(), Nodes: read.nodeInfo()},
		Snapshot: snapshot,
	}, nil
}

// explain asks again where an answer of the management API can mean several
// things: the connection, and what is known of the user, may be older than a
// change of the vhost or of the user's rights.
func (s *Session) explain(ctx context.Context, err error) error {
	var better error
	switch ClassOf(err) {
	case MissingTag:
		s.management.tagged.Store(false)
		better = s.management.checkTags(ctx)
	case NotFound, AccessRefused, BadCredentials:
		better = s.reconnect(ctx)
	}
	if better != nil {
		return better
	}
	var e *Error
	if errors.As(err, &e) && e.Class == BadCredentials {
		e.Advice = "AMQP accepts them, so check that both URLs lead to the same broker"
	}
	return err
}
