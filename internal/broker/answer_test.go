package broker

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/warren-mq/warren/internal/topology"
)

func packed(t *testing.T, content string) answer {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(content))
	must(t, err)
	must(t, w.Close())
	return answer{content: b.Bytes(), packed: true}
}

// What has not changed is not decoded again, and what has shares what it can.
func TestRememberedAnswer(t *testing.T) {
	const first = `[{"name":"q","arguments":{"x-message-ttl":5000}},{"name":"r","arguments":{"x-message-ttl":5000}}]`
	const second = `[{"name":"q","arguments":{"x-message-ttl":5000}},{"name":"s","arguments":[]},{"name":"t","arguments":null}]`
	decoded := 0
	var list remembered[[]queueRecord]
	read := func(a answer) []queueRecord {
		t.Helper()
		queues, err := list.of(a, func(a answer, shared *objects) ([]queueRecord, error) {
			decoded++
			return decodeQueues(a, shared)
		})
		must(t, err)
		return queues
	}

	one := read(packed(t, first))
	again := read(packed(t, first))
	if decoded != 1 || &one[0] != &again[0] {
		t.Errorf("an answer that has not changed was decoded %d times", decoded)
	}
	other := read(packed(t, second))
	wantEqual(t, "names", []string{other[0].Name, other[1].Name, other[2].Name}, []string{"q", "s", "t"})
	wantEqual(t, "arguments", other[0].Arguments.get(), topology.Arguments{"x-message-ttl": int64(5000)})
	wantEqual(t, "a list for an empty object", other[1].Arguments.get(), topology.Arguments{})
	wantEqual(t, "null", other[2].Arguments.get(), nil)
	one[0].Arguments.get()["seen"] = true
	for name, q := range map[string]queueRecord{"of one reading": one[1], "of the next reading": other[0]} {
		if q.Arguments.get()["seen"] == nil {
			t.Errorf("the same arguments %s were decoded again", name)
		}
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for reason, a := range map[string]answer{
		"an object":              packed(t, `{}`),
		"cut short":              packed(t, `[{"name":"q"}`),
		"no JSON":                {content: []byte("<html>")},
		"not packed":             {content: []byte("[]"), packed: true},
		"arguments are a number": packed(t, `[{"name":"q","arguments":7}]`),
		"empty":                  {},
	} {
		t.Run(reason, func(t *testing.T) {
			var list remembered[[]queueRecord]
			for range 2 { // A failure is not remembered.
				if queues, err := list.of(a, decodeQueues); err == nil {
					t.Errorf("was taken for %v", queues)
				}
			}
		})
	}
}
