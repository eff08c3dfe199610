package main

import (
	"os"

	"golang.org/x/term"
)

// colours says where output is coloured.
type colours struct{ onOut, onErr bool }

// newColours follows --color.
func newColours(when string) colours {
	switch when {
	case "always":
		return colours{true, true}
	case "never":
		return colours{}
	}
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return colours{}
	}
	shows := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) && showsColours(f) }
	return colours{shows(os.Stdout), shows(os.Stderr)}
}

// A colour is the code of an ANSI escape sequence.
type colour string

const (
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
)

func (c colours) stdout(k colour, text string) string { return paint(c.onOut, k, text) }
func (c colours) stderr(k colour, text string) string { return paint(c.onErr, k, text) }

func paint(on bool, k colour, text string) string {
	if !on {
		return text
	}
	return "\x1b[" + string(k) + "m" + text + "\x1b[0m"
}
