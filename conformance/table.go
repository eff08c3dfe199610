package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// column is a column of the page: what a report says of its device.
type column struct {
	backend string
	line    string            // describes the device and the run
	cells   map[string]string // by operation
}

// backends are the backends in the order of their columns.
var backends = []string{"vk", "wgpu", "cpu"}

// Table returns a page in Markdown. It has a row for each operation and a column for each
// report. A cell has the number of cases that passed. If some did not, it says why. when says
// how the reports were made. previous is an earlier page, or "". The columns of its backends
// that have no report stay on the page. Table skips reports that are nil.
func Table(reports []*Report, when, previous string) string {
	columns := make([]column, 0, len(reports))
	made := map[string]bool{}
	for _, r := range reports {
		if r == nil {
			continue
		}
		made[r.Backend] = true
		columns = append(columns, r.column(when))
	}
	for _, c := range columnsOf(previous) {
		if !made[c.backend] {
			columns = append(columns, c)
		}
	}
	slices.SortStableFunc(columns, func(a, b column) int {
		return cmp.Compare(slices.Index(backends, a.backend), slices.Index(backends, b.backend))
	})
	var ops []string
	var b strings.Builder
	b.WriteString("<!-- Written by a run of the conformance suite (`make conformance`). Do not edit. -->\n\n# Conformance\n\n" +
		"Every operation and element type on the devices of one machine, in the cases that the level chooses:\n" +
		"how many passed, and what was unsupported (refused with `ErrUnsupported`) or failed as\n" +
		"`conformance/expect.txt` expects. The levels quick and full choose cases by pairs.\n" +
		"`lathe verify` makes the same comparison on yours.\n\n" +
		"This page is a measurement, and not checked against the sources. Each column says when it was made.\n\n")
	for i, c := range columns {
		fmt.Fprintf(&b, "%d. %s\n", i+1, c.line)
		for op := range c.cells {
			ops = append(ops, op)
		}
	}
	b.WriteString("\n| operation |")
	for i, c := range columns {
		fmt.Fprintf(&b, " %d. %s |", i+1, c.backend)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	slices.Sort(ops)
	for _, op := range slices.Compact(ops) {
		fmt.Fprintf(&b, "| %s |", op)
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", cmp.Or(c.cells[op], "not run"))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// column is the column of a report.
func (r *Report) column(when string) column {
	level := ""
	if r.Quick {
		level = ", quick level"
	}
	c := column{backend: r.Backend, cells: map[string]string{}}
	c.line = fmt.Sprintf("%s: %s (%s%s): %d cases, %d passed, %d unsupported, %d expected to fail, %d failed; %s.",
		r.Backend, r.Device, r.Driver, level, len(r.Rows), r.Count(Pass), r.Count(Unsupported), r.Count(Expected), r.Count(Fail), when)
	for i := range r.Rows {
		if op := r.Rows[i].Op; c.cells[op] == "" {
			c.cells[op] = r.cell(op)
		}
	}
	return c
}

// columnsOf reads a page that Table has written.
func columnsOf(page string) (columns []column) {
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		number, rest, found := strings.Cut(line, ". ")
		if backend, _, named := strings.Cut(rest, ": "); found && named && number == fmt.Sprint(len(columns)+1) {
			columns = append(columns, column{backend: backend, line: rest, cells: map[string]string{}})
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ") // a bar in a cell is written \|
		if len(columns) == 0 || len(cells) != len(columns)+1 || cells[0] == "operation" {
			continue
		}
		for i := range columns {
			columns[i].cells[cells[0]] = cells[i+1]
		}
	}
	return columns
}

// cell returns the outcome of an operation.
func (r *Report) cell(op string) string {
	pass := 0
	counts := map[string]int{} // The keys are status, element type and reason.
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Op != op {
			continue
		}
		if row.Status == Pass {
			pass++
			continue
		}
		why := row.Message
		if at := strings.LastIndex(why, "unsupported: "); at >= 0 && row.Status == Unsupported {
			why = why[at+len("unsupported: "):]
		}
		counts[fmt.Sprintf("%s: %s (%s)", row.Status, why, row.DType)]++
	}
	if pass == 0 && len(counts) == 0 {
		return "not run"
	}
	text := fmt.Sprintf("%d pass", pass)
	for _, k := range sortedKeys(counts) {
		status, rest, _ := strings.Cut(k, ": ")
		text += fmt.Sprintf("; %d %s: %s", counts[k], status, strings.ReplaceAll(rest, "|", `\|`))
	}
	return text
}
