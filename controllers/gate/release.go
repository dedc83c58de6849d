package gate

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// release removes the gate, and no other one.
func (r *Reconciler) release(ctx context.Context, pod *corev1.Pod, found findings) error {
	patch, err := releasePatch(pod.UID)
	if err != nil {
		return err
	}
	err = r.Client.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, patch))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// The pod has gone; one of the same name that came since is another event.
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove scheduling gate %s: %w", v1alpha1.TopologyGate, err)
	}
	r.memory.noteReleased(pod)
	log.FromContext(ctx).V(1).Info("the gate is open")
	r.emit(pod, corev1.EventTypeNormal, notice{reason: eventReady, action: "Release", note: found.opened(otherGates(pod))})
	return nil
}

// releasePatch takes one gate out of the list, whatever else is in it: done
// twice it changes nothing, and it needs no right but to patch. (Server-side
// apply cannot remove a gate that somebody else has put there.) The UID keeps
// it from a namesake.
func releasePatch(uid types.UID) ([]byte, error) {
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": uid},
		"spec": map[string]any{
			"schedulingGates": []map[string]any{{"$patch": "delete", "name": v1alpha1.TopologyGate}},
		},
	})
}
