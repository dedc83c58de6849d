package topology_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

func TestNamingFits(t *testing.T) {
	cases := []struct {
		reason, pattern, name string
		want                  bool
	}{
		{"no pattern asks nothing", ``, "anything", true},
		{"one's own prefix", `{namespace}\..+`, "team-a.billing", true},
		{"somebody else's prefix", `{namespace}\..+`, "team-b.billing", false},
		{"anchored at the start", `{namespace}\..+`, "x.team-a.billing", false},
		{"anchored at the end", `{namespace}\.[a-z]+`, "team-a.billing.parking", false},
		{"a line's end is not the end", `{namespace}\.[a-z]+`, "team-a.billing\nx", false},
		{"an alternative is anchored too", `shared\..+|{namespace}\..+`, "team-b.shared.x", false},
		{"the namespace stands for itself", `{namespace}\..+`, "teamXa.billing", false},
		{"what follows counts for the whole namespace", `{namespace}?\.x`, ".x", true},
		{"twice", `{namespace}/{namespace}\..+`, "team-a/team-a.x", true},
		{"twice, once another", `{namespace}/{namespace}\..+`, "team-a/team-b.x", false},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			naming, err := topology.NewNaming(tc.pattern, "team-a")
			if err != nil {
				t.Fatal(err)
			}
			if got := naming.Fits(tc.name); got != tc.want {
				t.Errorf("%q fits %q for namespace team-a: %t, want %t", tc.name, tc.pattern, got, tc.want)
			}
		})
	}
}

func TestNamingThatIsNone(t *testing.T) {
	for reason, pattern := range map[string]string{
		"a lone parenthesis would leave the anchors": `{namespace}\.x)|(.*`,
		"a quote without end would swallow them":     `{namespace}\Q.`,
		"a range that runs backwards":                `[z{namespace}]`,
	} {
		_, err := topology.NewNaming(pattern, "z-a")
		if err == nil || !strings.Contains(err.Error(), "is not a regular expression") {
			t.Errorf("%s: %q gives %v, want a refusal", reason, pattern, err)
		}
	}
}

// Every queue and every exchange is looked at, not the work queue alone: a
// pattern that leaves out one of them refuses the topology.
func TestNamingChecksEveryName(t *testing.T) {
	spec := parseSpec(t, `{workQueue: {name: billing}, parkingQueue: {name: given up}}`)
	compiled := compile(t, topology.Subscription{Namespace: "shop", Name: "billing", Spec: spec, Broker: topology.Version{Major: 4, Minor: 3}})
	names := map[string]bool{}
	for _, o := range compiled.Objects {
		switch o := o.(type) {
		case topology.Queue:
			names[o.Name] = true
		case topology.Exchange:
			names[o.Name] = true
		}
	}
	if !names["given up"] || !names["billing.wait.3.5m"] || !names["billing.return.3"] {
		t.Fatalf("the topology has %v", names)
	}
	for left := range names {
		var others []string
		for name := range names {
			if name != left {
				others = append(others, regexp.QuoteMeta(name))
			}
		}
		naming, err := topology.NewNaming(strings.Join(others, "|"), "shop")
		if err != nil {
			t.Fatal(err)
		}
		if err := naming.Check(compiled); err == nil || !strings.Contains(err.Error(), `"`+left+`" does not fit`) {
			t.Errorf("without %q the refusal is %v", left, err)
		}
	}
}

func TestNamingRefusal(t *testing.T) {
	naming, err := topology.NewNaming(`{namespace}\..+`, "shop")
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := topology.CompileTopic(topology.Topic{Name: "orders", Spec: &v1alpha1.TopicSpec{Exchange: "billing.orders"}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `exchange "billing.orders" does not fit the Broker's spec.naming, '{namespace}\..+', with "shop" for {namespace}: give it a name that does (spec.exchange, spec.unroutable.queue)`
	if err := naming.Check(compiled); err == nil || err.Error() != want {
		t.Errorf("refusal is %v, want %s", err, want)
	}
}

func TestNamingOverlap(t *testing.T) {
	cases := []struct {
		reason, pattern string
		want            bool
	}{
		{"a dot ends a namespace", `{namespace}\..*`, false},
		{"at the end", `.*\.{namespace}`, false},
		{"in the middle, between marks", `v1\.{namespace}\.[a-z.]+`, false},
		{"twice", `{namespace}\.{namespace}`, false},
		{"upper case", `(?i){namespace}\..*`, false},
		{"team and team-a", `{namespace}.*`, true},
		{"a hyphen is a part of namespaces", `{namespace}-.*`, true},
		{"anywhere", `.*{namespace}.*`, true},
		{"one may do without", `({namespace}\.)?.*`, true},
		{"an alternative for all", `{namespace}\..*|shared\..*`, true},
		{"a prefix that looks like a namespace", `(team\.)?{namespace}\..*`, true},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			name, overlaps, proved := topology.NamingOverlap(tc.pattern)
			if overlaps != tc.want || !proved {
				t.Errorf("%q overlaps: %t with %q, proved %t; want %t", tc.pattern, overlaps, name, proved, tc.want)
			}
		})
	}
	for _, pattern := range []string{`([a-y]{1,2}){0,400}\.{namespace}`, `[{namespace}].*`} {
		if _, overlaps, proved := topology.NamingOverlap(pattern); overlaps || proved {
			t.Errorf("%q overlaps: %t, proved %t; want neither", pattern, overlaps, proved)
		}
	}
}
