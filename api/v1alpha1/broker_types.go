package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BrokerSpec says how to reach one vhost of one RabbitMQ cluster, and who may use it.
//
// +kubebuilder:validation:XValidation:rule="(has(self.vhost) ? self.vhost : '/') == (has(oldSelf.vhost) ? oldSelf.vhost : '/')",message="vhost is immutable: what was declared lives in the old vhost; create another Broker for the new one"
// +kubebuilder:validation:XValidation:rule="has(self.rabbitmqClusterRef) ? !has(self.amqp) && !has(self.management) && !has(self.credentialsSecretRef) : has(self.amqp) && has(self.management) && has(self.credentialsSecretRef)",message="give either amqp, management and credentialsSecretRef, or rabbitmqClusterRef alone"
type BrokerSpec struct {
	// amqp says where the broker speaks AMQP 0-9-1: topology is declared there.
	// +optional
	AMQP *AMQPEndpoint `json:"amqp,omitempty"`

	// management says where the broker's management HTTP API is: the broker
	// is read back there.
	// +optional
	Management *ManagementEndpoint `json:"management,omitempty"`

	// vhost is the virtual host that this Broker stands for. Default: /.
	// It must exist, Warren never creates one. Immutable.
	// +optional
	// +kubebuilder:default="/"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Vhost string `json:"vhost,omitempty"`

	// credentialsSecretRef names a Secret of this namespace with the keys
	// username and password. The user needs configure, write and read
	// permission on the vhost and the tags policymaker and monitoring; it
	// need not be an administrator. Any character is legal, save for a colon
	// in the username. The Secret is read every syncPeriod and when the broker
	// refuses, so that a changed password needs no restart.
	// +optional
	CredentialsSecretRef *SecretReference `json:"credentialsSecretRef,omitempty"`

	// tls is used for amqps:// and https:// URLs, for both alike.
	// +optional
	TLS *BrokerTLS `json:"tls,omitempty"`

	// rabbitmqClusterRef names a RabbitmqCluster of RabbitMQ's own cluster
	// operator, in place of amqp, management and credentialsSecretRef. Host,
	// AMQP port and credentials come from its default user's Secret; the
	// management port is 15672, or 15671 where the cluster speaks TLS. The CA
	// comes from the cluster too, unless tls.caSecretRef names another.
	// +optional
	RabbitmqClusterRef *RabbitmqClusterReference `json:"rabbitmqClusterRef,omitempty"`

	// allowedNamespaces says whose Topics and ReliableSubscriptions may use
	// this Broker. Default: those of its own namespace.
	// +optional
	// +kubebuilder:default={from: Same}
	AllowedNamespaces AllowedNamespaces `json:"allowedNamespaces,omitempty"`

	// adoption says which namespaces may take over what exists on the broker
	// without an owner's mark (adoptionPolicy: Adopt): on a shared vhost a
	// tenant must not authorise himself. Default: this Broker's own namespace.
	// +optional
	// +kubebuilder:default={from: Same}
	Adoption AdoptionNamespaces `json:"adoption,omitempty"`

	// naming is a regular expression (RE2) with {namespace} in it, which every
	// name of a queue or an exchange that Warren declares here for a namespace must match
	// as a whole, with the namespace's name in the place of {namespace}: so that
	// no team can take another's names. Example: '{namespace}\..+'. Topics and
	// ReliableSubscriptions with another name are NotAllowed. Have something
	// around {namespace} that a namespace's name cannot hold, such as a dot:
	// '{namespace}-.*' would give team-a's names to team too, and the
	// condition NamesIsolated says so. Default: every name may be given by
	// everybody who may use the Broker, and whoever is first has it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.contains('{namespace}')",message="naming needs {namespace} in it, for the name of the namespace whose names it judges, as in '{namespace}[.].+'"
	// +kubebuilder:validation:XValidation:rule="'x'.matches(self.replace('{namespace}', '(?:x)')) in [true, false] && 'x'.matches('^(?:' + self.replace('{namespace}', '(?:x)') + ')$') in [true, false]",message="naming must be a regular expression (RE2), complete in itself: look for a parenthesis, bracket or quotation without its other end"
	Naming string `json:"naming,omitempty"`

	// acceptedOwners are ids of clusters whose objects this one takes over,
	// of the same namespace and name: what a lost or replaced cluster left on the
	// broker. At most 16.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	AcceptedOwners []string `json:"acceptedOwners,omitempty"`

	// shieldPolicy keeps one policy in the vhost, of the highest priority, on
	// wait, parking and unroutable queues, so that a policy that somebody made
	// for many queues (pattern .*) cannot expire, limit or delete what they
	// hold. Operator policies are not held off. RabbitMQ's policies have to be
	// set by the user that credentialsSecretRef names (tag policymaker).
	// Default false: such a policy is reported, and left to win.
	// +optional
	ShieldPolicy bool `json:"shieldPolicy,omitempty"`

	// syncPeriod is how often the broker is read back, and thus how soon a
	// change made by hand is seen. 1s to 1h, default 30s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="syncPeriod must be from 1s to 1h"
	SyncPeriod Duration `json:"syncPeriod,omitempty"`
}

// AdoptionFrom says which namespaces may adopt.
// +kubebuilder:validation:Enum=None;Same;All;Selector
type AdoptionFrom string

// AdoptionFromNone lets nobody adopt; the other values are those of NamespacesFrom.
const AdoptionFromNone AdoptionFrom = "None"

// AdoptionNamespaces says who may take over what is nobody's.
// +kubebuilder:validation:XValidation:rule="(self.from == 'Selector') == has(self.selector)",message="selector goes with from: Selector, and from: Selector needs a selector"
type AdoptionNamespaces struct {
	// from says which namespaces may adopt: None, Same (default: only the
	// Broker's own), All, or Selector (those whose labels match selector).
	// +optional
	// +kubebuilder:default=Same
	From AdoptionFrom `json:"from,omitempty"`

	// selector chooses namespaces by their labels; only with from: Selector.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// AMQPEndpoint is where a broker speaks AMQP 0-9-1.
type AMQPEndpoint struct {
	// url is amqp://host:port or amqps://host:port. Without user info and
	// without a path: credentials come from credentialsSecretRef, the
	// virtual host from vhost. Default ports: 5672, and 5671 for amqps.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z]+://[^/]*@')",message="no user info in a URL: put username and password into the Secret that credentialsSecretRef names"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]+://[^/]*@') || self.matches('^amqps?://([^][/?#@: ]+|[[][0-9a-fA-F:.]+[]])(:[0-9]{1,5})?/?$')",message="amqp.url must be amqp://host:port or amqps://host:port, with no path (the virtual host goes into vhost)"
	URL string `json:"url"`
}

// ManagementEndpoint is where a broker's management HTTP API is.
type ManagementEndpoint struct {
	// url is http://host:port or https://host:port; a path prefix is
	// allowed (management.path_prefix in rabbitmq.conf). Without user info.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[a-z]+://[^/]*@')",message="no user info in a URL: put username and password into the Secret that credentialsSecretRef names"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]+://[^/]*@') || self.matches('^https?://([^][/?#@: ]+|[[][0-9a-fA-F:.]+[]])(:[0-9]{1,5})?(/[^?#]*)?$')",message="management.url must be http://host:port or https://host:port, with a path prefix at most"
	URL string `json:"url"`
}

// BrokerTLS says whom to trust and how to identify.
type BrokerTLS struct {
	// caSecretRef names the certificate authorities (PEM) that the broker's
	// certificate must come from. Default: those of the operator's system.
	// +optional
	CASecretRef *SecretKeyReference `json:"caSecretRef,omitempty"`

	// clientCertificateSecretRef names a Secret of type kubernetes.io/tls
	// (keys tls.crt and tls.key), for a broker that asks for a certificate.
	// +optional
	ClientCertificateSecretRef *SecretReference `json:"clientCertificateSecretRef,omitempty"`

	// serverName is the name that the broker's certificate must bear.
	// Default: the host of the URL.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServerName string `json:"serverName,omitempty"`
}

// SecretKeyReference names one key of a Secret in the same namespace.
type SecretKeyReference struct {
	// name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// key in the Secret. Default: ca.crt.
	// +optional
	// +kubebuilder:default=ca.crt
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// RabbitmqClusterReference names a RabbitmqCluster (rabbitmq.com/v1beta1).
type RabbitmqClusterReference struct {
	// name of the RabbitmqCluster.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace of the RabbitmqCluster. Default: this Broker's own. A cluster
	// of another namespace must name this one in its annotation
	// rabbitmq.com/topology-allowed-namespaces.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// BrokerStatus is what was read from the broker.
type BrokerStatus struct {
	// observedGeneration is the metadata.generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// version of RabbitMQ. What Warren may use depends on it.
	// +optional
	Version string `json:"version,omitempty"`

	// clusterName is the name that the RabbitMQ cluster gives itself.
	// +optional
	ClusterName string `json:"clusterName,omitempty"`

	// nodes of the RabbitMQ cluster.
	// +optional
	// +listType=map
	// +listMapKey=name
	Nodes []BrokerNode `json:"nodes,omitempty"`

	// conditions: Ready (reasons Connected; BadCredentials,
	// BrokerUnreachable, VhostMissing, UnsupportedVersion, MissingTag,
	// AccessRefused, SecretNotFound, SecretInvalid, TLSFailed,
	// ClusterNotFound, NotAllowed) and ResourceAlarm (PublishersBlocked;
	// NoAlarm), which does not make Ready False: declares go on under an alarm.
	// NamesIsolated says whether one namespace can take another's names
	// (NamingEnforced, OwnNamespaceOnly; NoNaming, NamingOverlaps,
	// NamingUnproved, and SharedVhost for another Broker on the same vhost
	// with another naming).
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// BrokerNode is one node of a RabbitMQ cluster.
type BrokerNode struct {
	// name of the node, as RabbitMQ has it (rabbit@host).
	Name string `json:"name"`
	// running is false for a node that is a member and down.
	Running bool `json:"running"`
	// alarms that this node has raised: memory, disk. While there is one,
	// every publisher of the cluster is blocked.
	// +optional
	// +listType=set
	Alarms []string `json:"alarms,omitempty"`
}

// Broker is one vhost of one RabbitMQ cluster, and who may use it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=warren
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name="Vhost",type=string,JSONPath=`.spec.vhost`
// +kubebuilder:printcolumn:name="Alarm",type=string,JSONPath=`.status.conditions[?(@.type=="ResourceAlarm")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Cluster",type=string,priority=1,JSONPath=`.status.clusterName`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type Broker struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says how to reach the broker and who may use it.
	Spec BrokerSpec `json:"spec"`
	// status is what was read from the broker.
	// +optional
	Status BrokerStatus `json:"status,omitempty"`
}

// BrokerList is a list of Brokers.
//
// +kubebuilder:object:root=true
type BrokerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Broker `json:"items"`
}
