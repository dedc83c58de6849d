package broker

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"
)

// Rights of a user in the session's vhost: a regular expression of names each.
type Rights struct{ Configure, Write, Read string }

// Account is a RabbitMQ user that is made for an application.
type Account struct {
	Name string
	// Password is never printed.
	Password string `json:"-"`
	// Tag says whose the user is. RabbitMQ gives no right for it.
	Tag    string
	Rights Rights
}

// String leaves the password out.
func (a Account) String() string { return fmt.Sprintf("user %q", a.Name) }

// GoString leaves the password out.
func (a Account) GoString() string { return "broker.Account{" + a.String() + "}" }

// SeenAccount is a user as the broker shows it.
type SeenAccount struct {
	tags []string
	hash string
	// algorithm of the hash.
	algorithm rabbithole.HashingAlgorithm
	Rights    Rights
}

// Bears tells whether the user has a tag.
func (a *SeenAccount) Bears(tag string) bool { return slices.Contains(a.tags, tag) }

// Accepts tells whether this is the user's password. What was hashed in a way
// that is not known is taken to be right.
func (a *SeenAccount) Accepts(password string) bool {
	const saltBytes = 4
	salted, err := base64.StdEncoding.DecodeString(a.hash)
	if a.algorithm != rabbithole.HashingAlgorithmSHA256 || err != nil || len(salted) != saltBytes+sha256.Size {
		return a.algorithm != rabbithole.HashingAlgorithmSHA256
	}
	sum := sha256.Sum256(append(slices.Clone(salted[:saltBytes]), password...))
	return slices.Equal(sum[:], salted[saltBytes:])
}

func accountTask(op, name string) task {
	return task{op: op, kind: "user", object: fmt.Sprintf("user %q", name)}
}

// Account reads a user; nil when there is none.
func (s *Session) Account(ctx context.Context, name string) (*SeenAccount, error) {
	seen := &SeenAccount{}
	err := s.administer(ctx, accountTask("read", name), func(c *rabbithole.Client) error {
		user, err := c.GetUser(name)
		if err == nil {
			seen.tags, seen.hash, seen.algorithm = user.Tags, user.PasswordHash, user.HashingAlgorithm
		}
		return err
	})
	switch {
	case ClassOf(err) == NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	err = s.administer(ctx, accountTask("read the rights of", name), func(c *rabbithole.Client) error {
		rights, err := c.GetPermissionsIn(s.vhost(), name)
		seen.Rights = Rights{Configure: rights.Configure, Write: rights.Write, Read: rights.Read}
		return err
	})
	if ClassOf(err) == NotFound { // It has no right in this vhost.
		err = nil
	}
	return seen, err
}

// KeepAccount makes a user, or gives one that is there this password and these rights.
func (s *Session) KeepAccount(ctx context.Context, a Account) error {
	err := s.change(ctx, accountTask(opDeclare, a.Name), func(c *rabbithole.Client) (*http.Response, error) {
		return c.PutUser(a.Name, rabbithole.UserSettings{Name: a.Name, Password: a.Password, Tags: rabbithole.UserTags{a.Tag}})
	})
	if err != nil {
		return err
	}
	return s.change(ctx, accountTask("set the rights of", a.Name), func(c *rabbithole.Client) (*http.Response, error) {
		return c.UpdatePermissionsIn(s.vhost(), a.Name, rabbithole.Permissions(a.Rights))
	})
}

// DeleteAccount removes a user that bears the tag; RabbitMQ closes its
// connections. One that is not there or does not bear it is left as it is.
func (s *Session) DeleteAccount(ctx context.Context, name, tag string) error {
	seen, err := s.Account(ctx, name)
	if err != nil || seen == nil || !seen.Bears(tag) {
		return err
	}
	err = s.change(ctx, accountTask(opDelete, name), func(c *rabbithole.Client) (*http.Response, error) { return c.DeleteUser(name) })
	if ClassOf(err) == NotFound {
		return nil
	}
	return err
}

func (s *Session) change(ctx context.Context, t task, request func(*rabbithole.Client) (*http.Response, error)) error {
	return s.administer(ctx, t, func(c *rabbithole.Client) error {
		response, err := request(c)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	})
}

// administer says what the right is that managing users needs.
func (s *Session) administer(ctx context.Context, t task, request func(*rabbithole.Client) error) error {
	err := s.management.call(ctx, t, request)
	if class := ClassOf(err); class != AccessRefused && class != MissingTag {
		return err
	}
	user := s.peer.config.Username
	return t.wrap(&Error{
		Class: AccessRefused, Target: s.management.peer.address, Err: err,
		Problem: fmt.Sprintf("user %q may not manage users: it lacks the tag administrator", user),
		Advice:  fmt.Sprintf("rabbitmqctl set_user_tags %q administrator, or set credentials to None and make the user yourself", user),
	})
}
