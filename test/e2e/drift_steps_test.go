package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
	"github.com/warren-mq/warren/test/amqptest"
)

// awaitExactly is await for conditions whose messages are told in full.
func (w *tenant) awaitExactly(resource string, want ...expected) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		var o object
		if err := w.read(resource, &o); err != nil {
			return err
		}
		var errs []error
		for _, e := range want {
			err := e.check(o)
			if c := meta.FindStatusCondition(o.Status.Conditions, e.Type); err == nil && c.Message != e.Message {
				err = fmt.Errorf("condition %s says more than it should:\n%s\nwant\n%s", e.Type, c.Message, e.Message)
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}

// awaitDrift waits until status.drift has these entries and no other.
func (w *tenant) awaitDrift(name string, want ...v1alpha1.DriftEntry) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		if diff := cmp.Diff(want, w.subscription(name).Status.Drift); diff != "" {
			return fmt.Errorf("status.drift of %s (-want +got):\n%s", name, diff)
		}
		return nil
	})
}

// awaitBroker waits until the vhost has exactly this.
func (w *tenant) awaitBroker(want map[string]topology.Arguments) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		now, err := w.tryOnBroker()
		if diff := cmp.Diff(want, now); err == nil && diff != "" {
			err = fmt.Errorf("what is on the broker (-want +got):\n%s", diff)
		}
		return err
	})
}

// awaitLimit waits until the status tells the delivery limit in force.
func (w *tenant) awaitLimit(name string, want int64) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		if got := w.subscription(name).Status.WorkQueue.EffectiveDeliveryLimit; number(got) != number(&want) {
			return fmt.Errorf("status.workQueue.effectiveDeliveryLimit of %s is %s, want %d", name, number(got), want)
		}
		return nil
	})
}

// staysUntouched waits for three sync periods in which nothing on the broker
// may change.
func (w *tenant) staysUntouched(before map[string]topology.Arguments) {
	w.t.Helper()
	w.staysUntouchedFor(threeSyncs, before)
}

func (w *tenant) staysUntouchedFor(d time.Duration, before map[string]topology.Arguments) {
	w.t.Helper()
	w.stays(d, func() error {
		now, err := w.tryOnBroker()
		if err != nil {
			return err
		}
		if diff := cmp.Diff(before, now); diff != "" {
			return fmt.Errorf("the broker was changed (-before +after):\n%s", diff)
		}
		return nil
	})
}

// awaitCounted waits until the broker's statistics, some seconds late, have
// this many messages of a queue.
func (w *tenant) awaitCounted(queue string, messages int) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		q, err := w.management().GetQueue(w.vhost.Name, queue)
		if err == nil && q.Messages != messages {
			err = fmt.Errorf("queue %q has %d messages, want %d", queue, q.Messages, messages)
		}
		return err
	})
}

// putPolicy sets a policy as somebody does who does not know Warren.
func (w *tenant) putPolicy(name, pattern string, priority int, definition map[string]any) {
	w.t.Helper()
	w.mustManage(http.MethodPut, map[string]any{"pattern": pattern, "apply-to": "queues", "priority": priority, "definition": definition}, "policies", name)
}

func (w *tenant) deletePolicy(name string) {
	w.t.Helper()
	w.mustManage(http.MethodDelete, nil, "policies", name)
}

// putOperatorPolicy sets what limits every policy.
func (w *tenant) putOperatorPolicy(name, pattern string, definition map[string]any) {
	w.t.Helper()
	w.mustManage(http.MethodPut, map[string]any{"pattern": pattern, "apply-to": "queues", "definition": definition}, "operator-policies", name)
}

func (w *tenant) deleteOperatorPolicy(name string) {
	w.t.Helper()
	w.mustManage(http.MethodDelete, nil, "operator-policies", name)
}

// limitQueues lets the vhost have so many queues; -1 is any number.
func (w *tenant) limitQueues(n int) {
	w.t.Helper()
	w.mustManage(http.MethodPut, map[string]any{"value": n}, "vhost-limits", "max-queues")
}

// importDefinitions is what an administrator does on the management page.
func (w *tenant) importDefinitions(definitions map[string]any) {
	w.t.Helper()
	w.mustManage(http.MethodPost, definitions, "definitions")
}

func (w *tenant) mustManage(method string, body any, collection string, path ...string) {
	w.t.Helper()
	if err := w.manage(method, body, nil, collection, path...); err != nil {
		w.t.Fatal(err)
	}
}

// on43 tells RabbitMQ 4.3 from 4.0, where they differ.
func (w *tenant) on43() bool { return strings.HasPrefix(w.vhost.Broker.Version, "4.3.") }
