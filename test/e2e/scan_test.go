package e2e

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/hack/localenv"
)

// secrets are the users of all tests, whose passwords nobody may get to see.
var secrets struct {
	mutex sync.Mutex
	users map[localenv.User]bool
}

// keepSecret has a user's password looked for at the end.
func keepSecret(user localenv.User) localenv.User {
	secrets.mutex.Lock()
	defer secrets.mutex.Unlock()
	if secrets.users == nil {
		secrets.users = map[localenv.User]bool{}
	}
	secrets.users[user] = true
	return user
}

// formsOf a password: as it is, as JSON, in a URL, and encoded for HTTP.
func formsOf(user localenv.User) []string {
	inJSON, err := json.Marshal(user.Password)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	encode := base64.StdEncoding.EncodeToString
	return []string{
		user.Password, strings.Trim(string(inJSON), `"`), url.QueryEscape(user.Password), url.PathEscape(user.Password),
		encode([]byte(user.Password)), encode([]byte(user.Name + ":" + user.Password)),
	}
}

// shownSecrets names the users whose password is in a text. It reads the text
// once, however many there are.
func shownSecrets(text string) []string {
	secrets.mutex.Lock()
	defer secrets.mutex.Unlock()
	const begin, end = "\x00<", ">\x00"
	var pairs, names []string
	for user := range secrets.users {
		for _, form := range formsOf(user) {
			pairs = append(pairs, form, begin+user.Name+end)
		}
	}
	marked := strings.NewReplacer(pairs...).Replace(text)
	for _, part := range strings.Split(marked, begin)[1:] {
		name, _, _ := strings.Cut(part, end)
		names = append(names, name)
	}
	return names
}

// scan looks for every test's passwords in all that an operator has shown to
// anybody: its log, its metrics, and the statuses and Events of its cluster.
func (o *operator) scan() error {
	shown := map[string]string{"log": o.log()}
	read := o.readMetrics
	if read == nil {
		read = func() (string, error) { return tryGet("http://" + o.metrics + "/metrics") }
	}
	if metrics, err := read(); err == nil {
		shown["metrics"] = metrics
	} else if o.process.Running() {
		return fmt.Errorf("scan: %w", err)
	}
	for kind, path := range collections {
		if kind == "secret" { // where passwords belong
			continue
		}
		content, err := o.api.Get().AbsPath(strings.Replace(path, "namespaces/%s/", "", 1)).DoRaw(cleanupContext())
		if err != nil {
			return fmt.Errorf("scan: list %s: %w", kind, err)
		}
		shown[kind] = string(content)
	}
	var errs []error
	for where, text := range shown {
		if names := shownSecrets(text); len(names) > 0 {
			errs = append(errs, fmt.Errorf("scan: the operator's %s shows the passwords of %q", where, names))
		}
	}
	return errors.Join(errs...)
}

// The scan finds a password in whatever form, and names whose it is.
func TestTheScanFindsAPassword(t *testing.T) {
	t.Parallel()
	user := keepSecret(localenv.User{Name: "scanned", Password: `sc@nned/p&ss "` + "ü\n"})
	for _, form := range formsOf(user) {
		if diff := cmp.Diff([]string{"scanned"}, shownSecrets("before "+form+" after")); diff != "" {
			t.Errorf("in a text with %q (-want +got):\n%s", form, diff)
		}
	}
	if names := shownSecrets(`of user "scanned" nothing is told`); len(names) > 0 {
		t.Errorf("where there is no password, those of %q are found", names)
	}
}
