package localenv

import (
	"context"
	"os/exec"
	"syscall"
)

// home is where a node's directory is seen by the node itself, whatever it
// runs in. Its configuration names no other place.
const home = "/srv"

// brokerRuntime runs RabbitMQ's programs. All commands of an instance, which
// is a node or a cluster with its epmd, meet on one loopback interface.
type brokerRuntime interface {
	// epmd is the port mapper that the instance's nodes find one another by.
	// It starts first, and ports are all ports of the instance that are to be
	// reached from this machine.
	epmd(instance string, port int, ports []int) *exec.Cmd
	// askEPMD succeeds as soon as that epmd answers.
	askEPMD(ctx context.Context, instance string, port int) *exec.Cmd
	// server is a node in the foreground.
	server(n nodeConfig) *exec.Cmd
	// tool is one of the command line tools, for a node that runs.
	tool(ctx context.Context, n nodeConfig, args ...string) *exec.Cmd
	// kill ends a node with SIGKILL.
	kill(ctx context.Context, n nodeConfig, p *process) error
	// listenAddress is what a node listens on so that this machine, and
	// nobody else, reaches it.
	listenAddress() string
	// endSignal is what ends a command whose data does not matter.
	endSignal() syscall.Signal
}

// chooseRuntime takes docker where an engine answers, else a Debian root, and
// fetches what it is to run where that is not there yet.
func chooseRuntime(ctx context.Context, series Series) (brokerRuntime, error) {
	source, err := series.source()
	if err != nil {
		return nil, err
	}
	if dockerAnswers(ctx) {
		return pullImage(ctx, source.image)
	}
	return installRoot(ctx, source.suite)
}
