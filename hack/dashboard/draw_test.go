package dashboard

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// Each panel shows its title and what its queries say, in well-formed XML.
func TestDraw(t *testing.T) {
	red := 1.0
	stat := Panel{Title: "Parked <now>", Type: "stat", Targets: []Target{{Expr: "parked"}}}
	stat.FieldConfig.Defaults.Thresholds.Steps = []Step{{Color: "green"}, {Color: "red", Value: &red}}
	stat.GridPos.W, stat.GridPos.H = 4, 4
	chart := Panel{Title: "Rate", Type: "timeseries", Targets: []Target{{Expr: "rate", LegendFormat: "{{namespace}}/{{subscription}}"}}}
	chart.GridPos.Y, chart.GridPos.W, chart.GridPos.H = 4, 12, 8
	chart.FieldConfig.Defaults.Unit = "ops"
	answers := map[string][]Series{
		"parked": {{Points: []Point{{1, 0}, {2, 7}}}},
		"rate":   {{Labels: map[string]string{"namespace": "shop", "subscription": "billing"}, Points: []Point{{1, 0}, {2, 4}}}},
	}
	svg, err := Draw([]Panel{stat, chart}, func(expr string) ([]Series, error) { return answers[expr], nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Parked &lt;now&gt;", ">7<", `fill="#c4162a"`, "shop/billing", ">4/s<", `viewBox="0 0 1200 384"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("there is no %s in\n%s", want, svg)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); err == nil; {
		_, err = d.Token()
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("it is no XML: %v", err)
	}
}
