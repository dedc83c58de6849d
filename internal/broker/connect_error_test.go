package broker

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/warren-mq/warren/hack/localenv"
)

func TestObserveErrors(t *testing.T) {
	const password = "s3cret/%@ :pass"
	closed := closedPort(t)
	withUser := func(tags ...string) func(testing.TB, *localenv.Vhost, *Config) {
		return func(t testing.TB, v *localenv.Vhost, c *Config) {
			c.Username, c.Password = "tagged-"+v.Operator.Name, password
			addUser(t, v, c.Username, password, tags...)
		}
	}
	cases := []struct {
		name   string
		reason string
		change func(t testing.TB, v *localenv.Vhost, c *Config)
		want   Class
		words  []string
	}{
		{
			name: "wrong password", reason: "the Secret has to be corrected",
			change: func(_ testing.TB, _ *localenv.Vhost, c *Config) { c.Password = password },
			want:   BadCredentials, words: []string{"AMQP at 127.0.0.1:", "correct the username or the password"},
		},
		{
			name: "unknown user", reason: "RabbitMQ does not tell it from a wrong password",
			change: func(_ testing.TB, _ *localenv.Vhost, c *Config) { c.Username = "nobody" },
			want:   BadCredentials, words: []string{`"nobody"`},
		},
		{
			name: "AMQP port closed", reason: "says which of the two addresses",
			change: func(_ testing.TB, _ *localenv.Vhost, c *Config) { c.AMQPURL = "amqp://" + closed },
			want:   Unreachable, words: []string{"cannot reach AMQP at " + closed, "connection refused"},
		},
		{
			name: "management port closed", reason: "says which of the two addresses",
			change: func(_ testing.TB, _ *localenv.Vhost, c *Config) { c.ManagementURL = "http://" + closed },
			want:   Unreachable, words: []string{"cannot reach the management API at " + closed, "connection refused"},
		},
		{
			name: "no such host", reason: "a typing error in the host",
			change: func(_ testing.TB, _ *localenv.Vhost, c *Config) { c.AMQPURL = "amqp://rabbit.invalid" },
			want:   Unreachable, words: []string{"rabbit.invalid:5672", "check the host's name"},
		},
		{
			name: "AMQP URL at the management port", reason: "the ports are easily swapped",
			change: func(_ testing.TB, v *localenv.Vhost, c *Config) {
				c.AMQPURL = strings.Replace(v.Broker.ManagementURL(), "http", "amqp", 1)
			},
			want: NotRabbitMQ, words: []string{"speaks HTTP, not AMQP", "5672"},
		},
		{
			name: "management URL at the AMQP port", reason: "the ports are easily swapped",
			change: func(_ testing.TB, v *localenv.Vhost, c *Config) {
				c.ManagementURL = strings.Replace(v.Broker.AMQPURL(), "amqp", "http", 1)
			},
			want: NotRabbitMQ, words: []string{"speaks AMQP, not HTTP", "15672"},
		},
		{
			name: "wrong path prefix", reason: "RabbitMQ answers it with a 404 in its own words",
			change: func(_ testing.TB, _ *localenv.Vhost, c *Config) { c.ManagementURL += "/prefix/" },
			want:   NotRabbitMQ, words: []string{"path prefix"},
		},
		{
			name: "amqps at a port without TLS", reason: "says that the port is the wrong one",
			change: func(_ testing.TB, _ *localenv.Vhost, c *Config) {
				c.AMQPURL = strings.Replace(c.AMQPURL, "amqp", "amqps", 1)
			},
			want: TLSFailed, words: []string{"AMQP at", "does not speak TLS"},
		},
		{
			name: "https at a port without TLS", reason: "says that the port is the wrong one",
			change: func(_ testing.TB, _ *localenv.Vhost, c *Config) {
				c.ManagementURL = strings.Replace(c.ManagementURL, "http", "https", 1)
			},
			want: TLSFailed, words: []string{"does not speak TLS"},
		},
		{
			name: "vhost missing", reason: "the management API would not tell it from one without rights",
			change: func(_ testing.TB, _ *localenv.Vhost, c *Config) { c.Vhost = "/orders" },
			want:   VhostMissing, words: []string{`no vhost "/orders"`, `say "orders"`},
		},
		{
			name: "no rights on the vhost", reason: "4.0 says 401 and 4.3 says 404 over HTTP",
			change: func(t testing.TB, v *localenv.Vhost, c *Config) {
				withUser("monitoring", "policymaker")(t, v, c)
				withdraw(t, v, c.Username)
			},
			want: AccessRefused, words: []string{"no access to vhost", "set_permissions"},
		},
		{
			name: "no tag", reason: "names both",
			change: withUser(), want: MissingTag,
			words: []string{"lacks the tag monitoring and the tag policymaker"},
		},
		{
			name: "tag management alone", reason: "it does not let one list the nodes",
			change: withUser("management"), want: MissingTag,
			words: []string{"lacks the tag monitoring and the tag policymaker", "management monitoring policymaker"},
		},
		{
			name: "tag monitoring alone", reason: "the lists would work, and the first policy would not",
			change: withUser("monitoring"), want: MissingTag, words: []string{"lacks the tag policymaker;"},
		},
		{
			name: "tag policymaker alone", reason: "names what is missing only",
			change: withUser("policymaker"), want: MissingTag, words: []string{"lacks the tag monitoring;"},
		},
		{
			name: "user info in the URL", reason: "it would get into messages",
			change: func(_ testing.TB, _ *localenv.Vhost, c *Config) {
				c.Password = "secret"
				c.AMQPURL = strings.Replace(c.AMQPURL, "amqp://", "amqp://user:secret@", 1)
			},
			want: Internal, words: []string{"without user info"},
		},
	}
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				v := b.NewVhost(t)
				config := configOf(v)
				c.change(t, v, &config)
				_, err := newSession(t, config, Options{}).Observe(t.Context(), ObserveOptions{})
				wantError(t, config, err, c.want, c.words...)
				_, again := newSession(t, config, Options{}).Observe(t.Context(), ObserveOptions{})
				if again == nil || again.Error() != err.Error() {
					t.Errorf("the text changes: %v, then %v", err, again)
				}
			})
		}
	})
}

func TestAdministratorNeedsNoOtherTag(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		v := b.NewVhost(t)
		config := configOf(v)
		config.Username, config.Password = "root-"+v.Operator.Name, "x"
		addUser(t, v, config.Username, config.Password, "administrator")
		mustObserve(t, newSession(t, config, Options{}))
	})
}

// What changes while a session has its connection must be told as well as
// what was so from the beginning.
func TestObserveErrorsOfLiveSession(t *testing.T) {
	cases := []struct {
		name   string
		reason string
		change func(t testing.TB, v *localenv.Vhost)
		want   Class
	}{
		{
			name: "rights withdrawn", reason: "the AMQP connection stays open",
			change: func(t testing.TB, v *localenv.Vhost) { withdraw(t, v, v.Operator.Name) }, want: AccessRefused,
		},
		{
			name: "vhost deleted", reason: "RabbitMQ closes the connections to it",
			change: func(t testing.TB, v *localenv.Vhost) {
				must(t, v.Broker.DeleteVhost(t.Context(), v.Name))
				// So that the test's own tidying up finds it.
				t.Cleanup(func() { must(t, v.Broker.CreateVhost(context.Background(), v.Name)) })
			},
			want: VhostMissing,
		},
		{
			name: "password changed", reason: "the AMQP connection stays open",
			change: func(t testing.TB, v *localenv.Vhost) {
				must(t, v.Broker.CreateUser(t.Context(), v.Operator.Name, "another", "monitoring", "policymaker"))
			},
			want: BadCredentials,
		},
		{
			name: "tag withdrawn", reason: "names the one that is missing",
			change: func(t testing.TB, v *localenv.Vhost) {
				must(t, v.Broker.CreateUser(t.Context(), v.Operator.Name, v.Operator.Password, "policymaker"))
			},
			want: MissingTag,
		},
	}
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				v := b.NewVhost(t)
				s := newSession(t, configOf(v), Options{})
				mustObserve(t, s)
				c.change(t, v)
				eventually(t, waitForBroker, func() string {
					_, err := s.Observe(t.Context(), ObserveOptions{})
					if ClassOf(err) != c.want {
						return "class is " + string(ClassOf(err))
					}
					wantError(t, configOf(v), err, c.want)
					return ""
				})
			})
		}
	})
}

func addUser(t testing.TB, v *localenv.Vhost, name, password string, tags ...string) {
	t.Helper()
	must(t, v.Broker.CreateUser(t.Context(), name, password, tags...))
	t.Cleanup(func() { must(t, v.Broker.DeleteUser(context.Background(), name)) })
	must(t, v.Broker.SetPermissions(t.Context(), v.Name, name, ".*", ".*", ".*"))
}

func withdraw(t testing.TB, v *localenv.Vhost, user string) {
	t.Helper()
	response, err := admin(t, v.Broker).ClearPermissionsIn(v.Name, user)
	must(t, err)
	_ = response.Body.Close()
}

// closedPort is an address where nothing listens.
func closedPort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
