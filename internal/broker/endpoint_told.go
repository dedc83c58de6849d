package broker

import "net"

// Endpoint is where applications reach a vhost.
type Endpoint struct {
	// Host without brackets, be it an IPv6 address.
	Host, Port string
	// Secure: TLS is spoken.
	Secure bool
	Vhost  string
}

// Endpoint is the AMQP side of c; false where its URL cannot be used.
func (c Config) Endpoint() (Endpoint, bool) {
	at, err := parseEndpoint(protocolAMQP, c.AMQPURL, "amqp", "amqps")
	if err != nil {
		return Endpoint{}, false
	}
	_, port, err := net.SplitHostPort(at.address)
	return Endpoint{Host: at.host, Port: port, Secure: at.secure(), Vhost: c.Vhost}, err == nil
}
