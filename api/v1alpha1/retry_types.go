package v1alpha1

import "cmp"

// RetrySpec says what happens to a message that the consumer could not
// process, before it is parked for a human. Exactly one strategy is chosen:
//
//	backoff     growing delays, counted by the broker: the consumer rejects
//	            (basic.reject or basic.nack, requeue=false), the message comes back
//	            after each delay in turn, then parks. N delays mean N+1
//	            deliveries. Choose this unless you know better.
//	fixedDelay  one delay, as often as you like; the CONSUMER counts the runs
//	            and parks the message itself at maxAttempts.
//	native      quorum queues' own delayed retry; the consumer requeues
//	            (basic.reject, requeue=true). RabbitMQ 4.3 or newer.
//	immediate   redelivered at once; parks over workQueue.deliveryLimit.
//
// Whatever the strategy: a message whose consumer crashes parks over
// workQueue.deliveryLimit, nothing is dropped, and status.retry.contract says
// which verb of the consumer does what on the broker's version.
//
// +kubebuilder:validation:XValidation:rule="[has(self.backoff), has(self.fixedDelay), has(self.native), has(self.immediate)].filter(x, x).size() == 1",message="choose exactly one of backoff, fixedDelay, native and immediate; or leave retry out, which means backoff with the delays 5s, 30s, 5m"
type RetrySpec struct {
	// backoff: growing delays between a bounded number of deliveries, all
	// done and counted by the broker; the consumer rejects what failed
	// (basic.reject or basic.nack, requeue=false). N delays mean N+1 deliveries, then
	// it parks. Choose this unless you know better. Example: {delays: [5s, 30s, 5m]}.
	// +optional
	Backoff *BackoffRetry `json:"backoff,omitempty"`

	// fixedDelay: the same delay before every further delivery; the consumer
	// rejects what failed (requeue=false), counts its runs, and parks at
	// maxAttempts itself. Example: {delay: 30s, maxAttempts: 5}.
	// +optional
	FixedDelay *FixedDelayRetry `json:"fixedDelay,omitempty"`

	// native: the delayed retry that quorum queues have from RabbitMQ 4.3
	// on; the consumer requeues what failed (basic.reject, requeue=true). An older broker takes the arguments and ignores them; there the
	// subscription says UnsupportedByBroker and nothing is declared.
	// Example: {minDelay: 1s, maxDelay: 1m, on: Failed}.
	// +optional
	Native *NativeRetry `json:"native,omitempty"`

	// immediate: no delay; the broker redelivers at once what is requeued,
	// and parks it over workQueue.deliveryLimit. A rejection without requeue parks
	// at once. It has no fields: {immediate: {}}.
	// +optional
	Immediate *ImmediateRetry `json:"immediate,omitempty"`
}

// BackoffRetry is a ladder of delays.
type BackoffRetry struct {
	// delays before the second, third, ... delivery: 1 to 10 of them, each
	// from 1s to 24h. A message that is always rejected is delivered once
	// more than there are delays, then it parks. Each delay is a wait queue
	// of its own, so that a short one never waits behind a long one. They
	// can be changed at any time; a wait queue that is no longer wanted is
	// kept until it has drained.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:XValidation:rule="self.all(d, duration(d) >= duration('1s') && duration(d) <= duration('24h'))",message="each delay must be from 1s to 24h"
	Delays []Duration `json:"delays"`
}

// FixedDelayRetry is one delay; the consumer counts.
type FixedDelayRetry struct {
	// delay before each further delivery, from 1s to 24h.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="delay must be from 1s to 24h"
	Delay Duration `json:"delay"`

	// maxAttempts is how often the consumer runs a message before it gives
	// up: 1 to 1000. The broker does not enforce it. The consumer counts its
	// earlier runs by the entry of x-death whose queue is the work queue and
	// whose reason is rejected (its count field). When run maxAttempts fails, it
	// publishes the message to the parking exchange in place of rejecting it.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxAttempts int32 `json:"maxAttempts"`
}

// NativeRetryOn says what the broker's delayed retry applies to.
// +kubebuilder:validation:Enum=All;Failed;Returned
type NativeRetryOn string

// The values of NativeRetryOn.
const (
	NativeRetryOnAll      NativeRetryOn = "All"
	NativeRetryOnFailed   NativeRetryOn = "Failed"
	NativeRetryOnReturned NativeRetryOn = "Returned"
)

// NativeRetry is RabbitMQ's own delayed retry (x-delayed-retry-type, -min, -max).
//
// +kubebuilder:validation:XValidation:rule="duration(self.minDelay) <= duration(self.maxDelay)",message="minDelay must not be longer than maxDelay"
// +kubebuilder:validation:XValidation:rule="!has(self.on) || !has(self.__true__)",message="on and \"true\" are the same field (YAML reads a bare on as true): give one of them"
type NativeRetry struct {
	// minDelay before the first redelivery, from 1s to 24h. The n-th one
	// waits n times as long, up to maxDelay.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="minDelay must be from 1s to 24h"
	MinDelay Duration `json:"minDelay"`

	// maxDelay before any redelivery, from minDelay to 24h.
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="maxDelay must be from 1s to 24h"
	MaxDelay Duration `json:"maxDelay"`

	// on says what is delayed. Failed (default): basic.reject with
	// requeue=true, and crashes. Returned: basic.nack with requeue=true only, which the
	// broker does not count, so that it may go on for ever. All: both.
	// What is not delayed is redelivered at once.
	// +optional
	On NativeRetryOn `json:"on,omitempty"`

	// true is another name of on, since YAML 1.1, and so kubectl, reads the
	// key of a bare on: Failed as true. Write on; give one of the two.
	// +optional
	OnAsYAMLReadsIt NativeRetryOn `json:"true,omitempty"`
}

// Occasion is what is delayed, by whichever name it was given, or the default.
func (n *NativeRetry) Occasion() NativeRetryOn {
	return cmp.Or(n.On, n.OnAsYAMLReadsIt, NativeRetryOnFailed)
}

// ImmediateRetry has no fields.
type ImmediateRetry struct{}
