package main

import (
	"context"
	"time"

	"github.com/warren-mq/warren/internal/topology"
)

// measured runs a step of which the operator's use is counted. The step gives
// the time that counts.
func (p *performance) measured(ctx context.Context, step string, run func(context.Context) (time.Duration, error)) (*result, error) {
	p.say("%s: %s", p.workload, step)
	var before usage
	var err error
	if step != stepRestart { // what a new process has used began at 0
		if err := p.operator.forgetPeak(); err != nil {
			return nil, err
		}
		if before, err = p.usage(ctx); err != nil {
			return nil, err
		}
	} else if before.writes, before.events, err = p.writes(ctx); err != nil {
		return nil, err
	}
	took, shares, err := p.shared(func() (time.Duration, error) { return run(ctx) })
	if err != nil {
		return nil, err
	}
	now, err := p.usage(ctx)
	if err != nil {
		return nil, err
	}
	peak, err := p.operator.peak()
	if err != nil {
		return nil, err
	}
	used := now.since(before)
	p.results = append(p.results, result{
		Workload: p.workload.String(), Count: p.workload.count, Step: step, Seconds: took.Seconds(), PeakMiB: peak,
		CPUSeconds: used.cpu.Seconds(), Requests: used.requests, Operations: used.operations, Writes: used.writes, Events: used.events,
	})
	r := &p.results[len(p.results)-1]
	p.say("%s: %s took %.1f s, %.0f MiB, %.1f s of CPU, requests %v, %d writes, %d Events; all CPU: %s", p.workload, step, r.Seconds, r.PeakMiB, r.CPUSeconds, r.Operations, r.Writes, r.Events, shares)
	return r, nil
}

// apply is from kubectl apply to all Ready.
func (p *performance) apply(ctx context.Context) error {
	end := p.profiling(ctx, p.workload.namespace()+"-apply")
	r, err := p.measured(ctx, stepApply, func(ctx context.Context) (time.Duration, error) {
		begun := time.Now()
		if err := p.applyAll(ctx, p.workload, p.workload.namespace()); err != nil {
			return 0, err
		}
		p.say("%s: kubectl is done after %.1f s", p.workload, time.Since(begun).Seconds())
		err := p.awaitReady(ctx, p.workload)
		return time.Since(begun), err
	})
	if err != nil {
		return err
	}
	r.Reference, r.ReferenceIs = p.bare.Seconds(), stepLoop
	return end()
}

// restart is from the start of a new process until it stands behind every condition.
func (p *performance) restart(ctx context.Context) error {
	if err := p.settle(ctx); err != nil {
		return err
	}
	if err := p.stopOperator(); err != nil {
		return err
	}
	_, err := p.measured(ctx, stepRestart, func(ctx context.Context) (time.Duration, error) {
		if err := p.startOperator(); err != nil {
			return 0, err
		}
		begun := p.operator.begun
		err := p.awaitRenewal(ctx, p.workload, begun)
		return time.Since(begun), err
	})
	return err
}

// settle waits until the counts of new queues are told: the second Lease from now.
func (p *performance) settle(ctx context.Context) error {
	for range 2 {
		if err := p.awaitRenewal(ctx, p.workload, p.renewal(ctx, p.workload)); err != nil {
			return err
		}
	}
	return nil
}

// idle is from one renewal of the Lease to the next, when nothing happens.
func (p *performance) idle(ctx context.Context) error {
	if err := p.settle(ctx); err != nil {
		return err
	}
	end := p.profiling(ctx, p.workload.namespace()+"-idle")
	r, err := p.measured(ctx, stepIdle, func(ctx context.Context) (time.Duration, error) {
		begun := time.Now()
		err := p.awaitRenewal(ctx, p.workload, p.renewal(ctx, p.workload))
		return time.Since(begun), err
	})
	if err != nil {
		return err
	}
	r.Reference, r.ReferenceIs = p.syncPeriod.Seconds(), "sync period"
	return end()
}

// deleted is from the deleting of one queue to its return. It goes right
// after a reading, which is when it takes longest.
func (p *performance) deleted(ctx context.Context) error {
	connection, err := p.dial(p.workload.namespace())
	if err != nil {
		return err
	}
	defer connection.Close()
	queue := topology.Names{Work: p.workload.namespace() + "." + subscriptionName(p.workload.count/2)}.Wait(1, 5*time.Second)
	if err := p.awaitRenewal(ctx, p.workload, p.renewal(ctx, p.workload)); err != nil {
		return err
	}
	r, err := p.measured(ctx, stepDeleted, func(ctx context.Context) (time.Duration, error) {
		channel, err := connection.Channel()
		if err != nil {
			return 0, err
		}
		if _, err := channel.QueueDelete(queue, false, false, false); err != nil {
			return 0, err
		}
		begun := time.Now()
		err = p.awaitQueue(ctx, connection, queue)
		return time.Since(begun), err
	})
	if err != nil {
		return err
	}
	r.Reference, r.ReferenceIs = p.syncPeriod.Seconds(), "sync period"
	return nil
}
