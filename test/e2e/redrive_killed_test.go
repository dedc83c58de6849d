package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// 10,000 messages are brought back while the operator is killed three times
// and the broker is restarted once: each arrives, none is lost, none is left.
func TestRedriveSurvivesKills(t *testing.T) {
	t.Parallel()
	for _, series := range localenv.AllSeries() {
		t.Run(string(series), func(t *testing.T) {
			t.Parallel()
			const n = 10_000
			b := ownBroker(t, series)
			s := stageOn(t, newTenantAlone(t, b))
			o := s.startHere()
			s.establish(immediateBilling, "billing")
			s.park(t, amqptest.Messages("m", n)...)
			s.apply(redriveManifest("all", `messagesPerSecond: 500`))
			for kill := range 3 {
				s.awaitMoved("all", int64(1500*(kill+1)))
				if err := o.process.Kill(); err != nil {
					t.Fatal(err)
				}
				o = s.startHere()
			}
			s.awaitMoved("all", 6000)
			if err := b.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.app = s.application()
			rd := s.awaitRedrive("all", 5*time.Minute, "Complete", "Completed")
			assertTally(t, rd, tally{Total: n, Moved: n})
			s.assertReady(t, "billing.parking", 0)
			s.assertAllArrived(t, n)
		})
	}
}

// assertAllArrived wants each of the messages m-1 to m-n in the work queue, and tells how many are there twice.
func (s *stage) assertAllArrived(t *testing.T, n int) {
	t.Helper()
	consumer := s.consume("billing", amqptest.InTurn(amqptest.Ack), amqptest.Prefetch(500))
	times := map[string]int{}
	amqptest.Eventually(t, 2*within, func() error {
		clear(times)
		for _, d := range consumer.Deliveries() {
			times[d.MessageId]++
		}
		if len(times) < n {
			return fmt.Errorf("%d of %d messages have arrived", len(times), n)
		}
		return nil
	})
	total := len(consumer.Deliveries())
	t.Logf("%d messages, %d deliveries: %.2f %% duplicates", n, total, 100*float64(total-n)/float64(n))
	for _, id := range idsOf("m", n) {
		if times[id] == 0 {
			t.Errorf("message %q has not arrived", id)
		}
	}
}
