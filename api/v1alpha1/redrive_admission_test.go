package v1alpha1_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	deadlineRange = "deadline must be from 1s to 8760h"
	emptyFilter   = "an empty filter chooses nothing in particular: set reason, messageIds or parkedBefore, or leave filter out for all"
	timePattern   = `should match '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$'`
)

func TestRedriveAcceptances(t *testing.T) {
	testAcceptances(t, "Redrive", []acceptance{
		{"nothing but what is needed", ``},
		{"the guide's", `{maxMessages: 1000, messagesPerSecond: 50, suspend: true, dryRun: true, action: Move}`},
		{"another queue", `from: "orders.billing.parking"`},
		{"messages thrown away", `action: Discard`},
		{"by their reason", `filter: {reason: DeliveryLimit}`},
		{"by their ids", `filter: {messageIds: [a, b]}`},
		{"by as many ids as it goes", `filter: {messageIds: [` + numbered("m", 1000) + `]}`},
		{"by their age", `filter: {parkedBefore: "2026-03-01T09:00:00Z"}`},
		{"by their age in another zone", `filter: {parkedBefore: "2026-03-01T09:00:00.25+01:00"}`},
		{"by everything", `filter: {reason: Consumer, messageIds: [a], parkedBefore: "2026-03-01T09:00:00Z"}`},
		{"the shortest deadline", `deadline: 1s`},
		{"the longest deadline", `deadline: 8760h`},
		{"gone at once", `ttlSecondsAfterFinished: 0`},
	})
}

var redriveRefusals = []refusal{
	{"it is of a subscription", `subscriptionRef: null`, "spec.subscriptionRef", "Required value"},
	{"a subscription has a name", `subscriptionRef: {}`, "spec.subscriptionRef.name", "Required value"},
	{"a name of more bytes than RabbitMQ allows", fmt.Sprintf("from: %q", strings.Repeat("é", 128)), "spec.from", queueTooLong},
	{"nothing at all", `maxMessages: 0`, "spec.maxMessages", "should be greater than or equal to 1"},
	{"at a standstill", `messagesPerSecond: 0`, "spec.messagesPerSecond", "should be greater than or equal to 1"},
	{"faster than can be", `messagesPerSecond: 100001`, "spec.messagesPerSecond", "should be less than or equal to 100000"},
	{"there is no such action", `action: Copy`, "spec.action", `Unsupported value: "Copy": supported values: "Move", "Discard"`},
	{"a filter of nothing", `filter: {}`, "spec.filter", emptyFilter},
	{"there is no such reason", `filter: {reason: Bored}`, "spec.filter.reason", `Unsupported value: "Bored": supported values: "Rejected", "DeliveryLimit", "Expired", "Consumer"`},
	{"no ids", `filter: {messageIds: []}`, "spec.filter.messageIds", "should have at least 1 items"},
	{"more ids than fit", `filter: {messageIds: [` + numbered("m", 1001) + `]}`, "spec.filter.messageIds", "Too many: 1001: must have at most 1000 items"},
	{"the same id twice", `filter: {messageIds: [a, a]}`, "spec.filter.messageIds[1]", `Duplicate value: "a"`},
	{"a time that would break the decoding of a list", `filter: {parkedBefore: "2026-03-01t09:00:00z"}`, "spec.filter.parkedBefore", timePattern},
	{"a day is no time", `filter: {parkedBefore: "2026-03-01"}`, "spec.filter.parkedBefore", timePattern},
	{"a deadline in days", `deadline: 1d`, "spec.deadline", badDuration},
	{"a deadline that is over at once", `deadline: 999ms`, "spec.deadline", deadlineRange},
	{"a deadline that nobody lives to see", `deadline: 8761h`, "spec.deadline", deadlineRange},
	{"gone before it was done", `ttlSecondsAfterFinished: -1`, "spec.ttlSecondsAfterFinished", "should be greater than or equal to 0"},
}

func TestRedriveRefusals(t *testing.T) { testRefusals(t, "Redrive", redriveRefusals) }

const redriveFixed = "a Redrive runs once: only suspend and ttlSecondsAfterFinished can be changed; create another Redrive"

// redriveChanges: everything but suspend and ttlSecondsAfterFinished stays as
// it is, whether it comes in, goes or becomes another.
var redriveChanges = func() []change {
	const kind = "Redrive"
	changes := []change{
		{"paused", kind, ``, `suspend: true`, nothingToComplain},
		{"going on", kind, `{suspend: true, maxMessages: 5}`, `maxMessages: 5`, nothingToComplain},
		{"kept for a day", kind, ``, `ttlSecondsAfterFinished: 86400`, nothingToComplain},
		{"another subscription", kind, ``, `subscriptionRef: {name: shipping}`, redriveFixed},
		{"the default action by its name", kind, ``, `action: Move`, nothingToComplain},
		{"discarding after all", kind, ``, `action: Discard`, redriveFixed},
		{"a dry run that is one no more", kind, `dryRun: true`, `dryRun: false`, redriveFixed},
		{"no dry run, by its name", kind, ``, `dryRun: false`, nothingToComplain},
		{"another filter", kind, `filter: {reason: Expired}`, `filter: {reason: Rejected}`, redriveFixed},
	}
	for _, field := range []struct{ name, a, b string }{
		{"from", "q1", "q2"}, {"maxMessages", "1", "2"}, {"messagesPerSecond", "1", "2"}, {"deadline", "1m", "2m"},
		{"filter", "{messageIds: [a]}", "{messageIds: [b]}"},
	} {
		a, b := field.name+": "+field.a, field.name+": "+field.b
		changes = append(changes,
			change{field.name + " comes in", kind, ``, a, redriveFixed},
			change{field.name + " goes", kind, a, ``, redriveFixed},
			change{field.name + " becomes another", kind, a, b, redriveFixed})
	}
	return slices.Clip(changes)
}()
