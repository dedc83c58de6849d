package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/warren-mq/warren/test/amqptest"
)

// manage calls the management API as the administrator, and decodes its answer
// into what is not nil.
func (l *lab) manage(t *testing.T, method string, body, into any, path ...string) {
	t.Helper()
	request := l.request(t, method, body, path)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %s: %s", method, request.URL.EscapedPath(), response.Status, answer)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatalf("%s %s: %v in %s", method, request.URL.EscapedPath(), err, answer)
	}
}

func (l *lab) request(t *testing.T, method string, body any, path []string) *http.Request {
	t.Helper()
	address := l.Broker.ManagementURL() + "/api"
	for _, segment := range path {
		address += "/" + url.PathEscape(segment)
	}
	content, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(l.Broker.AdminUser, l.Broker.AdminPassword)
	return request
}

// policy sets a policy on the queue with exactly this name, which needs no
// quoting in a regular expression.
func (l *lab) policy(t *testing.T, queue string, definition map[string]any) {
	t.Helper()
	policy := map[string]any{"pattern": "^" + queue + "$", "definition": definition, "apply-to": "quorum_queues"}
	l.manage(t, http.MethodPut, policy, nil, "policies", l.Name, queue)
}

// arguments reads back what an exchange or a queue was declared with; kind is
// the API's plural.
func (l *lab) arguments(t *testing.T, kind, name string) map[string]any {
	t.Helper()
	var resource struct {
		Arguments map[string]any `json:"arguments"`
	}
	l.manage(t, http.MethodGet, nil, &resource, kind, l.Name, name)
	return resource.Arguments
}

// held is what the statistics say of a queue. They are some seconds late.
type held struct {
	// messages are all that the queue holds, dead letters included.
	messages int
	// deadLetters are the ones that cannot leave.
	deadLetters int
}

func (l *lab) awaitHeld(t *testing.T, queue string, want held) {
	t.Helper()
	amqptest.Eventually(t, amqptest.Deadline, func() error {
		got, err := l.statistics(t, queue)
		if err == nil && got != want {
			err = fmt.Errorf("queue %q holds %+v, want %+v", queue, got, want)
		}
		return err
	})
}

func (l *lab) statistics(t *testing.T, queue string) (held, error) {
	t.Helper()
	var statistics struct {
		Messages    *int `json:"messages"`
		DeadLetters *int `json:"messages_dlx"`
	}
	l.manage(t, http.MethodGet, nil, &statistics, "queues", l.Name, queue)
	if statistics.Messages == nil || statistics.DeadLetters == nil {
		return held{}, errors.New("no statistics yet") // which does not mean 0
	}
	return held{messages: *statistics.Messages, deadLetters: *statistics.DeadLetters}, nil
}
