package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ReliableSubscriptionSpec says which events one consumer must hear, how
// failures are retried, and where a message goes that cannot be processed.
//
// +kubebuilder:validation:XValidation:rule="self.brokerRef == oldSelf.brokerRef",message="brokerRef is immutable: the queues and what is in them live on that broker; create another ReliableSubscription"
// +kubebuilder:validation:XValidation:rule="has(self.workQueue) && has(self.workQueue.name) ? has(oldSelf.workQueue) && has(oldSelf.workQueue.name) && self.workQueue.name == oldSelf.workQueue.name : !has(oldSelf.workQueue) || !has(oldSelf.workQueue.name)",message="workQueue.name is immutable: every other object is named after it; create another ReliableSubscription"
// +kubebuilder:validation:XValidation:rule="!has(self.workQueue) || !has(self.workQueue.deliveryLimit) || self.workQueue.deliveryLimit >= (!has(self.retry) ? 3 : has(self.retry.backoff) ? size(self.retry.backoff.delays) : has(self.retry.fixedDelay) ? self.retry.fixedDelay.maxAttempts - 1 : 0)",message="workQueue.deliveryLimit must be at least the number of retries (the delays, 3 when retry is left out, or maxAttempts - 1): RabbitMQ 4.3 counts each return from a wait queue, and would park before the last retry"
// +kubebuilder:validation:XValidation:rule="!has(self.workQueue) || !has(self.workQueue.maxLength) || (has(self.retry) && (has(self.retry.native) || has(self.retry.immediate)))",message="workQueue.maxLength goes with retry native or immediate only: messages that come back from a wait queue would starve before a full work queue"
// +kubebuilder:validation:XValidation:rule="!has(self.parkingQueue) || !has(self.parkingQueue.name) || !has(self.workQueue) || !has(self.workQueue.name) || !(self.parkingQueue.name == self.workQueue.name || self.parkingQueue.name.startsWith(self.workQueue.name + '.wait.') || self.parkingQueue.name in [self.workQueue.name + '.dead', self.workQueue.name + '.park', self.workQueue.name + '.redrive', self.workQueue.name + '.retry', self.workQueue.name + '.retry.first', self.workQueue.name + '.retry.first.b', self.workQueue.name + '.return'] || self.parkingQueue.name.startsWith(self.workQueue.name + '.return.'))",message="parkingQueue.name must not be the work queue's name nor one that Warren derives from it (<workQueue.name>.wait.*, .dead, .park, .redrive, .retry, .retry.first, .retry.first.b, .return, .return.*); leave it out for <workQueue.name>.parking"
type ReliableSubscriptionSpec struct {
	// brokerRef names the Broker on which the queues are. Immutable.
	BrokerRef BrokerReference `json:"brokerRef"`

	// sources are the exchanges whose messages the work queue gets: at most
	// 32. May be left out, for a queue that is only published to directly.
	// They are bound last, when every other part is there.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Sources []Source `json:"sources,omitempty"`

	// workQueue is the queue that the consumer reads.
	// +optional
	WorkQueue *WorkQueueSpec `json:"workQueue,omitempty"`

	// retry says what happens to a message that could not be processed,
	// before it parks. Default: backoff with the delays 5s, 30s, 5m.
	// +optional
	Retry *RetrySpec `json:"retry,omitempty"`

	// parkingQueue holds what was given up, until a human decides.
	// +optional
	ParkingQueue *ParkingQueueSpec `json:"parkingQueue,omitempty"`

	// consumer is the application that reads the work queue.
	// +optional
	Consumer *ConsumerSpec `json:"consumer,omitempty"`

	// unconsumedThreshold: condition Unconsumed is True when this many
	// messages are in the work queue and nobody consumes it. Default 10000; 0 switches it off.
	// +optional
	// +kubebuilder:default=10000
	// +kubebuilder:validation:Minimum=0
	UnconsumedThreshold *int64 `json:"unconsumedThreshold,omitempty"`

	// gating says whether the topics of this subscription wait for it:
	// Required (default: a topic is not Ready without it) or Ignored.
	// +optional
	// +kubebuilder:default=Required
	Gating Gating `json:"gating,omitempty"`

	// settings says where the work queue's settings live: Arguments (default: x-arguments of the
	// queue; RabbitMQ cannot change them later) or Policy (one policy of
	// priority 100, changeable while the queue lives; an application that
	// declares the queue with its type alone then agrees with it). Policies are
	// costly in number: use them for at most 500 subscriptions of a vhost.
	// +optional
	// +kubebuilder:default=Arguments
	Settings SettingsMode `json:"settings,omitempty"`

	// onImmutableDrift says what to do about a setting that differs on the
	// broker and that RabbitMQ cannot change: Report (default). The values
	// RecreateWhenEmpty and Migrate are reserved; this version treats them as Report.
	// +optional
	// +kubebuilder:default=Report
	OnImmutableDrift ImmutableDriftAction `json:"onImmutableDrift,omitempty"`

	// adoptionPolicy says what to do when a queue or exchange of a wanted
	// name exists already and bears no owner's mark: Refuse (default: it is
	// left untouched and unbound, reason NotOwned) or Adopt.
	// +optional
	// +kubebuilder:default=Refuse
	AdoptionPolicy AdoptionPolicy `json:"adoptionPolicy,omitempty"`

	// deletionPolicy says what becomes of queues and exchanges when this
	// resource is deleted: Retain (default: nothing, they go on working);
	// DeleteWhenEmpty (the sources are unbound, and each queue is deleted once
	// it is known to have been empty and unused for 10 s; until then the resource waits in
	// Terminating, and its status says for what); Delete (at once, with what
	// they hold; Events tell how many messages went). What was adopted is left
	// alone unless annotation warren.dev/delete-adopted is "true". Annotation
	// warren.dev/abandon: "true" lets a resource go that waits.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// Gating says whether topics wait for a subscription.
// +kubebuilder:validation:Enum=Required;Ignored
type Gating string

// The values of Gating.
const (
	GatingRequired Gating = "Required"
	GatingIgnored  Gating = "Ignored"
)

// SettingsMode says where a work queue's settings live.
// +kubebuilder:validation:Enum=Arguments;Policy
type SettingsMode string

// The values of SettingsMode.
const (
	SettingsArguments SettingsMode = "Arguments"
	SettingsPolicy    SettingsMode = "Policy"
)

// ImmutableDriftAction says what to do about drift that no redeclare can mend.
// +kubebuilder:validation:Enum=Report;RecreateWhenEmpty;Migrate
type ImmutableDriftAction string

// DeletionPolicy says what becomes of the broker's objects when a subscription goes.
// +kubebuilder:validation:Enum=Retain;DeleteWhenEmpty;Delete
type DeletionPolicy string

// The values of DeletionPolicy.
const (
	DeletionRetain          DeletionPolicy = "Retain"
	DeletionDeleteWhenEmpty DeletionPolicy = "DeleteWhenEmpty"
	DeletionDelete          DeletionPolicy = "Delete"
)

// Source is an exchange, and which of its messages are wanted.
//
// +kubebuilder:validation:XValidation:rule="has(self.topicRef) != has(self.exchange)",message="a source is either a topicRef (a Topic resource) or an exchange (by its name in RabbitMQ)"
// +kubebuilder:validation:XValidation:rule="!(has(self.routingKeys) && has(self.headers))",message="a source has routingKeys (direct and topic exchanges) or headers (headers exchanges), not both"
// +kubebuilder:validation:XValidation:rule="!has(self.match) || has(self.headers)",message="match goes with headers"
type Source struct {
	// topicRef names a Topic; its exchange is the source.
	// +optional
	TopicRef *TopicReference `json:"topicRef,omitempty"`

	// exchange is the name in RabbitMQ of an exchange that someone else owns. It is never declared,
	// only bound to; while it does not exist the reason is TopicNotDeclared.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 255",message="an exchange's name holds at most 255 bytes"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('amq.')",message="RabbitMQ's own exchanges (amq.*) and the default exchange cannot be a source: declare a Topic"
	// +kubebuilder:validation:XValidation:rule="self != '.' && self != '..'",message="RabbitMQ's management API cannot address an object named . or .."
	Exchange string `json:"exchange,omitempty"`

	// routingKeys to bind with, at most 64 of at most 255 bytes each. On a topic exchange * stands
	// for one word and # for any number of them. Needed for direct and topic
	// exchanges, not allowed for fanout and headers exchanges.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.all(k, bytes(k).size() <= 255)",message="a routing key holds at most 255 bytes"
	RoutingKeys []string `json:"routingKeys,omitempty"`

	// headers to match, for a headers exchange; the values are strings. At most 32.
	// Names that begin with x- are refused: RabbitMQ never looks at those.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(name, !name.startsWith('x-'))",message="a headers exchange never looks at headers whose names begin with x-, it would take this one and ignore it: have publishers set a header of another name"
	Headers map[string]HeaderValue `json:"headers,omitempty"`

	// match says whether All (default) or Any of the headers must match.
	// +optional
	Match HeaderMatch `json:"match,omitempty"`
}

// HeaderValue is the value of a header to match.
// +kubebuilder:validation:MaxLength=1024
type HeaderValue string

// HeaderMatch says how many of the headers must match.
// +kubebuilder:validation:Enum=All;Any
type HeaderMatch string

// The values of HeaderMatch.
const (
	HeaderMatchAll HeaderMatch = "All"
	HeaderMatchAny HeaderMatch = "Any"
)

// DeadLetterStrategy is a quorum queue's x-dead-letter-strategy.
// +kubebuilder:validation:Enum=AtLeastOnce;AtMostOnce
type DeadLetterStrategy string

// The values of DeadLetterStrategy.
const (
	DeadLetterAtLeastOnce DeadLetterStrategy = "AtLeastOnce"
	DeadLetterAtMostOnce  DeadLetterStrategy = "AtMostOnce"
)

// LeaderLocator is a quorum queue's x-queue-leader-locator.
// +kubebuilder:validation:Enum=ClientLocal;Balanced
type LeaderLocator string

// The values of LeaderLocator.
const (
	LeaderLocatorClientLocal LeaderLocator = "ClientLocal"
	LeaderLocatorBalanced    LeaderLocator = "Balanced"
)

// WorkQueueSpec is the queue that the consumer reads: always a durable quorum queue.
type WorkQueueSpec struct {
	// name of the queue in RabbitMQ, at most 230 bytes, since every other
	// object is named after it. Default: <metadata.namespace>.<metadata.name>. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 230",message="workQueue.name holds at most 230 bytes: RabbitMQ allows 255, and Warren derives longer names from it"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('amq.')",message="names that begin with amq. are reserved by RabbitMQ"
	// +kubebuilder:validation:XValidation:rule="self != '.' && self != '..'",message="RabbitMQ's management API cannot address an object named . or .."
	Name string `json:"name,omitempty"`

	// deliveryLimit is x-delivery-limit: how many redeliveries after
	// crashes and requeues are forgiven before the message parks, so
	// a message is delivered at most deliveryLimit + 1 times when nothing but that happens to it. From
	// RabbitMQ 4.3 on each return from a wait queue counts too, therefore it must be
	// at least the number of retries. A crash also counts for what the
	// consumer had prefetched with it: those neighbours may park too. Default: max(20, retries + 5).
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	DeliveryLimit *int32 `json:"deliveryLimit,omitempty"`

	// deadLetterStrategy: AtLeastOnce (default; a dying message stays until
	// the next queue has confirmed it) or AtMostOnce (faster; a message may be
	// lost while a node goes down). Both come with x-overflow: reject-publish.
	// +optional
	DeadLetterStrategy DeadLetterStrategy `json:"deadLetterStrategy,omitempty"`

	// singleActiveConsumer: only one of the consumers gets messages, the
	// others stand by. Keeps the order of first deliveries, not that of retries.
	// +optional
	SingleActiveConsumer bool `json:"singleActiveConsumer,omitempty"`

	// consumerTimeout: how long a consumer may hold a message before the
	// broker takes it back; from 1m to 24h. Default: the broker's (30m). From RabbitMQ 4.3 on a message that is taken
	// back is not counted, so a consumer needs a deadline of its own.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('24h')",message="consumerTimeout must be from 1m to 24h"
	ConsumerTimeout *Duration `json:"consumerTimeout,omitempty"`

	// maxLength: how many messages the queue may hold. Above it publishers
	// are refused (x-overflow: reject-publish), and one full queue nacks a publish although the topic's
	// other queues took it. Only with retry native and immediate. Default: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	MaxLength *int64 `json:"maxLength,omitempty"`

	// replicas is x-quorum-initial-group-size: on how many nodes the queues are. Default: the
	// broker's (3, or as many nodes as there are). 1 to 9.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Replicas *int32 `json:"replicas,omitempty"`

	// leaderLocator is x-queue-leader-locator: ClientLocal or Balanced. Default: the broker's.
	// +optional
	LeaderLocator LeaderLocator `json:"leaderLocator,omitempty"`
}

// ParkingQueueSpec is the queue that holds what was given up. It has no
// time-to-live, no length limit and no delivery limit, and it dead-letters to
// itself: looking at a parked message, however often, does not lose it.
type ParkingQueueSpec struct {
	// name of the queue in RabbitMQ, at most 255 bytes. Default:
	// <workQueue.name>.parking. When it is changed, the new queue is bound and the
	// old one keeps what it holds.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 255",message="a queue's name holds at most 255 bytes"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('amq.')",message="names that begin with amq. are reserved by RabbitMQ"
	// +kubebuilder:validation:XValidation:rule="self != '.' && self != '..'",message="RabbitMQ's management API cannot address an object named . or .."
	Name string `json:"name,omitempty"`

	// backlogThreshold: condition ParkingBacklog is True from this many
	// parked messages on. Default 1; 0 switches it off.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	BacklogThreshold *int64 `json:"backlogThreshold,omitempty"`

	// inspect: look at the headers of what is parked whenever the count has
	// changed (at most every 30 s), and tell in status.parkingQueue.reasons why it
	// was parked. Default false. Bodies are never shown or logged. The messages
	// are held for a moment and given back in their order; each is marked
	// redelivered by it.
	// +optional
	Inspect bool `json:"inspect,omitempty"`
}

// ReliableSubscriptionStatus is what was read back from the broker, and what it means.
type ReliableSubscriptionStatus struct {
	// observedGeneration is the metadata.generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// workQueue is the queue that the consumer reads.
	// +optional
	WorkQueue *WorkQueueStatus `json:"workQueue,omitempty"`

	// retry says what a consumer must know, and what waits for its next delivery.
	// +optional
	Retry *RetryStatus `json:"retry,omitempty"`

	// parkingQueue holds what was given up.
	// +optional
	ParkingQueue *ParkingQueueStatus `json:"parkingQueue,omitempty"`

	// connection names a ConfigMap that says where the work queue is, without credentials.
	// +optional
	Connection *ConnectionStatus `json:"connection,omitempty"`

	// binding names the Secret that was generated. Absent where none is.
	// +optional
	Binding *BindingStatus `json:"binding,omitempty"`

	// drift lists what differs on the broker and could not be mended, at most 50 entries.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Drift []DriftEntry `json:"drift,omitempty"`

	// driftSummary counts the entries of drift: "1 unsafe, 2 tolerable".
	// +optional
	DriftSummary string `json:"driftSummary,omitempty"`

	// observedTime is when the counts above were read. It is written only
	// together with another change; the broker is read more often.
	// +optional
	ObservedTime *metav1.Time `json:"observedTime,omitempty"`

	// conditions:
	//
	//	Ready                 established, in force, nothing unsafe
	//	Established           every object is there and every route was proved over the bindings read back
	//	InSync                the broker has what the spec says
	//	ParkingBacklog        parked messages wait for a human
	//	Unconsumed            messages pile up and nobody consumes
	//	DeadLetteringBlocked  dead letters cannot leave a queue; retries stand still behind them
	//	Spinning              the broker redelivers and nothing is acknowledged
	//	CredentialsReady      the generated credentials work; only with spec.consumer.credentials: Generate
	//	ConnectionBlocked     the ConfigMap of status.connection cannot be written; only while it is so
	//	Stalled               only a change of the spec or of the broker's objects can help
	//
	// A condition is Unknown where the broker does not tell.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// WorkQueueStatus is the work queue as the broker tells of it. A count that
// the broker does not tell is absent.
type WorkQueueStatus struct {
	// name of the queue in RabbitMQ.
	Name string `json:"name"`
	// messages in the queue: ready, unacknowledged, and those that wait to be dead-lettered or for a native retry.
	// +optional
	Messages *int64 `json:"messages,omitempty"`
	// ready is how many wait for a consumer.
	// +optional
	Ready *int64 `json:"ready,omitempty"`
	// unacknowledged is how many a consumer holds.
	// +optional
	Unacknowledged *int64 `json:"unacknowledged,omitempty"`
	// consumers of the queue.
	// +optional
	Consumers *int64 `json:"consumers,omitempty"`
	// effectiveDeliveryLimit is the limit in force, the lowest of argument,
	// policy and operator policy; -1 means none.
	// +optional
	EffectiveDeliveryLimit *int64 `json:"effectiveDeliveryLimit,omitempty"`
}

// Counter says who counts deliveries.
// +kubebuilder:validation:Enum=Broker;Consumer
type Counter string

// The values of Counter.
const (
	CountedByBroker   Counter = "Broker"
	CountedByConsumer Counter = "Consumer"
)

// RetryStatus tells the consumer's authors and whoever is on call what to expect.
type RetryStatus struct {
	// messages that wait for their next delivery.
	// +optional
	Messages *int64 `json:"messages,omitempty"`

	// strategy in force, with its delays: "backoff 5s, 30s, 5m".
	// +optional
	Strategy string `json:"strategy,omitempty"`

	// maxDeliveries of a message that fails every time, in the way the strategy expects.
	// +optional
	MaxDeliveries *int64 `json:"maxDeliveries,omitempty"`

	// worstCaseDeliveries of a message, with crashes and requeues in
	// between, on this version of the broker. Absent where nothing bounds it.
	// +optional
	WorstCaseDeliveries *int64 `json:"worstCaseDeliveries,omitempty"`

	// countedBy says who counts: Broker, or Consumer (fixedDelay).
	// +optional
	CountedBy Counter `json:"countedBy,omitempty"`

	// timeToParking is the sum of the delays, a lower bound: after this long
	// a failing message waits for a human.
	// +optional
	TimeToParking Duration `json:"timeToParking,omitempty"`

	// contract says which verbs of the consumer do what on this version of the broker.
	// +optional
	Contract string `json:"contract,omitempty"`
}

// ParkingQueueStatus is the parking queue as the broker tells of it.
type ParkingQueueStatus struct {
	// name of the queue in RabbitMQ.
	Name string `json:"name"`
	// exchange to publish to in order to park at once.
	// +optional
	Exchange string `json:"exchange,omitempty"`
	// messages parked, those in its dead-letter line included. Absent while unknown.
	// +optional
	Messages *int64 `json:"messages,omitempty"`
	// since when there have been parked messages, as far as was observed.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// reasons why they were parked, with parkingQueue.inspect.
	// +optional
	Reasons *ParkingReasons `json:"reasons,omitempty"`
}

// ParkingReasons tells why messages were parked, from the headers of at most
// the 100 oldest ones.
type ParkingReasons struct {
	// messages is how many were parked when they were looked at.
	Messages int64 `json:"messages"`
	// sampled is how many of them were looked at, from the head of the queue:
	// what follows counts these.
	Sampled int64 `json:"sampled"`
	// rejected by the consumer for the last time: reject or nack without requeue.
	Rejected int64 `json:"rejected"`
	// overDeliveryLimit: delivered too often, as to a consumer that crashes.
	OverDeliveryLimit int64 `json:"overDeliveryLimit"`
	// expired in the work queue, by a time-to-live of the message's own or of a policy.
	Expired int64 `json:"expired"`
	// parkedByConsumer: published to the parking exchange.
	ParkedByConsumer int64 `json:"parkedByConsumer"`
	// other reasons, such as a length limit of a policy.
	Other int64 `json:"other"`
	// oldest is when the oldest of those looked at was parked, as far as its
	// headers tell; absent if they do not.
	// +optional
	Oldest *metav1.Time `json:"oldest,omitempty"`
	// note says why fewer were looked at, or none.
	// +optional
	Note string `json:"note,omitempty"`
}

// Impact says how bad a difference is.
// +kubebuilder:validation:Enum=Tolerable;Unsafe
type Impact string

// The values of Impact.
const (
	// ImpactTolerable means that the subscription works, not quite as told.
	ImpactTolerable Impact = "Tolerable"
	// ImpactUnsafe means that messages may be lost, or stand still.
	ImpactUnsafe Impact = "Unsafe"
)

// DriftEntry is one difference between the spec and the broker.
type DriftEntry struct {
	// object that differs: queue "orders.billing".
	Object string `json:"object"`
	// field that differs, by the broker's name for it: x-delivery-limit.
	Field string `json:"field"`
	// desired value.
	Desired string `json:"desired"`
	// observed value.
	Observed string `json:"observed"`
	// impact: Tolerable (it works) or Unsafe (messages may be lost or stand still).
	Impact Impact `json:"impact"`
	// remedy says what to do about it.
	Remedy string `json:"remedy"`
}

// ReliableSubscription says what reliable means for one consumer: which
// events it must hear, how failures are retried, how often, and where a
// message goes that cannot be processed. Warren makes the RabbitMQ topology that
// does it, keeps it so, and says in status what is wrong and what to do.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rsub,categories=warren
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Messages",type=integer,JSONPath=`.status.workQueue.messages`
// +kubebuilder:printcolumn:name="Consumers",type=integer,JSONPath=`.status.workQueue.consumers`
// +kubebuilder:printcolumn:name="Retrying",type=integer,JSONPath=`.status.retry.messages`
// +kubebuilder:printcolumn:name="Parked",type=integer,JSONPath=`.status.parkingQueue.messages`
// +kubebuilder:printcolumn:name="Drift",type=string,JSONPath=`.status.driftSummary`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Queue",type=string,priority=1,JSONPath=`.status.workQueue.name`
// +kubebuilder:printcolumn:name="Retry",type=string,priority=1,JSONPath=`.status.retry.strategy`
// +kubebuilder:printcolumn:name="TimeToParking",type=string,priority=1,JSONPath=`.status.retry.timeToParking`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type ReliableSubscription struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what reliable means for this consumer.
	Spec ReliableSubscriptionSpec `json:"spec"`
	// status is what was read back from the broker, and what it means.
	// +optional
	Status ReliableSubscriptionStatus `json:"status,omitempty"`
}

// ReliableSubscriptionList is a list of ReliableSubscriptions.
//
// +kubebuilder:object:root=true
type ReliableSubscriptionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ReliableSubscription `json:"items"`
}
