package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
)

// Status is the outcome of a case.
type Status string

// These are the outcomes of a case.
const (
	Pass        Status = "pass"
	Fail        Status = "fail"
	Unsupported Status = "unsupported" // The operation returned ErrUnsupported. Message says why.
	Expected    Status = "expected"    // The case failed, and conformance/expect.txt has a row for it.
)

// Row is one case.
type Row struct {
	// Op is the name of the operation, and DType the element type.
	Op    string `json:"op"`
	DType string `json:"dtype"`
	// Case is variant/mode/call/sizes/pattern, which is enough to find the case again.
	Case   string `json:"case"`
	Status Status `json:"status"`
	// AbsErr is the largest |got − want|. RelErr is the largest |got − want| / |want|.
	AbsErr float64 `json:"abs_err"`
	RelErr float64 `json:"rel_err"`
	// Used is the largest error, divided by the operation's tolerance.
	Used float64 `json:"used"`
	// Worst is the index of the element with the error Used.
	Worst []int `json:"worst,omitempty"`
	// Message says what failed, or why the case is unsupported.
	Message string `json:"message,omitempty"`

	flips, elems int
}

// Report is the result of Run. A nil Report has no cases.
type Report struct {
	// Backend, Device and Driver are those of gpu.Info.
	Backend string `json:"backend"`
	Device  string `json:"device"`
	Driver  string `json:"driver"`
	// Seed and Quick are those of Options.
	Seed  uint64 `json:"seed"`
	Quick bool   `json:"quick"`
	// Rows are the cases.
	Rows []Row `json:"rows"`
	// Stale are the rows of the expectations that name this device and whose cases all
	// passed. They must be removed.
	Stale []string `json:"stale,omitempty"`

	lost error
	// spent is the time that each operation took.
	spent map[string]time.Duration
	// flips has for each op/dtype the number of elements outside the tolerance, and the
	// number of all elements. limit is the fraction of flips that is allowed.
	flips map[string]*[2]int
	limit map[string]float64
}

func newReport(info *gpu.Info, opts Options) *Report {
	r := &Report{Backend: info.Backend, Device: info.Name, Driver: info.Driver, Seed: opts.Seed, Quick: opts.Quick,
		spent: map[string]time.Duration{}, flips: map[string]*[2]int{}, limit: map[string]float64{}}
	for _, op := range opts.Ops {
		for _, d := range op.Cases.DTypes {
			r.limit[op.Name+"/"+d.String()] = op.Tolerance(op.Defaults, d, op.TypicalInputs(d)).Flips
		}
	}
	return r
}

func (r *Report) add(row Row) {
	r.Rows = append(r.Rows, row)
	if row.elems > 0 {
		key := row.Op + "/" + row.DType
		if r.flips[key] == nil {
			r.flips[key] = new([2]int)
		}
		r.flips[key][0] += row.flips
		r.flips[key][1] += row.elems
	}
}

// finish checks what only the whole run can show, and applies the expectations.
func (r *Report) finish(e *Expectations) {
	for _, op := range sortedKeys(r.flips) {
		// A small case may round its allowance up to one element. All cases together may
		// not.
		f := r.flips[op]
		if may := r.limit[op] * float64(f[1]); may > 0 && float64(f[0]) > may+1 {
			name, dtype, _ := strings.Cut(op, "/")
			r.Rows = append(r.Rows, Row{Op: name, DType: dtype, Case: "all/flips", Status: Fail,
				Message: fmt.Sprintf("%d of %d elements outside the tolerance, %.0f may be", f[0], f[1], may)})
		}
	}
	if e != nil {
		r.Stale = e.apply(r)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var ks []string
	for k := range m {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return ks
}

// orEmpty returns r, or an empty Report if r is nil.
func (r *Report) orEmpty() *Report {
	if r == nil {
		return &Report{}
	}
	return r
}

// Count returns the number of cases with the status.
func (r *Report) Count(s Status) int {
	n := 0
	r = r.orEmpty()
	for i := range r.Rows {
		if r.Rows[i].Status == s {
			n++
		}
	}
	return n
}

// Failures returns the failed cases.
func (r *Report) Failures() []Row {
	var rows []Row
	for _, row := range r.orEmpty().Rows {
		if row.Status == Fail {
			rows = append(rows, row)
		}
	}
	return rows
}

// OK reports whether nothing failed unexpectedly and no expectation is stale.
func (r *Report) OK() bool { return r.Count(Fail) == 0 && len(r.orEmpty().Stale) == 0 }

// Slowest returns the names and times of the n operations that took longest.
func (r *Report) Slowest(n int) string {
	r = r.orEmpty()
	names := sortedKeys(r.spent)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(r.spent[b], r.spent[a]) })
	var list []string
	for _, name := range names[:max(0, min(n, len(names)))] {
		list = append(list, fmt.Sprintf("%s %v", name, r.spent[name].Round(time.Millisecond)))
	}
	return strings.Join(list, ", ")
}

// JSON returns the report as indented JSON.
func (r *Report) JSON() ([]byte, error) { return json.MarshalIndent(r.orEmpty(), "", "  ") }

// summary is a line of the table. It covers the cases of one operation, dtype and
// variant.
type summary struct {
	op, dtype, variant string
	count              map[Status]int
	abs, used          float64
	worst              string
}

// summaries returns the lines of the table.
func (r *Report) summaries() []*summary {
	var list []*summary
	byKey := map[string]*summary{}
	for i := range r.Rows {
		row := &r.Rows[i]
		variant, rest, _ := strings.Cut(row.Case, "/")
		key := row.Op + "/" + row.DType + "/" + variant
		s := byKey[key]
		if s == nil {
			s = &summary{op: row.Op, dtype: row.DType, variant: variant, count: map[Status]int{}}
			byKey[key] = s
			list = append(list, s)
		}
		s.count[row.Status]++
		s.abs = max(s.abs, row.AbsErr)
		if row.Used > s.used {
			s.used, s.worst = row.Used, rest
		}
	}
	return list
}

// maxShown is the largest number of failed cases in the table. JSON has all of them.
const maxShown = 40

// WriteTo writes a table. It has a line for each operation, dtype and variant. The
// failures follow, and then what was unsupported and why.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	n, err := writeString(w, r.String())
	if err != nil {
		err = fmt.Errorf("conformance: report: %w", err)
	}
	return int64(n), err
}

// String returns the table that WriteTo writes.
func (r *Report) String() string {
	r = r.orEmpty()
	var b strings.Builder
	fmt.Fprintf(&b, "device %s by %s (%s), seed %d\n", r.Device, r.Backend, r.Driver, r.Seed)
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "op\tdtype\tvariant\tpass\tfail\tunsupported\texpected\tmax error\tof tolerance\tin case")
	for _, s := range r.summaries() {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%.3g\t%.0f%%\t%s\n", s.op, s.dtype, s.variant,
			s.count[Pass], s.count[Fail], s.count[Unsupported], s.count[Expected], s.abs, 100*s.used, s.worst)
	}
	tw.Flush()
	shown := 0
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Status != Fail && row.Status != Expected {
			continue
		}
		if shown++; shown <= maxShown {
			fmt.Fprintf(&b, "%s %s %s %s: %s\n", strings.ToUpper(string(row.Status)), row.Op, row.DType, row.Case, row.Message)
		}
	}
	if shown > maxShown {
		fmt.Fprintf(&b, "and %d more\n", shown-maxShown)
	}
	r.writeUnsupported(&b)
	for _, s := range r.Stale {
		fmt.Fprintf(&b, "FAIL expected trouble did not happen, remove the row: %s\n", s)
	}
	fmt.Fprintf(&b, "%d cases: %d passed, %d failed, %d unsupported, %d expected to fail\n",
		len(r.Rows), r.Count(Pass), r.Count(Fail), r.Count(Unsupported), r.Count(Expected))
	return b.String()
}

// writeUnsupported writes each operation, dtype and mode that was refused, with the
// number of times and the first reason.
func (r *Report) writeUnsupported(b *strings.Builder) {
	count, reason := map[string]int{}, map[string]string{}
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Status != Unsupported {
			continue
		}
		parts := strings.SplitN(row.Case, "/", 3)
		key := fmt.Sprintf("%s %s %s", row.Op, row.DType, parts[min(1, len(parts)-1)])
		if count[key]++; count[key] == 1 {
			reason[key] = row.Message
		}
	}
	for _, k := range sortedKeys(count) {
		fmt.Fprintf(b, "unsupported %s: %d cases, such as: %s\n", k, count[k], reason[k])
	}
}

// PlainMode reports whether the mode of a row is one that every device must support:
// contiguous operands at aligned offsets.
func PlainMode(r Row) bool {
	parts := strings.SplitN(r.Case, "/", 3)
	return len(parts) > 1 && (parts[1] == "plain" || parts[1] == "exact" || parts[1] == "in-place" || parts[1] == "aliased")
}
