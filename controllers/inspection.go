package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

const (
	// maxSample is how many parked messages are judged.
	maxSample = 100
	// maxHeldForSample is how many may be parked for a look. All of them are held
	// for it: who gives back a part of a queue puts it behind what was given back before.
	maxHeldForSample = 1000
	// lookEvery is the pause between two looks at one parking queue.
	lookEvery = countsEvery
	// lookTimeout ends a look; what it holds is given back all the same.
	lookTimeout = 15 * time.Second
	// looksPerBroker is how many looks there may be at one broker at once.
	looksPerBroker = 2
	// lookBusy is when it is tried again where something was in the way.
	lookBusy = 2 * time.Second
)

// inspections look at parked messages, beside the workers of the reconcilers.
// A look holds all that is parked for a moment, so that it and a Redrive keep
// out of each other's way.
type inspections struct {
	life context.Context
	end  context.CancelFunc
	work sync.WaitGroup
	// ended tells the reconciler of subscriptions.
	ended chan keyEvent
	// redriving tells whether a Redrive is at work for a subscription.
	redriving func(types.NamespacedName) bool

	mu sync.Mutex
	m  map[types.NamespacedName]*inspection
	// held counts the Redrives that are about to begin, by subscription.
	held map[types.NamespacedName]int
	// running looks, by Broker.
	running map[types.NamespacedName]int
}

// inspection is the last look at a parking queue.
type inspection struct {
	uid     types.UID
	queue   string
	running bool
	at      time.Time // its end, or, while it runs, its beginning
	found   *v1alpha1.ParkingReasons
}

func newInspections() *inspections {
	i := &inspections{
		ended: make(chan keyEvent, 1024), redriving: func(types.NamespacedName) bool { return false },
		m: map[types.NamespacedName]*inspection{}, held: map[types.NamespacedName]int{}, running: map[types.NamespacedName]int{},
	}
	i.life, i.end = context.WithCancel(context.Background())
	return i
}

// Start lives as long as the manager leads, and ends the looks in good order.
func (i *inspections) Start(ctx context.Context) error {
	<-ctx.Done()
	i.end()
	i.work.Wait()
	return nil
}

// holdOff keeps looks away from a subscription until release is called; false
// while there is one under way.
func (i *inspections) holdOff(key types.NamespacedName) (release func(), ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if last := i.m[key]; last != nil && last.running {
		return nil, false
	}
	i.held[key]++
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.held[key]--; i.held[key] == 0 {
			delete(i.held, key)
		}
	}, true
}

// forget is for a subscription that is gone or is not to be looked at.
func (i *inspections) forget(key types.NamespacedName) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if last := i.m[key]; last != nil && !last.running {
		delete(i.m, key)
	}
}

// disturbs tells whether the counters of a reading may show a look at the
// parking queue: what it holds is not ready, and the broker's statistics
// say late that it is unacknowledged.
func (i *inspections) disturbs(key types.NamespacedName, seen *topology.Snapshot) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	last := i.m[key]
	return last != nil && (last.running || seen.TakenAt.Before(last.at.Add(2*statisticsInterval)))
}

// latest gives what the last look has found, if it was at this queue.
func (i *inspections) latest(sub *v1alpha1.ReliableSubscription, queue string) *v1alpha1.ParkingReasons {
	i.mu.Lock()
	defer i.mu.Unlock()
	last := i.m[client.ObjectKeyFromObject(sub)]
	if last == nil || last.uid != sub.UID || last.queue != queue {
		return nil
	}
	return last.found
}

// look begins a look at what is parked, unless something is in the way: then
// it says when to try again.
func (i *inspections) look(sub *v1alpha1.ReliableSubscription, a *assessment, parked int64) (again time.Duration) {
	key, on := client.ObjectKeyFromObject(sub), client.ObjectKeyFromObject(a.view.Broker)
	i.mu.Lock()
	defer i.mu.Unlock()
	last := i.m[key]
	switch {
	case i.life.Err() != nil, last != nil && last.running:
		return 0
	case last != nil && time.Since(last.at) < lookEvery:
		return lookEvery - time.Since(last.at)
	case i.held[key] > 0, i.running[on] >= looksPerBroker, i.redriving(key):
		return lookBusy
	}
	now := &inspection{uid: sub.UID, queue: a.topology.Names.Parking, running: true, at: time.Now()}
	if last != nil && last.uid == now.uid && last.queue == now.queue {
		now.found = last.found
	}
	i.m[key] = now
	i.running[on]++
	i.work.Go(func() {
		found := sample(i.life, a.view.Session, a.topology.Names, parked)
		i.mu.Lock()
		now.running, now.at, now.found = false, time.Now(), found
		i.running[on]--
		i.mu.Unlock()
		i.ended <- keyEvent{Object: key}
	})
	return 0
}

// sample holds what is parked, judges the first ones, and gives all back.
func sample(ctx context.Context, session Session, names topology.Names, parked int64) *v1alpha1.ParkingReasons {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	s := &sampler{reasons: &v1alpha1.ParkingReasons{Messages: parked}}
	if parked > maxHeldForSample {
		s.reasons.Note = fmt.Sprintf("not looked at: more than %d are parked, and giving back a part of a queue can change its order. A Redrive with dryRun and a filter counts those of one reason", maxHeldForSample)
		return s.reasons
	}
	var progress broker.MoveProgress
	end, err := session.Move(ctx, broker.Move{
		Names: names, Queue: names.Parking, Selective: true, Dry: true,
		Judge: s.judge, Most: parked, Quota: parked,
	}, &progress)
	switch {
	case err != nil:
		s.reasons.Note = "the look was cut short: " + fromBroker(err).Message
	case end == broker.MoveStopped:
		s.reasons.Note = "the look was cut short: it took too long"
	}
	return s.reasons
}

// sampler counts the first messages that it is shown.
type sampler struct{ reasons *v1alpha1.ParkingReasons }

func (s *sampler) judge(p broker.Parked) broker.Verdict {
	r := s.reasons
	if r.Sampled >= maxSample {
		return broker.Keep
	}
	r.Sampled++
	switch p.Reason {
	case broker.ParkedRejected:
		r.Rejected++
	case broker.ParkedDeliveryLimit:
		r.OverDeliveryLimit++
	case broker.ParkedExpired:
		r.Expired++
	case broker.ParkedByConsumer:
		r.ParkedByConsumer++
	default:
		r.Other++
	}
	if !p.Since.IsZero() && (r.Oldest == nil || p.Since.Before(r.Oldest.Time)) {
		r.Oldest = ptr.To(metav1.NewTime(p.Since))
	}
	return broker.Keep
}
