package controllers

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
)

// redriveRun moves messages for a Redrive, beside the reconciler's workers.
type redriveRun struct {
	key          types.NamespacedName
	uid          types.UID
	subscription types.NamespacedName
	// before is how many messages were done when it began; doubtful that this
	// was found out after it had been cut off.
	before   int64
	doubtful bool

	progress broker.MoveProgress
	stop     context.CancelFunc
	ended    chan struct{}
	// What is below is there when it has ended.
	end broker.MoveEnd
	err error

	// reported is the reconciler's.
	reported time.Time
}

func (r *redriveRun) counts() broker.MoveCounts { return r.progress.Counts() }

func (r *redriveRun) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// mayReport bounds the rate at which counts alone are written.
func (r *redriveRun) mayReport(countsOnly bool) bool {
	if countsOnly && time.Since(r.reported) < progressEvery {
		return false
	}
	r.reported = time.Now()
	return true
}

// verdict is what a run's end means: complete, failed, cut off, or, with
// nothing set, stopped.
type verdict struct {
	complete              bool
	failure, interruption *Problem
}

// failures are errors that do not pass by themselves: what is at fault has to
// be mended, and another Redrive created.
var failures = map[broker.Class]string{
	broker.Unroutable:  v1alpha1.ReasonNoRoute,
	broker.Nacked:      v1alpha1.ReasonRefusedByQueue,
	broker.Unconfirmed: v1alpha1.ReasonNotConfirmed,
	broker.Refused:     v1alpha1.ReasonRefusedByBroker,
}

func (r *redriveRun) verdict() verdict {
	if reason, ends := failures[broker.ClassOf(r.err)]; ends {
		return verdict{failure: problem(reason, "%s; nothing is lost: what was not confirmed is still parked. Mend it, then create another Redrive", r.err)}
	}
	switch {
	case r.err != nil:
		return verdict{interruption: problem(v1alpha1.ReasonInterrupted, "it was cut off and goes on by itself: %s", r.err)}
	case r.end == broker.MoveFull:
		return verdict{failure: problem(v1alpha1.ReasonTooManyHeld, "%s that the filter does not choose are before the others, and no more can be held: move or discard some of them first", count(r.counts().Kept, "message"))}
	}
	return verdict{complete: r.end == broker.MoveDone || r.end == broker.MoveEmptied}
}

// redriveRuns are the runs of this process, one a subscription at most.
type redriveRuns struct {
	life context.Context
	end  context.CancelFunc
	// ended tells the reconciler.
	ended chan keyEvent
	// left tells it of a subscription that is free for the next one.
	left chan keyEvent

	mu sync.Mutex
	m  map[types.NamespacedName]*redriveRun
	// beginning has the subscriptions of which a Redrive is about to begin.
	beginning map[types.NamespacedName]bool
	// doubts is since when this process waits for a Redrive's counts to be certain.
	doubts map[types.UID]time.Time
	// past is what runs have done that are forgotten.
	past broker.MoveCounts
}

func newRedriveRuns() *redriveRuns {
	r := &redriveRuns{ended: make(chan keyEvent, 1024), left: make(chan keyEvent, 1024), m: map[types.NamespacedName]*redriveRun{}, beginning: map[types.NamespacedName]bool{}, doubts: map[types.UID]time.Time{}}
	r.life, r.end = context.WithCancel(context.Background())
	return r
}

// Start lives as long as the manager leads, and ends the runs in good order.
func (r *redriveRuns) Start(ctx context.Context) error {
	<-ctx.Done()
	r.end()
	for _, run := range r.all() {
		<-run.ended
	}
	return nil
}

func (r *redriveRuns) all() []*redriveRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	runs := make([]*redriveRun, 0, len(r.m))
	for _, run := range r.m {
		runs = append(runs, run)
	}
	return runs
}

// start runs a move, unless another Redrive of the subscription is at it.
func (r *redriveRuns) start(rd *v1alpha1.Redrive, s *site, move broker.Move, doubtful bool, before int64) {
	ctx, stop := context.WithCancel(r.life)
	run := &redriveRun{
		key: client.ObjectKeyFromObject(rd), uid: rd.UID, subscription: client.ObjectKeyFromObject(s.sub),
		before: before, doubtful: doubtful, stop: stop, ended: make(chan struct{}), reported: time.Now(),
	}
	if !r.add(run) {
		stop()
		return
	}
	go func() {
		defer func() { r.ended <- keyEvent{Object: run.key} }()
		defer close(run.ended)
		defer stop()
		run.end, run.err = s.view.Session.Move(ctx, move, &run.progress)
	}()
}

// reserve keeps every other Redrive of a subscription from beginning until
// release is called; false where one has begun, or is about to. Two that come at
// the same moment may each have found themselves to be the first.
func (r *redriveRuns) reserve(subscription types.NamespacedName) (release func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.beginning[subscription] {
		return nil, false
	}
	for _, other := range r.m {
		if other.subscription == subscription {
			return nil, false
		}
	}
	r.beginning[subscription] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.beginning, subscription)
	}, true
}

func (r *redriveRuns) add(run *redriveRun) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.m {
		if other.subscription == run.subscription {
			return false
		}
	}
	r.m[run.key] = run
	delete(r.doubts, run.uid)
	return true
}

func (r *redriveRuns) of(key types.NamespacedName) *redriveRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.m[key]
}

// at finds the run that a subscription is busy with.
func (r *redriveRuns) at(subscription types.NamespacedName) *redriveRun {
	for _, run := range r.all() {
		if run.subscription == subscription {
			return run
		}
	}
	return nil
}

// forget is for a run whose outcome has been written.
func (r *redriveRuns) forget(run *redriveRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m[run.key] == run {
		delete(r.m, run.key)
		r.past.Moved += run.counts().Moved
		r.past.Dropped += run.counts().Dropped
	}
}

// leave forgets a run whose Redrive makes room for the next one.
func (r *redriveRuns) leave(run *redriveRun) {
	r.forget(run)
	r.left <- keyEvent{Object: run.subscription}
}

// abandon stops a run whose outcome nobody wants to know.
func (r *redriveRuns) abandon(key types.NamespacedName) {
	run := r.of(key)
	if run == nil {
		return
	}
	run.stop()
	if run.hasEnded() {
		r.leave(run)
	}
}

// doubtful tells for how long a Redrive has waited here.
func (r *redriveRuns) doubtful(uid types.UID) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.doubts[uid]; !ok {
		r.doubts[uid] = time.Now()
	}
	return time.Since(r.doubts[uid])
}
