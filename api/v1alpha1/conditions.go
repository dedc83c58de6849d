package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition types. Each kind's comment says which it has.
const (
	// ConditionReady sums the others up; it is derived, never set by itself.
	ConditionReady = "Ready"
	// ConditionResourceAlarm (Broker): a node has a memory or disk alarm and publishers are blocked.
	ConditionResourceAlarm = "ResourceAlarm"
	// ConditionShielded (Broker): other policies are kept off the queues that keep messages.
	ConditionShielded = "Shielded"
	// ConditionNamesIsolated (Broker): no namespace can take another's names on
	// this vhost, through any Broker of this Kubernetes cluster.
	ConditionNamesIsolated = "NamesIsolated"
	// ConditionDeclared (Topic): the exchange exists, so that subscriptions can be bound to it.
	ConditionDeclared = "Declared"
	// ConditionSubscriptionsEstablished (Topic): whoever must hear it is bound.
	ConditionSubscriptionsEstablished = "SubscriptionsEstablished"
	// ConditionUnroutableBacklog (Topic): messages reached no queue and were caught.
	ConditionUnroutableBacklog = "UnroutableBacklog"
	// ConditionEstablished (ReliableSubscription): every object is there and every route was proved.
	ConditionEstablished = "Established"
	// ConditionInSync (ReliableSubscription): the broker has what the spec says.
	ConditionInSync = "InSync"
	// ConditionParkingBacklog (ReliableSubscription): messages wait for a human.
	ConditionParkingBacklog = "ParkingBacklog"
	// ConditionUnconsumed (ReliableSubscription): messages pile up and nobody consumes them.
	ConditionUnconsumed = "Unconsumed"
	// ConditionDeadLetteringBlocked (ReliableSubscription): dead letters cannot leave a queue.
	ConditionDeadLetteringBlocked = "DeadLetteringBlocked"
	// ConditionSpinning (ReliableSubscription): the broker redelivers and nothing is acknowledged.
	ConditionSpinning = "Spinning"
	// ConditionCredentialsReady (ReliableSubscription, Topic): the generated credentials work.
	ConditionCredentialsReady = "CredentialsReady"
	// ConditionConnectionBlocked (ReliableSubscription, Topic): the ConfigMap for applications cannot be written.
	ConditionConnectionBlocked = "ConnectionBlocked"
	// ConditionProgressing (Redrive): messages are moved; its reason says what it does or waits for.
	ConditionProgressing = "Progressing"
	// ConditionComplete (Redrive): it has done what it was to do.
	ConditionComplete = "Complete"
	// ConditionFailed (Redrive): it has ended before, and does not go on.
	ConditionFailed = "Failed"
	// ConditionSuspended (Redrive): spec.suspend pauses it.
	ConditionSuspended = "Suspended"
	// ConditionStalled (ReliableSubscription): only a change of the spec or of the broker's objects can help.
	ConditionStalled = "Stalled"
)

// Reasons of a Broker's Ready condition, and of what refers to that Broker.
const (
	ReasonConnected          = "Connected"
	ReasonBadCredentials     = "BadCredentials"
	ReasonBrokerUnreachable  = "BrokerUnreachable"
	ReasonVhostMissing       = "VhostMissing"
	ReasonUnsupportedVersion = "UnsupportedVersion"
	ReasonMissingTag         = "MissingTag"
	ReasonAccessRefused      = "AccessRefused"
	ReasonSecretNotFound     = "SecretNotFound"
	ReasonSecretInvalid      = "SecretInvalid"
	ReasonTLSFailed          = "TLSFailed"
	ReasonClusterNotFound    = "ClusterNotFound"
	ReasonNotAllowed         = "NotAllowed"
)

// Reasons of a Broker's ResourceAlarm condition.
const (
	ReasonPublishersBlocked = "PublishersBlocked"
	ReasonNoAlarm           = "NoAlarm"
)

// Reasons of a Broker's Shielded condition, beside Disabled, Declaring, Paused
// and what a broker says no with.
const (
	ReasonPolicyInForce = "PolicyInForce"
	ReasonNamesLeftOut  = "NamesLeftOut"
)

// Reasons of a Broker's NamesIsolated condition.
const (
	ReasonNamingEnforced   = "NamingEnforced"
	ReasonOwnNamespaceOnly = "OwnNamespaceOnly"
	ReasonNoNaming         = "NoNaming"
	ReasonNamingOverlaps   = "NamingOverlaps"
	ReasonNamingUnproved   = "NamingUnproved"
	ReasonSharedVhost      = "SharedVhost"
)

// Reasons of a Topic's conditions.
const (
	ReasonDeclared              = "Declared"
	ReasonOpen                  = "Open"
	ReasonNoSubscriptions       = "NoSubscriptions"
	ReasonForcedOpen            = "ForcedOpen"
	ReasonAllEstablished        = "AllEstablished"
	ReasonSubscriptionsNotReady = "SubscriptionsNotEstablished"
	ReasonExchangeMismatch      = "ExchangeMismatch"
	ReasonInvalidSpec           = "InvalidSpec"
	ReasonBrokerNotFound        = "BrokerNotFound"
	ReasonPaused                = "Paused"
	ReasonDeclaring             = "Declaring"
	ReasonNotConfigured         = "NotConfigured"
	ReasonTerminating           = "Terminating"
)

// Reasons of a ReliableSubscription's conditions.
const (
	ReasonReliable            = "Reliable"
	ReasonAllRoutesProved     = "AllRoutesProved"
	ReasonStale               = "Stale"
	ReasonTopicNotDeclared    = "TopicNotDeclared"
	ReasonUnsupportedByBroker = "UnsupportedByBroker"
	ReasonConflict            = "Conflict"
	ReasonNotOwned            = "NotOwned"
	ReasonUnsafeToAdopt       = "UnsafeToAdopt"
	ReasonQueueUnavailable    = "QueueUnavailable"
	ReasonInvalidSource       = "InvalidSource"
	ReasonBrokerMismatch      = "BrokerMismatch"
	ReasonRefusedByBroker     = "RefusedByBroker"
	ReasonAsDeclared          = "AsDeclared"
	ReasonImmutableDrift      = "ImmutableArgumentDrift"
	ReasonPolicyOverride      = "PolicyOverride"
	ReasonUnexpectedBinding   = "UnexpectedBinding"
	ReasonBacklogReached      = "BacklogReached"
	ReasonBelowThreshold      = "BelowThreshold"
	ReasonEmpty               = "Empty"
	ReasonDisabled            = "Disabled"
	ReasonNoConsumer          = "NoConsumer"
	ReasonConsumed            = "Consumed"
	ReasonNoRoute             = "NoRoute"
	ReasonTargetRefuses       = "TargetRefuses"
	ReasonDraining            = "Draining"
	ReasonFlowing             = "Flowing"
	ReasonNoProgress          = "NoProgress"
	ReasonProgressing         = "Progressing"
	ReasonIdle                = "Idle"
	ReasonCountersUnknown     = "CountersUnknown"
	ReasonHelpsItself         = "NotStalled"
)

// Reasons of the conditions CredentialsReady and ConnectionBlocked, beside what keeps
// a resource from being established, AccessRefused and Paused.
const (
	// ReasonGenerated: user and Secret are there.
	ReasonGenerated = "Generated"
	// ReasonNameTaken: a Secret, ConfigMap or RabbitMQ user of that name is somebody else's.
	ReasonNameTaken = "NameTaken"
	// ReasonForbidden: Warren may not write Secrets or ConfigMaps there.
	ReasonForbidden = "Forbidden"
)

// Reasons of a Redrive's conditions, besides those of what it waits for.
const (
	ReasonMoving                     = "Moving"
	ReasonDiscarding                 = "Discarding"
	ReasonCounting                   = "Counting"
	ReasonStopping                   = "Stopping"
	ReasonInterrupted                = "Interrupted"
	ReasonSuspended                  = "Suspended"
	ReasonResumed                    = "Resumed"
	ReasonResourceAlarm              = "ResourceAlarm"
	ReasonWaitingForRedrive          = "WaitingForRedrive"
	ReasonSubscriptionNotFound       = "SubscriptionNotFound"
	ReasonSubscriptionNotEstablished = "SubscriptionNotEstablished"
	ReasonCompleted                  = "Completed"
	ReasonDeadlineExceeded           = "DeadlineExceeded"
	ReasonRefusedByQueue             = "RefusedByQueue"
	ReasonNotConfirmed               = "NotConfirmed"
	ReasonQueueNotFound              = "QueueNotFound"
	ReasonTooManyHeld                = "TooManyHeld"
)

// Holds tells whether a condition is True, and speaks of the generation that
// the resource has now.
func Holds(conditions []metav1.Condition, kind string, generation int64) bool {
	c := meta.FindStatusCondition(conditions, kind)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == generation
}
