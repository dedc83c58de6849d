package localenv

import (
	"fmt"
	"os"
	"path/filepath"
)

// TLSFiles let a broker speak TLS at two more ports, to whoever shows a
// certificate of the authority. All are PEM.
type TLSFiles struct{ CA, Certificate, Key []byte }

const (
	brokerCAFile   = "tls-ca.pem"
	brokerCertFile = "tls-cert.pem"
	brokerKeyFile  = "tls-key.pem"
)

// ReplaceTLS gives a broker that speaks TLS other files, for its next start.
func (b *RabbitMQ) ReplaceTLS(files TLSFiles) error {
	if b.node == nil {
		return errNotOurs
	}
	b.node.config.tls = &files
	return b.node.config.writeTLS()
}

func (n nodeConfig) writeTLS() error {
	if n.tls == nil {
		return nil
	}
	for name, content := range map[string][]byte{brokerCAFile: n.tls.CA, brokerCertFile: n.tls.Certificate, brokerKeyFile: n.tls.Key} {
		if err := os.WriteFile(filepath.Join(n.dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tlsLines: AMQP and management have their settings apart, and the same ones here.
func (n nodeConfig) tlsLines() []string {
	if n.tls == nil {
		return nil
	}
	lines := []string{
		fmt.Sprintf("listeners.ssl.1 = %s:%d", n.listen, n.amqpsPort),
		"management.ssl.ip = " + n.listen,
		fmt.Sprintf("management.ssl.port = %d", n.httpsPort),
	}
	for _, prefix := range []string{"ssl_options.", "management.ssl."} {
		lines = append(lines,
			prefix+"cacertfile = "+home+"/"+brokerCAFile,
			prefix+"certfile = "+home+"/"+brokerCertFile,
			prefix+"keyfile = "+home+"/"+brokerKeyFile,
			prefix+"verify = verify_peer",
			prefix+"fail_if_no_peer_cert = true")
	}
	return lines
}

// AMQPSURL is the broker's address over TLS, where it was started with TLSFiles.
func (b *RabbitMQ) AMQPSURL() string {
	return b.tlsURL("amqps", func(n nodeConfig) int { return n.amqpsPort })
}

// HTTPSURL is the management plugin's address over TLS.
func (b *RabbitMQ) HTTPSURL() string {
	return b.tlsURL("https", func(n nodeConfig) int { return n.httpsPort })
}

func (b *RabbitMQ) tlsURL(scheme string, port func(nodeConfig) int) string {
	if b.node == nil || b.node.config.tls == nil {
		return ""
	}
	return scheme + "://" + loopback(port(b.node.config))
}
