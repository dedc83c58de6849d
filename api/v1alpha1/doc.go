// Package v1alpha1 holds Warren's API: Broker, Topic and ReliableSubscription.
//
// The field comments are the user's manual: kubectl explain prints them.
// Whatever a manifest can be refused for at admission is written here, as a
// schema rule or as CEL, with a message that says what to do instead.
//
// +kubebuilder:object:generate=true
// +groupName=warren.dev
package v1alpha1
