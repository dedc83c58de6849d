package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
	"github.com/warren-mq/warren/test/amqptest"
)

// Our policy that somebody deletes comes back as it was, and no contents are said to be lost. Field case E3.
func TestE3ADeletedPolicyComesBack(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(inPolicy("billing"))
		w.awaitSettled("rsub/billing")
		before := w.onBroker()
		own := "warren." + w.namespace + ".billing"
		w.deletePolicy(own)
		gone := time.Now()
		w.awaitEvent("rsub/billing", "Recreated", `declared again, since it had gone from the broker: policy "`+own+`"`)
		w.awaitBroker(before)
		w.took("the policy", gone, 3*time.Second)
		w.awaitReady("rsub/billing")
		for _, note := range w.eventNotes("rsub/billing", "Recreated") {
			if want := `declared again, since it had gone from the broker: policy "` + own + `"`; note != want {
				t.Errorf("an Event says %q, want %q and nothing of lost contents", note, want)
			}
		}
	})
}

// twoOfThem are a topic and a subscription with all of the frame, its settings in a policy.
var twoOfThem = topicOn("orders", "main") + subscriptionManifest("billing",
	`sources: [{topicRef: {name: orders}, routingKeys: ["order.*"]}], workQueue: {name: billing}, retry: {backoff: {delays: [5s]}}, settings: Policy`)

// An administrator deletes the vhost and makes it again with the same
// permissions: nothing says Ready meanwhile, and everything is built and
// proved again, as it was. Field case E4.
func TestE4AnEmptiedVhostIsBuiltAgain(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(twoOfThem)
		w.awaitSettled("topic/orders", "rsub/billing")
		before := w.onBroker()
		amqptest.Publish(t, w.application(), "billing.park", "order.placed", amqptest.Message("lost"))
		w.await("rsub/billing", expected{v1alpha1.ConditionParkingBacklog, metav1.ConditionTrue, v1alpha1.ReasonBacklogReached, ""})

		w.mustBroker(func(ctx context.Context, b *localenv.RabbitMQ) error { return b.DeleteVhost(ctx, w.vhost.Name) })
		w.await("broker/main", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonVhostMissing, ""})
		w.await("rsub/billing", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonVhostMissing, ""})
		w.assertNoCounts("billing")
		w.recreateVhost()
		w.assertBuiltAgain(before)
	})
}

// A broker that was rebuilt from nothing, its data directory wiped, is built
// and proved again as soon as its administrator has made vhost and users. Field case E4.
func TestE4AWipedBrokerIsBuiltAgain(t *testing.T) {
	t.Parallel()
	for _, series := range localenv.AllSeries() {
		t.Run(string(series), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b := ownBrokerIn(t, dir, series)
			w := newTenant(t, b)
			w.apply(twoOfThem)
			w.awaitSettled("topic/orders", "rsub/billing")
			before := w.onBroker()

			if err := b.Kill(); err != nil {
				t.Fatal(err)
			}
			wipe(t, dir)
			if err := b.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.await("rsub/billing", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonBadCredentials, ""})
			for _, user := range []localenv.User{w.vhost.Operator, w.vhost.App} {
				w.mustBroker(func(ctx context.Context, b *localenv.RabbitMQ) error {
					return b.CreateUser(ctx, user.Name, user.Password, "policymaker", "monitoring")
				})
			}
			w.recreateVhost()
			w.assertBuiltAgain(before)
		})
	}
}

// wipe removes the data of the one node that lives in a directory.
func wipe(t *testing.T, dir string) {
	t.Helper()
	data, err := filepath.Glob(filepath.Join(dir, "*", "data"))
	if err != nil || len(data) != 1 {
		t.Fatalf("the data directories in %s are %v (%v), want one", dir, data, err)
	}
	if err := os.RemoveAll(data[0]); err != nil {
		t.Fatal(err)
	}
}

// assertBuiltAgain waits until everything is Ready and as it was, and each
// resource has told what it declared again.
func (w *tenant) assertBuiltAgain(before map[string]topology.Arguments) {
	w.t.Helper()
	back := time.Now()
	w.awaitReady("topic/orders")
	w.awaitReady("rsub/billing")
	w.took("Ready on the new vhost", back, 3*time.Second)
	if diff := cmp.Diff(before, w.onBroker()); diff != "" {
		w.t.Errorf("what was built again differs (-before +after):\n%s", diff)
	}
	w.awaitExactly("rsub/billing", asDeclared)
	w.awaitEvent("topic/orders", "Recreated", `declared again, since it had gone from the broker: exchange "orders"`)
	w.awaitEvent("rsub/billing", "Recreated", `declared again, since it had gone from the broker: exchange "billing.park", queue "billing.parking"`,
		" more; what was in a queue that had gone is lost")
	w.awaitSettled("topic/orders", "rsub/billing")
	w.awaitCounts("billing", counts{messages: known(0), parked: known(0)})
}

// recreateVhost makes the tenant's vhost, empty, with its users' rights.
func (w *tenant) recreateVhost() {
	w.t.Helper()
	w.mustBroker(func(ctx context.Context, b *localenv.RabbitMQ) error { return b.CreateVhost(ctx, w.vhost.Name) })
	for _, user := range []localenv.User{w.vhost.Operator, w.vhost.App} {
		w.mustBroker(func(ctx context.Context, b *localenv.RabbitMQ) error {
			return b.SetPermissions(ctx, w.vhost.Name, user.Name, ".*", ".*", ".*")
		})
	}
}

func (w *tenant) mustBroker(do func(context.Context, *localenv.RabbitMQ) error) {
	w.t.Helper()
	if err := do(w.t.Context(), w.vhost.Broker); err != nil {
		w.t.Fatal(err)
	}
}
