package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
)

// Version is the version of the JSON form of a Report. Parse refuses other versions.
const Version = 1

// Report is the result of a Run. Its JSON form is what "lathe bench --json"
// prints.
type Report struct {
	Version  int       `json:"version"`
	Device   string    `json:"device"`
	Kind     string    `json:"kind"`
	Backend  string    `json:"backend"`
	Driver   string    `json:"driver"`
	CPU      string    `json:"cpu"`  // of the host
	CPUs     int       `json:"cpus"` // that the program may use
	Go       string    `json:"go"`
	When     string    `json:"when"` // day, UTC
	Quick    bool      `json:"quick"`
	Seconds  float64   `json:"seconds"`          // that the run took
	Beside   string    `json:"beside,omitempty"` // the device of Options.Beside
	Ceilings Ceilings  `json:"ceilings"`
	Rows     []Row     `json:"rows"`
	Graphs   []Graph   `json:"graphs,omitempty"` // networks as compiled graphs
	Decoders []Decoder `json:"decoders,omitempty"`
}

// Timing sums up a Sample, in nanoseconds.
type Timing struct {
	Median  int64 `json:"median_ns"`
	Spread  int64 `json:"spread_ns"` // half the interquartile range
	Fastest int64 `json:"fastest_ns"`
	Count   int   `json:"count"` // of measurements
}

func timing(s Sample) Timing {
	return Timing{int64(s.Median()), int64(s.Spread()), int64(s.At(0)), len(s)}
}

// String is such as "1.52 ms ±43.1 µs".
func (t Timing) String() string {
	return Format(time.Duration(t.Median)) + " ±" + Format(time.Duration(t.Spread))
}

// Row is a call measured.
type Row struct {
	Op    string `json:"op"`
	Call  string `json:"call"`   // with its attributes, as the command line writes it
	In    string `json:"inputs"` // such as "f32[2,3] f32[3]"
	DType string `json:"dtype"`
	Flops int64  `json:"flops"` // of the definition
	Bytes int64  `json:"bytes"` // each operand once
	// Unsupported says why the device cannot make the call. If it is set, nothing else
	// is set.
	Unsupported string  `json:"unsupported,omitempty"`
	Time        Timing  `json:"time"`
	GBps        float64 `json:"gb_per_s"`
	GFlops      float64 `json:"gflop_per_s"`
	// Copy is a copy on the device of as many bytes, HostCopy one by the host, and
	// Peak the multiply-adds in GFLOP/s, all measured in turns with the call. On a discrete or
	// virtual GPU, other work on the machine hardly matters. There Copy was measured once for
	// this number of bytes, and the other two follow from the Ceilings.
	Copy     Timing  `json:"copy"`
	HostCopy Timing  `json:"host_copy"`
	Peak     float64 `json:"peak_gflop_per_s"`
	// Roofline is the time of the ceilings divided by the time of the call. The time of
	// the ceilings is the longer of two: that of copying its bytes, and that of its
	// arithmetic. Roofline exceeds 1 where reading is cheaper than writing.
	Roofline float64 `json:"roofline"`
	// Bound is the ceiling that needs the longer time: "memory" or "arithmetic".
	Bound string `json:"bound"`
	// Memcpy is the rate of bytes divided by that of the host's copy.
	Memcpy float64 `json:"memcpy"`
	// Beside is the time of the call on Options.Beside, if that device can make it.
	Beside *Timing `json:"beside,omitempty"`
}

func newRow(j job) Row {
	return Row{Op: j.benchCase.Call.Spec().Name, Call: spec.FormatBrief(j.benchCase.Call), In: inputs(j.benchCase.In), DType: j.dtype.String()}
}

// Key is the Key of the Row that a bench case makes.
func Key(w spec.BenchCase) string {
	return (&Row{Call: spec.FormatBrief(w.Call), In: inputs(w.In)}).Key()
}

// Key tells rows apart: the call and its inputs.
func (r *Row) Key() string { return strings.TrimSpace(r.Call + " " + r.In) }

// fill sets the fields that follow from the measurements.
func (r *Row) fill(op Sample, c besides) {
	r.Time, r.Copy, r.HostCopy, r.Peak = timing(op), timing(c.copied), timing(c.host), c.peak
	ns := float64(max(r.Time.Median, 1))
	r.GBps, r.GFlops = float64(r.Bytes)/ns, float64(r.Flops)/ns
	memory, arithmetic := float64(r.Copy.Median), float64(r.Flops)/c.peak
	r.Bound, r.Roofline = "memory", memory/ns
	if arithmetic > memory {
		r.Bound, r.Roofline = "arithmetic", arithmetic/ns
	}
	r.Memcpy = float64(r.HostCopy.Median) / ns
}

func newReport(info *gpu.Info, quick bool) *Report {
	return &Report{Version: Version, Device: info.Name, Kind: info.Kind.String(), Backend: info.Backend, Driver: info.Driver,
		CPU: CPUName(), CPUs: runtime.GOMAXPROCS(0), Go: runtime.Version(), When: time.Now().UTC().Format(time.DateOnly), Quick: quick}
}

// CPUName is the processor's name, or its architecture if the system does not tell the name.
func CPUName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(data)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return runtime.GOARCH
}

// JSON is the report as JSON.
func (r *Report) JSON() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }

// Parse reads a report from its JSON form.
// Errors: ErrInvalidArgument (no such JSON, or of another version).
func Parse(data []byte) (*Report, error) {
	r := new(Report)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("bench: parse: %w: not a report of \"lathe bench --json\": %v", errs.ErrInvalidArgument, err)
	}
	if r.Version != Version {
		return nil, fmt.Errorf("bench: parse: %w: version of the report (got %d, want %d)", errs.ErrInvalidArgument, r.Version, Version)
	}
	return r, nil
}

// heading says which device was measured, and on which machine.
func (r *Report) heading() string {
	quick := ""
	if r.Quick {
		quick = ", a quick run"
	}
	return fmt.Sprintf("%s (%s, %s, %s) on %s, %d processors; %s, %s%s", r.Device, r.Kind, r.Backend, r.Driver, r.CPU, r.CPUs, r.When, r.Go, quick)
}

// WriteText prints the report as aligned text.
// Errors: those of w.
func (r *Report) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", r.heading())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range r.Ceilings.Table() {
		fmt.Fprintln(t, strings.Join(l, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, l := range r.Table() {
		fmt.Fprintln(t, strings.Join(l, "\t"))
	}
	err := t.Flush()
	for _, table := range [][][]string{r.GraphTable(), r.DecoderTable()} {
		if err != nil || table == nil {
			continue
		}
		fmt.Fprintln(w)
		for _, l := range table {
			fmt.Fprintln(t, strings.Join(l, "\t"))
		}
		err = t.Flush()
	}
	return err
}

// Table returns the rows as cells of text. The first line is the header.
func (r *Report) Table() [][]string {
	ls := [][]string{r.header()}
	for i := range r.Rows {
		ls = append(ls, r.cells(&r.Rows[i]))
	}
	return ls
}

// header is the header of the cells.
func (r *Report) header() []string {
	h := []string{"operation", "inputs", "time", "GB/s", "GFLOP/s", "of the roofline", "bound by", "of memcpy"}
	if r.Beside != "" {
		h = append(h, "by "+r.Beside, "its speed")
	}
	return h
}

// cells are the cells of a row in a table.
func (r *Report) cells(x *Row) []string {
	cells := []string{x.Call, x.In, "unsupported", "", "", "", "", ""}
	if x.Unsupported == "" {
		cells = []string{x.Call, x.In, x.Time.String(), digits(x.GBps), digits(x.GFlops), fmt.Sprintf("%.2f", x.Roofline), x.Bound, fmt.Sprintf("%.2f", x.Memcpy)}
	}
	switch {
	case r.Beside != "" && x.Beside != nil:
		cells = append(cells, x.Beside.String(), fmt.Sprintf("%.2f", x.Speed()))
	case r.Beside != "":
		cells = append(cells, "unsupported", "")
	}
	return cells
}

// Speed is the speed of Options.Beside divided by that of the device. Below 1 the other
// device is slower. Speed is 0 if there is no other device.
func (x *Row) Speed() float64 {
	if x.Beside == nil || x.Beside.Median == 0 {
		return 0
	}
	return float64(x.Time.Median) / float64(x.Beside.Median)
}

// digits writes a rate with three digits, and 0 as "".
func digits(v float64) string {
	switch {
	case v == 0:
		return ""
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// Table is the ceilings as cells of text; the first line is the header.
func (c *Ceilings) Table() [][]string {
	ls := [][]string{{"ceiling", "by", "time", "GB/s", "GFLOP/s"}}
	add := func(name string, r Rate) {
		ls = append(ls, []string{name, r.What, r.Time.String(), digits(r.GBps), digits(r.GFlops)})
	}
	for _, r := range c.Copy {
		add("device copy, "+sizeName(r.Bytes), r)
	}
	for _, r := range c.HostCopy {
		add("host copy, "+sizeName(r.Bytes), r)
	}
	for _, r := range c.MultiplyAdd {
		add("multiply-add, "+r.DType, r)
	}
	for _, r := range c.Upload {
		add("upload, "+sizeName(r.Bytes), r)
	}
	for _, r := range c.Readback {
		add("read back, "+sizeName(r.Bytes), r)
	}
	for _, l := range []struct {
		name, by string
		t        Timing
	}{
		{"a dispatch", "in a list of 1000", c.Launch.Listed},
		{"a dispatch, submitted", "in a list of 1000", c.Launch.Submitted},
		{"a dispatch, replayed", "in a list of 1000", c.Launch.Replayed},
		{"a dispatch, replay submitted", "in a list of 1000", c.Launch.Resubmitted},
		{"a dispatch", "alone, and Sync", c.Launch.Alone},
	} {
		if l.t.Median > 0 {
			ls = append(ls, []string{l.name, l.by, l.t.String(), "", ""})
		}
	}
	return ls
}

// sizeName writes a size such as "64 KiB".
func sizeName(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
