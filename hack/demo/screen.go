package main

import (
	"fmt"
	"io"
	"os"
)

// screen writes what the spectator sees, in colour on a terminal.
type screen struct {
	out    io.Writer
	colour bool
}

func newScreen(out io.Writer) screen {
	s := screen{out: out}
	if f, ok := out.(*os.File); ok && os.Getenv("NO_COLOR") == "" {
		if info, err := f.Stat(); err == nil {
			s.colour = info.Mode()&os.ModeCharDevice != 0
		}
	}
	return s
}

const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (s screen) paint(style, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

func (s screen) title(text string) { fmt.Fprintf(s.out, "\n%s\n", s.paint(bold, "▸ "+text)) }

func (s screen) line(style, format string, args ...any) {
	fmt.Fprintf(s.out, "   %s\n", s.paint(style, fmt.Sprintf(format, args...)))
}

func (s screen) note(format string, args ...any)    { s.line(dim, format, args...) }
func (s screen) command(format string, args ...any) { s.line(cyan, format, args...) }
func (s screen) alarm(format string, args ...any)   { s.line(yellow, format, args...) }
