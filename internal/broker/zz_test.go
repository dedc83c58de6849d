package broker
import ("testing";"fmt";"time"; "github.com/warren-mq/warren/hack/localenv"; "github.com/warren-mq/warren/internal/topology")
func TestZ(t *testing.T){
 for _, series := range localenv.AllSeries() {
 c, err := localenv.StartCluster(t.Context(), t.TempDir(), series, 3, localenv.RabbitMQOptions{})
 must(t, err)
 b := c.Nodes[0]
 v := b.NewVhost(t)
 s := NewSession(configOf(v), Options{OnRequest: func(o string, d time.Duration, err error){ if d > time.Second || err != nil {t.Log("   slow", o, d, err)} }})
 var objs []topology.Object
 for i := range 6 { objs = append(objs, quorum(fmt.Sprint("q",i), nil)) }
 mustDeclare(t, s, objs...)
 publish(t, v, "", "q1", 3)
 obs := func(what string) {
  t0 := time.Now()
  seen, err := s.Observe(t.Context(), ObserveOptions{Fresh: func(topology.SeenQueue) bool { return true}})
  t.Log(series, what, time.Since(t0), err)
  if err == nil { for i := range 6 { q := seen.Snapshot.Queues[fmt.Sprint("q",i)]; t.Log("    ", q.Name, q.State, q.Online, counters(q)) }
   t.Log("    ", seen.Info.Nodes) }
 }
 obs("all up")
 must(t, c.Nodes[2].Kill())
 obs("one down")
 time.Sleep(3*time.Second)
 obs("one down, later")
 must(t, c.Nodes[1].Kill())
 obs("two down")
 obs("two down again")
 time.Sleep(5*time.Second)
 obs("two down, later")
 t0 := time.Now()
 err = s.Declare(t.Context(), []topology.Object{quorum("q1", nil)})
 t.Log("declare existing", time.Since(t0), err)
 t0 = time.Now()
 err = s.Declare(t.Context(), []topology.Object{quorum("qnew", nil)})
 t.Log("declare new", time.Since(t0), err)
 t0 = time.Now()
 err = s.Declare(t.Context(), []topology.Object{topology.Exchange{Name: "x", Type: "fanout"}})
 t.Log("declare exchange", time.Since(t0), err)
 must(t, c.Nodes[1].Restart(t.Context()))
 obs("one down again")
 s.Close()
 c.Stop()
 }
}
