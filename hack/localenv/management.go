package localenv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The admin's calls go over HTTP: a command line tool takes seconds to start.

// callTimeout limits one call: a broker that is starting may take a
// connection and then not answer.
const callTimeout = time.Minute

// CreateVhost makes a vhost; one that exists stays as it is.
func (b *RabbitMQ) CreateVhost(ctx context.Context, name string) error {
	return b.put(ctx, struct{}{}, "vhosts", name)
}

// DeleteVhost removes a vhost and all that is in it. RabbitMQ removes one queue
// after the other, as long as the request lasts: who has thousands of queues
// deletes them first.
func (b *RabbitMQ) DeleteVhost(ctx context.Context, name string) error {
	return b.delete(ctx, "vhosts", name)
}

// CreateUser makes a user, or gives an existing one this password and these tags.
func (b *RabbitMQ) CreateUser(ctx context.Context, name, password string, tags ...string) error {
	user := map[string]string{"password": password, "tags": strings.Join(tags, ",")}
	return b.put(ctx, user, "users", name)
}

// DeleteUser removes a user.
func (b *RabbitMQ) DeleteUser(ctx context.Context, name string) error {
	return b.delete(ctx, "users", name)
}

// SetPermissions sets what a user may do in a vhost, each as a regular
// expression of resource names.
func (b *RabbitMQ) SetPermissions(ctx context.Context, vhost, user, configure, write, read string) error {
	permissions := map[string]string{"configure": configure, "write": write, "read": read}
	return b.put(ctx, permissions, "permissions", vhost, user)
}

func (b *RabbitMQ) get(ctx context.Context, into any, path ...string) error {
	return b.call(ctx, http.MethodGet, nil, into, path)
}

func (b *RabbitMQ) put(ctx context.Context, body any, path ...string) error {
	return b.call(ctx, http.MethodPut, body, nil, path)
}

func (b *RabbitMQ) delete(ctx context.Context, path ...string) error {
	return b.call(ctx, http.MethodDelete, nil, nil, path)
}

func (b *RabbitMQ) call(ctx context.Context, method string, body, into any, path []string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	request, err := b.request(ctx, method, body, path)
	if err != nil {
		return err
	}
	// A connection for each call: RabbitMQ closes those that are kept alive
	// when it pleases, and a request that meets this fails with EOF.
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return statusError{request: method + " " + request.URL.EscapedPath(), code: response.StatusCode, answer: string(content)}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(content, into)
}

func (b *RabbitMQ) request(ctx context.Context, method string, body any, path []string) (*http.Request, error) {
	address := b.managementURL + "/api"
	for _, segment := range path {
		address += "/" + url.PathEscape(segment)
	}
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth(b.AdminUser, b.AdminPassword)
	return request, nil
}

// statusError is an answer that is not a success.
type statusError struct {
	request string
	code    int
	answer  string
}

func (e statusError) Error() string {
	return fmt.Sprintf("%s: %d %s: %s", e.request, e.code, http.StatusText(e.code), e.answer)
}
