package controllers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// readOnly spares the copies of what is listed from the cache: with thousands
// of resources they are most of the work. Who lists so changes nothing of it.
const readOnly = client.UnsafeDisableDeepCopy

// requests lists, from the cache, the resources that an index has for a key.
func requests(ctx context.Context, c client.Reader, list client.ObjectList, index string, key types.NamespacedName) []reconcile.Request {
	return listed(ctx, c, list, client.MatchingFields{index: key.String()})
}

// inNamespace lists the resources of a namespace from the cache.
func inNamespace(ctx context.Context, c client.Reader, list client.ObjectList, namespace string) []reconcile.Request {
	return listed(ctx, c, list, client.InNamespace(namespace))
}

func listed(ctx context.Context, c client.Reader, list client.ObjectList, which client.ListOption) []reconcile.Request {
	if err := c.List(ctx, list, which, readOnly); err != nil {
		log.FromContext(ctx).Error(err, "cannot list the resources that a change concerns")
		return nil
	}
	var reqs []reconcile.Request
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		reqs = append(reqs, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o.(client.Object))})
		return nil
	})
	return reqs
}

// itself is for keys of what is reconciled.
func itself(_ context.Context, key types.NamespacedName) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: key}}
}

// eachKey enqueues the requests that a Broker's key maps to.
func eachKey(requestsOf func(context.Context, types.NamespacedName) []reconcile.Request) handler.TypedEventHandler[types.NamespacedName, reconcile.Request] {
	return handler.TypedFuncs[types.NamespacedName, reconcile.Request]{
		GenericFunc: func(ctx context.Context, e keyEvent, q requestQueue) {
			for _, req := range requestsOf(ctx, e.Object) {
				q.Add(req)
			}
		},
	}
}

// enqueueAfter enqueues what an object maps to a little later, so that a
// burst of changes is looked at once.
func enqueueAfter(delay time.Duration, requestsOf func(context.Context, client.Object) []reconcile.Request) handler.EventHandler {
	add := func(ctx context.Context, o client.Object, q requestQueue) {
		for _, req := range requestsOf(ctx, o) {
			q.AddAfter(req, delay)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q requestQueue) { add(ctx, e.Object, q) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q requestQueue) { add(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q requestQueue) {
			add(ctx, e.ObjectOld, q)
			add(ctx, e.ObjectNew, q)
		},
	}
}
