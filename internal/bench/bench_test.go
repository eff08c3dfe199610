package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	_ "github.com/lathe-gpu/lathe/internal/drivers/standard" // backends
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

func TestInterleave(t *testing.T) {
	var order []int
	s, err := Interleave(0, 100, func() error { order = append(order, 1); return nil }, func() error { order = append(order, 2); return nil })
	if err != nil || len(s) != 2 || len(s[0]) != 3 || len(order) != 8 {
		t.Errorf("samples %v, order %v, %v; want an untimed round and three timed ones", s, order, err)
	}
	bad := errors.New("bad")
	if _, err := Interleave(time.Second, 100, func() error { return bad }); err != bad {
		t.Errorf("error %v", err)
	}
	if m := (Sample{5, 1, 3}).Median(); m != 3 {
		t.Errorf("median %d", m)
	}
	if s := (Sample{1500, 1000, 2000}).String(); s != "1.5 µs ±250 ns" {
		t.Errorf("written as %q", s)
	}
	if got := (Sample{100, 300}).Over(10); !slices.Equal(got, Sample{10, 30}) {
		t.Errorf("a tenth is %v", got)
	}
}

// Repeats finds how often to do what takes a known time.
func TestRepeats(t *testing.T) {
	first := true
	n, err := Repeats(func(times int) func() error {
		return func() error {
			if first { // as if it compiled
				time.Sleep(30 * time.Millisecond)
			}
			first = false
			time.Sleep(time.Duration(times) * time.Millisecond)
			return nil
		}
	}, 8*time.Millisecond)
	if err != nil || n < 1 || n > 8 {
		t.Errorf("%d times, %v; want 8 or, on a busy machine, fewer", n, err)
	}
}

// Every operation offered has calls to measure, of growing size and legal.
func TestBenchCases(t *testing.T) {
	for _, op := range spec.All() {
		if !op.Offered() {
			continue
		}
		if op.Cases.Bench == nil {
			t.Errorf("%s: no Cases.Bench", op.Name)
			continue
		}
		for _, d := range op.Cases.DTypes {
			ws := op.Cases.Bench(d)
			small := 0
			for _, w := range ws {
				if !w.GPU {
					small++
				}
			}
			if small < 3 {
				t.Errorf("%s: %d calls in %v, want three sizes for every device", op.Name, small, d)
			}
			keys := map[string]bool{}
			last := int64(0)
			for i, w := range ws {
				outs, err := op.Shape(w.Call, w.In)
				if err != nil {
					t.Errorf("%s of %v: %v", op.Name, w.In, err)
					continue
				}
				r := newRow(job{w, d})
				if keys[r.Key()] {
					t.Errorf("%s is there twice", r.Key())
				}
				keys[r.Key()] = true
				if c := op.Cost(w.Call, w.In); c.Bytes <= 0 || c.Flops < 0 || i < 3 && c.Bytes+c.Flops <= last {
					t.Errorf("%s: cost %+v after %d, want more", r.Key(), c, last)
				} else {
					last = c.Bytes + c.Flops
				}
				for _, o := range append(outs, w.In...) {
					if o.Elems() == 0 {
						t.Errorf("%s: an operand is empty", r.Key())
					}
				}
			}
		}
	}
}

func open(t *testing.T) gpu.Device {
	t.Helper()
	dev, err := drivers.Open(t.Context(), drivers.Options{Warn: func(string) {}})
	return testkit.Device(t, dev, err)
}

// few keeps the smallest calls of some operations.
func few(w spec.BenchCase) bool {
	n := 0
	for _, d := range w.In {
		n += d.Elems()
	}
	return n <= 64*256*4
}

// A run on the device fills every row, and its report survives being written and read.
func TestRun(t *testing.T) {
	dev := open(t)
	var told []string
	o := Options{Quick: true, Keep: few, Ops: []*spec.Op{spec.Lookup("relu"), spec.Lookup("matmul"), spec.Lookup("adam_update"), spec.Lookup("transpose"), spec.Lookup("equal")},
		DTypes: []tensor.DType{tensor.F32, tensor.F64}, Progress: func(done, total int, what string) { told = append(told, what) }}
	r, err := Run(t.Context(), dev, o)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(o.BenchCases(dev.Info())); len(r.Rows) != want || want < 8 || len(told) != want+1 {
		t.Fatalf("%d rows, told %d times; want %d calls", len(r.Rows), len(told), want)
	}
	for _, x := range r.Rows {
		if x.DType == "f64" && !dev.Info().Features.F64 && x.Op != "transpose" { // which computes nothing
			if x.Unsupported == "" {
				t.Errorf("%s: measured without f64", x.Key())
			}
			continue
		}
		if x.Time.Median <= 0 || x.Time.Count < 3 || x.GBps <= 0 || x.Roofline <= 0 || x.Memcpy <= 0 || x.Bound == "" || x.Op != "transpose" && x.GFlops <= 0 {
			t.Errorf("row %+v", x)
		}
	}
	c := r.Ceilings
	for _, rates := range [][]Rate{c.Copy, c.HostCopy, c.Upload, c.Readback} {
		if len(rates) < 3 || slices.ContainsFunc(rates, func(r Rate) bool { return r.GBps <= 0 || r.Time.Median <= 0 }) {
			t.Errorf("rates %+v", rates)
		}
	}
	if len(c.MultiplyAdd) == 0 || c.MultiplyAdd[0].GFlops <= 0 || c.Launch.Listed.Median <= 0 || c.Launch.Submitted.Median <= 0 || c.Launch.Replayed.Median <= 0 || c.Launch.Resubmitted.Median <= 0 || c.Launch.Alone.Median <= 0 {
		t.Errorf("ceilings %+v", c)
	}
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.MarshalIndent(back, "", "  "); err != nil || !bytes.Equal(again, data) {
		t.Errorf("the report comes back otherwise: %v", err)
	}
	if changes := Compare(r, back); len(changes) == 0 || slices.ContainsFunc(changes, func(c Change) bool { return c.Time != 1 || c.Regressed }) {
		t.Errorf("compared with itself: %+v", changes)
	}
	var text, html bytes.Buffer
	if err := errors.Join(r.WriteText(&text), r.WriteHTML(&html)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{r.Device, "multiply-add, f32", "matmul", "relu", "f32[64,256]"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(html.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// A device without f64 moves elements of f64 all the same, beside the arithmetic of f32.
func TestCeilingWithoutF64(t *testing.T) {
	f32, f64 := &fmaKernel{what: "f32"}, &fmaKernel{what: "f64"}
	b := &bench{report: &Report{Ceilings: Ceilings{fma: map[string]*fmaKernel{"f32": f32}}}}
	if k, err := b.ceiling(nil, tensor.F64); err != nil || k != f32 {
		t.Errorf("without f64: got %+v, %v", k, err)
	}
	b.report.Ceilings.fma["f64"] = f64
	if k, err := b.ceiling(nil, tensor.F64); err != nil || k != f64 {
		t.Errorf("with f64: got %+v, %v", k, err)
	}
}

// A device that computes nothing is found out.
func TestRunOnNothing(t *testing.T) {
	testlevel.Turn(t, 5)
	dev := null.NewRecorder(nil) // takes any kernel and runs none
	defer dev.Close()
	_, err := Run(t.Context(), dev, Options{Quick: true, Keep: few, Ops: []*spec.Op{spec.Lookup("relu")}})
	if err == nil || !strings.Contains(err.Error(), "number 0 is 0, want") {
		t.Errorf("got %v, want that nothing was computed", err)
	}
	if _, err := Run(t.Context(), dev, Options{Keep: func(spec.BenchCase) bool { return false }}); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("nothing to measure: got %v", err)
	}
}

func report(rows ...Row) *Report {
	r := &Report{Version: Version, Device: "A", Rows: rows}
	r.Ceilings.Copy = []Rate{{GBps: 20, Bytes: 64 << 10}, {GBps: 10, Bytes: 64 << 20}}
	r.Ceilings.MultiplyAdd = []Rate{{DType: "f32", GFlops: 100}}
	return r
}

func row(op string, median, spread int64, roofline float64) Row {
	return Row{Op: op, Call: op, In: "f32[4]", DType: "f32", Flops: 1 << 20, Bytes: 8 << 20, GFlops: 1, GBps: 1,
		Time: Timing{Median: median, Spread: spread, Count: 5}, Roofline: roofline, Bound: "memory"}
}

// Slower is what is slower in time, against the roofline and beyond the spread.
func TestCompare(t *testing.T) {
	before := report(row("a", 100, 1, .5), row("b", 100, 1, .5), row("c", 100, 1, .5), row("d", 100, 60, .5), row("gone", 1, 1, 1))
	after := report(row("a", 200, 1, .25), row("b", 200, 1, .5), row("c", 50, 1, 1), row("d", 150, 60, .3), row("new", 1, 1, 1))
	changes := Compare(before, after)
	var slower []string
	for _, c := range changes {
		if c.Regressed {
			slower = append(slower, c.New.Op)
		}
	}
	if len(changes) != 4 || !slices.Equal(slower, []string{"a"}) || changes[2].Time != 2 || changes[2].Roofline != 2 {
		t.Errorf("%d changes, slower: %v; want only a of 4: b is as near to the roofline as before, d varies more", len(changes), slower)
	}
	var b strings.Builder
	if n, err := WriteChanges(&b, before, after, changes); n != 1 || err != nil || strings.Count(b.String(), "SLOWER") != 1 {
		t.Errorf("%d, %v:\n%s", n, err, b.String())
	}
	after.Device = "B"
	WriteChanges(&b, before, after, changes)
	if !strings.Contains(b.String(), "different machines") {
		t.Error("nothing is said of another device")
	}
	for _, bad := range []string{"", "{}", "[1]", `{"version":99}`} {
		if _, err := Parse([]byte(bad)); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

// Sixty operations at one intensity all get a label, apart from each other and
// within the plot, and the page asks nothing of the network.
func TestPlot(t *testing.T) {
	var rows []Row
	for i := range 60 {
		r := row("operation_"+string(rune('a'+i/26))+string(rune('a'+i%26)), 100, 1, .5)
		r.GFlops = 1 + float64(i)/20
		rows = append(rows, r)
	}
	r := report(rows...)
	p := newPlot(r)
	var boxes []box
	for _, at := range p.Points {
		if at.Label == "" {
			t.Fatalf("%s has no label", at.Title)
		}
		b := box{at.LX, at.LY - 8, at.LX + 60, at.LY}
		if !at.Begins {
			b.x0, b.x1 = at.LX-60, at.LX
		}
		if meetsAny(b, boxes) {
			t.Errorf("label %q lies on another", at.Label)
		}
		boxes = append(boxes, b)
		if at.X < p.Left || at.X > p.Right || at.Y < p.Top || at.Y > p.Bottom || b.x0 < p.Left || b.x1 > p.Right {
			t.Errorf("%q is outside: %+v", at.Label, at)
		}
	}
	var b strings.Builder
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.Contains(s, "http") || strings.Contains(s, "<script") || strings.Count(s, "<circle") != 60 {
		t.Error("the page loads something, or lacks points")
	}
	if err := report().WriteHTML(&b); err != nil {
		t.Errorf("an empty report: %v", err)
	}
}
