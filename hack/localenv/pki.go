package localenv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificateLife is longer than any demo runs.
const certificateLife = 365 * 24 * time.Hour

// pki is a control plane's own certificate authority.
type pki struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Files that the control plane's components are pointed to.
const (
	caFile                = "ca.crt"
	servingCertFile       = "serving.crt"
	servingKeyFile        = "serving.key"
	serviceAccountKeyFile = "service-account.key"
)

// newPKI makes an authority, a certificate for servers on loopback and the key
// that signs service account tokens.
func newPKI(dir string) (*pki, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	authority := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "warren-localenv"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	p := &pki{dir: dir, cert: authority, key: key}
	if p.cert, err = p.sign(authority, key); err != nil {
		return nil, err
	}
	if err := p.write(caFile, encodeCert(p.cert)); err != nil {
		return nil, err
	}
	if err := p.writeServing(); err != nil {
		return nil, err
	}
	return p, p.writeServiceAccountKey()
}

// path is where a file of the authority is.
func (p *pki) path(name string) string { return filepath.Join(p.dir, name) }

// client returns a PEM certificate and key for a user in groups.
func (p *pki) client(user string, groups ...string) (cert, key []byte, err error) {
	return p.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (p *pki) writeServing() error {
	cert, key, err := p.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "warren-localenv-server"},
		DNSNames:    []string{"localhost", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return err
	}
	if err := p.write(servingCertFile, cert); err != nil {
		return err
	}
	return p.write(servingKeyFile, key)
}

func (p *pki) writeServiceAccountKey() error {
	key, err := newKey()
	if err != nil {
		return err
	}
	encoded, err := encodeKey(key)
	if err != nil {
		return err
	}
	return p.write(serviceAccountKeyFile, encoded)
}

func (p *pki) issue(template *x509.Certificate) (cert, key []byte, err error) {
	private, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	signed, err := p.sign(template, private)
	if err != nil {
		return nil, nil, err
	}
	key, err = encodeKey(private)
	return encodeCert(signed), key, err
}

func (p *pki) sign(template *x509.Certificate, key *ecdsa.PrivateKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Minute)
	template.NotAfter = template.NotBefore.Add(certificateLife)
	der, err := x509.CreateCertificate(rand.Reader, template, p.cert, key.Public(), p.key)
	if err != nil {
		return nil, fmt.Errorf("signing %s: %w", template.Subject.CommonName, err)
	}
	return x509.ParseCertificate(der)
}

func (p *pki) write(name string, content []byte) error {
	return os.WriteFile(p.path(name), content, 0o600)
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func encodeCert(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), err
}
