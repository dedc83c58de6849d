package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/broker"
)

// unsteady is a session that cannot read the broker while it is down.
type unsteady struct {
	controllers.Session
	down   *atomic.Bool
	failed *atomic.Int32
}

func (s unsteady) Observe(ctx context.Context, opts broker.ObserveOptions) (*broker.Observation, error) {
	if s.down.Load() {
		s.failed.Add(1)
		return nil, errors.New("nobody answers")
	}
	return s.Session.Observe(ctx, opts)
}

func (w *world) lease() (*coordinationv1.Lease, error) {
	var l coordinationv1.Lease
	return &l, w.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "warren-broker-main"}, &l)
}

// A good reading renews the Broker's Lease, a bad one does not.
func TestALeaseSaysWhenABrokerWasReadWell(t *testing.T) {
	t.Parallel()
	vhost := localenv.Broker(t, localenv.Series43).NewVhost(t)
	down, failed := &atomic.Bool{}, &atomic.Int32{}
	down.Store(true)
	w := newWorld(t, func(c broker.Config) controllers.Session {
		return unsteady{broker.NewSession(c, broker.Options{}), down, failed}
	})
	w.createBroker(configOf(vhost))
	main := &v1alpha1.Broker{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "main"}}
	w.awaitCondition(main, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonBrokerUnreachable)
	if l, err := w.lease(); !apierrors.IsNotFound(err) {
		t.Fatalf("a broker that was never read has a Lease: %+v, %v", l, err)
	}

	down.Store(false)
	first := w.awaitRenewal(time.Time{})
	w.awaitRenewal(first)
	l, err := w.lease()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]metav1.OwnerReference{{APIVersion: "warren.dev/v1alpha1", Kind: "Broker", Name: "main", UID: main.UID}}, l.OwnerReferences); diff != "" {
		t.Errorf("the Lease's owners (-want +got):\n%s", diff)
	}
	l.Spec.RenewTime = nil
	if diff := cmp.Diff(coordinationv1.LeaseSpec{HolderIdentity: ptr.To("test"), LeaseDurationSeconds: ptr.To[int32](10)}, l.Spec); diff != "" {
		t.Errorf("the Lease (-want +got):\n%s", diff)
	}

	down.Store(true)
	w.awaitCondition(main, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonBrokerUnreachable)
	last, err := w.lease()
	if err != nil {
		t.Fatal(err)
	}
	enough := failed.Load() + 3
	w.eventually(func() error {
		if n := failed.Load(); n < enough {
			return fmt.Errorf("the broker was asked %d times, want %d", n, enough)
		}
		return nil
	})
	if l, err := w.lease(); err != nil || !l.Spec.RenewTime.Equal(last.Spec.RenewTime) {
		t.Errorf("while the broker cannot be read, the Lease went from %s to %s, %v", last.Spec.RenewTime, l.Spec.RenewTime, err)
	}
	down.Store(false)
	w.awaitRenewal(last.Spec.RenewTime.Time)
}

// awaitRenewal waits until the Lease is renewed later than a time, and gives when.
func (w *world) awaitRenewal(than time.Time) time.Time {
	w.t.Helper()
	var renewed time.Time
	w.eventually(func() error {
		l, err := w.lease()
		if err != nil {
			return err
		}
		if renewed = l.Spec.RenewTime.Time; !renewed.After(than) {
			return fmt.Errorf("the Lease was renewed at %s, want later than %s", renewed, than)
		}
		return nil
	})
	return renewed
}
