package localenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// nodeConfig is all that a RabbitMQ node needs to know before it starts.
type nodeConfig struct {
	instance string // names the node or cluster on this machine
	name     string // names the node within it
	dir      string // on this machine; the node sees it as home

	amqpPort, managementPort, distPort, epmdPort int
	amqpsPort, httpsPort                         int // with tls

	adminUser, adminPassword string

	peers  []string // names of all nodes of the cluster to form; none for one node
	extra  []string // lines for rabbitmq.conf
	listen string
	tls    *TLSFiles // nil for none
}

func (n nodeConfig) nodename() string { return nodename(n.name) }

// nodename is what Erlang calls a node.
func nodename(name string) string { return name + "@localhost" }

func (n nodeConfig) containerName() string { return n.instance + "-" + n.name }

// write makes the node's directory with its configuration.
func (n nodeConfig) write() error {
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return err
	}
	conf := strings.Join(n.configLines(), "\n") + "\n"
	for name, content := range map[string]string{
		"rabbitmq.conf":   conf,
		"enabled_plugins": "[rabbitmq_management].\n",
	} {
		if err := os.WriteFile(filepath.Join(n.dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	if err := n.writeTLS(); err != nil {
		return err
	}
	return n.writeCookie()
}

// writeCookie gives all nodes of an instance the same cookie, and keeps what
// a node that is started again has: the file is not writable, as Erlang wants.
func (n nodeConfig) writeCookie() error {
	path := filepath.Join(n.dir, ".erlang.cookie")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return os.WriteFile(path, []byte(n.instance), 0o400)
}

// diskFreeLimit is less than RabbitMQ's own, for small machines.
const diskFreeLimit = "50MB"

func (n nodeConfig) configLines() []string {
	lines := []string{
		fmt.Sprintf("listeners.tcp.1 = %s:%d", n.listen, n.amqpPort),
		"management.tcp.ip = " + n.listen,
		fmt.Sprintf("management.tcp.port = %d", n.managementPort),
		"default_user = " + n.adminUser,
		"default_pass = " + n.adminPassword,
		"disk_free_limit.absolute = " + diskFreeLimit,
		"log.console = true",
		"log.file = false",
	}
	if len(n.peers) > 0 {
		lines = append(lines, "cluster_formation.peer_discovery_backend = classic_config")
	}
	for i, peer := range n.peers {
		lines = append(lines, fmt.Sprintf("cluster_formation.classic_config.nodes.%d = %s", i+1, nodename(peer)))
	}
	return append(append(lines, n.tlsLines()...), n.extra...)
}

func (n nodeConfig) environment() []string {
	const loopbackOnly = "-kernel inet_dist_use_interface {127,0,0,1}"
	return []string{
		"HOME=" + home,
		"LANG=C.UTF-8",
		"RABBITMQ_NODENAME=" + n.nodename(),
		fmt.Sprintf("RABBITMQ_DIST_PORT=%d", n.distPort),
		"RABBITMQ_CONFIG_FILE=" + home + "/rabbitmq.conf",
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + home + "/enabled_plugins",
		"RABBITMQ_MNESIA_BASE=" + home + "/data",
		"RABBITMQ_LOG_BASE=" + home + "/log",
		// Debian's own settings would win over these.
		"RABBITMQ_CONF_ENV_FILE=/dev/null",
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=" + loopbackOnly,
		"RABBITMQ_CTL_ERL_ARGS=" + loopbackOnly,
		// Makes the start script become the Erlang machine, not its parent.
		"RUNNING_UNDER_SYSTEMD=true",
		"ERL_CRASH_DUMP=" + home + "/crash.dump",
		fmt.Sprintf("ERL_EPMD_PORT=%d", n.epmdPort),
		"ERL_EPMD_ADDRESS=127.0.0.1",
	}
}
