package controllers

import (
	"slices"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
)

// place is a vhost as RabbitMQ names itself, since one broker has many addresses
// and several Broker resources may stand for it.
type place struct {
	vhost, cluster string
	nodes          []string
}

// toldPlace is where a Broker was when it was last read well; status is the latest.
func toldPlace(b *v1alpha1.Broker, status *v1alpha1.BrokerStatus) place {
	p := place{vhost: b.Spec.Vhost, cluster: status.ClusterName}
	for _, n := range status.Nodes {
		p.nodes = append(p.nodes, n.Name)
	}
	return p
}

// seenPlace is where a reading was made.
func seenPlace(b *v1alpha1.Broker, info broker.Info) place {
	p := place{vhost: b.Spec.Vhost, cluster: info.ClusterName}
	for _, n := range info.Nodes {
		p.nodes = append(p.nodes, n.Name)
	}
	return p
}

// same takes the vhost, the cluster's name and a node in common: two clusters
// can have one name, and nodes come and go. What was never read has no node, and is the
// same as nothing.
func (p place) same(other place) bool {
	return p.vhost == other.vhost && p.cluster == other.cluster &&
		slices.ContainsFunc(p.nodes, func(n string) bool { return slices.Contains(other.nodes, n) })
}
