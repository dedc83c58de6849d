package e2e

import (
	"encoding/json"
	"fmt"
	"strings"

	eventsv1 "k8s.io/api/events/v1"

	"github.com/warren-mq/warren/test/amqptest"
)

var kinds = map[string]string{"rsub": "ReliableSubscription", "topic": "Topic", "broker": "Broker", "redrive": "Redrive", "pod": "Pod"}

// eventNotes are the notes of the Events about a resource that have a reason.
func (w *tenant) eventNotes(resource, reason string) []string {
	w.t.Helper()
	content, err := w.api.Get().AbsPath(w.path("event")).DoRaw(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var list eventsv1.EventList
	if err := json.Unmarshal(content, &list); err != nil {
		w.t.Fatal(err)
	}
	kind, name, _ := strings.Cut(resource, "/")
	var notes []string
	for _, e := range list.Items {
		if e.Regarding.Kind == kinds[kind] && e.Regarding.Name == name && e.Reason == reason {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

// awaitEvent waits for an Event whose note has all parts, and gives the note.
func (w *tenant) awaitEvent(resource, reason string, parts ...string) string {
	w.t.Helper()
	var found string
	amqptest.Eventually(w.t, within, func() error {
		notes := w.eventNotes(resource, reason)
		for _, note := range notes {
			if found = note; containsAll(note, parts) {
				return nil
			}
		}
		return fmt.Errorf("Events %s about %s say %q, want one with all of %q", reason, resource, notes, parts)
	})
	return found
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
