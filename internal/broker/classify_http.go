package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// httpError classifies a request that got no answer.
func (p peer) httpError(err error) *Error {
	const urlAdvice = "give the management port (15672, or 15671 for https) in the management URL"
	stranger := func(class Class, problem, advice string) *Error {
		return &Error{Class: class, Target: p.address, Err: err, Problem: problem, Advice: advice}
	}
	_, malformed, _ := strings.Cut(err.Error(), "malformed HTTP response ")
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return stranger(TLSFailed, p.address+" does not speak TLS", "use an http:// URL, or the port for https")
	case strings.HasPrefix(malformed, `"AMQP`):
		return stranger(NotRabbitMQ, p.address+" speaks AMQP, not HTTP", urlAdvice)
	case strings.HasPrefix(malformed, `"\x15\x03`):
		return stranger(TLSFailed, p.address+" speaks TLS", "use an https:// URL")
	case malformed != "":
		return stranger(NotRabbitMQ, p.address+" does not speak HTTP", urlAdvice)
	case errors.Is(err, errTooLong):
		return stranger(NotRabbitMQ, fmt.Sprintf("%s answers with more than %d MiB", p, maxAnswer>>20), urlAdvice)
	}
	return p.transportError(err)
}

// httpRefusal classifies an answer that is not a success.
func (p peer) httpRefusal(response *http.Response, body []byte) *Error {
	status := response.StatusCode
	if status < http.StatusBadRequest {
		return &Error{
			Class: NotRabbitMQ, Target: p.address,
			Problem: fmt.Sprintf("%s answers with a redirect (%d), which is not followed lest the password go elsewhere", p, status),
			Advice:  "give the URL that it leads to, if that is RabbitMQ",
		}
	}
	words, ok := refusalIn(body)
	if !ok {
		return p.strangeStatus(status)
	}
	e := p.refusedRequest(status, words)
	e.Target = p.address
	if e.Reason == "" && e.Class != BadCredentials {
		e.Reason = p.config.quote(words.Reason)
	}
	return e
}

// refusal is RabbitMQ's answer to what it does not do.
type refusal struct {
	Error  string `json:"error"`
	Reason string `json:"reason"`
}

func refusalIn(body []byte) (refusal, bool) {
	var r refusal
	err := json.Unmarshal(body, &r)
	return r, err == nil && r.Error != "" && r.Reason != ""
}

// strangeStatus is an answer that is not in RabbitMQ's words.
func (p peer) strangeStatus(status int) *Error {
	e := &Error{
		Class: NotRabbitMQ, Target: p.address,
		Problem: fmt.Sprintf("%s answers %d, not as RabbitMQ does", p, status),
		Advice:  "check the URL and its path prefix",
	}
	if status >= http.StatusInternalServerError {
		// RabbitMQ itself gives a bare 500 when it cannot render a list.
		e.Class, e.Advice = Unreachable, "see the broker's log, and check what stands before it; a binding whose routing key has a ~ is one cause"
	}
	return e
}

func (p peer) refusedRequest(status int, said refusal) *Error {
	switch {
	case status == http.StatusUnauthorized && said.Reason == "Not_Authorized":
		return p.badCredentials()
	case status == http.StatusUnauthorized && strings.HasPrefix(said.Reason, "Not ") && strings.HasSuffix(said.Reason, " user"):
		// "Not management user", "Not monitor user"
		return p.missingTag(nil, neededTags)
	case status == http.StatusUnauthorized && said.Reason == "User not authorised to access virtual host":
		return p.noAccess()
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return p.notAllowed()
	case status == http.StatusNotFound && said.Reason == "vhost_not_found":
		return p.vhostMissing()
	case status == http.StatusNotFound:
		return &Error{Class: NotFound, Problem: fmt.Sprintf("%s does not find it, or user %q may not see it", p, p.config.Username)}
	case status >= http.StatusInternalServerError:
		return &Error{Class: Unreachable, Problem: fmt.Sprintf("%s answers %d", p, status)}
	}
	return &Error{Class: Refused, Problem: fmt.Sprintf("%s refuses", p)}
}
