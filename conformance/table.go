package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// Table returns a page in Markdown. It has a row for each operation and a column for each
// report. A cell has the number of cases that passed. If some did not, it says why.
func Table(reports []*Report, when string) string {
	var b strings.Builder
	b.WriteString("<!-- Written by a run of the conformance suite (`make conformance`). Do not edit. -->\n\n# Conformance\n\n" +
		"Every operation, element type and case, on the devices of one machine: how many cases passed,\n" +
		"and what was unsupported (refused with `ErrUnsupported`) or failed as `conformance/expect.txt` expects.\n" +
		"`lathe verify` makes the same comparison on yours.\n\n" +
		"This page is a measurement, and not checked against the sources: " + when + ".\n\n")
	for i, r := range reports {
		level := ""
		if r.Quick {
			level = ", quick level"
		}
		fmt.Fprintf(&b, "%d. %s: %s (%s%s): %d cases, %d passed, %d unsupported, %d expected to fail, %d failed.\n", i+1,
			r.Backend, r.Device, r.Driver, level, len(r.Rows), r.Count(Pass), r.Count(Unsupported), r.Count(Expected), r.Count(Fail))
	}
	b.WriteString("\n| operation |")
	for i, r := range reports {
		fmt.Fprintf(&b, " %d. %s |", i+1, r.Backend)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(reports)) + "\n")
	for _, op := range operationsOf(reports) {
		fmt.Fprintf(&b, "| %s |", op)
		for _, r := range reports {
			fmt.Fprintf(&b, " %s |", r.cell(op))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// operationsOf lists the operations of all reports, sorted.
func operationsOf(reports []*Report) []string {
	var ops []string
	for _, r := range reports {
		for i := range r.Rows {
			ops = append(ops, r.Rows[i].Op)
		}
	}
	slices.Sort(ops)
	return slices.Compact(ops)
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
