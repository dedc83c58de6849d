package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RedriveAction says what a Redrive does with a message.
// +kubebuilder:validation:Enum=Move;Discard
type RedriveAction string

// The values of RedriveAction.
const (
	RedriveMove    RedriveAction = "Move"
	RedriveDiscard RedriveAction = "Discard"
)

// ParkedReason says why a message was parked.
// +kubebuilder:validation:Enum=Rejected;DeliveryLimit;Expired;Consumer
type ParkedReason string

// The values of ParkedReason.
const (
	ParkedRejected      ParkedReason = "Rejected"
	ParkedDeliveryLimit ParkedReason = "DeliveryLimit"
	ParkedExpired       ParkedReason = "Expired"
	ParkedByConsumer    ParkedReason = "Consumer"
)

// SubscriptionReference names a ReliableSubscription of the same namespace.
type SubscriptionReference struct {
	// name of the ReliableSubscription.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// RedriveSpec says which parked messages go back to the work queue. It runs
// once, like a Job, and never again: another one needs another name. Only
// suspend and ttlSecondsAfterFinished can be changed.
//
// +kubebuilder:validation:XValidation:rule="self.subscriptionRef == oldSelf.subscriptionRef && (has(self.from) ? has(oldSelf.from) && self.from == oldSelf.from : !has(oldSelf.from)) && (has(self.maxMessages) ? has(oldSelf.maxMessages) && self.maxMessages == oldSelf.maxMessages : !has(oldSelf.maxMessages)) && (has(self.messagesPerSecond) ? has(oldSelf.messagesPerSecond) && self.messagesPerSecond == oldSelf.messagesPerSecond : !has(oldSelf.messagesPerSecond)) && (has(self.dryRun) && self.dryRun) == (has(oldSelf.dryRun) && oldSelf.dryRun) && (has(self.action) ? self.action : 'Move') == (has(oldSelf.action) ? oldSelf.action : 'Move') && (has(self.filter) ? has(oldSelf.filter) && self.filter == oldSelf.filter : !has(oldSelf.filter)) && (has(self.deadline) ? has(oldSelf.deadline) && self.deadline == oldSelf.deadline : !has(oldSelf.deadline))",message="a Redrive runs once: only suspend and ttlSecondsAfterFinished can be changed; create another Redrive"
type RedriveSpec struct {
	// subscriptionRef names the ReliableSubscription, in the same namespace,
	// whose parked messages go back to its work queue.
	SubscriptionRef SubscriptionReference `json:"subscriptionRef"`

	// from is the queue to take the messages from, by its name in RabbitMQ.
	// Default: the subscription's parking queue. Another one must bear the
	// owner's mark of this subscription, as a parking queue does that an
	// earlier parkingQueue.name has left; the work queue itself is refused.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 255",message="a queue's name holds at most 255 bytes"
	From string `json:"from,omitempty"`

	// maxMessages is how many messages are moved (or discarded) at most.
	// Default: as many as are parked when it starts. What is parked
	// afterwards stays, a message that comes back included.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxMessages *int64 `json:"maxMessages,omitempty"`

	// messagesPerSecond limits how many messages are moved (or discarded) in
	// a second, so that the consumer is not flooded: 1 to 100000. Default: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	MessagesPerSecond *int32 `json:"messagesPerSecond,omitempty"`

	// suspend pauses it, at any time; false goes on where it was. Default false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// dryRun counts in status.wouldMove what would be moved or discarded, and
	// does not do it. Default false. A filter looks at the messages for it, which
	// sets their redelivered flag and changes nothing else.
	// +optional
	DryRun bool `json:"dryRun,omitempty"`

	// action is Move (default: back to the work queue) or Discard: the
	// messages are acknowledged away for good, counted in status.discarded and in an Event.
	// +optional
	// +kubebuilder:default=Move
	Action RedriveAction `json:"action,omitempty"`

	// filter chooses messages; what does not match all of it stays where it
	// is, in its order. Default: all. The messages that stay are held while it
	// runs, 60000 at most: with more of them before the others it fails with
	// reason TooManyHeld, having moved those that it had reached.
	// +optional
	Filter *RedriveFilter `json:"filter,omitempty"`

	// deadline is how long it may take, from status.startTime on and with
	// pauses, 1s to 8760h: then it fails with reason DeadlineExceeded, and
	// what has not moved stays parked. Default: none. Example: 30m.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('8760h')",message="deadline must be from 1s to 8760h"
	Deadline *Duration `json:"deadline,omitempty"`

	// ttlSecondsAfterFinished deletes this resource so many seconds after it
	// was complete or failed, as with a Job. Default: it stays.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// RedriveFilter chooses parked messages: those that match every field that is set.
// +kubebuilder:validation:XValidation:rule="has(self.reason) || has(self.messageIds) || has(self.parkedBefore)",message="an empty filter chooses nothing in particular: set reason, messageIds or parkedBefore, or leave filter out for all"
type RedriveFilter struct {
	// reason why the message was parked: Rejected (by the consumer, after its
	// last retry), DeliveryLimit (it crashed its consumer too often, or was
	// prefetched beside one that did), Expired (in the work queue), or Consumer
	// (the consumer parked it itself).
	// +optional
	Reason ParkedReason `json:"reason,omitempty"`

	// messageIds are the messages with one of these MessageIds, at most 1000.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=255
	MessageIDs []string `json:"messageIds,omitempty"`

	// parkedBefore are the messages parked before this time, as far as can be
	// told: RabbitMQ notes, to the second, when a message first died in each
	// queue for each reason, so that one that was rejected several times may have
	// been parked later than it seems. A message without such a time does not
	// match. Written as 2026-03-01T09:00:00Z, or with an offset as +01:00.
	// +optional
	// +kubebuilder:validation:MaxLength=35
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	ParkedBefore string `json:"parkedBefore,omitempty"`
}

// RedriveStatus is how far it is.
type RedriveStatus struct {
	// observedGeneration is the metadata.generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// queue that the messages are taken from.
	// +optional
	Queue string `json:"queue,omitempty"`

	// parkedAtStart is how many messages the queue held when it started.
	// +optional
	ParkedAtStart *int64 `json:"parkedAtStart,omitempty"`

	// total is how many messages there are to deal with: those that were
	// parked when it started, without a filter at most maxMessages.
	// +optional
	Total *int64 `json:"total,omitempty"`

	// moved is how many are in the work queue again, each confirmed by RabbitMQ.
	// +optional
	Moved *int64 `json:"moved,omitempty"`

	// discarded is how many were acknowledged away (action Discard).
	// +optional
	Discarded *int64 `json:"discarded,omitempty"`

	// skipped is how many were looked at and stay: the filter does not choose
	// them, or they cannot be moved. After a pause it is counted anew.
	// +optional
	Skipped *int64 `json:"skipped,omitempty"`

	// remaining is total less moved, discarded and skipped: those not looked at yet.
	// +optional
	Remaining *int64 `json:"remaining,omitempty"`

	// wouldMove is how many messages a dry run has found to move or discard.
	// +optional
	WouldMove *int64 `json:"wouldMove,omitempty"`

	// inDoubt is true while messages are on their way, and after it was cut
	// off: the counts are set right when it goes on, by what is still parked.
	// +optional
	InDoubt bool `json:"inDoubt,omitempty"`

	// startTime is when it began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when it was complete or had failed.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// conditions: Progressing (its reason is the STATUS column: what it does
	// or waits for), and as with a Job Complete, Failed and Suspended.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Redrive brings parked messages back to the work queue, once, like a Job:
// none lost, MessageId, headers, properties and routing key kept.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=warren
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Progressing")].reason`
// +kubebuilder:printcolumn:name="Moved",type=integer,JSONPath=`.status.moved`
// +kubebuilder:printcolumn:name="Total",type=integer,JSONPath=`.status.total`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Subscription",type=string,priority=1,JSONPath=`.spec.subscriptionRef.name`
// +kubebuilder:printcolumn:name="Action",type=string,priority=1,JSONPath=`.spec.action`
// +kubebuilder:printcolumn:name="Skipped",type=integer,priority=1,JSONPath=`.status.skipped`
// +kubebuilder:printcolumn:name="Discarded",type=integer,priority=1,JSONPath=`.status.discarded`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Progressing")].message`
type Redrive struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which messages, how fast and for how long.
	Spec RedriveSpec `json:"spec"`
	// status is how far it is.
	// +optional
	Status RedriveStatus `json:"status,omitempty"`
}

// RedriveList is a list of Redrives.
//
// +kubebuilder:object:root=true
type RedriveList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Redrive `json:"items"`
}
