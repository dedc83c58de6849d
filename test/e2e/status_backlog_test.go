package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// An Event tells when a backlog begins, when it has doubled, and when it is
// cleared, and none tells of each count in between.
func TestEventsOfABacklog(t *testing.T) {
	t.Parallel()
	s := newStage(t, localenv.Series43)
	s.establish(immediateBilling, "billing")
	s.park(t, amqptest.Messages("first", 3)...)
	s.awaitEvent("rsub/billing", "ParkingBacklog", `queue "billing.parking" holds 3 parked messages`)
	s.park(t, amqptest.Messages("more", 4)...)
	s.awaitEvent("rsub/billing", "ParkingBacklogDoubled", `queue "billing.parking" holds 7 parked messages, twice the 3 that were told last, or more`)
	s.park(t, amqptest.Messages("some", 2)...)
	s.awaitCounts("billing", counts{messages: known(0), ready: known(0), unacknowledged: known(0), consumers: known(0), retrying: known(0), parked: known(9)})
	if notes := s.eventNotes("rsub/billing", "ParkingBacklogDoubled"); len(notes) != 1 {
		t.Errorf("9 parked messages are not twice 7, and there are Events %q", notes)
	}
	amqptest.Take(t, s.app, "billing.parking", 9)
	s.await("rsub/billing", expected{v1alpha1.ConditionParkingBacklog, metav1.ConditionFalse, v1alpha1.ReasonEmpty, ""})
	s.awaitEvent("rsub/billing", "ParkingCleared", `queue "billing.parking" is empty`)
}
