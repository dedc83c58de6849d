package broker

import (
	"errors"
	"strings"
)

// Class says what kind of trouble an [Error] is, by what can be done about it.
type Class string

// The classes of error.
const (
	// Unreachable: no connection, or it broke: refused, no such host, closed.
	Unreachable Class = "Unreachable"
	// Timeout: connected, but no answer in time, or the caller gave up.
	Timeout Class = "Timeout"
	// TLSFailed: one side does not accept the other's certificate, or does not speak TLS.
	TLSFailed Class = "TLSFailed"
	// NotRabbitMQ: something else answers at this address, or another protocol.
	NotRabbitMQ Class = "NotRabbitMQ"
	// BadCredentials: the user does not exist or the password is wrong.
	BadCredentials Class = "BadCredentials"
	// VhostMissing: there is no such vhost.
	VhostMissing Class = "VhostMissing"
	// AccessRefused: the user lacks a permission, or nobody may do this.
	AccessRefused Class = "AccessRefused"
	// MissingTag: the user lacks a tag that reading or policies need.
	MissingTag Class = "MissingTag"
	// NotFound: what the operation refers to does not exist.
	NotFound Class = "NotFound"
	// Precondition: the object exists and is not what was declared.
	Precondition Class = "Precondition"
	// Refused: RabbitMQ says no for another reason, which Reason quotes.
	Refused Class = "Refused"
	// Unroutable: no queue is bound for a message, which came back.
	Unroutable Class = "Unroutable"
	// Nacked: a queue does not take a message.
	Nacked Class = "Nacked"
	// Unconfirmed: whether a message was taken was not told in time.
	Unconfirmed Class = "Unconfirmed"
	// Internal: not to be blamed on the broker.
	Internal Class = "Internal"
)

// Error is what every method of a [Session] returns when it fails. It never
// holds a credential, and its text is the same each time for the same trouble,
// so that it can stand in a status.
type Error struct {
	Class Class
	// Op is what was being done: "declare", "list queues".
	Op string
	// Object it was done to, as [topology.Object] names it, or "".
	Object string
	// Target is the host:port that was spoken to.
	Target string
	// Problem says what is wrong, and where.
	Problem string
	// Reason is what RabbitMQ itself said, at most 300 bytes of it, or "".
	Reason string
	// Advice says what to do about it, or "".
	Advice string
	// Err is the cause, for errors.Is. Its text may be another each time.
	Err error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Object != "" {
		b.WriteString(" " + e.Object)
	}
	b.WriteString(": " + e.Problem)
	if e.Reason != "" {
		b.WriteString(": " + e.Reason)
	}
	if e.Advice != "" {
		b.WriteString("; " + e.Advice)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// ClassOf tells the class of an error of this package, "" for nil and
// [Internal] for any other error.
func ClassOf(err error) Class {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Class
	}
	return Internal
}

// task is what is being done, for messages and metrics.
type task struct {
	op string
	// kind and object say to what; both may be "".
	kind, object string
	// long: the answer is as long as the vhost is full, and may take as long.
	long bool
}

// label is the task's name in metrics: one of a few, whatever the object.
func (t task) label() string {
	return strings.ReplaceAll(strings.TrimSpace(t.op+" "+t.kind), " ", "_")
}

// wrap puts the task into a classified error.
func (t task) wrap(e *Error) *Error {
	e.Op, e.Object = t.op, t.object
	return e
}

// What a session does.
const (
	opConnect = "connect"
	opDeclare = "declare"
	opRemove  = "remove"
	opDelete  = "delete"
	opMove    = "move"
)
