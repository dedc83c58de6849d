package v1alpha1_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const ownAlternate = "unroutable.queue is also the name of the alternate exchange before that queue, so it must not be the exchange's own; leave it out for <exchange>.unroutable"

func exchangeNamed(name string) string   { return fmt.Sprintf("exchange: %q", name) }
func unroutableNamed(name string) string { return fmt.Sprintf("unroutable: {queue: %q}", name) }

func TestTopicAcceptances(t *testing.T) {
	testAcceptances(t, "Topic", slices.Concat(
		[]acceptance{
			{"nothing but what is needed", ``},
			{"a broker of another namespace", `brokerRef: {name: main, namespace: messaging}`},
			{"a direct exchange", `type: direct`},
			{"a fanout exchange", `type: fanout`},
			{"a headers exchange", `type: headers`},
			{"subscriptions that it waits for", `requiredSubscriptions: [billing, shipping]`},
			{"as many of them as it goes", `requiredSubscriptions: [` + numbered("s", 64) + `]`},
			{"a catch-all by default names", `unroutable: {}`},
			{"a catch-all beside an exchange", `{exchange: orders, unroutable: {queue: orders.unroutable, backlogThreshold: 0}}`},
			{"an exchange that is nobody's is left alone", `adoptionPolicy: Refuse`},
			{"an exchange that goes with its Topic", `deletionPolicy: Delete`},
		},
		nameAcceptances(exchangeNamed, 255),
		nameAcceptances(unroutableNamed, 255)))
}

var topicRefusals = slices.Concat(
	[]refusal{
		{"an exchange is on a broker", `brokerRef: null`, "spec.brokerRef", "Required value"},
		{"a broker has a name", `brokerRef: {}`, "spec.brokerRef.name", "Required value"},
		{"a type that a plugin brings is not for Warren to declare", `type: x-random`, "spec.type", `Unsupported value: "x-random": supported values: "direct", "fanout", "topic", "headers"`},
		{"the same subscription twice", `requiredSubscriptions: [billing, billing]`, "spec.requiredSubscriptions[1]", `Duplicate value: "billing"`},
		{"more subscriptions than fit", `requiredSubscriptions: [` + numbered("s", 65) + `]`, "spec.requiredSubscriptions", "Too many: 65: must have at most 64 items"},
		{"a backlog of less than nothing", `unroutable: {backlogThreshold: -1}`, "spec.unroutable.backlogThreshold", "should be greater than or equal to 0"},
		{"an exchange that is its own alternate", `{exchange: orders, unroutable: {queue: orders}}`, "spec", ownAlternate},
		{"Selector without one", `allowedNamespaces: {from: Selector}`, "spec.allowedNamespaces", selector},
		{"a selector beside Same would be ignored", `allowedNamespaces: {from: Same, selector: {}}`, "spec.allowedNamespaces", selector},
		{"there is no such choice", `allowedNamespaces: {from: None}`, "spec.allowedNamespaces.from", `Unsupported value: "None": supported values: "Same", "All", "Selector"`},
		{"there is no such adoption policy", `adoptionPolicy: Steal`, "spec.adoptionPolicy", `Unsupported value: "Steal": supported values: "Refuse", "Adopt"`},
		{"there is no such way to credentials", `publisher: {credentials: Reuse}`, "spec.publisher.credentials", `Unsupported value: "Reuse": supported values: "None", "Generate"`},
		{"what only a subscription can do", `deletionPolicy: DeleteWhenEmpty`, "spec.deletionPolicy", `Unsupported value: "DeleteWhenEmpty": supported values: "Retain", "Delete"`},
	},
	nameRefusals(exchangeNamed, "spec.exchange", 255, exchangeTooLong, reservedName),
	nameRefusals(unroutableNamed, "spec.unroutable.queue", 255, queueTooLong, reservedName))

func TestTopicRefusals(t *testing.T) { testRefusals(t, "Topic", topicRefusals) }

// numbered is a YAML list's inside: s1, s2, ...
func numbered(prefix string, n int) string {
	items := make([]string, 0, n)
	for i := range n {
		items = append(items, fmt.Sprintf("%s%d", prefix, i+1))
	}
	return strings.Join(items, ", ")
}
