package main

import (
	"fmt"
	"math"
	"strings"
)

// The plot's frame, in pixels.
const (
	plotWidth, plotHeight   = 720, 440
	plotLeft, plotRight     = 70, 250
	plotTop, plotBottom     = 50, 60
	plotAreaWidth           = plotWidth - plotLeft - plotRight
	plotAreaHeight          = plotHeight - plotTop - plotBottom
	plotBottomLine          = plotTop + plotAreaHeight
	plotRightLine           = plotLeft + plotAreaWidth
	plotFont, plotGridStyle = `font-family="sans-serif" font-size="12"`, `stroke="#ddd"`
)

// curve is a step's time over the number of subscriptions.
type curve struct {
	step   string
	colour string
	points []point
}

type point struct{ x, y float64 }

// curves are the steps whose time grows with the number of subscriptions.
func curves(results []result) []curve {
	list := []curve{{step: stepApply, colour: "#c0392b"}, {step: stepKubectl, colour: "#8e44ad"}, {step: stepLoop, colour: "#2980b9"}, {step: stepRestart, colour: "#27ae60"}}
	for i := range list {
		for _, r := range results {
			if r.Step == list[i].step && strings.HasSuffix(r.Workload, string(backoff)) {
				list[i].points = append(list[i].points, point{float64(r.Count), r.Seconds})
			}
		}
	}
	return list
}

// plot draws the curves as an SVG. Both axes are logarithmic: what is linear
// is a straight line of slope 1.
func plot(results []result) string {
	list := curves(results)
	x, y := axisOf(list, func(p point) float64 { return p.x }), axisOf(list, func(p point) float64 { return p.y })
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", plotWidth, plotHeight, plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)
	write := func(px, py float64, anchor, text string) {
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="%s" %s>%s</text>`+"\n", px, py, anchor, plotFont, text)
	}
	write(plotLeft, 25, "start", "Seconds by number of backoff subscriptions with three delays (both axes logarithmic)")
	write(plotLeft+plotAreaWidth/2, plotHeight-15, "middle", "subscriptions")
	for _, v := range x.ticks() {
		px := plotLeft + x.share(v)*plotAreaWidth
		fmt.Fprintf(&b, `<line x1="%.0f" y1="%d" x2="%.0f" y2="%d" %s/>`+"\n", px, plotTop, px, plotBottomLine, plotGridStyle)
		write(px, plotBottomLine+18, "middle", fmt.Sprintf("%g", v))
	}
	for _, v := range y.ticks() {
		py := plotBottomLine - y.share(v)*plotAreaHeight
		fmt.Fprintf(&b, `<line x1="%d" y1="%.0f" x2="%d" y2="%.0f" %s/>`+"\n", plotLeft, py, plotRightLine, py, plotGridStyle)
		write(plotLeft-8, py+4, "end", fmt.Sprintf("%g", v))
	}
	for i, c := range list {
		b.WriteString(c.draw(x, y))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="12" height="12" fill="%s"/>`+"\n", plotRightLine+20, plotTop+i*22, c.colour)
		write(plotRightLine+38, float64(plotTop+i*22+11), "start", c.step)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (c curve) draw(x, y axis) string {
	var line, dots strings.Builder
	for _, p := range c.points {
		px, py := plotLeft+x.share(p.x)*plotAreaWidth, plotBottomLine-y.share(p.y)*plotAreaHeight
		fmt.Fprintf(&line, "%.1f,%.1f ", px, py)
		fmt.Fprintf(&dots, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", px, py, c.colour)
	}
	return fmt.Sprintf(`<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.TrimSpace(line.String()), c.colour) + dots.String()
}

// axis is logarithmic, from one power of ten to another.
type axis struct{ from, to float64 }

func axisOf(list []curve, value func(point) float64) axis {
	least, most := math.Inf(1), math.Inf(-1)
	for _, c := range list {
		for _, p := range c.points {
			least, most = min(least, value(p)), max(most, value(p))
		}
	}
	if most < least {
		return axis{0, 1}
	}
	from := math.Floor(math.Log10(least))
	return axis{from, max(math.Ceil(math.Log10(most)), from+1)}
}

// share of the axis at which a value is.
func (a axis) share(v float64) float64 { return (math.Log10(v) - a.from) / (a.to - a.from) }

func (a axis) ticks() []float64 {
	var ticks []float64
	for e := a.from; e <= a.to; e++ {
		ticks = append(ticks, math.Pow(10, e))
	}
	return ticks
}
