package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
	"github.com/warren-mq/warren/test/amqptest"
)

// The resources that each scene deletes, one a deletion policy: the columns of the table.
const (
	subRetain    = "sub-retain"
	subWhenEmpty = "sub-whenempty"
	subDelete    = "sub-delete"
	topicRetain  = "topic-retain"
	topicDelete  = "topic-delete"
)

var (
	removedSubs   = []string{subRetain, subWhenEmpty, subDelete}
	removedTopics = []string{topicRetain, topicDelete}
	removedAll    = slices.Concat(removedSubs, removedTopics)
)

// removedManifests are those resources; the subscriptions hear topic orders, which stays.
func removedManifests(brokerRef string) string {
	manifests := topicOn("orders", "main")
	for name, policy := range map[string]v1alpha1.DeletionPolicy{
		subRetain: v1alpha1.DeletionRetain, subWhenEmpty: v1alpha1.DeletionDeleteWhenEmpty, subDelete: v1alpha1.DeletionDelete,
	} {
		manifests += subscriptionManifest(name, fmt.Sprintf(
			`sources: [{topicRef: {name: orders}, routingKeys: ["#"]}], workQueue: {name: %s}, retry: {immediate: {}}, deletionPolicy: %s`, name, policy))
	}
	for name, policy := range map[string]v1alpha1.TopicDeletionPolicy{
		topicRetain: v1alpha1.TopicDeletionRetain, topicDelete: v1alpha1.TopicDeletionDelete,
	} {
		manifests += fmt.Sprintf(`
---
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: %s}
spec: {brokerRef: {name: main}, unroutable: {}, deletionPolicy: %s}
`, name, policy)
	}
	return strings.ReplaceAll(manifests, "brokerRef: {name: main}", "brokerRef: "+brokerRef)
}

// cell says what is left of a resource. An expected one leaves out what
// nobody can know, and of the cluster says how it begins.
type cell struct{ broker, cluster string }

func (c cell) String() string {
	if c == (cell{}) {
		return "-"
	}
	return "broker: " + c.broker + "; cluster: " + c.cluster
}

func (c cell) check(got cell) error {
	if c.broker != "" && c.broker != got.broker || !strings.HasPrefix(got.cluster, c.cluster) {
		return fmt.Errorf("left is\n%s, want\n%s", got, c)
	}
	return nil
}

// removalRow is what is left after something was done, by resource.
type removalRow struct {
	name string
	do   func(s *removalScene)
	want map[string]cell
}

// removalScene is a state in which all of the resources are deleted, and what
// comes after that.
type removalScene struct {
	*stage
	// before is what the broker had, by resource.
	before map[string]map[string]topology.Arguments
	// silent: the broker cannot be asked.
	silent bool
}

func (s *stage) removalScene(brokerRef string) *removalScene {
	s.t.Helper()
	s.apply(removedManifests(brokerRef))
	for _, name := range removedAll {
		s.awaitReady(resourceOf(name))
	}
	scene := &removalScene{stage: s, before: map[string]map[string]topology.Arguments{}}
	all := s.onBroker()
	for _, name := range removedAll {
		scene.before[name] = objectsOf(all, name)
	}
	return scene
}

func resourceOf(name string) string {
	if slices.Contains(removedTopics, name) {
		return "topic/" + name
	}
	return "rsub/" + name
}

// objectsOf are those whose name, or whose queue's, begins so.
func objectsOf(all map[string]topology.Arguments, name string) map[string]topology.Arguments {
	own := map[string]topology.Arguments{}
	for object, arguments := range all {
		if strings.Contains(object, `"`+name) {
			own[object] = arguments
		}
	}
	return own
}

// removeAll asks for the deletion of all five, and does not wait.
func (s *removalScene) removeAll() {
	s.t.Helper()
	for _, name := range removedAll {
		s.remove(resourceOf(name))
	}
}

// left is what there is now of a resource.
func (s *removalScene) left(name string) (cell, error) {
	onBroker, err1 := s.leftOnBroker(name)
	inCluster, err2 := s.leftInCluster(resourceOf(name))
	return cell{onBroker, inCluster}, errors.Join(err1, err2)
}

func (s *removalScene) leftOnBroker(name string) (string, error) {
	if s.silent {
		return "not to be known", nil
	}
	all, err := s.tryOnBroker()
	if err != nil {
		return "", err
	}
	now, before := objectsOf(all, name), s.before[name]
	var missing, queues []string
	for object := range before {
		if _, there := now[object]; !there {
			missing = append(missing, object)
		}
	}
	for object := range now {
		if quoted, ok := strings.CutPrefix(object, "queue "); ok {
			queues = append(queues, strings.Trim(quoted, `"`))
		}
	}
	slices.Sort(queues)
	switch {
	case len(missing) == 0:
		return "all", nil
	case len(now) == 0:
		return "nothing", nil
	case slices.Equal(missing, []string{fmt.Sprintf(`binding of queue %q to exchange "orders" with key "#"`, name)}):
		return "all but its source", nil
	}
	return strings.Join(queues, ", ") + " and exchanges", nil
}

func (s *removalScene) leftInCluster(resource string) (string, error) {
	var o object
	err := s.read(resource, &o)
	if apierrors.IsNotFound(err) {
		for _, reason := range []string{"Removed", "Released"} {
			if len(s.eventNotes(resource, reason)) > 0 {
				return "gone, " + reason, nil
			}
		}
		return "gone", nil
	}
	ready := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReady)
	if err != nil || ready == nil {
		return "no condition", err
	}
	_, waits, _ := strings.Cut(ready.Message, "it is being deleted, and waits: ")
	waits, _, _ = strings.Cut(waits, ". To let it go")
	return "waits: " + waits, nil
}

// play does what a row says, waits for its cells, and gives what there was in the end.
func (s *removalScene) play(row removalRow) []string {
	s.t.Helper()
	row.do(s)
	told := []string{string(s.series()) + " " + row.name}
	for _, name := range removedAll {
		amqptest.Eventually(s.t, within, func() error { return s.checkCell(name, row.want[name]) })
	}
	for _, name := range removedAll { // while the others were awaited, nothing more may have gone
		want := row.want[name]
		if want == (cell{}) {
			told = append(told, want.String())
			continue
		}
		got, err := s.left(name)
		if err = errors.Join(err, want.check(got)); err != nil {
			s.t.Errorf("%s, %s: %v", row.name, name, err)
		}
		told = append(told, got.String())
	}
	return told
}

func (s *removalScene) checkCell(name string, want cell) error {
	if want == (cell{}) {
		return nil
	}
	got, err := s.left(name)
	if err == nil {
		err = want.check(got)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// removalTable gathers the rows of all scenes.
type removalTable struct {
	mutex sync.Mutex
	rows  [][]string
}

func (r *removalTable) add(row []string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.rows = append(r.rows, row)
}

func (r *removalTable) String() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range r.rows {
		for i, name := range removedAll {
			fmt.Fprintf(w, "%s\t%s\t%s\n", row[0], name, row[i+1])
		}
	}
	_ = w.Flush() // a strings.Builder takes everything
	return text.String()
}

// What deleting leaves on the broker and in the cluster, for each deletion
// policy and whatever there is in the way. The test prints the table.
func TestWhatDeletingLeaves(t *testing.T) {
	t.Parallel()
	var table removalTable
	t.Run("scenes", func(t *testing.T) {
		for name, scene := range removalScenes {
			for _, series := range scene.series {
				t.Run(fmt.Sprintf("%s/%s", series, name), func(t *testing.T) {
					t.Parallel()
					s := scene.set(t, series)
					for _, row := range scene.rows {
						table.add(s.play(row))
					}
				})
			}
		}
	})
	t.Logf("what is left:\n%s", &table)
}

// usualRemovalScene is on the broker that all tests share.
func usualRemovalScene(t *testing.T, series localenv.Series) *removalScene {
	return newStage(t, series).removalScene("{name: main}")
}
