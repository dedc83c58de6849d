package controllers_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/test/amqptest"
)

func TestMain(m *testing.M) { localenv.Main(m) }

const (
	clusterID = "test-cluster"
	// within is how long a status may take, on a machine that is busy.
	within = 60 * time.Second
)

// world is a namespace of a real API server, with the reconcilers in this
// process. Their way to a broker is the test's.
type world struct {
	client.Client
	t         *testing.T
	namespace string
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		panic(err) // the types are compiled in
	}
	return scheme
}

var installCRDs = sync.OnceValue(func() error {
	plane, err := sharedPlane()
	if err != nil {
		return err
	}
	_, err = envtest.InstallCRDs(plane.Config, envtest.CRDInstallOptions{
		Paths: []string{filepath.Join("..", "config", "crd", "bases")}, ErrorIfPathMissing: true,
	})
	return err
})

var sharedPlane = sync.OnceValues(func() (*localenv.ControlPlane, error) {
	dir, err := localenv.SharedDir()
	if err != nil {
		return nil, err
	}
	// Not the context of the test that happens to be the first: it ends with it.
	plane, err := localenv.StartControlPlane(context.Background(), filepath.Join(dir, "controlplane"), localenv.ControlPlaneOptions{})
	if err == nil {
		localenv.AtEnd(plane.Stop)
	}
	return plane, err
})

// newWorld runs the reconcilers for a new namespace until the test ends. They
// see the API server through the wrappers.
func newWorld(t *testing.T, newSession func(broker.Config) controllers.Session, wrappers ...func(client.WithWatch) client.Client) *world {
	t.Helper()
	if err := installCRDs(); err != nil {
		t.Fatalf("control plane: %v", err)
	}
	plane, _ := sharedPlane()
	scheme := newScheme()
	c, err := client.New(plane.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Client: c, t: t, namespace: "t-" + strings.ToLower(rand.Text()[:10])}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})

	mgr, err := ctrl.NewManager(plane.Config, ctrl.Options{
		Scheme:  scheme,
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}},
		Metrics: metricsserver.Options{BindAddress: "0"},
		NewClient: func(config *rest.Config, options client.Options) (client.Client, error) {
			c, err := client.NewWithWatch(config, options)
			wrapped := client.Client(c)
			for _, wrap := range wrappers {
				wrapped = wrap(c)
			}
			return wrapped, err
		},
		Logger: zap.New(zap.WriteTo(newJournal(t)), zap.Level(zapcore.DebugLevel)),
		// Each test has reconcilers of the same names.
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	if _, err := controllers.Setup(ctx, mgr, controllers.Options{ClusterID: clusterID, Identity: "test", NewSession: newSession}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	})
	return w
}

// journal keeps what the reconcilers log until the test ends, and shows it when it failed.
type journal struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func newJournal(t *testing.T) *journal {
	j := &journal{}
	t.Cleanup(func() {
		j.mutex.Lock()
		defer j.mutex.Unlock()
		if t.Failed() {
			t.Logf("the reconcilers logged:\n%s", j.text.String())
		}
	})
	return j
}

func (j *journal) Write(line []byte) (int, error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.text.Write(line)
}

// create makes an object, in the world's namespace where it has one.
func (w *world) create(o client.Object) {
	w.t.Helper()
	if _, cluster := o.(*corev1.Namespace); !cluster {
		o.SetNamespace(w.namespace)
	}
	if err := w.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// createBroker makes Broker "main", with its Secret.
func (w *world) createBroker(c broker.Config) {
	w.t.Helper()
	w.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "main"},
		StringData: map[string]string{"username": c.Username, "password": c.Password},
	})
	w.create(&v1alpha1.Broker{ObjectMeta: metav1.ObjectMeta{Name: "main"}, Spec: v1alpha1.BrokerSpec{
		AMQP:                 &v1alpha1.AMQPEndpoint{URL: c.AMQPURL},
		Management:           &v1alpha1.ManagementEndpoint{URL: c.ManagementURL},
		Vhost:                c.Vhost,
		CredentialsSecretRef: &v1alpha1.SecretReference{Name: "main"},
		SyncPeriod:           "1s",
	}})
}

var onMain = v1alpha1.BrokerReference{Name: "main"}

func topic(name string) *v1alpha1.Topic {
	return &v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.TopicSpec{BrokerRef: onMain}}
}

// subscription hears two keys of topic "orders"; its work queue has its name.
func subscription(name string, change ...func(*v1alpha1.ReliableSubscriptionSpec)) *v1alpha1.ReliableSubscription {
	sub := &v1alpha1.ReliableSubscription{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.ReliableSubscriptionSpec{
		BrokerRef: onMain,
		Sources:   []v1alpha1.Source{{TopicRef: &v1alpha1.TopicReference{Name: "orders"}, RoutingKeys: []string{"order.placed", "order.cancelled"}}},
		WorkQueue: &v1alpha1.WorkQueueSpec{Name: name},
	}}
	for _, f := range change {
		f(&sub.Spec)
	}
	return sub
}

// awaitCondition polls until an object of ours has a condition with a status and a reason, and gives it.
func (w *world) awaitCondition(o client.Object, kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	w.t.Helper()
	var found metav1.Condition
	w.eventually(func() error {
		if err := w.Get(w.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		c := meta.FindStatusCondition(conditionsOf(o), kind)
		if c == nil || c.ObservedGeneration != o.GetGeneration() || c.Status != status || c.Reason != reason {
			return fmt.Errorf("condition %s of %s is %+v, want %s, %s", kind, o.GetName(), c, status, reason)
		}
		found = *c
		return nil
	})
	return found
}

func conditionsOf(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case *v1alpha1.Broker:
		return o.Status.Conditions
	case *v1alpha1.Topic:
		return o.Status.Conditions
	case *v1alpha1.ReliableSubscription:
		return o.Status.Conditions
	}
	return nil
}

// eventually polls until check returns nil, and fails with its last error.
func (w *world) eventually(check func() error) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, check)
}
