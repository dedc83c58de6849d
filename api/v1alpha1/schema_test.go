package v1alpha1_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// field is a field of a kind, with its path: spec.sources[].exchange.
type field struct {
	path   string
	schema apiextensionsv1.JSONSchemaProps
}

// fieldsOf lists a field and all that are in it.
func fieldsOf(f field) []field {
	fields := []field{f}
	for name, p := range f.schema.Properties {
		fields = append(fields, fieldsOf(field{strings.TrimPrefix(f.path+"."+name, "."), p})...)
	}
	if f.schema.Items != nil {
		fields = append(fields, fieldsOf(field{f.path + "[]", *f.schema.Items.Schema})...)
	}
	if f.schema.AdditionalProperties != nil {
		fields = append(fields, fieldsOf(field{f.path + "{}", *f.schema.AdditionalProperties.Schema})...)
	}
	return fields
}

// kindFields lists the fields of a CRD, its own part of the metadata left out.
func kindFields(d *apiextensionsv1.CustomResourceDefinition) []field {
	fields := fieldsOf(field{"", *d.Spec.Versions[0].Schema.OpenAPIV3Schema})
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.path, b.path) })
	return fields
}

// The API server refuses CEL rules that may cost too much, and says so on a
// CRD whose schema is not structural.
func TestTheAPIServerTakesTheCRDs(t *testing.T) {
	c := theCluster(t)
	for _, d := range c.definitions {
		stored := &apiextensionsv1.CustomResourceDefinition{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(d), stored); err != nil {
			t.Fatal(err)
		}
		got := map[apiextensionsv1.CustomResourceDefinitionConditionType]apiextensionsv1.ConditionStatus{}
		for _, condition := range stored.Status.Conditions {
			got[condition.Type] = condition.Status
		}
		if got[apiextensionsv1.Established] != apiextensionsv1.ConditionTrue || got[apiextensionsv1.NonStructuralSchema] == apiextensionsv1.ConditionTrue {
			t.Errorf("%s: %v", d.Name, got)
		}
	}
}

// kubectl explain must teach: it prints the descriptions.
func TestEveryFieldIsDescribed(t *testing.T) {
	for _, d := range theCluster(t).definitions {
		for _, f := range kindFields(d) {
			if isValue := strings.HasSuffix(f.path, "]") || strings.HasSuffix(f.path, "}"); isValue || f.path == "metadata" {
				continue
			}
			if f.schema.Description == "" {
				t.Errorf("%s: %q has no description", d.Spec.Names.Kind, f.path)
			}
		}
	}
}

// Without them the cost of a CEL rule cannot be bounded.
func TestEveryListAndStringOfASpecIsBounded(t *testing.T) {
	for _, d := range theCluster(t).definitions {
		for _, f := range kindFields(d) {
			if !strings.HasPrefix(f.path, "spec") || strings.Contains(f.path, "elector.match") {
				continue // of Kubernetes itself: a label selector
			}
			s := f.schema
			unbounded := s.Type == "array" && s.MaxItems == nil ||
				s.Type == "string" && s.MaxLength == nil && s.Enum == nil ||
				s.AdditionalProperties != nil && s.MaxProperties == nil
			if unbounded {
				t.Errorf("%s: %s has no upper bound", d.Spec.Names.Kind, f.path)
			}
			if s.Type == "array" && s.XListType == nil {
				t.Errorf("%s: %s has no list type", d.Spec.Names.Kind, f.path)
			}
		}
	}
}

func TestEveryRuleIsTested(t *testing.T) {
	tested := testedComplaints()
	for _, d := range theCluster(t).definitions {
		for _, f := range kindFields(d) {
			for _, complaint := range complaintsOf(f) {
				if !tested[d.Spec.Names.Kind].has(complaint) {
					t.Errorf("%s: no test is refused by %q", d.Spec.Names.Kind, complaint)
				}
			}
		}
	}
}

// complaintsOf lists what the rules of a field have to say, lengths of strings left out.
func complaintsOf(f field) []string {
	if !strings.HasPrefix(f.path, "spec") {
		return nil
	}
	var list []string
	add := func(applies bool, format string, args ...any) {
		if applies {
			list = append(list, f.path+": "+fmt.Sprintf(format, args...))
		}
	}
	s := f.schema
	for _, rule := range s.XValidations {
		add(true, "%s", rule.Message)
	}
	add(s.Pattern != "", "should match '%s'", s.Pattern)
	add(s.Enum != nil, "supported values")
	if s.Minimum != nil {
		add(true, "should be greater than or equal to %v", *s.Minimum)
	}
	if s.Maximum != nil {
		add(true, "should be less than or equal to %d", int64(*s.Maximum))
	}
	if s.MinItems != nil {
		add(true, "should have at least %d items", *s.MinItems)
	}
	if s.MaxItems != nil {
		add(true, "must have at most %d items", *s.MaxItems)
	}
	if s.MinProperties != nil {
		add(true, "should have at least %d properties", *s.MinProperties)
	}
	if s.MaxProperties != nil {
		add(true, "must have at most %d items", *s.MaxProperties)
	}
	if s.XListType != nil && *s.XListType == "set" {
		list = append(list, f.path+"[]: Duplicate value")
	}
	return list
}

// complaintSet has complaints as "field: message".
type complaintSet []string

// has tells whether there is one about the same field that has the same text in it.
func (s complaintSet) has(complaint string) bool {
	path, text, _ := strings.Cut(complaint, ": ")
	return slices.ContainsFunc(s, func(tested string) bool {
		return strings.HasPrefix(tested, path+": ") && strings.Contains(tested, text)
	})
}

var index = regexp.MustCompile(`\[[0-9]+\]`)

// testedComplaints gathers what the tables of this package expect, by kind.
func testedComplaints() map[string]complaintSet {
	tested := map[string]complaintSet{}
	note := func(kind, field, message string) {
		tested[kind] = append(tested[kind], index.ReplaceAllString(field, "[]")+": "+message)
	}
	for kind, cases := range map[string][]refusal{
		"Broker":               brokerRefusals,
		"Topic":                topicRefusals,
		"ReliableSubscription": slices.Concat(subscriptionRefusals, sourceRefusals, workQueueRefusals, retryRefusals),
		"Redrive":              redriveRefusals,
	} {
		for _, tc := range cases {
			note(kind, tc.field, tc.message)
		}
	}
	for _, tc := range twofoldRefusals {
		for _, want := range tc.want {
			path, message, _ := strings.Cut(want, ": ")
			note("ReliableSubscription", path, message)
		}
	}
	for _, tc := range slices.Concat(changes, redriveChanges) {
		note(tc.kind, "spec", tc.message)
	}
	return tested
}
