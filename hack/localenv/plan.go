package localenv

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// portsPerNode are AMQP, management and Erlang distribution, and the first two over TLS.
const portsPerNode = 5

// planCluster decides the names, ports and passwords of n nodes.
func planCluster(dir string, series Series, n int, runtime brokerRuntime, options RabbitMQOptions) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	numbers, err := ports.take(1 + n*portsPerNode)
	if err != nil {
		return nil, err
	}
	mapper := &epmd{
		runtime:  runtime,
		instance: fmt.Sprintf("rabbitmq-%s-%s", series, randomID()),
		dir:      dir,
		port:     numbers[0],
		detached: options.Detached,
	}
	cluster := &Cluster{epmd: mapper}
	adminPassword := rand.Text()
	for i := range n {
		config := planNode(mapper, i, n, numbers[1+i*portsPerNode:])
		config.adminPassword = adminPassword
		config.extra, config.tls = options.Config, options.TLS
		mapper.published = append(mapper.published, config.amqpPort, config.managementPort)
		if config.tls != nil {
			mapper.published = append(mapper.published, config.amqpsPort, config.httpsPort)
		}
		cluster.Nodes = append(cluster.Nodes, newBroker(&node{config: config, epmd: mapper}))
	}
	return cluster, nil
}

// planNode decides about the node with index i of n.
func planNode(mapper *epmd, i, n int, ports []int) nodeConfig {
	name := nodeName(i)
	config := nodeConfig{
		instance:       mapper.instance,
		name:           name,
		dir:            filepath.Join(mapper.dir, name),
		listen:         mapper.runtime.listenAddress(),
		amqpPort:       ports[0],
		managementPort: ports[1],
		distPort:       ports[2],
		amqpsPort:      ports[3],
		httpsPort:      ports[4],
		epmdPort:       mapper.port,
		adminUser:      "admin",
	}
	if n == 1 {
		return config
	}
	for peer := range n {
		config.peers = append(config.peers, nodeName(peer))
	}
	return config
}

func nodeName(i int) string { return "rabbit" + strconv.Itoa(i+1) }

// randomID is short, and fit for the name of anything.
func randomID() string { return strings.ToLower(rand.Text()[:8]) }
