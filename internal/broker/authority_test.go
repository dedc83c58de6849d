package broker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// authority issues certificates for tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

// leaf says what to issue; the zero value is valid now, for 127.0.0.1 no name.
type leaf struct {
	name    string
	expired bool
}

func newAuthority(t testing.TB, name string) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	certificate, err := x509.ParseCertificate(der)
	must(t, err)
	return &authority{certificate, key, encode("CERTIFICATE", der)}
}

func (a *authority) issuePEM(t testing.TB, l leaf) (certificate, key []byte) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: l.name}, DNSNames: []string{l.name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if l.expired {
		template.NotAfter = time.Now().Add(-time.Hour)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	must(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", pkcs8)
}

func (a *authority) issue(t testing.TB, l leaf) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(a.issuePEM(t, l))
	must(t, err)
	return pair
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

func serial(t testing.TB) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	must(t, err)
	return n
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
