package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/warren-mq/warren/hack/localenv"
)

// authority signs certificates for a test.
type authority struct {
	t           testing.TB
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t testing.TB, name string) *authority {
	t.Helper()
	a := &authority{t: t}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	a.certificate = template // which signs itself
	a.certificate, a.key = a.sign(template)
	return a
}

// sign fills in a serial number, and makes a key.
func (a *authority) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), signer)
	if err != nil {
		a.t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return signed, key
}

func (a *authority) pem() []byte { return pemOf("CERTIFICATE", a.certificate.Raw) }

// issue gives a certificate for a name, with its key, that has been valid for
// two hours and is so for some more, or ended some ago.
func (a *authority) issue(name string, validFor time.Duration) (certificate, key []byte) {
	a.t.Helper()
	signed, private := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		NotBefore:   time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(validFor),
	})
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	return pemOf("CERTIFICATE", signed.Raw), pemOf("PRIVATE KEY", der)
}

// server is what a broker gets that trusts the authorities in ca.
func (a *authority) server(ca []byte, validFor time.Duration) localenv.TLSFiles {
	a.t.Helper()
	certificate, key := a.issue(serverName, validFor)
	return localenv.TLSFiles{CA: ca, Certificate: certificate, Key: key}
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// clientSecret is a Secret of type kubernetes.io/tls.
func (a *authority) clientSecret(name string, validFor time.Duration) string {
	a.t.Helper()
	certificate, key := a.issue("warren", validFor)
	return pemSecret(name, "kubernetes.io/tls", map[string][]byte{"tls.crt": certificate, "tls.key": key})
}

func caSecret(name string, bundle ...[]byte) string {
	content := []byte{}
	for _, pem := range bundle {
		content = append(content, pem...)
	}
	return pemSecret(name, "Opaque", map[string][]byte{"ca.crt": content})
}

func pemSecret(name, kind string, data map[string][]byte) string {
	manifest := fmt.Sprintf("\napiVersion: v1\nkind: Secret\ntype: %s\nmetadata: {name: %s}\nstringData:\n", kind, name)
	for key, content := range data {
		manifest += fmt.Sprintf("  %s: |\n    %s\n", key, strings.ReplaceAll(strings.TrimSpace(string(content)), "\n", "\n    "))
	}
	return manifest + "---\n"
}
