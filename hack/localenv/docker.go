package localenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// docker runs RabbitMQ in containers that share the network of the one with
// epmd, which publishes all ports on loopback and outlives any node's restart.
// The docker client stays in the foreground and passes on the signals it gets.
type docker struct{ image string }

func dockerAnswers(ctx context.Context) bool {
	return exec.CommandContext(ctx, "docker", "info").Run() == nil
}

// pullImage fetches an image before anything waits for a broker's start.
func pullImage(ctx context.Context, image string) (brokerRuntime, error) {
	if exec.CommandContext(ctx, "docker", "image", "inspect", image).Run() == nil {
		return docker{image: image}, nil
	}
	if err := runVisibly(ctx, "docker", "pull", image); err != nil {
		return nil, fmt.Errorf("docker pull %s: %w", image, err)
	}
	return docker{image: image}, nil
}

func (d docker) epmd(instance string, port int, ports []int) *exec.Cmd {
	args := []string{"run", "--rm", "--init", "--name", instance, "--entrypoint", "epmd"}
	for _, p := range ports {
		args = append(args, "--publish", fmt.Sprintf("127.0.0.1:%d:%d", p, p))
	}
	args = append(args, d.image, "-port", strconv.Itoa(port), "-address", "127.0.0.1")
	return exec.Command("docker", args...)
}

func (d docker) askEPMD(ctx context.Context, instance string, port int) *exec.Cmd {
	return exec.CommandContext(ctx, "docker", "exec", instance, "epmd", "-port", strconv.Itoa(port), "-names")
}

func (d docker) server(n nodeConfig) *exec.Cmd {
	args := []string{
		"run", "--rm", "--name", n.containerName(), "--network", "container:" + n.instance,
		"--user", fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()), "--volume", n.dir + ":" + home,
	}
	for _, variable := range n.environment() {
		args = append(args, "--env", variable)
	}
	return exec.Command("docker", append(args, d.image, "rabbitmq-server")...)
}

func (d docker) tool(ctx context.Context, n nodeConfig, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "docker", append([]string{"exec", n.containerName()}, args...)...)
}

func (docker) kill(ctx context.Context, n nodeConfig, p *process) error {
	if err := exec.CommandContext(ctx, "docker", "kill", n.containerName()).Run(); err != nil {
		return fmt.Errorf("docker kill %s: %w", n.containerName(), err)
	}
	<-p.ended()
	return nil
}

// listenAddress is all of the container's own network, from which docker
// publishes on this machine's loopback.
func (docker) listenAddress() string { return "0.0.0.0" }

// endSignal is one that the client can pass on.
func (docker) endSignal() syscall.Signal { return syscall.SIGTERM }
