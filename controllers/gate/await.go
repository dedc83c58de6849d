package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// awaited is what a pod's annotations name.
type awaited struct {
	topics        []types.NamespacedName
	subscriptions []types.NamespacedName
}

// mostAwaited bounds what one pod can make Warren look at.
const mostAwaited = 64

// awaitedBy reads a pod's annotations. An error is for the pod's author.
func awaitedBy(pod *corev1.Pod) (awaited, error) {
	var a awaited
	err := knownAnnotations(pod)
	if err != nil {
		return awaited{}, err
	}
	if a.topics, err = keysIn(pod, v1alpha1.AwaitTopicsAnnotation); err != nil {
		return awaited{}, err
	}
	if a.subscriptions, err = keysIn(pod, v1alpha1.AwaitSubscriptionsAnnotation); err != nil {
		return awaited{}, err
	}
	for _, key := range a.subscriptions {
		if key.Namespace != pod.Namespace {
			return awaited{}, fmt.Errorf("annotation %s names %s, and a pod can await subscriptions of its own namespace only: await the Topic that they hear", v1alpha1.AwaitSubscriptionsAnnotation, key)
		}
	}
	switch n := len(a.topics) + len(a.subscriptions); {
	case n == 0:
		return awaited{}, fmt.Errorf("the pod has the scheduling gate %s and does not say what it waits for: add the annotation %s (or %s), names with commas between; in a Deployment it belongs to spec.template.metadata.annotations",
			v1alpha1.TopologyGate, v1alpha1.AwaitTopicsAnnotation, v1alpha1.AwaitSubscriptionsAnnotation)
	case n > mostAwaited:
		return awaited{}, fmt.Errorf("the pod awaits %d topics and subscriptions, and %d is the most", n, mostAwaited)
	}
	return a, nil
}

// awaitPrefix begins every annotation that says what a pod waits for.
const awaitPrefix = "warren.dev/await-"

// knownAnnotations refuses a name that is not known: with it left aside, a
// mistyped one would open the gate before what it was to wait for.
func knownAnnotations(pod *corev1.Pod) error {
	for _, name := range slices.Sorted(maps.Keys(pod.Annotations)) {
		if strings.HasPrefix(name, awaitPrefix) && name != v1alpha1.AwaitTopicsAnnotation && name != v1alpha1.AwaitSubscriptionsAnnotation {
			return fmt.Errorf("annotation %s is not known: correct it to %s or %s", name, v1alpha1.AwaitTopicsAnnotation, v1alpha1.AwaitSubscriptionsAnnotation)
		}
	}
	return nil
}

// otherGates are those that hold a pod beside Warren's.
func otherGates(pod *corev1.Pod) []string {
	var names []string
	for _, g := range pod.Spec.SchedulingGates {
		if g.Name != v1alpha1.TopologyGate {
			names = append(names, g.Name)
		}
	}
	return names
}

// keysIn reads one annotation: NAME or NAMESPACE/NAME, with commas between.
func keysIn(pod *corev1.Pod, annotation string) ([]types.NamespacedName, error) {
	var keys []types.NamespacedName
	for item := range strings.SplitSeq(pod.Annotations[annotation], ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		namespace, name, foreign := strings.Cut(item, "/")
		if !foreign {
			namespace, name = pod.Namespace, item
		}
		if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
			return nil, fmt.Errorf("annotation %s: %q is neither NAME nor NAMESPACE/NAME", annotation, item)
		}
		if key := (types.NamespacedName{Namespace: namespace, Name: name}); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// isGated tells whether a pod waits for Warren.
func isGated(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp.IsZero() && slices.ContainsFunc(pod.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool {
		return g.Name == v1alpha1.TopologyGate
	})
}
