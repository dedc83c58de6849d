package main

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// result of one step of a scene.
type result struct {
	Workload string
	Count    int
	Step     string
	Seconds  float64
	// Reference is what the time is set beside, in seconds; 0 where there is none.
	Reference   float64
	ReferenceIs string
	PeakMiB     float64
	CPUSeconds  float64
	Requests    int
	Operations  map[string]int
	Writes      int
	Events      int
}

// The steps of a scene.
const (
	stepLoop    = "raw loop"
	stepKubectl = "kubectl apply alone"
	stepApply   = "apply until all Ready"
	stepRestart = "operator restart"
	stepIdle    = "one idle sync period"
	stepDeleted = "one queue deleted"
)

// scene measures one workload in a vhost and a namespace of its own, and
// removes what it made.
func (s *stage) scene(ctx context.Context, w workload) ([]result, error) {
	if err := s.renewBroker(ctx); err != nil {
		return nil, err
	}
	s.say("%s: the loop beside which all is measured", w)
	raw, used, err := s.shared(func() (time.Duration, error) { return s.rawLoop(ctx, w) })
	if err != nil {
		return nil, err
	}
	s.say("%s: the loop took %.1f s; all CPU: %s", w, raw.Seconds(), used)
	if err := s.renewBroker(ctx); err != nil {
		return nil, err
	}
	s.say("%s: kubectl apply while no operator runs", w)
	alone, used, err := s.shared(func() (time.Duration, error) { return s.kubectlAlone(ctx, w) })
	if err != nil {
		return nil, err
	}
	s.say("%s: kubectl apply alone took %.1f s; all CPU: %s", w, alone.Seconds(), used)
	p := &performance{stage: s, workload: w, bare: raw, results: []result{
		{Workload: w.String(), Count: w.count, Step: stepLoop, Seconds: raw.Seconds()},
		{Workload: w.String(), Count: w.count, Step: stepKubectl, Seconds: alone.Seconds(), Reference: raw.Seconds(), ReferenceIs: "raw loop"},
	}}
	defer p.remove(context.WithoutCancel(ctx))
	steps := []func(context.Context) error{p.prepare, p.apply}
	if w.strategy == backoff {
		steps = append(steps, p.restart, p.idle, p.deleted)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return p.results, nil
}

func (s *stage) rawLoop(ctx context.Context, w workload) (time.Duration, error) {
	const vhost = "loop"
	if err := s.newVhost(ctx, vhost); err != nil {
		return 0, err
	}
	connection, err := s.dial(vhost)
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	return loop(connection, w)
}

// kubectlAlone is what kubectl and the API server take for the manifests, with
// nobody who acts on them.
func (s *stage) kubectlAlone(ctx context.Context, w workload) (time.Duration, error) {
	const namespace = "kubectl-alone"
	ns := fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", namespace)
	if err := s.kubectl(ctx, ns, "apply", "-f", "-"); err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := s.applyAll(ctx, w, namespace); err != nil {
		return 0, err
	}
	took := time.Since(begun)
	return took, s.api.DeleteAllOf(ctx, &v1alpha1.ReliableSubscription{}, client.InNamespace(namespace))
}

// performance is a workload while it is measured.
type performance struct {
	*stage
	workload workload
	bare     time.Duration
	results  []result
}

// prepare makes an empty vhost with a Topic that is declared by a running operator.
func (p *performance) prepare(ctx context.Context) error {
	w := p.workload
	if err := p.newVhost(ctx, w.namespace()); err != nil {
		return err
	}
	manifests := w.brokerManifests(p.broker.AMQPURL(), p.broker.ManagementURL(), p.syncPeriod.String())
	if err := p.kubectl(ctx, manifests, "apply", "-f", "-"); err != nil {
		return err
	}
	if err := p.startOperator(); err != nil {
		return err
	}
	return p.awaitRenewal(ctx, w, p.operator.begun)
}

// remove leaves nothing that would weigh on the next scene.
func (p *performance) remove(ctx context.Context) {
	err := p.stopOperator()
	for _, kind := range []client.Object{&v1alpha1.ReliableSubscription{}, &v1alpha1.Topic{}, &v1alpha1.Broker{}, &coordinationv1.Lease{}} {
		if err == nil {
			err = p.api.DeleteAllOf(ctx, kind, client.InNamespace(p.workload.namespace()))
		}
	}
	if err != nil {
		p.say("removing %s: %v", p.workload, err)
	}
}
