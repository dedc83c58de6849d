package broker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"
)

// transportError classifies what goes wrong below AMQP and HTTP.
func (p peer) transportError(err error) *Error {
	for _, classify := range []func(error) *Error{p.givenUp, p.tlsError, p.lookupError} {
		if found := classify(err); found != nil {
			found.Target, found.Err = p.address, err
			return found
		}
	}
	return &Error{
		Class: Unreachable, Target: p.address, Err: err,
		Problem: fmt.Sprintf("cannot reach %s: %s", p, p.config.quote(plainCause(err))),
		Advice:  "check the address, that the broker runs, and that the network lets Warren through",
	}
}

func (p peer) givenUp(err error) *Error {
	switch {
	case errors.Is(err, context.Canceled):
		return &Error{Class: Timeout, Problem: fmt.Sprintf("cancelled while waiting for %s", p)}
	case isDial(err):
		return nil
	case timedOut(err):
		return &Error{
			Class:   Timeout,
			Problem: fmt.Sprintf("%s did not answer in time", p),
			Advice:  "check that it is RabbitMQ that listens there, and its load",
		}
	}
	return nil
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// isDial tells a connection that was never made, which is unreachable, from
// one on which nothing comes.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func (p peer) lookupError(err error) *Error {
	var dns *net.DNSError
	if !errors.As(err, &dns) {
		return nil
	}
	problem := fmt.Sprintf("cannot look up the host of %s", p)
	if dns.IsNotFound {
		problem = fmt.Sprintf("no such host: %s", p)
	}
	return &Error{Class: Unreachable, Problem: problem, Advice: "check the host's name"}
}

func (p peer) tlsError(err error) *Error {
	problem, advice := tlsProblem(err)
	if problem == "" {
		return nil
	}
	return &Error{Class: TLSFailed, Problem: fmt.Sprintf("no trust with %s: %s", p, problem), Advice: advice}
}

func tlsProblem(err error) (problem, advice string) {
	var (
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		remote    *net.OpError
	)
	switch {
	case errors.As(err, &authority):
		return "its certificate is signed by an authority that is not trusted", "give the authority's certificate as CA"
	case errors.As(err, &hostname):
		return hostname.Error(), "use a host name that the certificate has, or set the server name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		// Its own text holds the current time.
		return fmt.Sprintf("its certificate is valid from %s to %s only", day(invalid.Cert.NotBefore), day(invalid.Cert.NotAfter)),
			"renew the broker's certificate"
	case errors.As(err, &invalid):
		return invalid.Error(), "replace the broker's certificate"
	case errors.As(err, &record):
		return "it does not speak TLS at this port", "use the port that does (5671 for amqps), or a URL without TLS"
	case errors.As(err, &remote) && remote.Op == "remote error":
		return fmt.Sprintf("it refuses our side of TLS (%s)", remote.Err), "give the client certificate that it asks for, or another one"
	}
	return "", ""
}

func day(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// closedByPeer, be it in an orderly manner or, as RabbitMQ does at times, by a reset.
func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// plainCause names a failure without what changes from time to time, such as
// the local port that net puts into its errors.
func plainCause(err error) string {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno.Error()
	case closedByPeer(err), errors.Is(err, net.ErrClosed):
		return "it closed the connection"
	case isDial(err):
		return "no answer"
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}
