package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// actor executes plans on brokers.
type actor struct {
	brokers  *Brokers
	attempts *attempts
}

// mayAct tells whether there is something to do that was not just tried. What
// the broker refused, or took and does not show, is tried again once in a
// while and not at every reading.
func (r actor) mayAct(key types.NamespacedName, a *assessment) bool {
	if a.result == nil || len(a.result.Plan) == 0 || a.paused() {
		return false
	}
	last, tried := r.attempts.same(key, a)
	if tried && last.problem != nil {
		a.problem = last.problem
	}
	return !tried
}

// errOutdated: what a plan relied on has gone since the reading that it was made from.
var errOutdated = errors.New("the reading is out of date")

// act executes the plan. What came in the way is noted in the assessment; what
// came of it is shown by a new reading.
func (r actor) act(ctx context.Context, key, on types.NamespacedName, a *assessment) error {
	defer r.brokers.Kick(on)
	if r.attempts.precedes(a.snapshot(), a.of) {
		return errOutdated
	}
	logger := log.FromContext(ctx)
	logger.V(1).Info("acting on the broker", "plan", a.result.Plan.String())
	last, _ := r.attempts.get(key)
	done := r.brokers.act(on)
	err := execute(ctx, a.view.Session, a.result.Plan)
	done()
	r.attempts.note(key, a, err)
	if err == nil {
		return nil
	}
	logger.Info("the broker did not do it", "reason", err.Error())
	a.problem = fromBroker(err)
	if broker.ClassOf(err) == broker.NotFound && last.problem == nil {
		// A reading is several requests. Who deletes a queue between them shows its
		// bindings missing and not the queue; the next reading has it right.
		return errOutdated
	}
	return err
}

// execute runs a plan in order. Declares that follow each other go over one channel.
func execute(ctx context.Context, s Session, plan drift.Plan) error {
	var batch []topology.Object
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		objects := batch
		batch = nil
		return s.Declare(ctx, objects)
	}
	for _, action := range plan {
		if d, ok := action.(drift.Declare); ok {
			batch = append(batch, d.Object)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if err := executeOne(ctx, s, action); err != nil {
			return err
		}
	}
	return flush()
}

func executeOne(ctx context.Context, s Session, action drift.Action) error {
	switch a := action.(type) {
	case drift.Unbind:
		return s.Unbind(ctx, a.Binding)
	case drift.DeletePolicy:
		return s.DeletePolicy(ctx, a.Name)
	case drift.DeleteDrained:
		return s.DeleteEmptyQueue(ctx, a.Queue)
	case drift.DeleteEmptyQueue:
		return s.DeleteEmptyQueue(ctx, a.Queue)
	case drift.DeleteExchange:
		if a.OnlyUnused {
			return s.DeleteUnusedExchange(ctx, a.Name)
		}
		return s.DeleteExchange(ctx, a.Name)
	}
	return fmt.Errorf("no way to %s", action)
}

// tellRecreated writes an Event where something that had been there was
// declared again, and one where a policy of ours had been changed. The first
// declaring is told when it is proved.
func tellRecreated(r events.EventRecorder, about runtime.Object, a *assessment) {
	gone, changed := goneOrChanged(a)
	if len(gone) > 0 {
		note := "declared again, since it had gone from the broker: " + list(objectNames(gone))
		if hasQueue(gone) {
			note += "; what was in a queue that had gone is lost"
		}
		emitOn(r, about, gone[0].String(), corev1.EventTypeWarning, eventRecreated, "Declare", note)
	}
	if len(changed) > 0 {
		emitOn(r, about, changed[0].String(), corev1.EventTypeWarning, eventRestored, "Declare",
			"set again, since it had been changed on the broker: "+list(objectNames(changed)))
	}
}

// goneOrChanged tells a policy that is there with other content from what is missing.
func goneOrChanged(a *assessment) (gone, changed []topology.Object) {
	for _, o := range a.result.Missing {
		p, ok := o.(topology.Policy)
		if ok && slices.ContainsFunc(a.snapshot().Policies, func(seen topology.Policy) bool { return seen.Name == p.Name }) {
			changed = append(changed, o)
		} else {
			gone = append(gone, o)
		}
	}
	return gone, changed
}

// tellDrained writes an Event for each wait queue that was removed.
func tellDrained(r events.EventRecorder, about runtime.Object, plan drift.Plan) {
	for _, action := range plan {
		if d, ok := action.(drift.DeleteDrained); ok {
			emitOn(r, about, topology.Queue{Name: d.Queue}.String(), corev1.EventTypeNormal, eventDrained, "Delete", fmt.Sprintf("wait queue %q of an earlier ladder had drained and was removed", d.Queue))
		}
	}
}

// tellDeleted says how many messages went with a queue that was deleted.
func tellDeleted(r events.EventRecorder, about runtime.Object, queue string, messages int) {
	kind := corev1.EventTypeNormal
	if messages > 0 {
		kind = corev1.EventTypeWarning
	}
	emitOn(r, about, topology.Queue{Name: queue}.String(), kind, eventDeleted, "Delete",
		fmt.Sprintf("queue %q was deleted, and %s with it (those that waited to be dead-lettered not counted)", queue, count(int64(messages), "message")))
}

func hasQueue(objects []topology.Object) bool {
	for _, o := range objects {
		if o.Kind() == topology.KindQueue {
			return true
		}
	}
	return false
}
