package broker

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

func TestFingerprintChangesWithEverything(t *testing.T) {
	ca, other := newAuthority(t, "one"), newAuthority(t, "one")
	tlsOf := func(ca *authority, serverName string) *TLS {
		certificate, key := ca.issuePEM(t, leaf{name: "client"})
		parsed, err := NewTLS(ca.pem, certificate, key, serverName)
		must(t, err)
		return parsed
	}
	base := Config{AMQPURL: "amqp://a", ManagementURL: "http://a", Vhost: "v", Username: "u", Password: "p", TLS: tlsOf(ca, "")}
	changes := []struct {
		name   string
		reason string
		change func(*Config)
	}{
		{name: "AMQP URL", reason: "another broker", change: func(c *Config) { c.AMQPURL = "amqp://b" }},
		{name: "management URL", reason: "another broker", change: func(c *Config) { c.ManagementURL = "http://b" }},
		{name: "vhost", reason: "another vhost", change: func(c *Config) { c.Vhost = "w" }},
		{name: "user", reason: "another user", change: func(c *Config) { c.Username = "w" }},
		{name: "password", reason: "it was rotated", change: func(c *Config) { c.Password = "q" }},
		{name: "a letter moved from one field to the next", reason: "fields must not run together", change: func(c *Config) { c.Vhost, c.Username = "vu", "" }},
		{name: "no TLS", reason: "nothing is trusted any more", change: func(c *Config) { c.TLS = nil }},
		{name: "another authority of the same name", reason: "it was renewed", change: func(c *Config) { c.TLS = tlsOf(other, "") }},
		{name: "another client certificate", reason: "it was renewed", change: func(c *Config) { c.TLS = tlsOf(ca, "") }},
		{name: "server name", reason: "another certificate is expected", change: func(c *Config) { c.TLS = tlsOf(ca, "rabbit") }},
	}
	seen := map[string]string{base.Fingerprint(): "the base"}
	for _, c := range changes {
		changed := base
		c.change(&changed)
		if first, there := seen[changed.Fingerprint()]; there {
			t.Errorf("%s (%s): the same fingerprint as %s", c.name, c.reason, first)
		}
		seen[changed.Fingerprint()] = c.name
	}
	if same := base; same.Fingerprint() != base.Fingerprint() {
		t.Error("the fingerprint of the same configuration changes")
	}
}

func TestPasswordIsNeverShown(t *testing.T) {
	config := Config{AMQPURL: "amqp://a", ManagementURL: "http://a", Vhost: "v", Username: "u", Password: "s3cr3t"}
	session := NewSession(config, Options{})
	defer session.Close()
	mistaken := config
	mistaken.AMQPURL, mistaken.ManagementURL = "amqp://u:s3cr3t@a", "http://u:s3cr3t@a:%"
	for _, value := range []any{config, &config, mistaken, session, []Config{config}, map[string]Config{"x": config}, struct{ C Config }{config}} {
		wantNoSecret(t, config, value)
	}
	encoded, err := json.Marshal(config)
	must(t, err)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("connecting", "config", config)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("connecting", "config", &config)
	for _, text := range []string{string(encoded), log.String()} {
		if strings.Contains(text, config.Password) {
			t.Errorf("shows the password: %s", text)
		}
	}
}

func TestNewTLSRefusesWhatIsNotPEM(t *testing.T) {
	ca := newAuthority(t, "ca")
	certificate, key := ca.issuePEM(t, leaf{name: "client"})
	_, otherKey := ca.issuePEM(t, leaf{name: "client"})
	cases := []struct {
		name                 string
		reason               string
		ca, certificate, key []byte
		want                 string
	}{
		{name: "nothing", reason: "the system's authorities do"},
		{name: "all", reason: "the usual case", ca: ca.pem, certificate: certificate, key: key},
		{name: "CA is not PEM", reason: "it would trust nobody", ca: []byte("s3cret"), want: "CA bundle holds no certificate"},
		{name: "key missing", reason: "half a pair", certificate: certificate, want: "client certificate and its key cannot be used"},
		{name: "key of another", reason: "a mixed-up Secret", certificate: certificate, key: otherKey, want: "does not match"},
		{name: "key is not PEM", reason: "the error must not quote it", certificate: certificate, key: []byte("s3cret"), want: "cannot be used"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewTLS(c.ca, c.certificate, c.key, "")
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret")):
				t.Errorf("error %v, want %q and nothing secret", err, c.want)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	config := Config{Username: "u", Password: "s3cr3t"}
	long := strings.Repeat("ä", 200)
	cases := []struct{ name, reason, words, want string }{
		{name: "plain", reason: "as it is", words: "vhost not found", want: "vhost not found"},
		{name: "several lines", reason: "a status has one", words: "Validation failed\n\n  bad\n", want: "Validation failed bad"},
		{name: "escaped", reason: "RabbitMQ 4.0 does that", words: "[{&lt;&lt;\"bla\"&gt;&gt;,5}]", want: `[{<<"bla">>,5}]`},
		{name: "long", reason: "cut between characters", words: long, want: strings.Repeat("ä", 148) + "..."},
		{name: "password", reason: "something echoes what it is sent", words: "got s3cr3t", want: ""},
		{name: "authorization header", reason: "something echoes what it is sent", words: "got Basic dTpzM2NyM3Q=", want: ""},
	}
	for _, c := range cases {
		if got := config.quote(c.words); got != c.want {
			t.Errorf("%s (%s): %q, want %q", c.name, c.reason, got, c.want)
		}
	}
}
