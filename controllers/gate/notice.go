package gate

import (
	"hash/fnv"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/warren-mq/warren/controllers"
)

// Reasons of the Events about pods.
const (
	eventWaiting = "WaitingForTopology"
	eventReady   = "TopologyReady"
	eventUnclear = "TopologyUnclear"
)

// notice is an Event about a pod.
type notice struct {
	reason, action, note string
	// about is what else the Event concerns.
	about *corev1.ObjectReference
}

func nothingToAwait(err error) notice {
	return notice{reason: eventUnclear, note: err.Error()}
}

// tell writes an Event about a pod that waits, unless it says what the last one said.
func (r *Reconciler) tell(pod *corev1.Pod, kind string, n notice) {
	if !r.memory.isNews(pod, n.note) {
		return
	}
	n.action = "Wait"
	r.emit(pod, kind, n)
}

// emit writes an Event. Events about a pod that differ in their notes alone
// would count as one that repeats, and only the first note be kept: the note's
// hash, in what else the Event concerns, tells them apart.
func (r *Reconciler) emit(pod *corev1.Pod, kind string, n notice) {
	about := n.about
	if about == nil {
		about = &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(n.note)) // it cannot fail
	about.FieldPath = "note-" + strconv.FormatUint(uint64(hash.Sum32()), 36)
	r.Events.Eventf(pod, about, kind, n.reason, n.action, "%s", controllers.Clip(n.note))
}
