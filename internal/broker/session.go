package broker

import (
	"context"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/clock"
)

// Options of a [Session]. The zero value has the defaults.
type Options struct {
	// DialTimeout limits making a TCP connection and TLS's handshake. Default 5 s.
	DialTimeout time.Duration
	// RequestTimeout limits waiting for one answer. Default 10 s.
	RequestTimeout time.Duration
	// ListTimeout limits waiting for a list that is the longer the more there is
	// in the vhost. A broker that makes thousands of queues, or has tens of
	// thousands, is slow with these and not dead; one that hangs is found out by
	// the short requests that are made beside them. Default 60 s.
	ListTimeout time.Duration
	// ObserveTimeout limits a whole [Session.Observe]. Default 90 s.
	ObserveTimeout time.Duration
	// ConfirmTimeout limits waiting for the broker to confirm a message that
	// is moved, alarms not counted. Default 30 s.
	ConfirmTimeout time.Duration
	// MaxHeld is how many messages a move holds unacknowledged. Default 60,000,
	// and 65,535 at most: AMQP's prefetch has 16 bits.
	MaxHeld int64
	// Clock tells when a snapshot was taken. Default the system's.
	Clock clock.PassiveClock
	// OnRequest, if set, is told of every request to the broker when it has
	// ended: an operation out of a few ("list_queues", "declare_queue"), how
	// long it took, and its error. Many goroutines call it at once.
	OnRequest func(operation string, took time.Duration, err error)
}

func (o Options) withDefaults() Options {
	defaulted := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	defaulted(&o.DialTimeout, 5*time.Second)
	defaulted(&o.RequestTimeout, 10*time.Second)
	defaulted(&o.ListTimeout, 60*time.Second)
	defaulted(&o.ObserveTimeout, 90*time.Second)
	defaulted(&o.ConfirmTimeout, 30*time.Second)
	if o.MaxHeld == 0 {
		o.MaxHeld = 60_000
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.OnRequest == nil {
		o.OnRequest = func(string, time.Duration, error) {}
	}
	return o
}

func (o Options) dialer() *net.Dialer { return &net.Dialer{Timeout: o.DialTimeout} }

// timeout limits waiting for the answer to one request.
func (o Options) timeout(t task) time.Duration {
	if t.long {
		return o.ListTimeout
	}
	return o.RequestTimeout
}

// measured runs one request and reports it.
func (o Options) measured(t task, request func() error) error {
	start := time.Now()
	err := request()
	o.OnRequest(t.label(), time.Since(start), err)
	return err
}

// Session is Warren's way to one vhost: one AMQP connection with up to 16
// channels, made when it is first needed and again after it broke, and HTTP
// connections that are kept alive. Its methods may be called by many
// goroutines at once. They do not retry: who calls backs off.
type Session struct {
	peer       peer
	invalid    error // of the AMQP URL, kept for the first use
	options    Options
	management *management

	// life ends with Close.
	life context.Context
	end  context.CancelFunc

	dialing singleflight.Group
	mutex   sync.Mutex // guards link
	link    *link

	// observing is held by the one Observe that may run at a time.
	observing chan struct{}
	past      history
}

// NewSession does no I/O.
func NewSession(config Config, options Options) *Session {
	at, err := parseEndpoint(protocolAMQP, config.AMQPURL, "amqp", "amqps")
	s := &Session{peer: peer{at, config}, invalid: err, options: options.withDefaults(), observing: make(chan struct{}, 1)}
	s.life, s.end = context.WithCancel(context.Background())
	s.management = newManagement(config, s.options)
	return s
}

// String leaves the password out.
func (s *Session) String() string { return "session of " + s.peer.config.String() }

// GoString leaves the password out.
func (s *Session) GoString() string { return s.String() }

// Close ends the connections and whatever is under way on them.
func (s *Session) Close() {
	s.end()
	s.management.close()
	if l := s.replaceLink(nil); l != nil {
		l.close()
	}
}

// replaceLink returns the link that there was.
func (s *Session) replaceLink(l *link) *link {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	old := s.link
	s.link = l
	return old
}

func (s *Session) liveLink() *link {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.link == nil || s.link.connection.IsClosed() {
		return nil
	}
	return s.link
}

// connect returns the AMQP connection, and makes it if need be. All who wait
// for it share one attempt and its outcome.
func (s *Session) connect(ctx context.Context) (*link, error) {
	if l := s.liveLink(); l != nil {
		return l, nil
	}
	switch {
	case s.invalid != nil:
		return nil, s.invalid
	case s.life.Err() != nil:
		return nil, s.closedError()
	}
	attempt := s.dialing.DoChan("", func() (any, error) { return s.dialOnce() })
	select {
	case r := <-attempt:
		l, _ := r.Val.(*link)
		return l, r.Err
	case <-ctx.Done():
		return nil, task{op: opConnect}.wrap(s.peer.transportError(context.Cause(ctx)))
	}
}

// reconnect makes a new connection in place of the one there is.
func (s *Session) reconnect(ctx context.Context) error {
	if old := s.replaceLink(nil); old != nil {
		old.close()
	}
	_, err := s.connect(ctx)
	return err
}
