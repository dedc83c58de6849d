package v1alpha1_test

import (
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	vhostFixed        = "vhost is immutable: what was declared lives in the old vhost; create another Broker for the new one"
	topicBrokerFixed  = "brokerRef is immutable: the exchange lives on that broker; create another Topic"
	exchangeFixed     = "exchange is immutable: publishers and bindings know the old name; create another Topic"
	typeFixed         = "type is immutable: RabbitMQ cannot change an exchange's type; create another Topic with another exchange"
	brokerFixed       = "brokerRef is immutable: the queues and what is in them live on that broker; create another ReliableSubscription"
	workQueueFixed    = "workQueue.name is immutable: every other object is named after it; create another ReliableSubscription"
	nothingToComplain = ""
)

// change of a stored resource's spec, and what the API server has to say to it.
type change struct {
	reason, kind  string
	before, after string
	message       string
}

var changes = []change{
	{"another vhost", "Broker", `vhost: a`, `vhost: b`, vhostFixed},
	{"another vhost than the default", "Broker", ``, `vhost: b`, vhostFixed},
	{"back to the default vhost", "Broker", `vhost: a`, ``, vhostFixed},
	{"the default vhost by its name", "Broker", ``, `vhost: /`, nothingToComplain},
	{"the default vhost without its name", "Broker", `vhost: /`, ``, nothingToComplain},
	{"another address of the same broker", "Broker", ``, `amqp: {url: "amqps://elsewhere"}`, nothingToComplain},
	{"a cluster in place of addresses", "Broker", ``, byCluster, nothingToComplain},

	{"another broker of a Topic", "Topic", `brokerRef: {name: a}`, `brokerRef: {name: b}`, topicBrokerFixed},
	{"a broker of another namespace for a Topic", "Topic", `brokerRef: {name: a, namespace: shop}`, `brokerRef: {name: a, namespace: messaging}`, topicBrokerFixed},
	{"a namespace comes in for a Topic", "Topic", `brokerRef: {name: a}`, `brokerRef: {name: a, namespace: shop}`, topicBrokerFixed},
	{"a namespace goes for a Topic", "Topic", `brokerRef: {name: a, namespace: shop}`, `brokerRef: {name: a}`, topicBrokerFixed},
	{"another exchange", "Topic", `exchange: a`, `exchange: b`, exchangeFixed},
	{"an exchange other than by default", "Topic", ``, `exchange: a`, exchangeFixed},
	{"back to the exchange by default", "Topic", `exchange: a`, ``, exchangeFixed},
	{"the same exchange", "Topic", `exchange: a`, `exchange: a`, nothingToComplain},
	{"another type", "Topic", `type: direct`, `type: headers`, typeFixed},
	{"another type than the default", "Topic", ``, `type: fanout`, typeFixed},
	{"back to the default type", "Topic", `type: fanout`, ``, typeFixed},
	{"the default type by its name", "Topic", ``, `type: topic`, nothingToComplain},
	{"whatever else of a Topic", "Topic", `unroutable: {queue: q}`,
		`{requiredSubscriptions: [s], allowedNamespaces: {from: All}, adoptionPolicy: Refuse, deletionPolicy: Delete}`, nothingToComplain},

	{"another broker", "ReliableSubscription", `brokerRef: {name: a}`, `brokerRef: {name: b}`, brokerFixed},
	{"a broker of another namespace", "ReliableSubscription", `brokerRef: {name: a, namespace: shop}`, `brokerRef: {name: a, namespace: messaging}`, brokerFixed},
	{"a namespace comes in", "ReliableSubscription", `brokerRef: {name: a}`, `brokerRef: {name: a, namespace: shop}`, brokerFixed},
	{"a namespace goes", "ReliableSubscription", `brokerRef: {name: a, namespace: shop}`, `brokerRef: {name: a}`, brokerFixed},
	{"another work queue", "ReliableSubscription", `workQueue: {name: a}`, `workQueue: {name: b}`, workQueueFixed},
	{"a work queue other than by default", "ReliableSubscription", `workQueue: {}`, `workQueue: {name: a}`, workQueueFixed},
	{"a work queue other than by default, and its parent with it", "ReliableSubscription", ``, `workQueue: {name: a}`, workQueueFixed},
	{"back to the work queue by default", "ReliableSubscription", `workQueue: {name: a}`, `workQueue: {}`, workQueueFixed},
	{"back to the work queue by default, and its parent with it", "ReliableSubscription", `workQueue: {name: a}`, ``, workQueueFixed},
	{"the same work queue with other settings", "ReliableSubscription", `workQueue: {name: a}`, `workQueue: {name: a, deliveryLimit: 30}`, nothingToComplain},
	{"no work queue's name before and after", "ReliableSubscription", `workQueue: {deliveryLimit: 30}`, ``, nothingToComplain},

	{"another parking queue", "ReliableSubscription", `parkingQueue: {name: a}`, `parkingQueue: {name: b}`, nothingToComplain},
	{"back to the parking queue by default", "ReliableSubscription", `parkingQueue: {name: a}`, ``, nothingToComplain},
	{"other delays", "ReliableSubscription", delays("5s"), delays("10s, 1m"), nothingToComplain},
	{"from backoff to native", "ReliableSubscription", delays("5s"), native("1s", "1m"), nothingToComplain},
	{"from the default to immediate", "ReliableSubscription", ``, `retry: {immediate: {}}`, nothingToComplain},
	{"from native to the default", "ReliableSubscription", native("1s", "1m"), ``, nothingToComplain},
	{"from immediate to fixedDelay", "ReliableSubscription", `retry: {immediate: {}}`, fixed("30s"), nothingToComplain},
	{"other sources", "ReliableSubscription", `sources: [{exchange: a}, {exchange: b}]`, `sources: [{exchange: c}]`, nothingToComplain},
	{"settings in a policy", "ReliableSubscription", `settings: Arguments`, `settings: Policy`, nothingToComplain},
}

func TestChanges(t *testing.T) {
	c := theCluster(t)
	for _, tc := range slices.Concat(changes, redriveChanges) {
		t.Run(tc.reason, func(t *testing.T) {
			object := manifest(t, tc.kind, tc.before)
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			object.Object["spec"] = manifest(t, tc.kind, tc.after).Object["spec"]
			var want []string
			if tc.message != nothingToComplain {
				want = []string{"spec: " + tc.message}
			}
			assertComplaints(t, c.Update(t.Context(), object, client.FieldValidation("Strict")), want...)
		})
	}
}
