package broker

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
)

func TestManyDeclareAtOnce(t *testing.T) {
	const declarers, queues = 200, 20
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		var asked requests
		s := newSession(t, configOf(b.NewVhost(t)), Options{OnRequest: asked.record, RequestTimeout: time.Minute})
		var group sync.WaitGroup
		errs := make(chan error, declarers)
		for i := range declarers {
			group.Go(func() {
				exchange, queue := fmt.Sprint("x", i), fmt.Sprint("q", i%queues)
				errs <- s.Declare(t.Context(), []topology.Object{
					topology.Exchange{Name: exchange, Type: topology.Fanout},
					quorum(queue, nil),
					topology.Binding{Source: exchange, Destination: queue, DestinationKind: topology.KindQueue},
				})
			})
		}
		group.Wait()
		close(errs)
		for err := range errs {
			must(t, err)
		}
		if connects := asked.count("connect"); connects != 1 {
			t.Errorf("%d connections were made", connects)
		}
		if channels := cap(s.liveLink().slots); channels != maxChannels {
			t.Errorf("up to %d channels, want %d", channels, maxChannels)
		}
		got := mustObserve(t, s).Snapshot
		for i := range declarers {
			if exchange := fmt.Sprint("x", i); len(got.BindingsFrom(exchange)) != 1 {
				t.Errorf("exchange %q has the bindings %v", exchange, got.BindingsFrom(exchange))
			}
		}
		if len(got.Queues) != queues {
			t.Errorf("%d queues, want %d", len(got.Queues), queues)
		}
	})
}

func TestReconnects(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		v := b.NewVhost(t)
		s := newSession(t, configOf(v), Options{})
		mustDeclare(t, s, quorum("q", nil))
		closeConnections(t, v)
		// The first one may still find the old connection.
		eventually(t, waitForBroker, func() string {
			if err := s.Declare(t.Context(), []topology.Object{quorum("r", nil)}); err != nil {
				wantError(t, configOf(v), err, Unreachable)
				return err.Error()
			}
			return ""
		})
		mustObserve(t, s)
	})
}

// closeConnections of the operator, as an administrator can.
func closeConnections(t testing.TB, v *localenv.Vhost) {
	t.Helper()
	client := admin(t, v.Broker)
	eventually(t, waitForBroker, func() string {
		connections, err := client.ListVhostConnections(v.Name)
		must(t, err)
		for _, c := range connections {
			if c.User == v.Operator.Name {
				response, err := client.CloseConnection(c.Name)
				must(t, err)
				_ = response.Body.Close()
				return ""
			}
		}
		return "RabbitMQ does not list the connection yet"
	})
}

func TestAllWaitersShareOneFailedDial(t *testing.T) {
	config := Config{AMQPURL: "amqp://" + mute(t), ManagementURL: "http://127.0.0.1:1", Username: "u", Password: "p"}
	s := newSession(t, config, Options{DialTimeout: time.Second, RequestTimeout: time.Second})
	start := time.Now()
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if err := s.Declare(t.Context(), nil); ClassOf(err) != Timeout {
				t.Errorf("error %v", err)
			}
		})
	}
	group.Wait()
	if took := time.Since(start); took > 6*time.Second {
		t.Errorf("50 waiters took %s", took)
	}
}

func TestRequestsOfAnIdleObserve(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		var asked requests
		config := configOf(b.NewVhost(t))
		counting := newProxy(t, config.ManagementURL, nil)
		config.ManagementURL = counting.url("http")
		s := newSession(t, config, Options{OnRequest: asked.record})
		objects := []topology.Object{topology.Exchange{Name: "x", Type: topology.Fanout}}
		for i := range 50 {
			objects = append(objects, quorum(fmt.Sprint("q", i), nil))
		}
		mustDeclare(t, s, objects...)
		mustObserve(t, s)
		asked.take()
		connections := counting.connections()
		mustObserve(t, s)
		if more := counting.connections() - connections; more > 0 {
			t.Errorf("%d new HTTP connections were made", more)
		}
		want := 6
		if b.Version[:3] == string(localenv.Series40) {
			want = 7 // and the operator policies, for it does not tell who is under one
		}
		if got := asked.take(); len(got) != want {
			t.Errorf("%d requests, want %d: %v", len(got), want, got)
		}
	})
}

func TestObservationInfo(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		s := newSession(t, configOf(b.NewVhost(t)), Options{})
		got := mustObserve(t, s)
		if got.Info.Version.String() != b.Version || got.Snapshot.Broker != got.Info.Version {
			t.Errorf("version %s and %s, want %s", got.Info.Version, got.Snapshot.Broker, b.Version)
		}
		if got.Info.ClusterName == "" {
			t.Error("no cluster name")
		}
		if nodes := got.Info.Nodes; len(nodes) != 1 || !nodes[0].Running || len(nodes[0].Alarms) > 0 || nodes[0].Name == "" {
			t.Errorf("nodes: %+v", nodes)
		}
		if age := time.Since(got.Snapshot.TakenAt); age < 0 || age > time.Minute {
			t.Errorf("taken at %s", got.Snapshot.TakenAt)
		}
	})
}

func TestClosedSession(t *testing.T) {
	v := localenv.Broker(t, localenv.Series43).NewVhost(t)
	s := NewSession(configOf(v), Options{})
	mustDeclare(t, s, quorum("q", nil))
	s.Close()
	s.Close()
	err := s.Declare(context.Background(), []topology.Object{quorum("q", nil)})
	wantError(t, configOf(v), err, Unreachable, "session is closed")
	_, err = s.Observe(context.Background(), ObserveOptions{})
	wantError(t, configOf(v), err, Unreachable)
}

func TestManagementPathPrefix(t *testing.T) {
	v := localenv.Broker(t, localenv.Series43).NewVhost(t)
	config := configOf(v)
	target, err := url.Parse(config.ManagementURL)
	must(t, err)
	server := httptest.NewServer(http.StripPrefix("/rabbit", httputil.NewSingleHostReverseProxy(target)))
	defer server.Close()
	for _, slash := range []string{"", "/"} {
		config.ManagementURL = server.URL + "/rabbit" + slash
		mustObserve(t, newSession(t, config, Options{}))
	}
}

// Under an alarm RabbitMQ blocks connections that have published; ours never has.
func TestAlarmAndRestart(t *testing.T) {
	for _, series := range localenv.AllSeries() {
		t.Run(string(series), func(t *testing.T) {
			t.Parallel()
			b, err := localenv.StartRabbitMQ(t.Context(), t.TempDir(), series, localenv.RabbitMQOptions{})
			must(t, err)
			t.Cleanup(func() { _ = b.Stop() })
			v := b.NewVhost(t)
			s := newSession(t, configOf(v), Options{})
			mustDeclare(t, s, quorum("before", nil))

			must(t, b.SetMemoryAlarm(t.Context(), true))
			eventually(t, waitForBroker, func() string {
				return cmp.Diff([]string{AlarmMemory}, mustObserve(t, s).Info.Nodes[0].Alarms)
			})
			mustDeclare(t, s, quorum("under alarm", nil))
			must(t, b.SetMemoryAlarm(t.Context(), false))

			must(t, b.Kill())
			_, err = s.Observe(t.Context(), ObserveOptions{})
			wantError(t, configOf(v), err, Unreachable)
			must(t, b.Restart(t.Context()))
			eventually(t, waitForBroker, func() string {
				seen, err := s.Observe(t.Context(), ObserveOptions{})
				switch {
				case err != nil:
					return err.Error()
				case len(seen.Snapshot.Queues) != 2:
					return "queues are missing"
				}
				return ""
			})
		})
	}
}
