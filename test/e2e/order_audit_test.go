package e2e

import (
	"encoding/json"
	"os"
	"strings"
)

// podRequest is what the API server has noted of a request about a pod.
type podRequest struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
}

// warrensPodRequests are the requests that the operator has made about pods
// of the tenant, as "verb", by pod.
func (w *tenant) warrensPodRequests() map[string][]string {
	w.t.Helper()
	content, err := os.ReadFile(w.plane.AuditLog())
	if err != nil {
		w.t.Fatal(err)
	}
	made := map[string][]string{}
	end := strings.LastIndex(string(content), "\n") + 1 // the last line may be half written
	for line := range strings.Lines(string(content[:end])) {
		var r podRequest
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			w.t.Fatalf("%v: %s", err, line)
		}
		if r.User.Username == "system:serviceaccount:"+operatorNamespace+":"+operatorAccount && r.ObjectRef.Namespace == w.namespace {
			made[r.ObjectRef.Name] = append(made[r.ObjectRef.Name], strings.TrimSuffix(r.Verb+" "+r.ObjectRef.Subresource, " "))
		}
	}
	return made
}
