package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// A Redrive at 50 messages a second moves 50 a second, by the time between two
// looks at the work queue, 20 s apart.
func TestRedriveKeepsItsRate(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		const perSecond, span = 50, 20 * time.Second
		s.establish(immediateBilling, "billing")
		s.park(t, amqptest.Messages("m", 1500)...)
		s.apply(redriveManifest("slow", fmt.Sprintf(`messagesPerSecond: %d`, perSecond)))
		ready := func() (int, time.Time) {
			n, err := amqptest.Ready(s.app, "billing")
			if err != nil {
				t.Fatal(err)
			}
			return n, time.Now()
		}
		amqptest.Eventually(t, within, func() error {
			if n, _ := ready(); n < perSecond {
				return fmt.Errorf("%d messages have moved, waiting for %d", n, perSecond)
			}
			return nil
		})
		first, begin := ready()
		var n int
		var at time.Time
		amqptest.Eventually(t, 2*within, func() error {
			if n, at = ready(); at.Sub(begin) < span {
				return fmt.Errorf("%d messages have moved after %s", n-first, at.Sub(begin))
			}
			return nil
		})
		rate := float64(n-first) / at.Sub(begin).Seconds()
		t.Logf("%.1f messages a second over %s", rate, at.Sub(begin).Round(time.Millisecond))
		if rate < 0.9*perSecond || rate > 1.1*perSecond {
			t.Errorf("it moved %.1f messages a second over %s, want %d within 10 %%", rate, at.Sub(begin), perSecond)
		}
		assertTally(t, s.awaitComplete("slow"), tally{Total: 1500, Moved: 1500})
	})
}

// spec.suspend pauses and goes on; nothing but that can be changed.
func TestRedriveIsSuspendedAndResumed(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(immediateBilling, "billing")
		s.park(t, amqptest.Messages("m", 600)...)
		s.apply(redriveManifest("paused", `messagesPerSecond: 50, suspend: true`))
		s.awaitRedrive("paused", within, v1alpha1.ConditionSuspended, v1alpha1.ReasonSuspended)
		s.assertReady(t, "billing.parking", 600)
		if start := s.redrive("paused").Status.StartTime; start != nil {
			t.Errorf("it started at %s, while it was suspended", start)
		}
		s.suspend("paused", false)
		s.awaitMoved("paused", 100)
		s.suspend("paused", true)
		s.awaitWaiting("paused", v1alpha1.ReasonSuspended, "set it to false to go on")
		moved := int(*s.redrive("paused").Status.Moved)
		s.assertReady(t, "billing", moved)
		s.assertReady(t, "billing.parking", 600-moved)

		s.suspend("paused", false)
		assertTally(t, s.awaitRedrive("paused", 2*within, v1alpha1.ConditionComplete, v1alpha1.ReasonCompleted), tally{Total: 600, Moved: 600})
		s.await("redrive/paused", expected{v1alpha1.ConditionSuspended, metav1.ConditionFalse, v1alpha1.ReasonResumed, ""})
		assertSame(t, "in the work queue", idsOf("m", 600), s.idsIn(t, "billing", 600))
	})
}

func (w *tenant) suspend(name string, suspended bool) {
	w.t.Helper()
	w.mustKubectl("patch", "redrive", name, "-n", w.namespace, "--type=merge", "-p", fmt.Sprintf(`{"spec": {"suspend": %t}}`, suspended))
}

// awaitMoved waits until the status counts at least n messages.
func (w *tenant) awaitMoved(name string, n int64) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		if got := tallyOf(w.redrive(name)).Moved; got < n {
			return fmt.Errorf("Redrive %s has moved %d messages, waiting for %d", name, got, n)
		}
		return nil
	})
}

func TestRedriveFailsAfterItsDeadline(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(immediateBilling, "billing")
		s.park(t, amqptest.Messages("m", 500)...)
		s.apply(redriveManifest("late", `messagesPerSecond: 10, deadline: 3s`))
		rd := s.awaitRedrive("late", within, v1alpha1.ConditionFailed, v1alpha1.ReasonDeadlineExceeded)
		moved := int(*rd.Status.Moved)
		if moved == 0 || moved == 500 {
			t.Errorf("it moved %d messages until its deadline, want some of the 500", moved)
		}
		s.assertReady(t, "billing", moved)
		s.assertReady(t, "billing.parking", 500-moved)
		s.awaitEvent("redrive/late", "Failed", "DeadlineExceeded: it has taken longer than spec.deadline (3s)")
	})
}

// Of several Redrives of a subscription one works at a time, the oldest first,
// and the others say for whom they wait.
func TestRedrivesWaitForEachOther(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(immediateBilling, "billing")
		s.park(t, amqptest.Messages("m", 200)...)
		s.apply(redriveManifest("first", `messagesPerSecond: 20, maxMessages: 150`))
		s.awaitMoved("first", 1)
		s.apply(redriveManifest("second", `maxMessages: 10`))
		s.awaitWaiting("second", v1alpha1.ReasonWaitingForRedrive, `Redrive "first" of the same subscription comes first`)
		s.suspend("first", true)
		assertTally(t, s.awaitComplete("second"), tally{Total: 10, Moved: 10})
		s.suspend("first", false)
		assertTally(t, s.awaitComplete("first"), tally{Total: 150, Moved: 150})
		s.assertReady(t, "billing.parking", 40)
	})
}

// A Redrive that comes before its subscription waits for it.
func TestRedriveWaitsForItsSubscription(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.apply(redriveManifest("early", ``))
		s.awaitWaiting("early", v1alpha1.ReasonSubscriptionNotFound, `ReliableSubscription "billing" does not exist`)
		s.apply(subscriptionManifest("billing", `workQueue: {name: billing}, sources: [{topicRef: {name: orders}, routingKeys: [a]}], retry: {immediate: {}}`))
		s.awaitWaiting("early", v1alpha1.ReasonSubscriptionNotEstablished, v1alpha1.ReasonTopicNotDeclared)
		s.park(t, amqptest.Messages("m", 3)...)
		s.apply(topicOn("orders", "main"))
		assertTally(t, s.awaitComplete("early"), tally{Total: 3, Moved: 3})
	})
}

// Under an alarm a Redrive pauses, and goes on by itself afterwards: one that
// is at work, and one that has not begun.
func TestRedrivePausesUnderAnAlarm(t *testing.T) {
	t.Parallel()
	for _, series := range localenv.AllSeries() {
		t.Run(string(series), func(t *testing.T) {
			t.Parallel()
			b := ownBroker(t, series)
			s := stageOn(t, newTenant(t, b))
			s.establish(immediateBilling, "billing")
			s.park(t, amqptest.Messages("m", 2000)...)
			s.apply(redriveManifest("at-work", `messagesPerSecond: 20, maxMessages: 800`))
			s.awaitMoved("at-work", 20)
			memory, disk := b.SetMemoryAlarm, b.SetDiskAlarm
			setAlarm(t, memory, true)
			s.awaitWaiting("at-work", v1alpha1.ReasonResourceAlarm, "it goes on by itself when that is over")
			moved := s.redrive("at-work").Status.Moved
			s.stays(threeSyncs, func() error {
				if now := s.redrive("at-work").Status.Moved; *now > *moved+20 {
					return fmt.Errorf("under an alarm it has moved %d messages, after %d", *now, *moved)
				}
				return nil
			})
			setAlarm(t, memory, false)
			assertTally(t, s.awaitComplete("at-work"), tally{Total: 800, Moved: 800})

			setAlarm(t, disk, true)
			s.await("broker/main", expected{Type: v1alpha1.ConditionResourceAlarm, Status: metav1.ConditionTrue})
			s.apply(redriveManifest("not-begun", ``))
			s.awaitWaiting("not-begun", v1alpha1.ReasonResourceAlarm, "disk alarm on node")
			setAlarm(t, disk, false)
			assertTally(t, s.awaitComplete("not-begun"), tally{Total: 1200, Moved: 1200})
		})
	}
}

func setAlarm(t *testing.T, set func(context.Context, bool) error, raised bool) {
	t.Helper()
	if err := set(t.Context(), raised); err != nil {
		t.Fatal(err)
	}
}

func stageOn(t *testing.T, w *tenant) *stage {
	t.Helper()
	return &stage{tenant: w, t: t, app: w.application()}
}
