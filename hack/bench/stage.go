package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
)

// stage is where everything is measured.
type stage struct {
	options
	out    io.Writer
	plane  *localenv.ControlPlane
	broker *localenv.RabbitMQ
	api    client.WithWatch
	// raw reaches the API server's metrics.
	raw *kubernetes.Clientset
	// operator is nil while it does not run.
	operator *operator
	// kubectlCPU is what all calls of kubectl have used.
	kubectlCPU time.Duration
}

// newStage starts a control plane and RabbitMQ, and installs Warren.
func newStage(ctx context.Context, o options, out io.Writer) (*stage, error) {
	s := &stage{options: o, out: out}
	var err error
	if s.dir, err = filepath.Abs(o.dir); err != nil {
		return nil, err
	}
	s.say("starting a control plane and RabbitMQ 4.3")
	if s.plane, err = localenv.StartControlPlane(ctx, filepath.Join(s.dir, "controlplane"), localenv.ControlPlaneOptions{}); err != nil {
		return nil, err
	}
	if err := s.install(ctx); err != nil {
		s.leave()
		return nil, err
	}
	return s, nil
}

func (s *stage) install(ctx context.Context) error {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	if err := coordinationv1.AddToScheme(scheme); err != nil {
		return err
	}
	var err error
	if s.api, err = client.NewWithWatch(s.plane.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if s.raw, err = kubernetes.NewForConfig(s.plane.Config); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "", "apply", "-k", "config/default"); err != nil {
		return err
	}
	return localenv.ServiceAccountKubeconfig(ctx, s.plane.Config, "warren-system", "warren-operator", s.operatorKubeconfig(), 24*time.Hour)
}

func (s *stage) operatorKubeconfig() string { return filepath.Join(s.dir, "operator.kubeconfig") }

// renewBroker begins with an empty one: RabbitMQ takes minutes to delete
// thousands of queues, and what it still has of them would be measured too.
func (s *stage) renewBroker(ctx context.Context) error {
	if err := s.endBroker(); err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "rabbitmq")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	var err error
	if s.broker, err = localenv.StartRabbitMQ(ctx, dir, localenv.Series43, localenv.RabbitMQOptions{}); err != nil {
		return err
	}
	return s.broker.CreateUser(ctx, userName, password, "policymaker", "monitoring")
}

func (s *stage) endBroker() error {
	if s.broker == nil {
		return nil
	}
	b := s.broker
	s.broker = nil
	return errors.Join(b.Kill(), b.Stop())
}

// leave ends what runs.
func (s *stage) leave() {
	for _, f := range []func() error{s.stopOperator, s.plane.Stop, s.endBroker} {
		if err := f(); err != nil {
			s.say("ending: %v", err)
		}
	}
}

func (s *stage) say(format string, args ...any) {
	fmt.Fprintf(s.out, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
}

// kubectl runs a command as a user would; its output is shown only when it fails.
func (s *stage) kubectl(ctx context.Context, stdin string, args ...string) error {
	cmd := exec.CommandContext(ctx, s.plane.KubectlPath, append([]string{"--kubeconfig=" + s.plane.Kubeconfig}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if used := cmd.ProcessState; used != nil {
		s.kubectlCPU += used.UserTime() + used.SystemTime()
	}
	if err != nil {
		return fmt.Errorf("kubectl %s: %w\n%.2000s", strings.Join(args, " "), err, said.String())
	}
	return nil
}

// applyAll is kubectl apply of a workload's subscriptions into a namespace.
func (s *stage) applyAll(ctx context.Context, w workload, namespace string) error {
	return s.kubectl(ctx, w.manifests(), "apply", "-n", namespace, "-f", "-")
}

// newVhost makes a vhost that the operator's user may use.
func (s *stage) newVhost(ctx context.Context, name string) error {
	if err := s.broker.CreateVhost(ctx, name); err != nil {
		return err
	}
	return s.broker.SetPermissions(ctx, name, userName, ".*", ".*", ".*")
}

// dial connects to a vhost as the operator's user.
func (s *stage) dial(vhost string) (*amqp.Connection, error) {
	return amqp.DialConfig(s.broker.AMQPURL(), amqp.Config{
		Vhost: vhost, SASL: []amqp.Authentication{&amqp.PlainAuth{Username: userName, Password: password}},
	})
}
