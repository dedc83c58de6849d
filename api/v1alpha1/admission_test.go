package v1alpha1_test

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// acceptance is a spec that must be good.
type acceptance struct {
	reason string
	// spec has the fields that are added to a minimal one, as YAML.
	spec string
}

// refusal is a spec that must not be good, and what its author is told.
type refusal struct {
	reason string
	// spec has the fields that are added to a minimal one, as YAML; null takes one away.
	spec string
	// field that is at fault.
	field string
	// message about it, as the manifest's author reads it.
	message string
}

func testAcceptances(t *testing.T, kind string, cases []acceptance) {
	c := theCluster(t)
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			if err := c.tryCreate(t, manifest(t, kind, tc.spec)); err != nil {
				t.Errorf("refused: %v", err)
			}
		})
	}
}

func testRefusals(t *testing.T, kind string, cases []refusal) {
	c := theCluster(t)
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			assertComplaints(t, c.tryCreate(t, manifest(t, kind, tc.spec)), tc.field+": "+tc.message)
		})
	}
}

// assertComplaints wants exactly these complaints, each as "field: message".
func assertComplaints(t *testing.T, err error, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, complaints(err)); diff != "" {
		t.Errorf("what the API server says (-want +got):\n%s", diff)
	}
}

// tryCreate asks the API server without storing anything. Unknown fields are refused.
func (c *cluster) tryCreate(t *testing.T, object client.Object) error {
	t.Helper()
	return c.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
}

// minimal specs, to which the cases add.
var minimal = map[string]string{
	"Broker": `
amqp: {url: "amqp://rabbitmq.messaging.svc:5672"}
management: {url: "http://rabbitmq.messaging.svc:15672"}
credentialsSecretRef: {name: rabbitmq-warren}`,
	"Topic":                `brokerRef: {name: main}`,
	"ReliableSubscription": `brokerRef: {name: main}`,
	"Redrive":              `subscriptionRef: {name: billing}`,
}

// manifest is a minimal one of a kind, with fields of the spec added.
func manifest(t *testing.T, kind, fields string) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "warren.dev/v1alpha1",
		"kind":       kind,
		"metadata":   map[string]any{"generateName": "case-", "namespace": "default"},
		"spec":       merged(parse(t, minimal[kind]), parse(t, fields)),
	}}
}

// parse reads YAML with numbers as a Kubernetes client has them.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	fields := map[string]any{}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err == nil && string(raw) != "null" {
		err = json.Unmarshal(raw, &fields)
	}
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return fields
}

// merged adds fields as a JSON merge patch does, one level deep: null takes one away.
func merged(fields, more map[string]any) map[string]any {
	maps.Copy(fields, more)
	maps.DeleteFunc(fields, func(_ string, v any) bool { return v == nil })
	return fields
}

// complaints lists what a refusal says, as "field: message", without the
// value that the API server quotes.
func complaints(err error) []string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		if err == nil {
			return nil
		}
		return []string{err.Error()}
	}
	var list []string
	for _, cause := range status.Status().Details.Causes {
		if message := plain(cause); !followsFromAnother(message) {
			list = append(list, cause.Field+": "+message)
		}
	}
	slices.Sort(list)
	return list
}

var quotedValue = regexp.MustCompile(`^Invalid value: ("(\\.|[^"\\])*": |-?[0-9]+: |null: )?`)

// plain is a complaint without the value at fault and, once more, the field.
func plain(cause metav1.StatusCause) string {
	return strings.TrimPrefix(quotedValue.ReplaceAllString(cause.Message, ""), cause.Field+" in body ")
}

// followsFromAnother: where a value breaks the schema, the API server says
// besides which of the CEL rules could not be evaluated.
func followsFromAnother(message string) bool {
	return strings.HasPrefix(message, "some validation rules were not checked because the object was invalid") ||
		strings.HasPrefix(message, "type conversion error from 'string' to 'google.protobuf.Duration'")
}
