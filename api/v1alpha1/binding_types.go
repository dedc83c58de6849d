package v1alpha1

// CredentialsMode says whether a RabbitMQ user is made for an application.
// +kubebuilder:validation:Enum=None;Generate
type CredentialsMode string

// The values of CredentialsMode.
const (
	CredentialsNone     CredentialsMode = "None"
	CredentialsGenerate CredentialsMode = "Generate"
)

// ConsumerSpec is about the application that reads the work queue.
type ConsumerSpec struct {
	// credentials: Generate makes a RabbitMQ user that may read the work queue,
	// publish to the exchange <workQueue.name>.park, and nothing else. It is in a Secret in the form of
	// the Service Binding specification that status.binding.name names, and goes with this
	// resource. The Broker's own user needs the tag administrator for it; condition
	// CredentialsReady says so where it lacks it. Set annotation
	// warren.dev/rotate-credentials to another value for a new password. Default: None.
	// +optional
	// +kubebuilder:default=None
	Credentials CredentialsMode `json:"credentials,omitempty"`
}

// PublisherSpec is about the applications that publish to a topic.
type PublisherSpec struct {
	// credentials: Generate makes a RabbitMQ user that may publish to the topic's
	// exchange, and nothing else. It is in a Secret in the form of the Service Binding
	// specification that status.binding.name names, and goes with this resource. The Broker's own user
	// needs the tag administrator for it; condition CredentialsReady says so where it lacks
	// it. Set annotation warren.dev/rotate-credentials to another value for a new password. Default: None.
	// +optional
	// +kubebuilder:default=None
	Credentials CredentialsMode `json:"credentials,omitempty"`
}

// BindingStatus is what was generated for an application.
type BindingStatus struct {
	// name of the Secret, in the form of the Service Binding specification.
	Name string `json:"name"`
	// username of the RabbitMQ user in it.
	Username string `json:"username"`
	// rotation is the value of annotation warren.dev/rotate-credentials that was last done.
	// +optional
	Rotation string `json:"rotation,omitempty"`
	// revision is another one when what the Secret says of the broker or what the user may do is another.
	Revision string `json:"revision"`
}

// ConnectionStatus is where an application finds what it needs, credentials left out.
type ConnectionStatus struct {
	// configMapName is the ConfigMap with the keys of the Service Binding
	// specification, without username and password.
	ConfigMapName string `json:"configMapName"`
}
