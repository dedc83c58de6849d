package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ExchangeType is a RabbitMQ exchange type.
// +kubebuilder:validation:Enum=direct;fanout;topic;headers
type ExchangeType string

// The values of ExchangeType.
const (
	ExchangeDirect  ExchangeType = "direct"
	ExchangeFanout  ExchangeType = "fanout"
	ExchangeTopic   ExchangeType = "topic"
	ExchangeHeaders ExchangeType = "headers"
)

// TopicDeletionPolicy says what happens to the exchange when the Topic goes.
// +kubebuilder:validation:Enum=Retain;Delete
type TopicDeletionPolicy string

// The values of TopicDeletionPolicy.
const (
	TopicDeletionRetain TopicDeletionPolicy = "Retain"
	TopicDeletionDelete TopicDeletionPolicy = "Delete"
)

// TopicSpec is an exchange that events are published to, and who must hear them.
//
// +kubebuilder:validation:XValidation:rule="self.brokerRef == oldSelf.brokerRef",message="brokerRef is immutable: the exchange lives on that broker; create another Topic"
// +kubebuilder:validation:XValidation:rule="has(self.exchange) ? has(oldSelf.exchange) && self.exchange == oldSelf.exchange : !has(oldSelf.exchange)",message="exchange is immutable: publishers and bindings know the old name; create another Topic"
// +kubebuilder:validation:XValidation:rule="(has(self.type) ? self.type : 'topic') == (has(oldSelf.type) ? oldSelf.type : 'topic')",message="type is immutable: RabbitMQ cannot change an exchange's type; create another Topic with another exchange"
// +kubebuilder:validation:XValidation:rule="!has(self.exchange) || !has(self.unroutable) || !has(self.unroutable.queue) || self.unroutable.queue != self.exchange",message="unroutable.queue is also the name of the alternate exchange before that queue, so it must not be the exchange's own; leave it out for <exchange>.unroutable"
type TopicSpec struct {
	// brokerRef names the Broker on which the exchange is. Immutable.
	BrokerRef BrokerReference `json:"brokerRef"`

	// exchange is the exchange's name in RabbitMQ, at most 255 bytes.
	// Default: metadata.name. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 255",message="an exchange's name holds at most 255 bytes"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('amq.')",message="names that begin with amq. are reserved by RabbitMQ"
	// +kubebuilder:validation:XValidation:rule="self != '.' && self != '..'",message="RabbitMQ's management API cannot address an object named . or .."
	Exchange string `json:"exchange,omitempty"`

	// type of the exchange: direct, fanout, topic (default) or headers. Immutable.
	// +optional
	// +kubebuilder:default=topic
	Type ExchangeType `json:"type,omitempty"`

	// requiredSubscriptions are ReliableSubscriptions of this namespace that
	// must be established before the topic is open for publishing, also
	// while they do not exist yet. Every other subscription that names this
	// topic counts too, unless its gating is Ignored. At most 64.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	RequiredSubscriptions []string `json:"requiredSubscriptions,omitempty"`

	// unroutable catches what is published with a key that nobody is bound
	// to: an alternate exchange with a queue. Mind that mandatory publishes
	// then succeed, since every message finds a queue. Without it such
	// messages are dropped by RabbitMQ, in silence unless they are mandatory.
	// +optional
	Unroutable *UnroutableSpec `json:"unroutable,omitempty"`

	// publisher is about the applications that publish to this topic.
	// +optional
	Publisher *PublisherSpec `json:"publisher,omitempty"`

	// allowedNamespaces says whose ReliableSubscriptions may name this topic
	// as a source, and whose pods may await it. Default: those of its own namespace.
	// +optional
	// +kubebuilder:default={from: Same}
	AllowedNamespaces AllowedNamespaces `json:"allowedNamespaces,omitempty"`

	// adoptionPolicy says what to do when the exchange exists already and
	// bears no owner's mark: Adopt (default; to declare an exchange that is
	// there as wanted changes nothing) or Refuse.
	// +optional
	// +kubebuilder:default=Adopt
	AdoptionPolicy AdoptionPolicy `json:"adoptionPolicy,omitempty"`

	// deletionPolicy says what becomes of the exchange when the Topic is
	// deleted: Retain (default: nothing) or Delete (only when nothing is bound
	// to it; the unroutable queue goes after it, when it is empty; until then the
	// Topic waits in Terminating, and its condition Ready says for what).
	// Annotation warren.dev/abandon: "true" lets a Topic go that waits.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy TopicDeletionPolicy `json:"deletionPolicy,omitempty"`
}

// UnroutableSpec is a queue for messages that reach no other.
type UnroutableSpec struct {
	// queue is the queue's name in RabbitMQ, and that of the alternate
	// exchange before it. Default: the exchange's name with .unroutable behind it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 255",message="a queue's name holds at most 255 bytes"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('amq.')",message="names that begin with amq. are reserved by RabbitMQ"
	// +kubebuilder:validation:XValidation:rule="self != '.' && self != '..'",message="RabbitMQ's management API cannot address an object named . or .."
	Queue string `json:"queue,omitempty"`

	// backlogThreshold: condition UnroutableBacklog is True from this many
	// messages on. Default 1; 0 switches it off.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	BacklogThreshold *int64 `json:"backlogThreshold,omitempty"`
}

// TopicStatus is what was read back, and who is bound.
type TopicStatus struct {
	// observedGeneration is the metadata.generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// exchange is the name of the exchange in RabbitMQ.
	// +optional
	Exchange string `json:"exchange,omitempty"`

	// subscriptions counts those that must be established before the topic is open.
	// +optional
	Subscriptions *TopicSubscriptions `json:"subscriptions,omitempty"`

	// notEstablished lists at most 50 of those that keep the topic closed.
	// +optional
	// +listType=atomic
	NotEstablished []SubscriptionState `json:"notEstablished,omitempty"`

	// unroutableQueue is the queue that holds what reached no other.
	// +optional
	UnroutableQueue *UnroutableQueueStatus `json:"unroutableQueue,omitempty"`

	// connection names a ConfigMap that says where the exchange is, without credentials.
	// +optional
	Connection *ConnectionStatus `json:"connection,omitempty"`

	// binding names the Secret that was generated. Absent where none is.
	// +optional
	Binding *BindingStatus `json:"binding,omitempty"`

	// observedTime is when the count above was read. It is written only
	// together with another change; the broker is read more often.
	// +optional
	ObservedTime *metav1.Time `json:"observedTime,omitempty"`

	// conditions: Declared (the exchange exists), SubscriptionsEstablished,
	// UnroutableBacklog, and Ready: open for publishing. With
	// spec.publisher.credentials: Generate also CredentialsReady; and
	// ConnectionBlocked while the ConfigMap of status.connection cannot be written.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// TopicSubscriptions counts a topic's subscriptions.
type TopicSubscriptions struct {
	// total is how many subscriptions the topic waits for.
	Total int64 `json:"total"`
	// established is how many of them are.
	Established int64 `json:"established"`
}

// SubscriptionState names a subscription and why it is not established.
type SubscriptionState struct {
	// namespace of the ReliableSubscription.
	Namespace string `json:"namespace"`
	// name of the ReliableSubscription.
	Name string `json:"name"`
	// reason of its Established condition, or NotFound.
	Reason string `json:"reason"`
}

// UnroutableQueueStatus is the queue for messages that reach no other.
type UnroutableQueueStatus struct {
	// name of the queue in RabbitMQ.
	Name string `json:"name"`
	// messages in it. Absent while unknown.
	// +optional
	Messages *int64 `json:"messages,omitempty"`
}

// Topic is an exchange, plus the promise that whoever must hear it is bound before anyone speaks.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=warren
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Exchange",type=string,JSONPath=`.status.exchange`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Subscriptions",type=integer,JSONPath=`.status.subscriptions.total`
// +kubebuilder:printcolumn:name="Established",type=integer,JSONPath=`.status.subscriptions.established`
// +kubebuilder:printcolumn:name="Unroutable",type=integer,JSONPath=`.status.unroutableQueue.messages`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type Topic struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the exchange and who must hear it.
	Spec TopicSpec `json:"spec"`
	// status is what was read back, and who is bound.
	// +optional
	Status TopicStatus `json:"status,omitempty"`
}

// TopicList is a list of Topics.
//
// +kubebuilder:object:root=true
type TopicList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Topic `json:"items"`
}
