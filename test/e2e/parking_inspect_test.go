package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// Why messages are parked is told from their headers, if that is wished, and
// whenever their number has changed. They stay in their order, their number does
// not flicker, and a Redrive that comes at the same moment misses none of them.
func TestInspectTellsWhyMessagesAreParked(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		billing := func(inspect bool) string {
			return subscriptionManifest("billing", fmt.Sprintf(`workQueue: {name: billing, deliveryLimit: 1}, retry: {immediate: {}}, parkingQueue: {inspect: %t}`, inspect))
		}
		s.establish(billing(false), "billing")
		began := time.Now()
		parkForThreeReasons(t, s, 10)
		for _, m := range amqptest.Messages("expired", 5) {
			m.Expiration = "1"
			s.publish("", "billing", m)
		}
		s.awaitParked(t, "billing", 35)
		before := look(t, s, "billing.parking", 35)
		if got := s.subscription("billing").Status.ParkingQueue.Reasons; got != nil {
			t.Errorf("nobody has asked for reasons: %+v", got)
		}

		s.apply(billing(true) + redriveManifest("dry", `dryRun: true`))
		want := v1alpha1.ParkingReasons{Messages: 35, Sampled: 35, Rejected: 10, OverDeliveryLimit: 10, Expired: 5, ParkedByConsumer: 10}
		got := s.awaitReasons(t, want)
		if got.Oldest == nil || got.Oldest.Time.Before(began.Add(-time.Minute)) || got.Oldest.After(time.Now()) {
			t.Errorf("the oldest was parked at %s, want a time since %s", got.Oldest, began)
		}
		if rd := s.awaitComplete("dry"); *rd.Status.WouldMove != 35 {
			t.Errorf("a dry run would move %d, want all 35", *rd.Status.WouldMove)
		}

		s.park(t, amqptest.Message("late"))
		want.Messages, want.Sampled, want.ParkedByConsumer = 36, 36, 11
		s.awaitReasons(t, want)
		assertSame(t, "parked", append(before, "late"), look(t, s, "billing.parking", 36))
		if notes := s.eventNotes("rsub/billing", "ParkingCleared"); len(notes) > 0 {
			t.Errorf("a look was taken for an empty queue: %q", notes)
		}

		s.apply(redriveManifest("all", `action: Move`))
		assertTally(t, s.awaitComplete("all"), tally{Total: 36, Moved: 36})
		amqptest.Eventually(t, within, func() error {
			if p := s.subscription("billing").Status.ParkingQueue; p.Reasons != nil {
				return fmt.Errorf("nothing is parked any more, and the status says why it was: %+v", *p.Reasons)
			}
			return nil
		})
	})
}

// awaitReasons waits longer than the pause between two looks.
func (s *stage) awaitReasons(t *testing.T, want v1alpha1.ParkingReasons) *v1alpha1.ParkingReasons {
	t.Helper()
	var got *v1alpha1.ParkingReasons
	amqptest.Eventually(t, within+time.Minute, func() error {
		got = s.subscription("billing").Status.ParkingQueue.Reasons
		if got == nil {
			return fmt.Errorf("no reasons are told")
		}
		if diff := cmp.Diff(want, *got, cmpopts.IgnoreFields(want, "Oldest")); diff != "" {
			return fmt.Errorf("reasons (-want +got):\n%s", diff)
		}
		return nil
	})
	return got
}

// A look moves every parked message, so a restart of the operator is no reason
// for another one: what the status says still holds. Each message counts them.
func TestARestartedOperatorDoesNotLookAgain(t *testing.T) {
	t.Parallel()
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		const parked = 10
		w := newTenantAlone(t, b)
		s := stageOn(t, w)
		o := w.startHere()
		s.establish(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}, parkingQueue: {inspect: true}`), "billing")
		s.park(t, amqptest.Messages("m", parked)...)
		s.awaitParked(t, "billing", parked)
		s.awaitReasons(t, v1alpha1.ParkingReasons{Messages: parked, Sampled: parked, ParkedByConsumer: parked})
		if err := o.process.Kill(); err != nil {
			t.Fatal(err)
		}
		o = w.startHere()
		amqptest.Eventually(t, within, func() error {
			if n := o.reconciles(t, "broker"); n < 5 {
				return fmt.Errorf("the restarted operator has read the broker %d times", n)
			}
			return nil
		})
		for _, d := range amqptest.Take(t, s.app, "billing.parking", parked) {
			if times := d.Headers["x-delivery-count"]; times != int64(1) {
				t.Errorf("message %q was held and given back %v times, want once", d.MessageId, times)
			}
		}
	})
}
