package broker

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
)

// Config says how to reach one vhost of a broker as one user.
type Config struct {
	// AMQPURL is amqp://host:port or amqps://host:port, without user info.
	// Default ports: 5672, and 5671 for amqps.
	AMQPURL string
	// ManagementURL is http://host:port or https://host:port, with a path
	// prefix at most, without user info.
	ManagementURL string
	// Vhost as the broker names it: usually without a leading slash, save for
	// the default one, which is "/".
	Vhost    string
	Username string
	// Password may hold any character. It is never printed.
	Password string `json:"-"`
	// TLS is for amqps and https URLs, for both alike; nil trusts the
	// system's authorities and shows no certificate.
	TLS *TLS `json:"-"`
}

// Fingerprint is another one as soon as anything in c is another, the
// password and the certificates included. It is a SHA-256 in hexadecimal, fit
// to be compared and kept in memory; since a weak password could be guessed
// from it, it does not belong in a status or a log.
func (c Config) Fingerprint() string {
	h := sha256.New()
	for _, field := range []string{c.AMQPURL, c.ManagementURL, c.Vhost, c.Username, c.Password, c.TLS.fingerprint()} {
		// The length keeps "ab"+"c" and "a"+"bc" apart.
		_ = binary.Write(h, binary.BigEndian, int64(len(field)))
		h.Write([]byte(field))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// String leaves the password out.
func (c Config) String() string {
	return fmt.Sprintf("user %q, vhost %q, %s, %s", c.Username, c.Vhost, withoutUserInfo(c.AMQPURL), withoutUserInfo(c.ManagementURL))
}

// withoutUserInfo is for a URL that should not have any.
func withoutUserInfo(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(not a URL)"
	}
	u.User = nil
	return u.String()
}

// GoString leaves the password out.
func (c Config) GoString() string { return "broker.Config{" + c.String() + "}" }

// LogValue leaves the password out.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }
