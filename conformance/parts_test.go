package conformance

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

func TestPairsCoverEverything(t *testing.T) {
	values := [][]int{{0, 1, 2, 3, 7, 15, 16, 17}, {1, 3, 4}, {0, 1, 5, 9, 33}}
	rows := pairs(values)
	seen := map[[4]int]bool{}
	for _, r := range rows {
		for a := range r {
			for b := a + 1; b < len(r); b++ {
				seen[[4]int{a, r[a], b, r[b]}] = true
			}
		}
	}
	want := 8*3 + 8*5 + 3*5
	if len(seen) != want {
		t.Errorf("%d pairs covered, want %d", len(seen), want)
	}
	if len(rows) > 60 { // 8·5 is the least number.
		t.Errorf("%d rows for 40", len(rows))
	}
	if got := pairs([][]int{{4, 5}}); len(got) != 2 {
		t.Errorf("one dimension gave %v", got)
	}
	if got := pairs(nil); len(got) != 1 || len(got[0]) != 0 {
		t.Errorf("no dimension gave %v", got)
	}
}

func TestAwkwardSizes(t *testing.T) {
	got := awkward(spec.Dim{Name: "n", Tiles: []int{64}})
	for _, want := range []int{0, 1, 2, 3, 7, 13, 31, 63, 64, 65, 129} {
		if !slices.Contains(got, want) {
			t.Errorf("%v lacks %d", got, want)
		}
	}
	if got := awkward(spec.Dim{Name: "c", Tiles: []int{64}, Only: []int{1, 3, 4}}); !slices.Equal(got, []int{1, 3, 4}) {
		t.Errorf("Only gave %v", got)
	}
}

func TestCombine(t *testing.T) {
	op := newVictim()
	ks := combine(op, op.Defaults, tensor.F32, level(false, 0, 0))
	has := func(dims ...int) bool {
		return slices.ContainsFunc(ks, func(k combo) bool { return slices.Equal(k.dims, dims) })
	}
	for _, want := range [][]int{{1, 1}, {0, 1}, {1, 0}, {0, 5}, {257, 1}, {1, 257}, {13, 13}} {
		if !has(want...) {
			t.Errorf("no case of size %v", want)
		}
	}
	big := int64(0)
	for _, k := range ks {
		big = max(big, op.Cases.InputsFor(op.Defaults, tensor.F32, k.dims)[0].Bytes())
	}
	if big <= 1<<20 {
		t.Errorf("the largest case has %d bytes; forced limits of 1 MiB split nothing", big)
	}
}

func TestCompare(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want []float64
		tol       spec.Tolerance
		ok        bool
		used      float64
	}{
		{[]float64{1, 2}, []float64{1, 2}, spec.Tolerance{}, true, 0},
		{[]float64{1, 2.5}, []float64{1, 2}, spec.Tolerance{Abs: 1}, true, 0.5},
		{[]float64{1, 2.5}, []float64{1, 2}, spec.Tolerance{Abs: 0.1, Rel: 0.1}, false, 0.5 / 0.3},
		{[]float64{1, nan}, []float64{1, nan}, spec.Tolerance{}, true, 0},
		{[]float64{1, nan}, []float64{1, 2}, spec.Tolerance{Abs: 1e9}, false, 0},
		{[]float64{1, 2}, []float64{1, nan}, spec.Tolerance{Abs: 1e9}, false, 0},
		{[]float64{inf}, []float64{inf}, spec.Tolerance{}, true, 0},
		{[]float64{inf}, []float64{-inf}, spec.Tolerance{Abs: 1e9}, false, 0},
		{[]float64{1e30}, []float64{inf}, spec.Tolerance{Abs: 1e40}, false, 0},
		{[]float64{math.Copysign(0, -1)}, []float64{0}, spec.Tolerance{}, true, 0},
		{nil, nil, spec.Tolerance{}, true, 0},
		{[]float64{9, 0, 0, 0}, []float64{0, 0, 0, 0}, spec.Tolerance{Flips: 0.25}, true, 0},
		{[]float64{9, 9, 0, 0}, []float64{0, 0, 0, 0}, spec.Tolerance{Flips: 0.25}, false, 0},
	} {
		shape := []int{len(c.want)}
		got, err := tensor.FromFloats(tensor.F32, shape, c.got)
		if err != nil {
			t.Fatal(err)
		}
		want, err := tensor.FromFloats(tensor.F32, shape, c.want)
		if err != nil {
			t.Fatal(err)
		}
		o := compare(got.Data, want, c.tol)
		if (o.status == Pass) != c.ok || math.Abs(o.used-c.used) > 1e-6 {
			t.Errorf("compare(%v, %v, %+v) = %s used %g (%s), want ok %v used %g", c.got, c.want, c.tol, o.status, o.used, o.message, c.ok, c.used)
		}
	}
}

// A colour of little alpha may be farther off, and alpha itself may not.
func TestCompareByAlpha(t *testing.T) {
	tol := spec.Tolerance{Abs: 0.01, ByAlpha: 0.01}
	bytes := spec.Tolerance{Abs: 1, ByAlpha: 0.01}
	for _, c := range []struct {
		d         tensor.DType
		got, want [4]float64
		tol       spec.Tolerance
		ok        bool
	}{
		{tensor.F32, [4]float64{0.5, 0.5, 0.5, 1}, [4]float64{0.515, 0.5, 0.5, 1}, tol, true},
		{tensor.F32, [4]float64{0.5, 0.5, 0.5, 1}, [4]float64{0.5, 0.525, 0.5, 1}, tol, false},
		{tensor.F32, [4]float64{0.5, 0.5, 0.5, 0.1}, [4]float64{0.5, 0.5, 0.6, 0.1}, tol, true},
		{tensor.F32, [4]float64{0.5, 0.5, 0.5, 0.1}, [4]float64{0.5, 0.5, 0.5, 0.12}, tol, false},
		{tensor.F32, [4]float64{1, 0, 0.5, 0.005}, [4]float64{0, 0, 0, 0}, tol, true},
		{tensor.U8, [4]float64{50, 50, 50, 255}, [4]float64{53, 50, 50, 255}, bytes, true},
		{tensor.U8, [4]float64{50, 50, 50, 255}, [4]float64{54, 50, 50, 255}, bytes, false},
		{tensor.U8, [4]float64{50, 50, 50, 0}, [4]float64{200, 50, 50, 1}, bytes, true},
		{tensor.U8, [4]float64{50, 50, 50, 0}, [4]float64{50, 50, 50, 2}, bytes, false},
	} {
		got, want := tensor.NewHost(tensor.Contiguous(c.d, 1, 1, 4)), tensor.NewHost(tensor.Contiguous(c.d, 1, 1, 4))
		got.SetFloats(c.got[:])
		want.SetFloats(c.want[:])
		if o := compare(got.Data, want, c.tol); (o.status == Pass) != c.ok {
			t.Errorf("compare(%v, %v, %+v) = %s (%s), want ok %v", c.got, c.want, c.tol, o.status, o.message, c.ok)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"llvmpipe*", "llvmpipe (LLVM 15)", true}, {"llvmpipe", "llvmpipe (LLVM 15)", false},
		{"*", "", true}, {"*a*b*", "xaxbx", true}, {"*a*b*", "xbxax", false}, {"a*a", "a", false}, {"a*a", "aa", true},
		{"*/f32/tiny/*", "blur/f32/tiny/plain/H=1", true}, {"*(*", "x(y", true}, {"", "", true}, {"", "x", false},
	} {
		if got := glob(c.pattern, c.s); got != c.want {
			t.Errorf("glob(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

func TestExpectations(t *testing.T) {
	report := func() *Report {
		return &Report{Device: "Some Device", Driver: "driver 1.2", Rows: []Row{
			{Op: "blur", DType: "f32", Case: "plain/plain/x", Status: Fail, Message: "wrong"},
			{Op: "blur", DType: "u8", Case: "plain/plain/x", Status: Pass},
		}}
	}
	for _, c := range []struct {
		table string
		ok    bool
		stale int
	}{
		{"", false, 0},
		{"Some * | blur/f32/* | a driver bug | wrong sums", true, 0},
		{"driver 1.* | blur/f32/* | a driver bug | wrong sums # by its driver", true, 0},
		{"Other * | blur/f32/* | a driver bug | wrong sums", false, 0},
		{"* | blur/f32/* | a | b\n\n* | blur/u8/* | since mended | b", false, 1},
		{"* | blur/* | covers both | b", true, 0},
		{"# nothing\n* | blur/f32/* | a | b\n* | sobel/* | not in this run | b", true, 0},
	} {
		e, err := ParseExpectations(strings.NewReader(c.table))
		if err != nil {
			t.Fatal(err)
		}
		r := report()
		r.finish(e)
		if r.OK() != c.ok || len(r.Stale) != c.stale {
			t.Errorf("with %q: OK %v, stale %v; want %v, %d\n%s", c.table, r.OK(), r.Stale, c.ok, c.stale, r)
		}
	}
	for _, bad := range []string{"a | b | c", "a | b |  | d", "a|b|c|d|e"} {
		if _, err := ParseExpectations(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestReportIsJSON(t *testing.T) {
	r := &Report{Device: "d", Rows: []Row{{Op: "o", DType: "f32", Case: "plain/plain/x", Status: Fail, AbsErr: finite(math.Inf(1)), RelErr: finite(math.NaN()), Worst: []int{1, 2}}}}
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(data, &back); err != nil || len(back.Rows) != 1 || back.Rows[0].Status != Fail {
		t.Errorf("came back as %+v, %v", back, err)
	}
	if s := r.String(); !strings.Contains(s, "FAIL o f32") || !strings.Contains(s, "1 failed") {
		t.Errorf("table lacks the failure:\n%s", s)
	}
}

func TestCheckKernelsCatches(t *testing.T) {
	type wrongParams struct{ N, B uint32 }
	saxpy := func(params any) *spec.Op {
		return &spec.Op{Name: "saxpy", Kernels: []spec.Kernel{{Name: kernelName, Params: params}}}
	}
	names := []string{kernelName}
	module := spec.Modules(extra.Module)
	if err := CheckKernels([]*spec.Op{saxpy(kernelParams{})}, names, module); err != nil {
		t.Errorf("right kernels: %v", err)
	}
	for what, c := range map[string]struct {
		ops   []*spec.Op
		names []string
		want  string
	}{
		"params":    {[]*spec.Op{saxpy(wrongParams{})}, names, "has B"},
		"no params": {[]*spec.Op{saxpy(nil)}, names, ""},
		"missing":   {[]*spec.Op{{Name: "x", Kernels: []spec.Kernel{{Name: "image/nothing.f32"}}}}, nil, "image/nothing.f32"},
		"no kernel": {[]*spec.Op{saxpy(kernelParams{}), {Name: "x"}}, names, "operation x claims no kernel"},
		"unclaimed": {nil, []string{"image/orphan.f32"}, "image/orphan.f32"},
		"twice":     {[]*spec.Op{{Name: "x", Kernels: []spec.Kernel{{Name: kernelName, Params: kernelParams{}}, {Name: kernelName, Params: kernelParams{}}}}}, names, "twice"},
		"two structs": {[]*spec.Op{saxpy(kernelParams{}), {Name: "x", Kernels: []spec.Kernel{{Name: kernelName, Params: struct {
			N uint32
			A float32
		}{}}}}}, names, "has params"},
	} {
		err := CheckKernels(c.ops, c.names, module)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestRepeatedFlips(t *testing.T) {
	out := tensor.Contiguous(tensor.U8, 7, 3, 4)
	for pattern, want := range map[string]float64{"random": 0.02, "repeated-first": 1. / 12, "repeated-last": 1. / 21} {
		if got := toleranceFor(pattern, spec.Tolerance{Flips: 0.02}, nil, out).Flips; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", pattern, got, want)
		}
	}
	if got := toleranceFor("repeated-first", spec.Tolerance{}, nil, out).Flips; got != 0 {
		t.Errorf("got %v without flips", got)
	}
	if got := toleranceFor("repeated-first", spec.Tolerance{Flips: 0.5}, nil, tensor.Contiguous(tensor.F32)).Flips; got != 0.5 {
		t.Errorf("got %v for a scalar", got)
	}
}

// TestRepeatedTolerance checks how much more a sum may err whose elements repeat.
func TestRepeatedTolerance(t *testing.T) {
	out, tol := tensor.Contiguous(tensor.F32, 7, 3), spec.Tolerance{Abs: 4, Repeated: 9}
	image := tensor.Contiguous(tensor.F32, 1, 7, 3)
	several, single, alone, second := []tensor.Desc{out, out}, []tensor.Desc{image, out}, []tensor.Desc{image}, []tensor.Desc{out, image}
	for _, c := range []struct {
		pattern string
		in      []tensor.Desc
		want    float64
	}{
		{"random", single, 4}, {"repeated-last", several, 13}, {"repeated-first", several, 10}, {"repeated-first", single, 13},
		{"repeated-first", alone, 10}, {"repeated-first", second, 10},
	} {
		if got := toleranceFor(c.pattern, tol, c.in, out).Abs; got != c.want {
			t.Errorf("%s of %v: %v, want %v", c.pattern, c.in, got, c.want)
		}
	}
	tol.RepeatedFirst = true
	if got := toleranceFor("repeated-first", tol, several, out).Abs; got != 13 {
		t.Errorf("with RepeatedFirst: %v, want 13", got)
	}
}
