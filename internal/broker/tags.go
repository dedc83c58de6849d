package broker

import (
	"context"
	"net/http"
	"slices"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"
)

// checkTags asks, until the answer was good once, which tags the user has: a
// user who lacks one sees less, without being told.
func (m *management) checkTags(ctx context.Context) error {
	if m.tagged.Load() {
		return nil
	}
	t := task{op: "read user tags"}
	var tags []string
	err := m.call(ctx, t, func(c *rabbithole.Client) error {
		me, err := c.Whoami()
		if err == nil {
			tags = me.Tags
		}
		return err
	})
	switch {
	case ClassOf(err) == NotFound:
		// RabbitMQ has this resource for everybody.
		return t.wrap(m.peer.strangeStatus(http.StatusNotFound))
	case err != nil:
		return err
	}
	if lacks := lackingTags(tags); len(lacks) > 0 {
		return t.wrap(m.peer.missingTag(tags, lacks))
	}
	m.tagged.Store(true)
	return nil
}

func lackingTags(has []string) []string {
	if slices.Contains(has, "administrator") {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(neededTags), func(tag string) bool { return slices.Contains(has, tag) })
}
