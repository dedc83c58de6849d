package e2e

import (
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// Where the message does not arrive it stays parked; the Redrive stops, says
// why, and its counts are exact.
func TestRedriveStopsWhereNothingArrives(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(subscriptionManifest("billing", `workQueue: {name: billing, maxLength: 50}, retry: {immediate: {}}`), "billing")
		s.park(t, amqptest.Messages("m", 300)...)
		// Slowly: a quorum queue refuses some time after its limit is reached.
		s.apply(redriveManifest("refused", `messagesPerSecond: 50`))
		rd := s.awaitRedrive("refused", within, v1alpha1.ConditionFailed, v1alpha1.ReasonRefusedByQueue)
		moved := int(*rd.Status.Moved)
		s.assertReady(t, "billing", moved)
		s.assertReady(t, "billing.parking", 300-moved)
		s.awaitEvent("redrive/refused", "Failed", `RefusedByQueue: move what is in queue "billing.parking": the queue behind exchange "billing.redrive" does not take a message`, "still parked")
		// What has failed does not go on, even when it could.
		s.idsIn(t, "billing", moved)
		s.stays(threeSyncs, func() error {
			if n, err := amqptest.Ready(s.app, "billing"); err != nil || n != 0 {
				return fmt.Errorf("%d messages are in the work queue, %w", n, err)
			}
			return nil
		})

		// The route is taken away while Warren may not mend it.
		s.pause("billing", true)
		s.unbind(t, "billing", "billing.redrive", "")
		s.apply(redriveManifest("returned", ``))
		s.awaitFailedOrWaiting(t, "returned")
		s.assertReady(t, "billing.parking", 300-moved)
		s.pause("billing", false)
	})
}

// awaitFailedOrWaiting: whichever notices first that there is no route, the
// move or the reading of the broker, nothing has moved.
func (s *stage) awaitFailedOrWaiting(t *testing.T, name string) {
	t.Helper()
	amqptest.Eventually(t, within, func() error {
		rd := s.redrive(name)
		for _, c := range rd.Status.Conditions {
			if c.Type == v1alpha1.ConditionProgressing && (c.Reason == v1alpha1.ReasonNoRoute || c.Reason == v1alpha1.ReasonSubscriptionNotEstablished) {
				return nil
			}
		}
		return fmt.Errorf("conditions are %+v", rd.Status.Conditions)
	})
	if got := tallyOf(s.redrive(name)).Moved; got > 0 {
		t.Errorf("it has moved %d messages, want none", got)
	}
}

// A finished Redrive never runs again, however often the operator starts anew.
func TestFinishedRedriveNeverRunsAgain(t *testing.T) {
	t.Parallel()
	for _, series := range localenv.AllSeries() {
		t.Run(string(series), func(t *testing.T) {
			t.Parallel()
			s := stageOn(t, newTenantAlone(t, localenv.Broker(t, series)))
			first := s.startHere()
			s.establish(immediateBilling, "billing")
			s.park(t, amqptest.Messages("m", 5)...)
			s.apply(redriveManifest("once", ``))
			s.awaitComplete("once")
			s.apply(redriveManifest("away", `action: Discard`))
			s.awaitComplete("away")
			before := []string{s.redrive("once").ResourceVersion, s.redrive("away").ResourceVersion}
			s.idsIn(t, "billing", 5)
			s.park(t, amqptest.Messages("new", 5)...)

			process := first.process
			for range 3 {
				if err := process.Kill(); err != nil {
					t.Fatal(err)
				}
				o := s.startHere()
				process = o.process
				s.awaitReconciled(o)
			}
			s.assertReady(t, "billing", 0)
			s.assertReady(t, "billing.parking", 5)
			if now := []string{s.redrive("once").ResourceVersion, s.redrive("away").ResourceVersion}; now[0] != before[0] || now[1] != before[1] {
				t.Errorf("the finished Redrives were written: %q, then %q", before, now)
			}
		})
	}
}

// awaitReconciled waits until an operator has looked at the Redrives and has read the broker a few times.
func (s *stage) awaitReconciled(o *operator) {
	s.t.Helper()
	amqptest.Eventually(s.t, within, func() error {
		if n, m := o.reconciles(s.t, "redrive"), o.reconciles(s.t, "broker"); n < 2 || m < 3 {
			return fmt.Errorf("it has looked at Redrives %d times and at the broker %d times", n, m)
		}
		return nil
	})
}

// A broker that has been rebuilt holds other messages: what is parked there is
// nobody's to bring back by a Redrive that is finished.
func TestRedriveIsNotReplayedOnARebuiltBroker(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(immediateBilling, "billing")
		s.park(t, amqptest.Messages("m", 5)...)
		s.apply(redriveManifest("once", ``))
		s.awaitComplete("once")
		s.mustDo(t, func(channel *amqp.Channel) error {
			for _, queue := range []string{"billing", "billing.parking"} {
				if _, err := channel.QueueDelete(queue, false, false, false); err != nil {
					return err
				}
			}
			return nil
		})
		s.awaitThere(`queue "billing.parking"`)
		s.awaitThere(`queue "billing"`)
		s.awaitReady("rsub/billing")
		s.park(t, amqptest.Messages("new", 3)...)
		s.stays(threeSyncs, func() error {
			if n, err := amqptest.Ready(s.app, "billing"); err != nil || n != 0 {
				return fmt.Errorf("%d messages are in the work queue, %w", n, err)
			}
			return nil
		})
		assertTally(t, s.redrive("once"), tally{Total: 5, Moved: 5})
	})
}
