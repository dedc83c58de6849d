package gate

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers"
)

// Readiness is what the gate asks about what a pod waits for.
type Readiness interface {
	// Topic judges a topic for a pod's namespace.
	Topic(ctx context.Context, namespace string, key types.NamespacedName) (controllers.Verdict, error)
	// Subscription judges a subscription.
	Subscription(ctx context.Context, key types.NamespacedName) (controllers.Verdict, error)
}

// Reconciler opens the gate of pods.
type Reconciler struct {
	Client client.Client
	Ready  Readiness
	Events events.EventRecorder

	memory memory
}

// recheck is when a pod that waits is looked at again without a reason: that
// a reading has become too old is no change of anything that is watched.
const recheck = 10 * time.Second

// Reconcile looks at one pod.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var pod corev1.Pod
	if err := r.Client.Get(ctx, req.NamespacedName, &pod); err != nil {
		r.memory.forget(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !isGated(&pod) || r.memory.released(&pod) {
		return reconcile.Result{}, nil
	}
	need, err := awaitedBy(&pod)
	if err != nil {
		r.tell(&pod, corev1.EventTypeWarning, nothingToAwait(err))
		return reconcile.Result{}, nil
	}
	found, err := r.judge(ctx, &pod, need)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(found.waiting) > 0 {
		r.tell(&pod, corev1.EventTypeNormal, found.notice())
		return reconcile.Result{RequeueAfter: recheck}, nil
	}
	return reconcile.Result{}, r.release(ctx, &pod, found)
}

// findings are the verdicts on all that a pod awaits.
type findings struct {
	// waiting and remarks are sentences' parts, in the order of the annotations.
	waiting, remarks, ready []string
	// first is what the pod waits for, the first of it.
	first *corev1.ObjectReference
}

func (r *Reconciler) judge(ctx context.Context, pod *corev1.Pod, need awaited) (findings, error) {
	var f findings
	for _, key := range need.topics {
		v, err := r.Ready.Topic(ctx, pod.Namespace, key)
		if err != nil {
			return findings{}, err
		}
		f.add("Topic", pod.Namespace, key, v)
	}
	for _, key := range need.subscriptions {
		v, err := r.Ready.Subscription(ctx, key)
		if err != nil {
			return findings{}, err
		}
		f.add("ReliableSubscription", pod.Namespace, key, v)
	}
	return f, nil
}

func (f *findings) add(kind, namespace string, key types.NamespacedName, v controllers.Verdict) {
	name := kind + " " + key.Name
	if key.Namespace != namespace {
		name = kind + " " + key.String()
	}
	if v.Waiting == nil {
		f.ready = append(f.ready, name)
		if v.Remark != "" {
			f.remarks = append(f.remarks, fmt.Sprintf("%s: %s", name, v.Remark))
		}
		return
	}
	f.waiting = append(f.waiting, fmt.Sprintf("%s (%s: %s)", name, v.Waiting.Reason, v.Waiting.Message))
	if f.first == nil {
		f.first = &corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Namespace: key.Namespace, Name: key.Name}
	}
}

// notice says what a pod waits for and why.
func (f findings) notice() notice {
	return notice{reason: eventWaiting, about: f.first, note: "waits for " + controllers.List(f.waiting)}
}

// opened says what is there now, what is odd about it, and which other gates
// still hold the pod.
func (f findings) opened(otherGates []string) string {
	note := "scheduled from now on, since what it awaits is ready: " + controllers.List(f.ready)
	if len(otherGates) > 0 {
		note = "what it awaits is ready: " + controllers.List(f.ready) + "; still held by scheduling gate " + controllers.List(otherGates)
	}
	return strings.Join(append([]string{note}, f.remarks...), "; ")
}
