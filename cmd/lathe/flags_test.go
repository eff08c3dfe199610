package main

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestColourReport(t *testing.T) {
	const text = "op  dtype\nFAIL add f32 a: it is 1\nEXPECTED add f16 b: known\nFAILURES\nlast\n"
	a := app{}
	if got := a.colourReport(text); got != text {
		t.Errorf("without colour: %q", got)
	}
	a.colour = newColours("always")
	want := "op  dtype\n\x1b[31mFAIL\x1b[0m add f32 a: it is 1\n\x1b[33mEXPECTED\x1b[0m add f16 b: known\nFAILURES\nlast\n"
	if got := a.colourReport(text); got != want {
		t.Errorf("with colour: %q", got)
	}
	if newColours("never") != (colours{}) {
		t.Error("never is not never")
	}
}

func TestNearer(t *testing.T) {
	for text, want := range map[string]string{
		`unexpected argument nope, did you mean "ops"?`:               `unexpected argument nope`,
		`unexpected argument opss, did you mean "ops"?`:               `unexpected argument opss, did you mean "ops"?`,
		`unexpected argument tun, did you mean one of "tune", "man"?`: `unexpected argument tun, did you mean "tune"?`,
		`unexpected argument imag, did you mean "image"?`:             `unexpected argument imag, did you mean "image"?`,
		`unexpected argument enchh, did you mean "bench"?`:            `unexpected argument enchh, did you mean "bench"?`,
		`unknown flag --out, did you mean one of "--out", "--op"?`:    `unknown flag --out, did you mean one of "--out", "--op"?`,
		`unknown flag --cup, did you mean one of "--out", "--op"?`:    `unknown flag --cup`,
		`unexpected argument x`:                                       `unexpected argument x`,
	} {
		if got := (nearer{errors.New(text)}).Error(); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// model parses nothing, so that tests can look at the tables of the command line.
func model(t *testing.T) *kong.Application {
	t.Helper()
	a := &app{out: new(bytes.Buffer), stderr: new(bytes.Buffer), cli: &cli{}}
	if _, err := a.parser(); err != nil {
		t.Fatal(err)
	}
	return a.model
}

// The manual page has every command and every flag, and nothing in it is taken for a request of
// roff.
func TestManual(t *testing.T) {
	a := &app{out: new(bytes.Buffer), stderr: new(bytes.Buffer), cli: &cli{}}
	if _, err := a.parser(); err != nil {
		t.Fatal(err)
	}
	if err := (manCmd{}).Run(a); err != nil {
		t.Fatal(err)
	}
	page := a.out.String()
	for _, n := range a.model.Children {
		if has := strings.Contains(page, "\n.SS lathe "+n.Name); has == n.Hidden {
			t.Errorf("the command %s is on the page: %v", n.Name, has)
		}
		for _, f := range append(n.Flags, a.model.Flags...) {
			if f.Name != "help" && !strings.Contains(page, `\fB\-\-`+escaped(f.Name)+`\fR`) {
				t.Errorf("%s --%s is not on the page", n.Name, f.Name)
			}
		}
	}
	for line := range strings.Lines(page) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(line, ".") && !slices.Contains(strings.Fields(".TH .SH .SS .PP .TP .B .I .RS .RE .nf .fi"), word) {
			t.Errorf("a request that is none: %q", line)
		}
	}
	for text, want := range map[string]string{".hidden": `\&.hidden`, `a\b`: `a\eb`, "--x": `\-\-x`, "it's": `it\(aqs`} {
		if got := escaped(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}

// The guide names every command, and those that have no JSON.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(guide), "| command |")
	table, _, _ = strings.Cut(table, "\n\n")
	_, plain, _ := strings.Cut(string(guide), "\n- `--json`:")
	plain, _, _ = strings.Cut(plain, "\n- ")
	m := model(t)
	json := m.Flags[slices.IndexFunc(m.Flags, func(f *kong.Flag) bool { return f.Name == "json" })]
	for _, n := range m.Children {
		if strings.Contains(plain, "`"+n.Name+"`") == uses(n, json) {
			t.Errorf("docs/guide.md is wrong about whether %s has JSON", n.Name)
		}
		if !strings.Contains(table, "\n| `"+n.Name+"`") && !strings.Contains(table, "\n| [`"+n.Name+"`](#"+n.Name+")") {
			t.Errorf("the table in docs/guide.md does not name %s", n.Name)
		}
	}
}

// Every flag and argument says what it is, has a name for its value, and offers no empty
// choice. Every name in the tags uses and complete is one.
func TestTables(t *testing.T) {
	m := model(t)
	var common []string
	for _, f := range m.Flags {
		common = append(common, f.Name)
	}
	nodes := append([]*kong.Node{m.Node}, m.Children...)
	for _, n := range m.Children {
		nodes = append(nodes, n.Children...)
	}
	for _, n := range nodes {
		if n != m.Node && !strings.HasSuffix(n.Help, ".") {
			t.Errorf("%s: the help %q is no sentence", n.Name, n.Help)
		}
		if list := n.Tag; n != m.Node && list.Get("uses") != "" && list.Get("uses") != "none" {
			for name := range strings.SplitSeq(list.Get("uses"), ",") {
				if !slices.Contains(common, name) {
					t.Errorf("%s uses %s, which is no flag of all commands", n.Name, name)
				}
			}
		}
		for _, f := range n.Flags {
			if !strings.HasSuffix(f.Help, ".") {
				t.Errorf("%s --%s: the help %q is no sentence", n.Name, f.Name, f.Help)
			}
			if !f.IsBool() && f.PlaceHolder == "" {
				t.Errorf("%s --%s has no name for its value", n.Name, f.Name)
			}
			if slices.Contains(f.EnumSlice(), "") && f.Enum != "" {
				t.Errorf("%s --%s offers an empty choice", n.Name, f.Name)
			}
		}
		for _, f := range append(n.Flags, m.Flags...) {
			kind := f.Tag.Get("complete")
			if known := []string{"", "@files", "@calls", "@ops", "@groups", "@dtypes", "@commands", "@passes"}; strings.HasPrefix(kind, "@") && !slices.Contains(known, kind) {
				t.Errorf("%s --%s is completed by %s, which is not known", n.Name, f.Name, kind)
			}
		}
	}
}
