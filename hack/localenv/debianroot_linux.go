package localenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// debianRoot runs RabbitMQ in a Debian root directory by chroot. A node gets a
// mount namespace of its own, so that no mount is ever seen, or left behind,
// outside; and a PID namespace of its own, so that the kernel ends everything
// that the node started when the node ends.
type debianRoot struct{ root string }

// installRoot makes the root of a Debian release in the cache if necessary.
func installRoot(ctx context.Context, suite string) (brokerRuntime, error) {
	cache, err := CacheDir()
	if err != nil {
		return nil, err
	}
	runtime := debianRoot{root: filepath.Join(cache, "rabbitmq-"+suite)}
	if _, err := os.Stat(runtime.root); err == nil {
		return runtime, nil
	}
	hack, err := hackDir()
	if err != nil {
		return nil, err
	}
	if err := runVisibly(ctx, filepath.Join(hack, "rabbitmq", "install.sh"), suite, runtime.root); err != nil {
		return nil, fmt.Errorf("installing RabbitMQ from Debian %s: %w", suite, err)
	}
	return runtime, nil
}

// enterRoot mounts what a node needs and becomes the command.
const enterRoot = `
mount --bind "$2" "$1/srv"
mount -t proc proc "$1/proc"
root=$1
shift 2
exec chroot "$root" "$@"
`

func (d debianRoot) command(ctx context.Context, n nodeConfig, args ...string) *exec.Cmd {
	args = append([]string{"-euc", enterRoot, "sh", d.root, n.dir}, args...)
	cmd := exec.CommandContext(ctx, "/bin/sh", args...)
	cmd.Dir = "/"
	cmd.Env = append(n.environment(), "PATH=/usr/lib/rabbitmq/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:   syscall.CLONE_NEWPID,
		Unshareflags: syscall.CLONE_NEWNS, // which also makes all mounts private
	}
	return cmd
}

func (d debianRoot) epmd(_ string, port int, _ []int) *exec.Cmd {
	return d.runEPMD(context.Background(), port, "-address", "127.0.0.1")
}

func (d debianRoot) askEPMD(ctx context.Context, _ string, port int) *exec.Cmd {
	return d.runEPMD(ctx, port, "-names")
}

// runEPMD needs no namespaces: epmd mounts nothing and starts nothing. And as
// the first process of a PID namespace it would ignore SIGTERM.
func (d debianRoot) runEPMD(ctx context.Context, port int, args ...string) *exec.Cmd {
	args = append([]string{"-port", strconv.Itoa(port)}, args...)
	cmd := exec.CommandContext(ctx, "/usr/bin/epmd", args...)
	cmd.Dir = "/"
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: d.root}
	return cmd
}

func (d debianRoot) server(n nodeConfig) *exec.Cmd {
	return d.command(context.Background(), n, "rabbitmq-server")
}

func (d debianRoot) tool(ctx context.Context, n nodeConfig, args ...string) *exec.Cmd {
	return d.command(ctx, n, args...)
}

func (debianRoot) kill(_ context.Context, _ nodeConfig, p *process) error { return p.kill() }

func (debianRoot) listenAddress() string { return "127.0.0.1" }

func (debianRoot) endSignal() syscall.Signal { return syscall.SIGKILL }
