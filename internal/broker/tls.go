package broker

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
)

// TLS says whom to trust and how to identify. Make it with [NewTLS].
type TLS struct {
	config *tls.Config
	sum    string
}

// NewTLS reads PEM. An empty ca trusts the system's authorities; an empty
// certificate and key show none; an empty serverName expects the name in the
// URL. The error says which part is unusable, and quotes nothing of it.
func NewTLS(ca, certificate, key []byte, serverName string) (*TLS, error) {
	config := &tls.Config{ServerName: serverName, MinVersion: tls.VersionTLS12}
	if len(ca) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("the CA bundle holds no certificate in PEM form")
		}
	}
	if len(certificate)+len(key) > 0 {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("the client certificate and its key cannot be used: %w", err)
		}
		// Shown whatever authorities the broker names: that it refuses one of
		// another authority says more than that it got none.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	return &TLS{config: config, sum: sumOf(ca, certificate, key, []byte(serverName))}, nil
}

func sumOf(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		part := sha256.Sum256(p)
		h.Write(part[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (t *TLS) fingerprint() string {
	if t == nil {
		return ""
	}
	return t.sum
}

// clientConfig is a configuration of one's own for a connection to host.
func (t *TLS) clientConfig(host string) *tls.Config {
	if t == nil {
		return &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	}
	config := t.config.Clone()
	if config.ServerName == "" {
		config.ServerName = host
	}
	return config
}
