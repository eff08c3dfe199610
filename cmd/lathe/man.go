package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd prints the manual page. It is made from the tables that --help is made from.
type manCmd struct{}

// Run does it.
func (manCmd) Run(a *app) error {
	m := manual{a.out}
	about, exits, _ := strings.Cut(description, "\n\nExit codes:\n")
	m.line(`.TH LATHE 1 "" "lathe %s" "User Commands"`, escaped(programVersion()))
	m.line(".SH NAME\nlathe \\- run compute shaders, and filter photographs with them")
	m.line(".SH SYNOPSIS\n.B lathe\n.I command\n[\\fIflags\\fR]")
	m.line(".SH DESCRIPTION")
	m.text(about)
	for _, group := range []string{"device", "common"} {
		m.line(".SH %s", map[string]string{"device": "FLAGS OF EVERY COMMAND THAT USES A DEVICE", "common": "FLAGS OF EVERY COMMAND"}[group])
		m.text(map[string]string{"device": "A command that would ignore such a flag refuses it."}[group])
		for _, f := range a.model.Flags {
			if f.Group != nil && f.Group.Key == group {
				m.flag(f)
			}
		}
	}
	m.line(".SH COMMANDS")
	for _, n := range a.model.Children {
		if !n.Hidden {
			m.command(n)
		}
	}
	m.line(".SH EXIT STATUS")
	for line := range strings.Lines(exits) {
		code, means, _ := strings.Cut(strings.TrimSpace(line), " ")
		m.line(".TP\n.B %s\n%s", code, escaped(strings.TrimSpace(means)))
	}
	m.line(".SH SEE ALSO\nhttps://github.com/lathe\\-gpu/lathe/tree/main/docs")
	return nil
}

// manual writes a page in the language of roff, with the macros of man.
type manual struct{ w io.Writer }

func (m manual) line(format string, args ...any) { fmt.Fprintf(m.w, format+"\n", args...) }

func (m manual) command(n *kong.Node) {
	name := commandName(n)
	for _, p := range n.Positional {
		name += " " + p.Summary()
	}
	m.line(".SS %s", strings.NewReplacer("<", `\fI`, ">", `\fR`).Replace(escaped(name)))
	m.text(n.Help)
	m.text(n.Detail)
	for _, p := range n.Positional {
		m.line(".TP\n.I %s\n%s", escaped(p.Name), escaped(p.Help))
	}
	for _, f := range n.Flags {
		if !f.Hidden && f.Name != "help" {
			m.flag(f)
		}
	}
	for _, c := range n.Children {
		m.command(c)
	}
}

func (m manual) flag(f *kong.Flag) {
	name := `\fB\-\-` + escaped(f.Name) + `\fR`
	if f.Tag.Negatable != "" {
		name += `, \fB\-\-no\-` + escaped(f.Name) + `\fR`
	}
	if f.Short != 0 {
		name = `\fB\-` + string(f.Short) + `\fR, ` + name
	}
	if !f.IsBool() {
		name += `=\fI` + escaped(f.FormatPlaceHolder()) + `\fR`
	}
	m.line(".TP\n%s\n%s", name, escaped(f.Help))
}

// text writes paragraphs. Lines that are indented stay as they are.
func (m manual) text(text string) {
	for block := range strings.SplitSeq(text, "\n\n") {
		if block == "" {
			continue
		}
		m.line(".PP")
		asIs := false
		for line := range strings.Lines(block) {
			line = strings.TrimSuffix(line, "\n")
			if indented := strings.HasPrefix(line, "  "); indented != asIs {
				m.line(map[bool]string{true: ".PP\n.RS 4\n.nf", false: ".fi\n.RE"}[indented])
				asIs = indented
			}
			m.line("%s", escaped(strings.TrimSpace(line)))
		}
		if asIs {
			m.line(".fi\n.RE")
		}
	}
}

// escaped is a line of text for roff.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
