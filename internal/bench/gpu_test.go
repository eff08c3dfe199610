package bench

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Calls for GPUs are measured on GPUs only, and products in F16 where the device multiplies
// cooperative matrices.
func TestJobsOfKinds(t *testing.T) {
	o := Options{Ops: []*spec.Op{spec.Lookup("matmul"), spec.Lookup("relu"), spec.Lookup("conv"), spec.Lookup("attention"), spec.Lookup("gemm")}}
	count := func(info *gpu.Info) (large, half map[string]int) {
		large, half = map[string]int{}, map[string]int{}
		for _, j := range o.jobs(info) {
			name := j.benchCase.Call.Spec().Name
			if j.benchCase.GPU {
				large[name]++
			}
			if j.dtype == tensor.F16 {
				half[name]++
			}
		}
		return large, half
	}
	if large, half := count(&gpu.Info{Kind: gpu.CPU}); len(large) != 0 || len(half) != 0 {
		t.Errorf("on a processor: %v large calls and %v in f16, want none", large, half)
	}
	large, half := count(&gpu.Info{Kind: gpu.Discrete})
	for _, op := range o.Ops {
		if large[op.Name] == 0 || half[op.Name] != 0 {
			t.Errorf("%s on a GPU: %d large calls and %d in f16, want some and none", op.Name, large[op.Name], half[op.Name])
		}
	}
	matrices := &gpu.Info{Kind: gpu.Discrete}
	matrices.Features.Matrix[0], matrices.Features.FullSubgroups = 16, true
	_, half = count(matrices)
	for _, op := range o.Ops {
		if got, want := half[op.Name] > 0, op.Name != "relu"; got != want {
			t.Errorf("%s with cooperative matrices: %d calls in f16", op.Name, half[op.Name])
		}
	}
	o.DTypes = []tensor.DType{tensor.F32}
	if _, half = count(matrices); len(half) != 0 {
		t.Errorf("asked for f32: %v calls in f16", half)
	}
}

// A large input has the numbers of a period again and again, all of them within the bounds,
// and other inputs begin elsewhere.
func TestFill(t *testing.T) {
	dev := open(t)
	b := &bench{ctx: t.Context(), dev: dev, info: dev.Info()}
	for _, c := range []struct {
		d         tensor.Desc
		low, high float64
		opaque    bool
		period    int
	}{
		{tensor.Contiguous(tensor.U8, 5*period+13), 0, 255, false, period},
		{tensor.Contiguous(tensor.F32, 1100, 1024), -1, 1, false, period},
		{tensor.Contiguous(tensor.U8, 700, 600, 4), 0, 255, true, 4 * picturePeriod},
		{tensor.Contiguous(tensor.F32, 100), -1, 1, false, 100},
	} {
		hs, free, err := b.alloc(c.d.Bytes(), c.d.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		var read [2][]float64
		for i, h := range hs {
			if err := b.fill(h, c.d, i, c.low, c.high, c.opaque, rand.New(rand.NewPCG(1, 2))); err != nil {
				t.Fatal(err)
			}
			host := tensor.NewHost(c.d)
			if err := dev.Read(t.Context(), h, 0, host.Data); err != nil {
				t.Fatal(err)
			}
			read[i] = host.Floats()
		}
		for i, v := range read[1] {
			switch {
			case v < c.low || v > c.high:
				t.Fatalf("%v: number %d is %g, want %g…%g", c.d, i, v, c.low, c.high)
			case i >= c.period && v != read[1][i-c.period]:
				t.Fatalf("%v: number %d does not repeat", c.d, i)
			case c.opaque && i%4 == 3 && v != c.high:
				t.Fatalf("%v: alpha %d is %g", c.d, i/4, v)
			}
		}
		if repeats := c.d.Elems() > c.period; repeats && slices.Equal(read[0], read[1]) {
			t.Errorf("%v: both inputs are the same", c.d)
		}
		if err := free(); err != nil {
			t.Error(err)
		}
	}
}

// The calls for GPUs run, and the ceilings of a device that is apart are measured once.
func TestRunAsGPU(t *testing.T) {
	testlevel.Turn(t, 5)
	dev := open(t)
	kind := gpu.Discrete
	// Of the calls for GPUs one that a processor makes in less than a second.
	o := Options{Quick: true, as: &kind, Ops: []*spec.Op{spec.Lookup("relu"), spec.Lookup("transpose")},
		DTypes: []tensor.DType{tensor.F32}, Keep: func(w spec.BenchCase) bool {
			return w.GPU && w.Call.Spec().Name == "relu" || few(w)
		}}
	r, err := Run(t.Context(), dev, o)
	if err != nil {
		t.Fatal(err)
	}
	var large int
	copied := map[int64]Timing{}
	for _, x := range r.Rows {
		if x.Unsupported != "" {
			t.Errorf("%s: %s", x.Key(), x.Unsupported)
			continue
		}
		if x.Time.Median <= 0 || x.Time.Count < 3 || x.Copy.Median <= 0 || x.HostCopy.Median <= 0 || x.Peak <= 0 || x.Roofline <= 0 || x.Memcpy <= 0 {
			t.Errorf("row %+v", x)
		}
		if before, ok := copied[x.Bytes/2]; ok && before != x.Copy {
			t.Errorf("%s: a copy of %d bytes was measured twice", x.Key(), x.Bytes/2)
		}
		copied[x.Bytes/2] = x.Copy
		if x.Bytes > 1<<26 {
			large++
		}
	}
	if large != 1 {
		t.Errorf("%d large calls in %d rows, want one", large, len(r.Rows))
	}
}

// A call for GPUs that needs more memory than there is, is a row that says so.
func TestTooLarge(t *testing.T) {
	dev := open(t)
	run, err := exec.New(dev)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	b := &bench{ctx: t.Context(), dev: dev, run: run, info: dev.Info(), opts: Options{Quick: true}}
	w := spec.BenchCase{Call: spec.Lookup("relu").Cases.Calls[0], In: []tensor.Desc{tensor.Contiguous(tensor.F32, 1<<20, 1<<20)}, GPU: true}
	if row, err := b.measure(job{w, tensor.F32}); err != nil || row.Unsupported == "" {
		t.Errorf("4 TiB on a GPU: %+v, %v; want a row that says why", row, err)
	}
	w.GPU = false
	if _, err := b.measure(job{w, tensor.F32}); err == nil {
		t.Error("4 TiB elsewhere: no error")
	}
}

// The host's copy of a row has the rate of the nearest ceiling.
func TestHostCopyOf(t *testing.T) {
	c := Ceilings{HostCopy: []Rate{{Bytes: 1 << 10, Time: Timing{Median: 100}}, {Bytes: 1 << 20, Time: Timing{Median: 1 << 20}}}}
	for n, want := range map[int64]time.Duration{512: 50, 1 << 11: 200, 1 << 20: 1 << 20, 1 << 30: 1 << 30} {
		if got := c.hostCopy(n).Median(); got != want {
			t.Errorf("%d bytes: %v, want %v", n, got, want)
		}
	}
}

// Every call for GPUs can be planned on a GPU that has all features, and is larger than what
// the caches of GPUs hold, or has more arithmetic than a launch hides.
func TestCallsForGPUs(t *testing.T) {
	info := null.DefaultInfo()
	info.Kind = gpu.Discrete
	dev := null.NewRecorder(&info)
	defer dev.Close()
	run, err := exec.New(dev)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var n int
	for _, op := range spec.All() {
		if !op.Offered() {
			continue
		}
		for _, d := range op.Cases.DTypes {
			for _, w := range op.Cases.Bench(d) {
				if !w.GPU {
					continue
				}
				n++
				outs, err := op.Shape(w.Call, w.In)
				if err != nil {
					t.Fatalf("%s: %v", Key(w), err)
				}
				var in, out []exec.Place
				for _, x := range w.In {
					in = append(in, exec.Place{Desc: x})
				}
				for _, x := range outs {
					out = append(out, exec.Place{Desc: x})
				}
				if _, err := run.Compile(w.Call, in, out); err != nil {
					t.Errorf("%s: %v", Key(w), err)
				}
				if c := op.Cost(w.Call, w.In); c.Bytes < 64<<20 && c.Flops < 1e10 {
					t.Errorf("%s: %d bytes and %d operations are little for a GPU", Key(w), c.Bytes, c.Flops)
				}
			}
		}
	}
	if n < 500 {
		t.Errorf("%d calls for GPUs, want those of most operations", n)
	}
}
