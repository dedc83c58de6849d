package broker

import (
	"errors"
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// handshakeError classifies why a connection was not opened.
func (p peer) handshakeError(conn *socket, err error) *Error {
	hello, failure := conn.story()
	if e := p.strangerError(hello); e != nil {
		return e
	}
	var said *amqp.Error
	if errors.As(err, &said) && said.Server {
		return p.refusedHandshake(said)
	}
	// The library takes any failure in this step for bad credentials, and with
	// the socket closed in silence that is what RabbitMQ means by it.
	if errors.Is(err, amqp.ErrCredentials) && closedByPeer(failure) {
		return p.badCredentials()
	}
	switch {
	case errors.Is(err, amqp.ErrSASL):
		return p.noPasswords(err)
	case failure != nil:
		return p.transportError(failure)
	}
	return p.transportError(err)
}

func (p peer) noPasswords(err error) *Error {
	return &Error{
		Class: Refused, Target: p.address, Err: err,
		Problem: fmt.Sprintf("%s lets nobody in with a name and a password", p),
		Advice:  "add PLAIN to the broker's auth_mechanisms",
	}
}

func (p peer) refusedHandshake(said *amqp.Error) *Error {
	e := &Error{Class: Refused, Target: p.address, Reason: p.config.quote(said.Reason), Err: said, Problem: fmt.Sprintf("%s refuses the connection", p)}
	switch {
	case said.Code == amqp.NotAllowed && strings.HasSuffix(said.Reason, " not found"):
		return p.vhostMissing()
	case said.Code == amqp.NotAllowed && strings.HasSuffix(said.Reason, fmt.Sprintf("refused for user '%s'", p.config.Username)):
		return p.noAccess()
	case said.Code == amqp.AccessRefused:
		return p.badCredentials()
	}
	return e
}

// strangerError tells whether something else than AMQP 0-9-1 answered, by its first bytes.
func (p peer) strangerError(hello string) *Error {
	const tlsAlert, tlsHandshake = "\x15\x03", "\x16\x03"
	stranger := func(class Class, problem, advice string) *Error {
		return &Error{Class: class, Target: p.address, Problem: problem, Advice: advice}
	}
	switch {
	case strings.HasPrefix(hello, "HTTP/"):
		return stranger(NotRabbitMQ, p.address+" speaks HTTP, not AMQP", "give the AMQP port (5672, or 5671 for amqps) in the AMQP URL")
	case strings.HasPrefix(hello, tlsAlert), strings.HasPrefix(hello, tlsHandshake):
		return stranger(TLSFailed, p.address+" speaks TLS", "use an amqps:// URL")
	case strings.HasPrefix(hello, "AMQP"):
		return stranger(NotRabbitMQ, p.address+" speaks another version of AMQP than 0-9-1", "check that RabbitMQ listens there")
	}
	return nil
}

// callError classifies the failure of one call on an open connection.
func (l *link) callError(err error) *Error {
	var said *amqp.Error
	if errors.As(err, &said) && said.Server {
		return l.peer.exception(said)
	}
	if _, failure := l.socket.story(); failure != nil {
		err = failure
	}
	e := l.peer.transportError(err)
	if e.Class == Timeout {
		e.Advice = "check its load, and that a majority of its nodes runs"
	}
	return e
}

// exception classifies what RabbitMQ closed a channel or the connection with.
func (p peer) exception(said *amqp.Error) *Error {
	e := &Error{Target: p.address, Reason: p.config.quote(said.Reason), Err: said}
	switch said.Code {
	case amqp.PreconditionFailed:
		e.Class, e.Problem = Precondition, "RabbitMQ has it otherwise, or it cannot be like this"
	case amqp.AccessRefused:
		reason := e.Reason
		e = p.notAllowed()
		e.Reason, e.Err = reason, said
	case amqp.NotFound:
		e.Class, e.Problem = NotFound, "RabbitMQ does not find what it needs"
	case amqp.ConnectionForced:
		e.Class, e.Problem = Unreachable, fmt.Sprintf("%s closed the connection", p)
	default:
		e.Class, e.Problem = Refused, "RabbitMQ refuses"
	}
	return e
}
