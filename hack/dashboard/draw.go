package dashboard

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

const (
	// cell is the width of one of the grid's 24 columns, and row the height of a row.
	cell, row = 50, 32
	gap       = 6
	margin    = 14
	tableRows = 7
	maxLegend = 3
)

// colors of lines, in turn.
var colors = []string{"#3274d9", "#e0752d", "#2f9e44", "#a352cc", "#c4162a", "#0a8f8f"}

// fills of the thresholds' colours.
var fills = map[string]string{"green": "#2f9e44", "red": "#c4162a", "orange": "#d9660a", "yellow": "#b58900"}

// Draw gives an SVG of the panels, in their grid.
func Draw(panels []Panel, query Query) (string, error) {
	var b strings.Builder
	rows := 0
	for i := range panels {
		p := &panels[i]
		rows = max(rows, p.GridPos.Y+p.GridPos.H)
		lines, err := p.lines(query)
		if err != nil {
			return "", err
		}
		p.draw(&b, lines)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="11">
<rect width="100%%" height="100%%" fill="#f4f5f5"/>
%s</svg>
`, 24*cell, rows*row, b.String()), nil
}

func (p *Panel) draw(b *strings.Builder, lines []line) {
	width, height := p.GridPos.W*cell-gap, p.GridPos.H*row-gap
	fill, ink := "#ffffff", "#24292e"
	if p.Type == "stat" && len(lines) > 0 {
		fill, ink = fills[p.color(lines[0].last())], "#ffffff"
	}
	fmt.Fprintf(b, "<g transform=\"translate(%d %d)\">\n<rect width=\"%d\" height=\"%d\" rx=\"3\" fill=\"%s\" stroke=\"#d8d9da\"/>\n", p.GridPos.X*cell+gap/2, p.GridPos.Y*row+gap/2, width, height, fill)
	text(b, margin, 19, ink, `font-weight="bold"`, p.Title)
	switch p.Type {
	case "stat":
		for _, l := range lines[:min(1, len(lines))] {
			text(b, width/2, height/2+28, ink, `font-size="38" text-anchor="middle"`, p.format(l.last()))
		}
	case "table":
		table(b, lines)
	default:
		p.chart(b, lines, float64(width), float64(height))
	}
	b.WriteString("</g>\n")
}

func text(b *strings.Builder, x, y int, color, style, words string) {
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" fill=\"%s\" %s>%s</text>\n", x, y, color, style, html.EscapeString(words))
}

// table shows what there is now.
func table(b *strings.Builder, lines []line) {
	columns := []string{"namespace", "subscription", "type"}
	for i, column := range columns {
		text(b, margin+i*170, 48, "#6e7680", "", column)
		for n, l := range lines[:min(tableRows, len(lines))] {
			text(b, margin+i*170, 70+n*20, "#24292e", "", l.Labels[column])
		}
	}
}

// format writes a value in the panel's unit.
func (p *Panel) format(v float64) string {
	number := strconv.FormatFloat(v, 'g', 3, 64)
	switch p.FieldConfig.Defaults.Unit {
	case "s":
		return number + " s"
	case "ops":
		return number + "/s"
	}
	return number
}

// chart draws lines from 0 to their highest value, over the same time.
func (p *Panel) chart(b *strings.Builder, lines []line, width, height float64) {
	const left, right, top, legends = 62, 14, 34, 64
	bottom := height - legends
	begin, end, highest := math.Inf(1), math.Inf(-1), 0.0
	for _, l := range lines {
		for _, at := range l.Points {
			begin, end, highest = min(begin, at.At), max(end, at.At), max(highest, at.Value)
		}
	}
	if highest == 0 {
		highest = 1
	}
	for _, share := range []float64{0, 0.5, 1} {
		y := bottom - share*(bottom-top)
		fmt.Fprintf(b, "<path d=\"M%d %.1fH%.1f\" stroke=\"#e4e5e6\"/>\n", left, y, width-right)
		text(b, left-6, int(y)+4, "#6e7680", `text-anchor="end"`, p.format(share*highest))
	}
	text(b, int(width)-right, int(bottom)+15, "#6e7680", `text-anchor="end"`, fmt.Sprintf("%.0f s", end-begin))
	for i, l := range lines {
		color := colors[i%len(colors)]
		path := "M"
		for _, at := range l.Points {
			path += fmt.Sprintf("%.1f %.1f ", left+(at.At-begin)/max(end-begin, 1)*(width-left-right), bottom-at.Value/highest*(bottom-top))
		}
		if len(l.Points) > 0 {
			fmt.Fprintf(b, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", strings.TrimSpace(path), color)
		}
		if i < 2*maxLegend {
			text(b, left+i/maxLegend*250, int(bottom)+30+i%maxLegend*13, color, "", l.legend)
		}
	}
}
