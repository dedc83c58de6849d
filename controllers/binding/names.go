package binding

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// maxObjectName is what the name of a ConfigMap or a Secret may have.
	maxObjectName = 253
	// maxUsername: a user-id property holds 255 bytes.
	maxUsername = 255
)

// objectName puts a suffix behind a resource's name. One that gets too long is
// cut, and a digest keeps it apart from others.
func objectName(name, suffix string) string {
	if len(name)+len(suffix) <= maxObjectName {
		return name + suffix
	}
	end := "-" + short(name) + suffix
	return strings.TrimRight(name[:maxObjectName-len(end)], "-.") + end
}

// Username of a resource's user: people read the front, the digest at the end
// is of cluster, kind and resource, so that no other has it.
func Username(clusterID, kind string, owner client.Object) string {
	end := "." + short(strings.Join([]string{clusterID, kind, owner.GetNamespace(), owner.GetName()}, "/"))
	front := "warren." + owner.GetNamespace() + "." + owner.GetName()
	return front[:min(len(front), maxUsername-len(end))] + end
}

// Tag is on every user that Warren generates from a cluster. It is a digest,
// since a tag may not hold a comma, and one for all, since RabbitMQ never forgets a tag.
func Tag(clusterID string) string { return "warren-" + short(clusterID) }
