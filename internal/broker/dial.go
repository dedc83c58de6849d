package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	maxChannels = 16
	heartbeat   = 10 * time.Second
)

var errSessionClosed = errors.New("the session is closed")

// dialOnce makes the connection that everybody waits for. It does not end
// with the context of the one who asked first.
func (s *Session) dialOnce() (*link, error) {
	if l := s.liveLink(); l != nil {
		return l, nil
	}
	connecting := task{op: opConnect}
	var l *link
	err := s.options.measured(connecting, func() (err error) {
		l, err = s.dial(s.life, dialOptions{name: "warren topology"})
		return err
	})
	if err != nil {
		return nil, err
	}
	s.replaceLink(l)
	if s.life.Err() != nil {
		// Close has been here, and may not have seen this one.
		l.close()
		return nil, s.closedError()
	}
	return l, nil
}

func (s *Session) closedError() error {
	return task{op: opConnect}.wrap(&Error{Class: Unreachable, Target: s.peer.address, Problem: "the session is closed", Err: errSessionClosed})
}

// dialOptions say how a connection differs from others.
type dialOptions struct {
	// name under which the broker shows it.
	name string
	// wide: it reads frames that are larger than was agreed on.
	wide bool
}

func (s *Session) dial(ctx context.Context, options dialOptions) (*link, error) {
	connecting := task{op: opConnect}
	conn, err := s.open(ctx)
	if err != nil {
		return nil, connecting.wrap(s.peer.transportError(err))
	}
	stop := context.AfterFunc(ctx, func() { conn.cut(errSessionClosed) })
	defer stop()
	// The library clears the deadline when the handshake is done.
	_ = conn.SetDeadline(time.Now().Add(s.options.RequestTimeout))
	var stream io.ReadWriteCloser = conn
	if options.wide {
		stream = newWide(conn)
	}
	connection, err := amqp.Open(stream, s.amqpConfig(options))
	if err != nil {
		conn.cut(err)
		return nil, connecting.wrap(s.handshakeError(ctx, conn, err))
	}
	l := newLink(connection, conn, s.peer)
	if l.version, err = versionOf(connection); err != nil {
		l.close()
		return nil, connecting.wrap(&Error{Class: NotRabbitMQ, Target: s.peer.address, Problem: s.peer.String() + " does not tell a RabbitMQ version", Err: err})
	}
	return l, nil
}

// handshakeError classifies why AMQP was not agreed on. RabbitMQ's management
// port waits for the rest of a line and closes without a word, so where nothing
// was said it is asked in its own language, without credentials.
func (s *Session) handshakeError(ctx context.Context, conn *socket, err error) *Error {
	hello, _ := conn.story()
	if hello == "" && s.speaksHTTP(ctx) {
		return s.peer.strangerError("HTTP/")
	}
	return s.peer.handshakeError(conn, err)
}

func (s *Session) speaksHTTP(ctx context.Context) bool {
	conn, err := s.open(ctx)
	if err != nil {
		return false
	}
	defer conn.cut(nil)
	_ = conn.SetDeadline(time.Now().Add(s.options.DialTimeout))
	if _, err := conn.Write([]byte("HEAD / HTTP/1.0\r\n\r\n")); err != nil {
		return false
	}
	answer := make([]byte, len("HTTP/"))
	_, err = io.ReadFull(conn, answer)
	return err == nil && string(answer) == "HTTP/"
}

// open makes the TCP connection and, for amqps, TLS's handshake.
func (s *Session) open(ctx context.Context) (*socket, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.DialTimeout)
	defer cancel()
	raw, err := s.options.dialer().DialContext(ctx, "tcp", s.peer.address)
	if err != nil {
		return nil, err
	}
	if !s.peer.secure() {
		return &socket{Conn: raw, raw: raw}, nil
	}
	secured := tls.Client(raw, s.peer.config.TLS.clientConfig(s.peer.host))
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	return &socket{Conn: secured, raw: raw}, nil
}

func (s *Session) amqpConfig(options dialOptions) amqp.Config {
	config := amqp.Config{
		// Credentials go here, never into a URL: any character is legal in them.
		SASL:       []amqp.Authentication{&amqp.PlainAuth{Username: s.peer.config.Username, Password: s.peer.config.Password}},
		Vhost:      s.peer.config.Vhost,
		ChannelMax: maxChannels,
		Heartbeat:  heartbeat,
		Locale:     "en_US",
		Properties: amqp.Table{"product": "Warren", "connection_name": options.name},
	}
	if options.wide {
		config.FrameSize = wideFrame
	}
	return config
}
