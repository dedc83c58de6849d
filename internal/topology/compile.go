package topology

import (
	"time"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// Subscription is all that the topology of one ReliableSubscription depends on.
type Subscription struct {
	Namespace string
	Name      string
	Spec      *v1alpha1.ReliableSubscriptionSpec
	// Owner is the owner's mark: <cluster id>/<namespace>/<name>.
	Owner string
	// Sources are the exchanges to bind to, with their types.
	Sources []Source
	// Broker is the version that the topology is for.
	Broker Version
	// Ladder is what the broker has of an earlier ladder of this subscription.
	Ladder Ladder
}

// Topology is what a broker must have for one subscription or topic.
type Topology struct {
	Names Names
	Owner string
	// Objects in declare order: what takes the messages in comes after what
	// they need on their way out, so the bindings to the sources are last.
	Objects []Object
	// Routes that must be proved over the bindings read back before the
	// subscription counts as established.
	Routes []Route
	// Retry says what a consumer has to know.
	Retry Retry
}

// Compile turns a subscription into the objects of the broker. The error is a
// [*Refusal] when the spec cannot be built on this broker.
func Compile(in Subscription) (*Topology, error) {
	c, err := newCompiler(in)
	if err != nil {
		return nil, err
	}
	sources, err := c.sourceBindings()
	if err != nil {
		return nil, err
	}

	var objects []Object
	objects = append(objects, c.parkingSide()...)
	objects = append(objects, c.frameExchanges()...)
	objects = append(objects, c.strategy.objects()...)
	objects = append(objects, c.workQueue()...)
	objects = append(objects, c.strategy.bindings()...)
	objects = append(objects, c.frameBindings()...)
	objects = append(objects, sources...)

	retry := c.strategy.retry(c.limit)
	retry.Contract = c.contract(retry)
	return &Topology{
		Names:   c.names,
		Owner:   in.Owner,
		Objects: objects,
		Routes:  append(c.frameRoutes(), c.strategy.routes()...),
		Retry:   retry,
	}, nil
}

// compiler holds a subscription with its defaults filled in.
type compiler struct {
	in       Subscription
	names    Names
	work     v1alpha1.WorkQueueSpec
	limit    int64
	strategy strategy
	// consumerTimeout is 0 where the broker's own is wanted.
	consumerTimeout time.Duration
}

// strategy is what a retry strategy adds to the frame.
type strategy interface {
	// objects are its exchanges and wait queues.
	objects() []Object
	// bindings by which what waits comes back, the way out, and after them
	// those that lead dying messages in.
	bindings() []Object
	// routes of rejected messages.
	routes() []Route
	// workArguments are what it asks of the work queue.
	workArguments() Arguments
	// retries of a message that is always rejected.
	retries() int64
	// retry describes it, for a delivery limit.
	retry(limit int64) Retry
}

func newCompiler(in Subscription) (*compiler, error) {
	c := &compiler{in: in, names: NamesOf(in.Namespace, in.Name, in.Spec)}
	if in.Spec.WorkQueue != nil {
		c.work = *in.Spec.WorkQueue
	}
	var err error
	if t := c.work.ConsumerTimeout; t != nil {
		if c.consumerTimeout, err = parseDuration("spec.workQueue.consumerTimeout", *t); err != nil {
			return nil, err
		}
	}
	if c.strategy, err = newStrategy(c); err != nil {
		return nil, err
	}
	if err := c.names.validate(c.longestName()); err != nil {
		return nil, err
	}
	retries := c.strategy.retries()
	c.limit = max(20, retries+5)
	if c.work.DeliveryLimit != nil {
		c.limit = int64(*c.work.DeliveryLimit)
	}
	if c.limit < retries {
		return nil, refuse(v1alpha1.ReasonInvalidSpec,
			"spec.workQueue.deliveryLimit is %d and there are %d retries: RabbitMQ 4.3 counts each return from a wait queue and would park before the last one, so set it to at least %d", c.limit, retries, retries)
	}
	return c, nil
}

func newStrategy(c *compiler) (strategy, error) {
	spec := c.in.Spec.Retry
	switch {
	case spec == nil:
		return newBackoff(c, defaultDelays)
	case spec.Backoff != nil:
		return newBackoff(c, spec.Backoff.Delays)
	case spec.FixedDelay != nil:
		return newFixedDelay(c, spec.FixedDelay)
	case spec.Native != nil:
		return newNative(c, spec.Native)
	case spec.Immediate != nil:
		return immediate{c}, nil
	}
	return nil, refuse(v1alpha1.ReasonInvalidSpec, "spec.retry is empty: choose backoff, fixedDelay, native or immediate, or leave retry out")
}

var defaultDelays = []v1alpha1.Duration{"5s", "30s", "5m"}

// longestName of all that the subscription would declare on a broker.
func (c *compiler) longestName() string {
	longest := c.names.FirstIdle()
	for _, o := range c.strategy.objects() {
		if q, ok := o.(Queue); ok && len(q.Name) > len(longest) {
			longest = q.Name
		}
	}
	return longest
}

// parkingSide comes first: whatever may go wrong later, a message has a place to go.
func (c *compiler) parkingSide() []Object {
	return []Object{
		c.exchange(c.names.Park(), Fanout, nil),
		c.queue(c.names.Parking, RoleParking, parkingArguments(c.names.Park())),
		c.bindQueue(c.names.Park(), c.names.Parking, nil),
	}
}

func (c *compiler) frameExchanges() []Object {
	return []Object{
		// Whatever is not known to be retried parks: the alternate exchange is
		// the safe end. The other way round a missing binding jams a crasher's messages for good.
		c.exchange(c.names.Dead(), Headers, Arguments{"alternate-exchange": c.names.Park()}),
		c.exchange(c.names.Redrive(), Fanout, nil),
	}
}

func (c *compiler) frameBindings() []Object {
	return []Object{c.bindQueue(c.names.Redrive(), c.names.Work, nil)}
}

// frameRoutes are those that hold for every strategy: whatever is not a
// rejection parks, and what is parked has a way back.
func (c *compiler) frameRoutes() []Route {
	n := c.names
	return []Route{
		dying("a message over the delivery limit", n.Work, "delivery_limit", "", n.Parking),
		dying("a message that expires in the work queue", n.Work, "expired", "", n.Parking),
		dying("a message that is rejected in the parking queue", n.Parking, "rejected", "", n.Parking),
		{Means: "a message that the consumer parks", Exchange: n.Park(), To: n.Parking},
		{Means: "a redriven message", Exchange: n.Redrive(), To: n.Work},
	}
}

// parksRejections is the route of strategies without wait queues.
func (c *compiler) parksRejections() []Route {
	return []Route{dying("a rejected message", c.names.Work, "rejected", "", c.names.Parking)}
}

func (c *compiler) exchange(name, kind string, args Arguments) Exchange {
	return Exchange{Name: name, Type: kind, Arguments: args.With(OwnerArgument, c.in.Owner)}
}

// queue adds what every queue of the subscription has.
func (c *compiler) queue(name string, role Role, args Arguments) Queue {
	args = args.With(OwnerArgument, c.in.Owner).With("x-queue-type", "quorum")
	if n := c.work.Replicas; n != nil {
		args["x-quorum-initial-group-size"] = int64(*n)
	}
	if l := leaderLocators[c.work.LeaderLocator]; l != "" {
		args["x-queue-leader-locator"] = l
	}
	return Queue{Name: name, Role: role, Arguments: args}
}

var leaderLocators = map[v1alpha1.LeaderLocator]string{
	v1alpha1.LeaderLocatorClientLocal: "client-local",
	v1alpha1.LeaderLocatorBalanced:    "balanced",
}

// waitQueue holds a message for delay and gives it to the exchange behind.
// Its delivery limit is off: from RabbitMQ 4.3 on the count comes with the
// message, and a single look at it would end the wait.
func (c *compiler) waitQueue(name string, delay time.Duration, back string) Queue {
	args := deadLetterTo(back, c.deadLetterStrategy())
	args["x-message-ttl"] = delay.Milliseconds()
	args["x-delivery-limit"] = Unlimited
	return c.queue(name, RoleWait, args)
}

func (c *compiler) bindQueue(source, queue string, args Arguments) Binding {
	return Binding{Source: source, Destination: queue, DestinationKind: KindQueue, Arguments: args}
}

func (c *compiler) bindExchange(source, exchange string, args Arguments) Binding {
	return Binding{Source: source, Destination: exchange, DestinationKind: KindExchange, Arguments: args}
}

func (c *compiler) deadLetterStrategy() string {
	if c.work.DeadLetterStrategy == v1alpha1.DeadLetterAtMostOnce {
		return atMostOnce
	}
	return atLeastOnce
}
