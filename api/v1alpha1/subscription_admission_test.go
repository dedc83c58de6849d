package v1alpha1_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	derivedName   = "parkingQueue.name must not be the work queue's name nor one that Warren derives from it (<workQueue.name>.wait.*, .dead, .park, .redrive, .retry, .retry.first, .retry.first.b, .return, .return.*); leave it out for <workQueue.name>.parking"
	workTooLong   = "workQueue.name holds at most 230 bytes: RabbitMQ allows 255, and Warren derives longer names from it"
	lowLimit      = "workQueue.deliveryLimit must be at least the number of retries (the delays, 3 when retry is left out, or maxAttempts - 1): RabbitMQ 4.3 counts each return from a wait queue, and would park before the last retry"
	starving      = "workQueue.maxLength goes with retry native or immediate only: messages that come back from a wait queue would starve before a full work queue"
	timeoutRange  = "consumerTimeout must be from 1m to 24h"
	keyTooLong    = "a routing key holds at most 255 bytes"
	notASource    = "RabbitMQ's own exchanges (amq.*) and the default exchange cannot be a source: declare a Topic"
	eitherSource  = "a source is either a topicRef (a Topic resource) or an exchange (by its name in RabbitMQ)"
	keysOrHeaders = "a source has routingKeys (direct and topic exchanges) or headers (headers exchanges), not both"
	ignoredHeader = "a headers exchange never looks at headers whose names begin with x-, it would take this one and ignore it: have publishers set a header of another name"
)

func workNamed(name string) string    { return fmt.Sprintf("workQueue: {name: %q}", name) }
func parkingNamed(name string) string { return fmt.Sprintf("parkingQueue: {name: %q}", name) }
func sourceNamed(name string) string  { return fmt.Sprintf("sources: [{exchange: %q}]", name) }

func TestSubscriptionAcceptances(t *testing.T) {
	testAcceptances(t, "ReliableSubscription", slices.Concat(
		[]acceptance{
			{"nothing but what is needed", ``},
			{"a broker of another namespace", `brokerRef: {name: main, namespace: messaging}`},
			{"every other setting", `{gating: Ignored, settings: Policy, onImmutableDrift: Migrate, adoptionPolicy: Adopt, deletionPolicy: Delete}`},
			{"thresholds that switch off", `{unconsumedThreshold: 0, parkingQueue: {backlogThreshold: 0}}`},
			{"every setting of a work queue", `workQueue: {name: w, deliveryLimit: 30, deadLetterStrategy: AtMostOnce, singleActiveConsumer: true, consumerTimeout: 1h, replicas: 5, leaderLocator: Balanced}`},
			{"the shortest consumer timeout", `workQueue: {consumerTimeout: 1m}`},
			{"the longest consumer timeout", `workQueue: {consumerTimeout: 24h}`},
			{"a parking queue that only looks like a wait queue", `{workQueue: {name: w}, parkingQueue: {name: w.waiting}}`},
			{"a parking queue of the default name", `{workQueue: {name: w}, parkingQueue: {name: w.parking}}`},
			{"a parking queue that is another's wait queue by name", `{workQueue: {name: w}, parkingQueue: {name: v.wait.1.5s}}`},
		},
		nameAcceptances(workNamed, 230),
		nameAcceptances(parkingNamed, 255),
		nameAcceptances(sourceNamed, 255)))
}

var subscriptionRefusals = slices.Concat(
	[]refusal{
		{"queues are on a broker", `brokerRef: null`, "spec.brokerRef", "Required value"},
		{"a broker has a name", `brokerRef: {name: ""}`, "spec.brokerRef.name", "should be at least 1 chars long"},
		{"there is no such gating", `gating: Maybe`, "spec.gating", `Unsupported value: "Maybe": supported values: "Required", "Ignored"`},
		{"there is no such place for settings", `settings: Definitions`, "spec.settings", `Unsupported value: "Definitions": supported values: "Arguments", "Policy"`},
		{"there is no such answer to drift", `onImmutableDrift: Recreate`, "spec.onImmutableDrift", `Unsupported value: "Recreate": supported values: "Report", "RecreateWhenEmpty", "Migrate"`},
		{"there is no such adoption policy", `adoptionPolicy: Steal`, "spec.adoptionPolicy", `Unsupported value: "Steal": supported values: "Refuse", "Adopt"`},
		{"there is no such way to credentials", `consumer: {credentials: Reuse}`, "spec.consumer.credentials", `Unsupported value: "Reuse": supported values: "None", "Generate"`},
		{"there is no such deletion policy", `deletionPolicy: Purge`, "spec.deletionPolicy", `Unsupported value: "Purge": supported values: "Retain", "DeleteWhenEmpty", "Delete"`},
		{"a threshold of less than nothing", `unconsumedThreshold: -1`, "spec.unconsumedThreshold", "should be greater than or equal to 0"},
		{"a backlog of less than nothing", `parkingQueue: {backlogThreshold: -1}`, "spec.parkingQueue.backlogThreshold", "should be greater than or equal to 0"},
	},
	nameRefusals(workNamed, "spec.workQueue.name", 230, workTooLong, reservedName),
	nameRefusals(parkingNamed, "spec.parkingQueue.name", 255, queueTooLong, reservedName),
	nameRefusals(sourceNamed, "spec.sources[0].exchange", 255, exchangeTooLong, notASource),
	derivedNameRefusals())

func TestSubscriptionRefusals(t *testing.T) {
	testRefusals(t, "ReliableSubscription", subscriptionRefusals)
}

// derivedNameRefusals has one case for each name that a topology may use itself.
func derivedNameRefusals() []refusal {
	var cases []refusal
	for _, suffix := range []string{"", ".dead", ".park", ".redrive", ".retry", ".retry.first", ".retry.first.b",
		".return", ".return.1", ".return.10", ".wait.30s", ".wait.1.5s"} {
		cases = append(cases, refusal{
			reason: "parked messages need a queue of their own, not W" + suffix,
			spec:   fmt.Sprintf("{workQueue: {name: orders.billing}, parkingQueue: {name: orders.billing%s}}", suffix),
			field:  "spec", message: derivedName,
		})
	}
	return cases
}

func TestSourceAcceptances(t *testing.T) {
	testAcceptances(t, "ReliableSubscription", []acceptance{
		{"no source: a queue that is published to directly", `sources: []`},
		{"a Topic with keys", `sources: [{topicRef: {name: orders}, routingKeys: ["order.*", "#"]}]`},
		{"a Topic of another namespace", `sources: [{topicRef: {name: orders, namespace: shop}}]`},
		{"an exchange of somebody else", `sources: [{exchange: event-bundle}]`},
		{"all headers must match", `sources: [{exchange: h, headers: {type: order, country: ""}}]`},
		{"any header must match", `sources: [{exchange: h, headers: {type: order}, match: Any}]`},
		{"a header's name that only looks like one of RabbitMQ's", `sources: [{exchange: h, headers: {X-Type: order, xtype: order, x: order}}]`},
		{"an empty key, as a direct exchange may have it", `sources: [{exchange: d, routingKeys: [""]}]`},
		{"the longest routing key", `sources: [{exchange: d, routingKeys: [` + strings.Repeat("k", 255) + `]}]`},
		{"the longest routing key in bytes", `sources: [{exchange: d, routingKeys: [` + umlauts(255) + `]}]`},
		{"as many keys as it goes", `sources: [{exchange: d, routingKeys: [` + numbered("k", 64) + `]}]`},
		{"as many sources as it goes", `sources: [` + repeated("{exchange: e}", 32) + `]`},
		{"as many headers as it goes", `sources: [{exchange: h, headers: {` + headers(32) + `}}]`},
	})
}

var sourceRefusals = []refusal{
	{"a source is some exchange", `sources: [{routingKeys: ["#"]}]`, "spec.sources[0]", eitherSource},
	{"two exchanges in one source", `sources: [{topicRef: {name: orders}, exchange: orders}]`, "spec.sources[0]", eitherSource},
	{"a Topic has a name", `sources: [{topicRef: {}}]`, "spec.sources[0].topicRef.name", "Required value"},
	{"no exchange looks at both", `sources: [{exchange: e, routingKeys: ["#"], headers: {type: order}}]`, "spec.sources[0]", keysOrHeaders},
	{"there is nothing to match", `sources: [{exchange: e, match: Any}]`, "spec.sources[0]", "match goes with headers"},
	{"there is no such way to match", `sources: [{exchange: e, headers: {type: order}, match: AllWithX}]`, "spec.sources[0].match", `Unsupported value: "AllWithX": supported values: "All", "Any"`},
	{"a header that the exchange does not look at", `sources: [{exchange: e, headers: {type: order, x-type: order}}]`, "spec.sources[0].headers", ignoredHeader},
	{"how to match is said in match", `sources: [{exchange: e, headers: {x-match: any}}]`, "spec.sources[0].headers", ignoredHeader},
	{"headers that are given are not none", `sources: [{exchange: e, headers: {}}]`, "spec.sources[0].headers", "should have at least 1 properties"},
	{"more headers than fit", `sources: [{exchange: e, headers: {` + headers(33) + `}}]`, "spec.sources[0].headers", "Too many: 33: must have at most 32 items"},
	{"keys that are given are not none", `sources: [{exchange: e, routingKeys: []}]`, "spec.sources[0].routingKeys", "should have at least 1 items"},
	{"the same key twice", `sources: [{exchange: e, routingKeys: [a, b, a]}]`, "spec.sources[0].routingKeys[2]", `Duplicate value: "a"`},
	{"more keys than fit", `sources: [{exchange: e, routingKeys: [` + numbered("k", 65) + `]}]`, "spec.sources[0].routingKeys", "Too many: 65: must have at most 64 items"},
	{"a key of 256 characters", `sources: [{exchange: e, routingKeys: [` + strings.Repeat("k", 256) + `]}]`, "spec.sources[0].routingKeys[0]", "Too long: may not be more than 255 bytes"},
	{"a key of 256 bytes in 128 characters", `sources: [{exchange: e, routingKeys: [` + umlauts(256) + `]}]`, "spec.sources[0].routingKeys", keyTooLong},
	{"more sources than fit", `sources: [` + repeated("{exchange: e}", 33) + `]`, "spec.sources", "Too many: 33: must have at most 32 items"},
}

func TestSourceRefusals(t *testing.T) { testRefusals(t, "ReliableSubscription", sourceRefusals) }

var workQueueRefusals = []refusal{
	{"a limit that nothing reaches", `workQueue: {deliveryLimit: 1000001}`, "spec.workQueue.deliveryLimit", "should be less than or equal to 1000000"},
	{"there is no such strategy", `workQueue: {deadLetterStrategy: ExactlyOnce}`, "spec.workQueue.deadLetterStrategy", `Unsupported value: "ExactlyOnce": supported values: "AtLeastOnce", "AtMostOnce"`},
	{"there is no such locator", `workQueue: {leaderLocator: Random}`, "spec.workQueue.leaderLocator", `Unsupported value: "Random": supported values: "ClientLocal", "Balanced"`},
	{"a timeout that the broker would notice late", `workQueue: {consumerTimeout: 59s}`, "spec.workQueue.consumerTimeout", timeoutRange},
	{"a timeout of more than a day", `workQueue: {consumerTimeout: 24h1s}`, "spec.workQueue.consumerTimeout", timeoutRange},
	{"days are written in hours", `workQueue: {consumerTimeout: 1d}`, "spec.workQueue.consumerTimeout", badDuration},
	{"a queue is on some node", `workQueue: {replicas: 0}`, "spec.workQueue.replicas", "should be greater than or equal to 1"},
	{"more replicas than are useful", `workQueue: {replicas: 10}`, "spec.workQueue.replicas", "should be less than or equal to 9"},
	{"a queue that holds nothing", `{workQueue: {maxLength: 0}, retry: {immediate: {}}}`, "spec.workQueue.maxLength", "should be greater than or equal to 1"},
	{"a length that is none", `{workQueue: {maxLength: 1000000001}, retry: {immediate: {}}}`, "spec.workQueue.maxLength", "should be less than or equal to 1000000000"},
}

func TestWorkQueueRefusals(t *testing.T) {
	testRefusals(t, "ReliableSubscription", workQueueRefusals)
}

func repeated(item string, n int) string {
	return strings.Join(slices.Repeat([]string{item}, n), ", ")
}

// headers is a YAML map's inside.
func headers(n int) string {
	return strings.ReplaceAll(numbered("h", n), ",", ": v,") + ": v"
}
