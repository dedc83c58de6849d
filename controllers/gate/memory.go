package gate

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// memory keeps Warren from saying or doing the same twice to a pod. It is lost
// with the process, and nothing depends on it.
type memory struct {
	mu   sync.Mutex
	pods map[types.NamespacedName]remembered
}

type remembered struct {
	uid      types.UID
	note     string
	released bool
}

// isNews notes what is said of a pod, and tells whether it was not said last.
func (m *memory) isNews(pod *corev1.Pod, note string) bool {
	news := false
	m.change(pod, func(r *remembered) { news, r.note = r.note != note, note })
	return news
}

// noteReleased notes that the gate is gone, which the cache learns later.
func (m *memory) noteReleased(pod *corev1.Pod) {
	m.change(pod, func(r *remembered) { r.released = true })
}

func (m *memory) released(pod *corev1.Pod) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.pods[client.ObjectKeyFromObject(pod)]
	return r.released && r.uid == pod.UID
}

// change changes what is known of a pod; a namesake is somebody else.
func (m *memory) change(pod *corev1.Pod, f func(*remembered)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pods == nil {
		m.pods = map[types.NamespacedName]remembered{}
	}
	key := client.ObjectKeyFromObject(pod)
	r := m.pods[key]
	if r.uid != pod.UID {
		r = remembered{uid: pod.UID}
	}
	f(&r)
	m.pods[key] = r
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.pods, key)
}
