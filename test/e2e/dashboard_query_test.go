package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/warren-mq/warren/hack/dashboard"
	"github.com/warren-mq/warren/test/amqptest"
)

// pictured is how much time the picture of the dashboard shows.
const pictured = 90 * time.Second

// prometheus answers queries.
type prometheus struct{ url string }

// sample is a time and a value, which is a string.
type sample [2]any

// now gives the series of an expression.
func (p prometheus) now(expr string) ([]dashboard.Series, error) {
	return p.get("query", url.Values{"query": {expr}})
}

// lately gives them as they were.
func (p prometheus) lately(expr string) ([]dashboard.Series, error) {
	end := time.Now().Unix()
	begin := end - int64(pictured/time.Second)
	return p.get("query_range", url.Values{"query": {expr}, "start": {fmt.Sprint(begin)}, "end": {fmt.Sprint(end)}, "step": {"1"}})
}

func (p prometheus) get(path string, query url.Values) ([]dashboard.Series, error) {
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct {
				Metric map[string]string
				Value  sample
				Values []sample
			}
		}
	}
	response, err := http.Get(p.url + path + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("%s: %s", query.Get("query"), answer.Error)
	}
	var all []dashboard.Series
	for _, r := range answer.Data.Result {
		all = append(all, dashboard.Series{Labels: r.Metric, Points: points(append(r.Values, r.Value))})
	}
	return all, nil
}

// points leaves out what is no number, as a quantile of nothing.
func points(samples []sample) []dashboard.Point {
	var all []dashboard.Point
	for _, s := range samples {
		at, _ := s[0].(float64)
		words, _ := s[1].(string)
		if value, err := strconv.ParseFloat(words, 64); err == nil && !math.IsNaN(value) {
			all = append(all, dashboard.Point{At: at, Value: value})
		}
	}
	return all
}

// picture draws the dashboard when there is enough to show. Some messages come
// all the while, and now and then one is parked or fails.
func (s *stage) picture(t *testing.T, path string, panels []dashboard.Panel, query dashboard.Query) {
	t.Helper()
	begin, n := time.Now(), 0
	amqptest.Eventually(t, pictured+within, func() error {
		n++
		s.publish("", "billing", amqptest.Message(fmt.Sprintf("done-%d", n)))
		if n%100 == 0 {
			s.publish("billing.park", "billing", amqptest.Message(fmt.Sprintf("parked-%d", n)))
		}
		if time.Since(begin) < pictured {
			return fmt.Errorf("there is not enough to show yet")
		}
		return nil
	})
	svg, err := dashboard.Draw(panels, query)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(svg), 0o644); err != nil {
		t.Fatal(err)
	}
}
