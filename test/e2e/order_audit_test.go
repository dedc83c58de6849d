package e2e

import (
	"encoding/json"
	"os"
	"strings"
)

// apiRequest is what the API server has noted of a request.
type apiRequest struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	// ResponseStatus is 201 where a patch has created.
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	// Annotations say whether it was allowed.
	Annotations map[string]string `json:"annotations"`
}

// warrensRequests are those that the operator has made under its own service account.
func (o *operator) warrensRequests() ([]apiRequest, error) {
	content, err := os.ReadFile(o.plane.AuditLog())
	if err != nil {
		return nil, err
	}
	var made []apiRequest
	end := strings.LastIndex(string(content), "\n") + 1 // the last line may be half written
	for line := range strings.Lines(string(content[:end])) {
		if !strings.Contains(line, operatorUser) {
			continue
		}
		var r apiRequest
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, err
		}
		if r.User.Username == operatorUser {
			made = append(made, r)
		}
	}
	return made, nil
}

const operatorUser = "system:serviceaccount:" + operatorNamespace + ":" + operatorAccount

// warrensPodRequests are the requests that the operator has made about pods
// of the tenant, as "verb", by pod.
func (w *tenant) warrensPodRequests() map[string][]string {
	w.t.Helper()
	requests, err := w.warrensRequests()
	if err != nil {
		w.t.Fatal(err)
	}
	made := map[string][]string{}
	for _, r := range requests {
		if r.ObjectRef.Resource == "pods" && r.ObjectRef.Namespace == w.namespace {
			made[r.ObjectRef.Name] = append(made[r.ObjectRef.Name], strings.TrimSuffix(r.Verb+" "+r.ObjectRef.Subresource, " "))
		}
	}
	return made
}
