package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Names, annotations and labels that are part of the API.
const (
	// PausedAnnotation, set to "true", makes Warren read and report and
	// write nothing to the broker for this resource.
	PausedAnnotation = "warren.dev/paused"
	// AbandonAnnotation, set to "true" on a resource that is being deleted,
	// lets it go as it is: what is left on the broker stays there.
	AbandonAnnotation = "warren.dev/abandon"
	// DeleteAdoptedAnnotation, set to "true", lets deletionPolicy delete what
	// was taken over as well. The Broker's spec.adoption must allow the namespace to adopt.
	DeleteAdoptedAnnotation = "warren.dev/delete-adopted"
	// RotateAnnotation: another value than status.binding.rotation gives
	// generated credentials a new password.
	RotateAnnotation = "warren.dev/rotate-credentials"
	// ConnectionLabel is on the ConfigMaps that Warren makes for applications.
	ConnectionLabel = "warren.dev/connection"
	// RevisionAnnotation on such a ConfigMap tells what it says from what it said.
	RevisionAnnotation = "warren.dev/revision"
	// CleanupFinalizer keeps a resource until its deletionPolicy is done. Only
	// those have it that have one other than Retain, or generated credentials.
	CleanupFinalizer = "warren.dev/cleanup"
	// ForceOpenAnnotation, set to "true" on a Topic, opens it for publishing
	// whatever its subscriptions say: the break-glass.
	ForceOpenAnnotation = "warren.dev/force-open"
	// GatedLabel, set to "true" on a pod, makes Warren look after its
	// scheduling gate. The gate without the label waits for ever.
	GatedLabel = "warren.dev/gated"
	// TopologyGate is the scheduling gate that Warren removes from a pod when
	// all that its annotations await is there.
	TopologyGate = "warren.dev/topology"
	// AwaitTopicsAnnotation lists, with commas, the Topics that must be open
	// for publishing: NAME, or NAMESPACE/NAME where that Topic allows it.
	AwaitTopicsAnnotation = "warren.dev/await-topics"
	// AwaitSubscriptionsAnnotation lists, with commas, the
	// ReliableSubscriptions of the pod's namespace that must be established.
	AwaitSubscriptionsAnnotation = "warren.dev/await-subscriptions"
)

// BrokerReference names a Broker.
type BrokerReference struct {
	// name of the Broker.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace of the Broker. Default: the namespace of this resource. A
	// Broker of another namespace must allow this one (Broker.spec.allowedNamespaces).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// TopicReference names a Topic.
type TopicReference struct {
	// name of the Topic.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace of the Topic. Default: the namespace of this resource. A
	// Topic of another namespace must allow this one (Topic.spec.allowedNamespaces).
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// SecretReference names a Secret in the namespace of the resource that
// refers to it. It has no namespace on purpose: a reference must not be a
// way to read what its author may not read.
type SecretReference struct {
	// name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// NamespacesFrom says which namespaces are meant.
// +kubebuilder:validation:Enum=Same;All;Selector
type NamespacesFrom string

// The values of NamespacesFrom.
const (
	NamespacesFromSame     NamespacesFrom = "Same"
	NamespacesFromAll      NamespacesFrom = "All"
	NamespacesFromSelector NamespacesFrom = "Selector"
)

// AllowedNamespaces says who may refer to a resource.
// +kubebuilder:validation:XValidation:rule="(self.from == 'Selector') == has(self.selector)",message="selector goes with from: Selector, and from: Selector needs a selector"
type AllowedNamespaces struct {
	// from says which namespaces may use this: Same (default: only the
	// resource's own namespace), All, or Selector (those whose labels match selector).
	// +optional
	// +kubebuilder:default=Same
	From NamespacesFrom `json:"from,omitempty"`

	// selector chooses namespaces by their labels; only with from: Selector.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// AdoptionPolicy says what to do about an object of the broker that exists
// already and bears no owner's mark.
// +kubebuilder:validation:Enum=Refuse;Adopt
type AdoptionPolicy string

// The values of AdoptionPolicy.
const (
	AdoptionPolicyRefuse AdoptionPolicy = "Refuse"
	AdoptionPolicyAdopt  AdoptionPolicy = "Adopt"
)
