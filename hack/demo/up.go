package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/warren-mq/warren/hack/localenv"
)

const (
	operatorBinary    = "bin/warren"
	operatorNamespace = "warren-system"
	operatorAccount   = "warren-operator"
	tokenLifetime     = 24 * time.Hour
)

// up starts what is not running yet and then shows the messages' way.
func up(ctx context.Context, dir string, out io.Writer) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	s := newScreen(out)
	s.title("Starting a Kubernetes control plane and RabbitMQ 4.3")
	env, err := localenv.Up(ctx, dir, localenv.Parts{Series: []localenv.Series{localenv.Series43}}, out)
	if err != nil {
		return err
	}
	kube := kubectl{path: env.KubectlPath, kubeconfig: env.Kubeconfig, out: out}
	broker, err := localenv.Connect(ctx, env.Brokers[localenv.Series43])
	if err != nil {
		return err
	}
	d := demo{dir: dir, screen: s, kube: kube, broker: broker}
	steps := []struct {
		title string
		run   func(context.Context) error
	}{
		{"Installing Warren: kubectl apply -k config/default", d.install},
		{"Running the operator under its own ServiceAccount", d.runOperator},
		{"Applying the samples: a Broker, a Topic, four ReliableSubscriptions", d.applySamples},
		{"kubectl get warren -n shop", d.showResources},
		{"Publishing ten orders; the consumer of orders.billing cannot process order-7", d.showMessages},
		{"kubectl get rsub -n shop", d.showBacklog},
	}
	for _, step := range steps {
		s.title(step.title)
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.title, err)
		}
	}
	d.farewell(env)
	return nil
}

func down(dir string, out io.Writer) error {
	if err := localenv.Down(dir); err != nil {
		return err
	}
	fmt.Fprintln(out, "The demo has ended.")
	return os.RemoveAll(dir)
}

// demo is a running one.
type demo struct {
	dir    string
	screen screen
	kube   kubectl
	broker *localenv.RabbitMQ
}

func (d demo) install(ctx context.Context) error {
	return d.kube.quiet(ctx, "apply", "-k", "config/default")
}

// runOperator starts the operator, unless it runs from an earlier demo.
func (d demo) runOperator(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", d.kube.kubeconfig)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(d.dir, "operator.kubeconfig")
	if err := localenv.ServiceAccountKubeconfig(ctx, config, operatorNamespace, operatorAccount, kubeconfig, tokenLifetime); err != nil {
		return err
	}
	log, err := localenv.StartDetached(d.dir, "operator", exec.Command(operatorBinary, "operator",
		"--kubeconfig="+kubeconfig, "--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0"))
	if errors.Is(err, localenv.ErrRunning) {
		d.screen.note("it runs already")
		return nil
	}
	d.screen.note("its log: %s", log)
	return err
}

// applySamples applies config/samples, with the address of this broker, and
// with delays that a spectator can wait for.
func (d demo) applySamples(ctx context.Context) error {
	if err := d.prepareBroker(ctx); err != nil {
		return err
	}
	overlay := filepath.Join(d.dir, "samples")
	if err := writeOverlay(overlay, d.broker); err != nil {
		return err
	}
	if err := d.kube.quiet(ctx, "apply", "-k", overlay); err != nil {
		return err
	}
	d.screen.note("as they are, but for the broker's address, a sync period of 1s, and billing's delays (1s, 3s, 6s)")
	d.screen.note("waiting until every route is proved …")
	return d.kube.quiet(ctx, "wait", "-n", "shop", "rsub", "--all", "--for=condition=Ready", "--timeout=60s")
}

// prepareBroker makes the user that the samples' Secret names: no
// administrator, but what Warren asks for.
func (d demo) prepareBroker(ctx context.Context) error {
	return errors.Join(
		d.broker.CreateUser(ctx, sampleUser, samplePassword, "policymaker", "monitoring"),
		d.broker.SetPermissions(ctx, "/", sampleUser, ".*", ".*", ".*"),
	)
}

func (d demo) showResources(ctx context.Context) error {
	return d.kube.show(ctx, "get", "warren", "-n", "shop")
}

func (d demo) showBacklog(ctx context.Context) error {
	if err := d.kube.quiet(ctx, "wait", "-n", "shop", "rsub/billing", "--for=condition=ParkingBacklog", "--timeout=60s"); err != nil {
		return err
	}
	if err := d.kube.show(ctx, "get", "rsub", "-n", "shop"); err != nil {
		return err
	}
	message, err := d.kube.output(ctx, "get", "-n", "shop", "rsub/billing", "-o", `jsonpath={.status.conditions[?(@.type=="ParkingBacklog")].message}`)
	if err != nil {
		return err
	}
	d.screen.alarm("ParkingBacklog is True: %s", message)
	d.screen.note("search and shipping hold the orders for consumers that this demo does not have; Unconsumed would tell from 10000 on.")
	return nil
}

func (d demo) farewell(env *localenv.Environment) {
	d.screen.title("Look around")
	d.screen.command("export KUBECONFIG=%s", env.Kubeconfig)
	d.screen.command("alias kubectl=%s", env.KubectlPath)
	d.screen.command("kubectl get warren -A")
	d.screen.command("kubectl explain rsub.spec.retry")
	d.screen.command("kubectl describe rsub -n shop billing")
	d.screen.note("RabbitMQ's management page: %s (user %s, password %s)", d.broker.ManagementURL(), d.broker.AdminUser, d.broker.AdminPassword)
	d.screen.note("make demo-down ends it.")
}
