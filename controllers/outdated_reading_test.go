package controllers_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

// tearing is a session of which one reading comes out as when somebody
// deletes a queue between its requests: the queue is still listed, and its
// bindings are not. With real requests that is a matter of milliseconds.
type tearing struct {
	controllers.Session

	mutex sync.Mutex
	queue string
	last  topology.SeenQueue
	torn  bool
}

func (s *tearing) Observe(ctx context.Context, opts broker.ObserveOptions) (*broker.Observation, error) {
	seen, err := s.Session.Observe(ctx, opts)
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch q, there := seen.Snapshot.Queues[s.queue]; {
	case there:
		s.last = q
	case s.last.Name != "" && !s.torn:
		s.torn = true
		seen.Snapshot.Queues = maps.Clone(seen.Snapshot.Queues)
		seen.Snapshot.Queues[s.queue] = s.last
	}
	return seen, nil
}

// A reading that was out of date when it was acted on is no reason to say that
// the broker refuses: the next one is, and then an Event names all that had gone.
func TestAReadingThatIsOutOfDate(t *testing.T) {
	vhost := localenv.Broker(t, localenv.Series43).NewVhost(t)
	session := &tearing{queue: "billing"}
	w := newWorld(t, func(c broker.Config) controllers.Session {
		session.Session = broker.NewSession(c, broker.Options{})
		return session
	})
	w.createBroker(configOf(vhost))
	sub := subscription("billing")
	w.create(topic("orders"))
	w.create(sub)
	w.awaitCondition(sub, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReliable)
	since := meta.FindStatusCondition(sub.Status.Conditions, v1alpha1.ConditionEstablished).LastTransitionTime

	byHand := broker.NewSession(configOf(vhost), broker.Options{})
	defer byHand.Close()
	if _, err := byHand.DeleteQueue(t.Context(), "billing"); err != nil {
		t.Fatal(err)
	}
	note := w.awaitEvent("Recreated", `declared again, since it had gone from the broker: queue "billing", binding of queue "billing"`)
	if !session.torn {
		t.Fatal("no reading was torn, so this test has shown nothing")
	}
	if lost := "what was in a queue that had gone is lost"; !strings.Contains(note, lost) {
		t.Errorf("the Event says %q, want %q in it", note, lost)
	}
	w.awaitCondition(sub, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReliable)
	if now := meta.FindStatusCondition(sub.Status.Conditions, v1alpha1.ConditionEstablished).LastTransitionTime; !now.Equal(&since) {
		t.Errorf("condition Established has changed at %s, want it True since %s", now, since)
	}
}

// awaitEvent waits for an Event whose note begins with some words, and gives the note.
func (w *world) awaitEvent(reason, begin string) string {
	w.t.Helper()
	var note string
	w.eventually(func() error {
		var events eventsv1.EventList
		if err := w.List(w.t.Context(), &events, client.InNamespace(w.namespace)); err != nil {
			return err
		}
		var notes []string
		for _, e := range events.Items {
			if note = e.Note; e.Reason == reason && strings.HasPrefix(note, begin) {
				return nil
			}
			notes = append(notes, e.Reason+": "+e.Note)
		}
		return fmt.Errorf("Events say\n%s\nwant %s: %s", strings.Join(notes, "\n"), reason, begin)
	})
	return note
}
