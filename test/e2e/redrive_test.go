package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// What is parked goes back once, as it was: bounded by maxMessages, counted,
// told by Events and columns.
func TestRedriveBringsBack(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(immediateBilling, "billing")
		s.park(t, amqptest.Messages("m", 30)...)

		s.apply(redriveManifest("dry", `dryRun: true`))
		if rd := s.awaitComplete("dry"); *rd.Status.WouldMove != 30 || *rd.Status.Moved != 0 {
			t.Errorf("a dry run would move %d and has moved %d, want 30 and 0", *rd.Status.WouldMove, *rd.Status.Moved)
		}
		s.assertReady(t, "billing.parking", 30)

		s.apply(redriveManifest("some", `maxMessages: 10`))
		assertTally(t, s.awaitComplete("some"), tally{Total: 10, Moved: 10})
		s.awaitEvent("redrive/some", "Started", `moves messages from queue "billing.parking", which holds 30, through exchange "billing.redrive" to queue "billing"`)
		s.awaitEvent("redrive/some", "Completed", `moved 10 messages from queue "billing.parking"`)

		s.apply(redriveManifest("rest", ``))
		assertTally(t, s.awaitComplete("rest"), tally{Total: 20, Moved: 20})
		s.assertReady(t, "billing.parking", 0)
		if diff := cmp.Diff(idsOf("m", 30), s.idsIn(t, "billing", 30)); diff != "" {
			t.Errorf("what is in the work queue (-want +got):\n%s", diff)
		}
		out := s.mustKubectl("get", "redrive", "rest", "-n", s.namespace)
		if diff := cmp.Diff([][]string{{"NAME", "STATUS", "MOVED", "TOTAL", "AGE"}, {"rest", "Completed", "20", "20", "AGE"}}, table(out)); diff != "" {
			t.Errorf("kubectl get redrive (-want +got):\n%s", diff)
		}

		s.apply(redriveManifest("nothing", `ttlSecondsAfterFinished: 0`))
		s.awaitEvent("redrive/nothing", "Completed", `queue "billing.parking" was empty`)
		s.awaitGone("redrive/nothing")
	})
}

// awaitGone waits until a resource does not exist.
func (w *tenant) awaitGone(resource string) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		var o object
		switch err := w.read(resource, &o); {
		case err == nil:
			return fmt.Errorf("%s is still there", resource)
		case !strings.Contains(err.Error(), "not find"):
			return err
		}
		return nil
	})
}

func TestRedriveDiscards(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(immediateBilling, "billing")
		s.park(t, amqptest.Messages("m", 5)...)
		s.apply(redriveManifest("away", `action: Discard, maxMessages: 3`))
		assertTally(t, s.awaitComplete("away"), tally{Total: 3, Discarded: 3})
		s.awaitEvent("redrive/away", "Discarded", `3 messages of queue "billing.parking" were acknowledged away for good`)
		if diff := cmp.Diff([]string{"m-4", "m-5"}, s.idsIn(t, "billing.parking", 2)); diff != "" {
			t.Errorf("what is left (-want +got):\n%s", diff)
		}
		s.assertReady(t, "billing", 0)
	})
}

// A message that fails again climbs its ladder from the first delay, and parks
// again with its own routing key. The Redrive, bounded by its start, ends.
func TestRedrivenMessageClimbsAFreshLadder(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(topicOrders+subscriptionManifest("billing", fromOrders+`, workQueue: {name: billing}, retry: {backoff: {delays: [1s, 2s]}}`), "billing")
		consumer := s.consume("billing", amqptest.InTurn(amqptest.Reject))
		s.publish("orders", "order.placed", poison())
		consumer.Await(t, 3)
		s.assertReady(t, "billing.parking", 1)

		for n := range 2 {
			name := fmt.Sprintf("again-%d", n+1)
			s.apply(redriveManifest(name, ``))
			assertTally(t, s.awaitComplete(name), tally{Total: 1, Moved: 1})
			deliveries := consumer.Await(t, 3*(n+2))[3*(n+1):]
			s.assertReady(t, "billing.parking", 1)
			if got := []string{deliveries[0].LastDeath().Queue, deliveries[1].LastDeath().Queue, deliveries[2].LastDeath().Queue}; !cmp.Equal(got, []string{"", "billing.wait.1.1s", "billing.wait.2.2s"}) {
				t.Errorf("the redriven message came through %q", got)
			}
			for _, d := range deliveries {
				if d.RoutingKey != "order.placed" || d.Headers["warren-redrives"] != int64(n+1) {
					t.Errorf("%s has header warren-redrives %v, want key order.placed and %d", d, d.Headers["warren-redrives"], n+1)
				}
			}
		}
		parked := s.takeOnly(t, "billing.parking")
		if parked.RoutingKey != "order.placed" || parked.MessageId != poison().MessageId {
			t.Errorf("it parked again as %s", parked)
		}
	})
}

// A poison message that fails at once, again and again, while it is redriven
// does not make a Redrive spin.
func TestRedriveOfPoisonEnds(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(immediateBilling, "billing")
		consumer := s.consume("billing", amqptest.InTurn(amqptest.Reject), amqptest.Prefetch(50))
		s.park(t, amqptest.Messages("m", 200)...)
		s.apply(redriveManifest("poison", `messagesPerSecond: 100`))
		assertTally(t, s.awaitComplete("poison"), tally{Total: 200, Moved: 200})
		s.assertReady(t, "billing.parking", 200)
		if n := len(consumer.Deliveries()); n != 200 {
			t.Errorf("the consumer got %d deliveries, want each of the 200 messages once", n)
		}
	})
}

// Of 300 messages parked for three reasons exactly those of the chosen one
// move; the others are still there, in their order.
func TestRedriveFilters(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(subscriptionManifest("billing", `workQueue: {name: billing, deliveryLimit: 1}, retry: {immediate: {}}`), "billing")
		parkForThreeReasons(t, s, 100)
		before := look(t, s, "billing.parking", 300)

		s.apply(redriveManifest("dry", `dryRun: true, filter: {reason: Rejected}`))
		if rd := s.awaitComplete("dry"); *rd.Status.WouldMove != 100 {
			t.Errorf("a dry run would move %d, want 100", *rd.Status.WouldMove)
		}
		s.apply(redriveManifest("crashed", `filter: {reason: DeliveryLimit}`))
		assertTally(t, s.awaitComplete("crashed"), tally{Total: 300, Moved: 100, Skipped: 200})
		assertSame(t, "moved", without(before, "rejected", "consumer"), s.idsIn(t, "billing", 100))

		s.apply(redriveManifest("named", `filter: {messageIds: [rejected-7, consumer-3, nobody]}`))
		assertTally(t, s.awaitComplete("named"), tally{Total: 200, Moved: 2, Skipped: 198})
		s.apply(redriveManifest("future", `filter: {parkedBefore: "2001-01-01T00:00:00Z"}`))
		assertTally(t, s.awaitComplete("future"), tally{Total: 198, Skipped: 198})
		left := without(without(before, "crashed"), "rejected-7", "consumer-3")
		assertSame(t, "left", left, s.idsIn(t, "billing.parking", 198))
	})
}

// parkForThreeReasons parks n of each kind, mixed.
func parkForThreeReasons(t *testing.T, s *stage, n int) {
	t.Helper()
	verbs := map[string]amqptest.Verb{"rejected": amqptest.Reject, "crashed": amqptest.RejectRequeue}
	consumer := s.consume("billing", func(d amqptest.Delivery) amqptest.Verb {
		kind, _, _ := strings.Cut(d.MessageId, "-")
		return verbs[kind]
	})
	for i := range n {
		s.publish("", "billing", amqptest.Message(fmt.Sprintf("rejected-%d", i+1)), amqptest.Message(fmt.Sprintf("crashed-%d", i+1)))
		byConsumer := amqptest.Message(fmt.Sprintf("consumer-%d", i+1))
		s.park(t, byConsumer)
	}
	s.assertReady(t, "billing.parking", 3*n)
	consumer.Stop()
}

// look reads a queue without changing it.
func look(t *testing.T, s *stage, queue string, n int) []string {
	t.Helper()
	consumer := s.consume(queue, amqptest.InTurn(amqptest.Hang), amqptest.Prefetch(n))
	var ids []string
	for _, d := range consumer.Await(t, n) {
		ids = append(ids, d.MessageId)
	}
	consumer.Stop()
	s.assertReady(t, queue, n)
	return ids
}

// without leaves out the ids that begin with a kind, or are one.
func without(ids []string, kinds ...string) []string {
	var rest []string
	for _, id := range ids {
		out := false
		for _, kind := range kinds {
			out = out || id == kind || strings.HasPrefix(id, kind+"-")
		}
		if !out {
			rest = append(rest, id)
		}
	}
	return rest
}

func assertSame(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, in their order (-want +got):\n%s", what, diff)
	}
}

// A queue that an earlier spec named still bears the mark; any other is not
// the subscription's to take from.
func TestRedriveFromAnotherQueue(t *testing.T) {
	t.Parallel()
	s := newStage(t, localenv.Series43)
	s.establish(immediateBilling, "billing")
	s.park(t, amqptest.Messages("m", 3)...)
	s.apply(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}, parkingQueue: {name: renamed}`))
	s.awaitReady("rsub/billing")
	s.queue(t, "somebodys")

	s.apply(redriveManifest("earlier", `from: billing.parking`))
	assertTally(t, s.awaitComplete("earlier"), tally{Total: 3, Moved: 3})
	for from, reason := range map[string]string{"somebodys": v1alpha1.ReasonNotOwned, "nowhere": v1alpha1.ReasonQueueNotFound, "billing": v1alpha1.ReasonInvalidSpec} {
		s.apply(redriveManifest("of-"+from, "from: "+from))
		s.awaitRedrive("of-"+from, within, v1alpha1.ConditionFailed, reason)
	}
}

func newStage(t *testing.T, series localenv.Series) *stage {
	t.Helper()
	w := newTenant(t, localenv.Broker(t, series))
	return &stage{tenant: w, t: t, app: w.application()}
}
