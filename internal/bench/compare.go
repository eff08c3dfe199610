package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Change is a row of two reports.
type Change struct {
	Key      string
	Old, New *Row
	// Time is the old median over the new one: above 1 it has become faster.
	Time float64
	// Roofline is the new fraction of the roofline over the old one. The ceilings
	// were measured beside each, so it does not change with the machine's load
	// as times do.
	Roofline float64
	// Regressed says that the call has become slower: by more than the threshold in
	// both, and by more than the spread of the measurements.
	Regressed bool
}

// Threshold is a factor. A call that has become slower by more than that has regressed.
const Threshold = 1.25

// Compare pairs the rows of two reports. It leaves out rows that only one report has, and
// rows that were unsupported in one.
func Compare(before, after *Report) []Change {
	byKey := map[string]*Row{}
	for i := range before.Rows {
		byKey[before.Rows[i].Key()] = &before.Rows[i]
	}
	var changes []Change
	for i := range after.Rows {
		x := &after.Rows[i]
		o := byKey[x.Key()]
		if o == nil || o.Time.Median == 0 || x.Time.Median == 0 || o.Roofline == 0 {
			continue
		}
		c := Change{Key: x.Key(), Old: o, New: x, Time: float64(o.Time.Median) / float64(x.Time.Median), Roofline: x.Roofline / o.Roofline}
		apart := x.Time.Median-x.Time.Spread > o.Time.Median+o.Time.Spread
		c.Regressed = c.Time < 1/Threshold && c.Roofline < 1/Threshold && apart
		changes = append(changes, c)
	}
	return changes
}

// WriteChanges prints changes as aligned text, and what to make of them. It
// returns how many have regressed.
// Errors: those of w.
func WriteChanges(w io.Writer, before, after *Report, changes []Change) (regressed int, err error) {
	fmt.Fprintf(w, "before: %s\nafter:  %s\n\n", before.heading(), after.heading())
	if before.Device != after.Device || before.Driver != after.Driver || before.CPU != after.CPU {
		fmt.Fprint(w, "These are different machines or drivers: compare the fractions of the roofline, not the times.\n\n")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "operation and inputs\tbefore\tafter\tbefore / after\troofline before\tafter\tafter / before\t")
	for _, c := range changes {
		flag := ""
		if c.Regressed {
			flag = "SLOWER"
			regressed++
		}
		fmt.Fprintln(t, strings.Join([]string{c.Key, c.Old.Time.String(), c.New.Time.String(), fmt.Sprintf("%.2f", c.Time),
			fmt.Sprintf("%.2f", c.Old.Roofline), fmt.Sprintf("%.2f", c.New.Roofline), fmt.Sprintf("%.2f", c.Roofline), flag}, "\t"))
	}
	if err := t.Flush(); err != nil {
		return regressed, err
	}
	_, err = fmt.Fprintf(w, "\n%d of %d calls have become slower: by more than a factor of %.2f in time and against the roofline, and by more than the measurements vary.\n", regressed, len(changes), Threshold)
	return regressed, err
}
