package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is one section of the results.
type table struct {
	Section string             `json:"section"` // its name in sections
	Title   string             `json:"title"`
	Notes   []string           `json:"notes,omitempty"`
	Header  []string           `json:"header"`
	Rows    [][]string         `json:"rows"`
	Values  map[string]float64 `json:"values,omitempty"` // what a program may want to read
	Failed  []string           `json:"failed,omitempty"` // rows that could not be measured, and why
}

func (t *table) row(cells ...any) {
	var r []string
	for _, c := range cells {
		if f, ok := c.(float64); ok {
			c = fmt.Sprintf("%.3g", f)
		}
		r = append(r, fmt.Sprint(c))
	}
	t.Rows = append(t.Rows, r)
}

// failed adds a row that could not be measured. The table goes on, and the program ends with an error.
func (t *table) failed(name string, err error) {
	r := make([]string, len(t.Header))
	for i := range r {
		r[i] = "—"
	}
	r[0], r[1] = name, "failed"
	t.Rows = append(t.Rows, r)
	t.Failed = append(t.Failed, fmt.Sprintf("%s: %v", name, err))
	why, _, _ := strings.Cut(err.Error(), "\n")
	t.note("%s failed: %s.", name, why)
}

func (t *table) value(name string, v float64) {
	if t.Values == nil {
		t.Values = map[string]float64{}
	}
	t.Values[name] = v
}

func (t *table) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// writeMarkdown prints the table as GitHub shows it, columns aligned so that
// it reads as plain text too.
func (t *table) writeMarkdown(w io.Writer) {
	width := make([]int, len(t.Header))
	for _, r := range append([][]string{t.Header}, t.Rows...) {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	line := func(r []string) {
		var b strings.Builder
		for i, c := range r {
			fmt.Fprintf(&b, "| %s%s ", c, strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)))
		}
		fmt.Fprintln(w, b.String()+"|")
	}
	fmt.Fprintf(w, "### %s\n\n", t.Title)
	line(t.Header)
	rule := make([]string, len(t.Header))
	for i := range rule {
		rule[i] = strings.Repeat("-", width[i])
	}
	line(rule)
	for _, r := range t.Rows {
		line(r)
	}
	fmt.Fprintln(w)
	for _, n := range t.Notes {
		fmt.Fprintf(w, "- %s\n", n)
	}
	if len(t.Notes) > 0 {
		fmt.Fprintln(w)
	}
}
