package facts

import (
	"net/http"
	"testing"

	"github.com/warren-mq/warren/test/amqptest"
)

// What waits to be dead-lettered is destroyed when the policy that makes the
// queue at-least-once changes to at-most-once, or goes. A change of another key costs nothing.
func TestFact22PolicyDestroysWaitingDeadLetters(t *testing.T) {
	onEachBroker(t, func(t *testing.T, l *lab) {
		settings := func(strategy string, limit int) map[string]any {
			return map[string]any{"dead-letter-exchange": "nowhere", "dead-letter-strategy": strategy, "overflow": "reject-publish", "delivery-limit": limit}
		}
		for _, c := range []struct {
			name   string
			change func(t *testing.T, l *lab)
			kept   int
		}{
			{"AnotherLimit", func(t *testing.T, l *lab) { l.policy(t, "work", settings("at-least-once", 5)) }, 1},
			{"AtMostOnce", func(t *testing.T, l *lab) { l.policy(t, "work", settings("at-most-once", 20)) }, 0},
			{"Removed", func(t *testing.T, l *lab) { l.manage(t, http.MethodDelete, nil, nil, "policies", l.Name, "work") }, 0},
		} {
			l.run(t, c.name, func(t *testing.T, l *lab) {
				l.exchange(t, "nowhere", "fanout")
				l.policy(t, "work", settings("at-least-once", 20))
				l.queue(t, "work")
				l.publish(t, "", "work", amqptest.Message("m"))
				l.rejectOne(t, "work")
				l.awaitHeld(t, "work", held{messages: 1, deadLetters: 1})
				c.change(t, l)
				// A second one tells statistics of after the change from older ones.
				l.publish(t, "", "work", amqptest.Message("afterwards"))
				l.awaitHeld(t, "work", held{messages: c.kept + 1, deadLetters: c.kept})
			})
		}
	})
}
