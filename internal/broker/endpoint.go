package broker

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// endpoint is one of the two addresses of a broker.
type endpoint struct {
	// protocol as a message names it.
	protocol string
	scheme   string
	host     string
	// address is host:port.
	address string
	// prefix is the path before /api, without a slash at its end.
	prefix string
}

const (
	protocolAMQP       = "AMQP"
	protocolManagement = "the management API"
)

var defaultPorts = map[string]string{"amqp": "5672", "amqps": "5671", "http": "80", "https": "443"}

// parseEndpoint takes no user info: credentials are given apart from the URL,
// which gets into messages and logs.
func parseEndpoint(protocol, raw string, schemes ...string) (endpoint, error) {
	e := endpoint{protocol: protocol}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.User != nil {
		// The parser's error quotes the URL, and with it what must not be shown.
		return e, e.unusable("is not a URL without user info")
	}
	e.scheme, e.host, e.address = u.Scheme, u.Hostname(), u.Host
	if u.Port() == "" {
		e.address = net.JoinHostPort(u.Hostname(), defaultPorts[u.Scheme])
	}
	e.prefix = strings.TrimRight(u.EscapedPath(), "/")
	if !slices.Contains(schemes, u.Scheme) {
		return e, e.unusable("must begin with " + strings.Join(schemes, ":// or ") + "://")
	}
	return e, nil
}

func (e endpoint) secure() bool { return e.scheme == "amqps" || e.scheme == "https" }

// root is the URL before /api.
func (e endpoint) root() string { return e.scheme + "://" + e.address + e.prefix }

func (e endpoint) String() string { return e.protocol + " at " + e.address }

func (e endpoint) unusable(problem string) error {
	return &Error{Class: Internal, Op: opConnect, Target: e.address, Problem: "the URL of " + e.protocol + " " + problem, Advice: "correct it"}
}
