package localenv

import "testing"

func TestClusterSurvivesOneNode(t *testing.T) {
	for _, series := range AllSeries() {
		t.Run(string(series), func(t *testing.T) {
			cluster, err := StartCluster(t.Context(), t.TempDir(), series, 3, RabbitMQOptions{})
			if err != nil {
				t.Fatal(err)
			}
			endWithTest(t, cluster.Stop)
			vhost := cluster.Nodes[0].NewVhost(t)
			declareDurable(t, vhost)

			if err := cluster.Nodes[2].Kill(); err != nil {
				t.Fatal(err)
			}
			publishAndGet(t, vhost.Dial(t, vhost.App))
			if err := cluster.Nodes[2].Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, node := range cluster.Nodes {
				if err := node.awaitRunningNodes(t.Context(), len(cluster.Nodes)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
