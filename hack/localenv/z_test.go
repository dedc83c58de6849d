package localenv
import ("testing";"time")
func TestZ(t *testing.T){ for _, se := range AllSeries() { s:=time.Now(); b:=startOwn(t,se); t.Log(se,"start",time.Since(s))
s=time.Now(); v:=b.NewVhost(t); t.Log("vhost",time.Since(s)); s=time.Now(); v.Dial(t,v.App); t.Log("dial",time.Since(s))
s=time.Now(); b.Ctl(t.Context(),"list_vhosts"); t.Log("ctl",time.Since(s))
s=time.Now(); b.SetMemoryAlarm(t.Context(),true); t.Log("alarm",time.Since(s))
s=time.Now(); b.Kill(); t.Log("kill",time.Since(s))
s=time.Now(); b.Restart(t.Context()); t.Log("restart",time.Since(s))
s=time.Now(); b.Stop(); t.Log("stop",time.Since(s))
s=time.Now(); c,err:=StartCluster(t.Context(),t.TempDir(),se,3,RabbitMQOptions{}); t.Log("cluster",time.Since(s), err)
s=time.Now(); c.Stop(); t.Log("cluster stop",time.Since(s))
}
for range 2 { s:=time.Now(); c,err:=StartControlPlane(t.Context(), t.TempDir(), ControlPlaneOptions{}); t.Log("cp",time.Since(s), err); c.Stop()}
s:=time.Now(); c,err:=StartControlPlane(t.Context(), t.TempDir(), ControlPlaneOptions{Controllers: true}); t.Log("cp+controllers",time.Since(s), err); c.Stop()
}
