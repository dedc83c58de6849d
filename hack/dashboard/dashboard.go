// Package dashboard draws config/prometheus/dashboard.json as one SVG, from
// what a real Prometheus answers to the query of each panel: a picture for the
// docs, where there is no Grafana to make one.
package dashboard

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
)

// Panel is a panel of the dashboard, as far as it is drawn.
type Panel struct {
	Title   string   `json:"title"`
	Type    string   `json:"type"` // stat, timeseries or table
	Targets []Target `json:"targets"`
	GridPos struct {
		X int `json:"x"`
		Y int `json:"y"`
		W int `json:"w"`
		H int `json:"h"`
	} `json:"gridPos"`
	FieldConfig struct {
		Defaults struct {
			Unit       string `json:"unit"`
			Thresholds struct {
				Steps []Step `json:"steps"`
			} `json:"thresholds"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
}

// Target is a query of a panel.
type Target struct {
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
}

// Step is a threshold: the colour from a value on.
type Step struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
}

// Series is what an expression gives over the time of the picture.
type Series struct {
	Labels map[string]string
	Points []Point
}

// Point is a value at a time, in seconds.
type Point struct{ At, Value float64 }

// Query asks Prometheus for a range that ends now.
type Query func(expr string) ([]Series, error)

// Read gives the panels of a dashboard's file.
func Read(path string) ([]Panel, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var d struct {
		Panels []Panel `json:"panels"`
	}
	if err := json.Unmarshal(content, &d); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return d.Panels, nil
}

// line is a series with its legend.
type line struct {
	legend string
	Series
}

// lines asks the queries of a panel, those of a legend in its order.
func (p *Panel) lines(query Query) ([]line, error) {
	var all []line
	for _, t := range p.Targets {
		found, err := query(t.Expr)
		if err != nil {
			return nil, fmt.Errorf("panel %q: %w", p.Title, err)
		}
		for _, s := range found {
			all = append(all, line{legend(t.LegendFormat, s.Labels), s})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].legend < all[j].legend })
	return all, nil
}

// legend puts labels into a format as Grafana does.
func legend(format string, labels map[string]string) string {
	for name, value := range labels {
		format = strings.ReplaceAll(format, "{{"+name+"}}", value)
	}
	return format
}

// last is the value of now.
func (s Series) last() float64 {
	if len(s.Points) == 0 {
		return 0
	}
	return s.Points[len(s.Points)-1].Value
}

// color of a value by the thresholds.
func (p *Panel) color(value float64) string {
	color := "green"
	for _, s := range p.FieldConfig.Defaults.Thresholds.Steps {
		if s.Value == nil || value >= *s.Value {
			color = s.Color
		}
	}
	return color
}
