package exec

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec/tune"
	"github.com/lathe-gpu/lathe/internal/families/fusion"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/ops"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// cpuInfo returns the Info of a CPU driver, on which plans choose texels.
func cpuInfo() gpu.Info {
	info := null.DefaultInfo()
	info.Kind, info.Driver = gpu.CPU, "driver 1.0"
	return info
}

// tuned is a Runner with choices in a file, on a device that records. Its clock
// multiplies the number of runs by the time of each launch. That is the time in times
// whose key is the first part of the kernel's name.
type tuned struct {
	*Runner
	dev     *null.Device
	db      *tune.Database
	samples int
}

func newTuned(t *testing.T, mode tune.Mode, path string, info gpu.Info, times map[string]time.Duration) *tuned {
	t.Helper()
	db, err := tune.Open(mode, tune.DeviceOf(&info, 1), path)
	if err != nil {
		t.Fatal(err)
	}
	x := &tuned{dev: null.NewRecorder(&info), db: db}
	if x.Runner, err = New(x.dev, WithTuning(db)); err != nil {
		t.Fatal(err)
	}
	x.tuner.sample = func(_ context.Context, list []gpu.Dispatch, runs int, _ gpu.Handle) (time.Duration, error) {
		x.samples++
		sum := time.Duration(0)
		for _, d := range list {
			v := 10 * time.Microsecond
			for part, w := range times {
				if strings.Contains(d.Module.Name, part) {
					v = w
				}
			}
			sum += v * time.Duration(runs)
		}
		return sum, nil
	}
	t.Cleanup(func() {
		if err := errors.Join(x.Close(), x.dev.Close()); err != nil {
			t.Error(err)
		}
	})
	return x
}

// kernels runs a ReLU of n elements and returns the names of the launched kernels.
func (x *tuned) kernels(t *testing.T, n int) string {
	t.Helper()
	before := len(x.dev.Recorded())
	o, i := x.vector(t, n), x.vector(t, n)
	if err := x.Run(t.Context(), ops.ReLU{}, []Operand{i}, []Operand{o}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range x.dev.Recorded()[before:] {
		names = append(names, d.Module.Name)
	}
	return strings.Join(names, " ")
}

func (x *tuned) vector(t *testing.T, n int) Operand {
	t.Helper()
	d := tensor.Contiguous(tensor.F32, n)
	b, err := x.dev.Alloc(d.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return Operand{Buffer: b, Desc: d}
}

const texelReLU, storageReLU = "nn/relu.f32.texel", "nn/relu.f32"

// TestTuneModes checks that only the mode full measures, that it measures once for a
// class, and that the choice is remembered in the database.
func TestTuneModes(t *testing.T) {
	slow := map[string]time.Duration{".texel": 20 * time.Microsecond}
	path := filepath.Join(t.TempDir(), "tuning.jsonl")
	for _, mode := range []tune.Mode{tune.Off, tune.Cached} {
		x := newTuned(t, mode, path, cpuInfo(), slow)
		if got := x.kernels(t, 1000); got != texelReLU || x.samples != 0 {
			t.Errorf("%v, nothing known: %s launched after %d samples", mode, got, x.samples)
		}
	}
	x := newTuned(t, tune.Full, path, cpuInfo(), slow)
	if got := x.kernels(t, 1000); got != storageReLU || x.samples < 2*tuneLeast {
		t.Errorf("full: %s launched after %d samples", got, x.samples)
	}
	n := x.samples
	if got := x.kernels(t, 900); got != storageReLU || x.samples != n { // This size has the same class.
		t.Errorf("full, the second time: %s launched after %d samples more", got, x.samples-n)
	}
	if x.kernels(t, 100_000); x.samples == n {
		t.Error("full: another class was not measured")
	}
	if c := x.db.Choices(); len(c) != 2 || c[1].Strategy != "storage" || c[1].Gain < 1.9 || c[1].Gain > 2.1 || !strings.HasPrefix(c[1].Call, "relu f32 ") {
		t.Errorf("choices: %+v", c)
	}
	if used := len(x.work.Load().scratch.out); used != 0 {
		t.Errorf("%d scratch buffers still lent", used)
	}
	other := cpuInfo()
	other.Driver = "driver 1.1"
	for what, c := range map[string]struct {
		mode tune.Mode
		info gpu.Info
		want string
	}{
		"off": {tune.Off, cpuInfo(), texelReLU}, "cached": {tune.Cached, cpuInfo(), storageReLU}, "another driver": {tune.Cached, other, texelReLU},
	} {
		x := newTuned(t, c.mode, path, c.info, slow)
		if got := x.kernels(t, 1000); got != c.want || x.samples != 0 {
			t.Errorf("%s: %s launched after %d samples, want %s", what, got, x.samples, c.want)
		}
	}
}

// TestTuneMargin checks that the plan's own strategy stays if another is hardly faster.
func TestTuneMargin(t *testing.T) {
	x := newTuned(t, tune.Full, "", cpuInfo(), map[string]time.Duration{".texel": 103 * time.Microsecond, "relu.f32": 100 * time.Microsecond})
	x.tuner.sample = func(_ context.Context, list []gpu.Dispatch, runs int, _ gpu.Handle) (time.Duration, error) {
		if list[0].Module.Name == texelReLU {
			return time.Duration(runs) * 103 * time.Microsecond, nil
		}
		return time.Duration(runs) * 100 * time.Microsecond, nil
	}
	if got := x.kernels(t, 1000); got != texelReLU {
		t.Errorf("%s launched for 3 %%", got)
	}
	if c := x.db.Choices(); len(c) != 1 || c[0].Strategy != "texels" || c[0].Gain != 1 {
		t.Errorf("choices: %+v", c)
	}
}

// TestTuneBounds checks that a call is left to its plan if measuring takes too long or
// too much memory, and that it is not measured a second time.
func TestTuneBounds(t *testing.T) {
	x := newTuned(t, tune.Full, "", cpuInfo(), map[string]time.Duration{"relu": 2 * tuneSingle})
	if got := x.kernels(t, 1000); got != texelReLU || x.samples != 2 {
		t.Errorf("too slow: %s launched after %d samples", got, x.samples)
	}
	if x.kernels(t, 1000); x.samples != 2 || len(x.db.Choices()) != 0 {
		t.Errorf("too slow, again: %d samples, choices %v", x.samples, x.db.Choices())
	}
	info := cpuInfo()
	info.Memory = 20 << 10
	x = newTuned(t, tune.Full, "", info, nil)
	if got := x.kernels(t, 1000); got != texelReLU || x.samples != 0 {
		t.Errorf("short of memory: %s launched after %d samples", got, x.samples)
	}
	// Half of the memory is in use, so a quarter is not free for a measurement.
	info.Memory = 64 << 20
	x = newTuned(t, tune.Full, "", info, nil)
	if _, err := x.dev.Alloc(62 << 20); err != nil {
		t.Fatal(err)
	}
	if got := x.kernels(t, 200_000); got != texelReLU || x.samples != 0 {
		t.Errorf("out of memory: %s launched after %d samples", got, x.samples)
	}
}

// TestTuneFails checks that an error of the device is returned once.
func TestTuneFails(t *testing.T) {
	x := newTuned(t, tune.Full, "", cpuInfo(), nil)
	broken := errors.New("broken")
	x.tuner.sample = func(context.Context, []gpu.Dispatch, int, gpu.Handle) (time.Duration, error) { return 0, broken }
	o, i := x.vector(t, 100), x.vector(t, 100)
	if err := x.Run(t.Context(), ops.ReLU{}, []Operand{i}, []Operand{o}); !errors.Is(err, broken) || len(x.dev.Recorded()) != 0 {
		t.Errorf("%v after %d launches", err, len(x.dev.Recorded()))
	}
	if got := x.kernels(t, 100); got != texelReLU {
		t.Errorf("after that: %s", got)
	}
}

// TestChoiceOfThePast checks that the plan chooses if a remembered strategy does not
// exist or does not suit.
func TestChoiceOfThePast(t *testing.T) {
	x := newTuned(t, tune.Cached, "", cpuInfo(), nil)
	d := []tensor.Desc{tensor.Contiguous(tensor.F32, 1000)}
	x.db.Remember(string(callKey(nil, ops.ReLU{}, d)), "by hand", 2)
	if got := x.kernels(t, 1000); got != texelReLU {
		t.Errorf("%s launched", got)
	}
	gpuLike := newTuned(t, tune.Cached, "", null.DefaultInfo(), nil)
	m := []tensor.Desc{tensor.Contiguous(tensor.F64, 64, 64), tensor.Contiguous(tensor.F64, 64, 64)}
	gpuLike.db.Remember(string(callKey(nil, ops.MatMul{}, m)), "matrix", 2) // there is none of f64
	var in []Operand
	for _, d := range append(m, m[0]) {
		b, err := gpuLike.dev.Alloc(d.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, Operand{Buffer: b, Desc: d})
	}
	plan, err := gpuLike.Plan(ops.MatMul{}, in[:2], in[2:])
	if err != nil || plan.Steps[0].Name() != "blas/matmul.f64" {
		t.Errorf("%+v, %v", plan, err)
	}
}

// TestTuneOnce checks that a class is measured once, even if many goroutines need it at
// the same time.
func TestTuneOnce(t *testing.T) {
	x := newTuned(t, tune.Full, "", cpuInfo(), map[string]time.Duration{".texel": time.Millisecond})
	o, i := x.vector(t, 1000), x.vector(t, 1000)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := x.Run(context.Background(), ops.ReLU{}, []Operand{i}, []Operand{o}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most := 2 * (2 + tuneRounds); x.samples > most {
		t.Errorf("%d samples, at most %d", x.samples, most)
	}
	for _, d := range x.dev.Recorded() {
		if d.Module.Name != storageReLU {
			t.Fatalf("%s launched", d.Module.Name)
		}
	}
}

// TestTuneCall checks Tune, which measures again whatever is known.
func TestTuneCall(t *testing.T) {
	x := newTuned(t, tune.Cached, "", cpuInfo(), map[string]time.Duration{".texel": time.Millisecond})
	in := []tensor.Desc{tensor.Contiguous(tensor.F32, 64, 64)}
	for range 2 {
		n := x.samples
		got, err := x.Tune(t.Context(), ops.ReLU{}, in)
		if err != nil || got == nil || got.Strategy != "storage" || len(got.Timings) != 2 || got.Gain() < 50 || x.samples == n {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if got, err := x.Tune(t.Context(), ops.Cast{To: tensor.I32}, in); got != nil || err != nil {
		t.Errorf("an operation without variants: %+v, %v", got, err)
	}
	if _, err := x.Tune(t.Context(), ops.MatMul{}, in); !errors.Is(err, gpu.ErrInvalidArgument) {
		t.Errorf("too few inputs: %v", err)
	}
	plain, _ := recorder(t)
	if _, err := plain.Tune(t.Context(), ops.ReLU{}, in); !errors.Is(err, gpu.ErrInvalidArgument) {
		t.Errorf("without choices to add to: %v", err)
	}
}

// TestEveryVariantPlans plans each declared strategy of each operation at common sizes,
// on both kinds of device. The first strategy must be the plan's own.
func TestEveryVariantPlans(t *testing.T) {
	for _, info := range []gpu.Info{cpuInfo(), null.DefaultInfo()} {
		target, several := TargetOf(&info), 0
		for _, op := range spec.All() {
			if (op.Strategies == nil) != (op.SizeClass == nil) {
				t.Errorf("%s: Variants and Class go together", op.Name)
			}
			if op.Strategies == nil {
				continue
			}
			call := op.Cases.Calls[0]
			dims := make([]int, len(op.Cases.Dims))
			for i, dim := range op.Cases.Dims {
				if dims[i] = 64; len(dim.Only) > 0 {
					dims[i] = dim.Only[0]
				}
			}
			in := op.Cases.InputsFor(call, op.Cases.DTypes[0], dims)
			out, err := op.Shape(call, in)
			if err != nil {
				t.Fatal(err)
			}
			own, err := op.Plan(call, &target, in, out)
			if err != nil {
				t.Fatal(err)
			}
			for i, strategy := range op.Strategies(call, &target, in, out) {
				by := target
				by.Strategy = strategy
				plan, err := op.Plan(call, &by, in, out)
				if err != nil {
					t.Errorf("%s by %s: %v", op.Name, strategy, err)
					continue
				}
				same := kernelsOf(plan) == kernelsOf(own)
				if i == 0 && !same {
					t.Errorf("%s by %s: the plan takes %s unasked, this one %s", op.Name, strategy, kernelsOf(own), kernelsOf(plan))
				}
				if !same {
					several++
				}
			}
		}
		if several < 20 {
			t.Errorf("%v: %d variants are another plan", info.Kind, several)
		}
	}
}

func kernelsOf(p *spec.Plan) string {
	var names []string
	for _, s := range p.Steps {
		names = append(names, s.Name())
	}
	return strings.Join(names, " ")
}

// TestTuneJoined checks that an operation with an epilogue or a prologue is planned with the strategy that was chosen for the operation, so that
// its results are the same.
func TestTuneJoined(t *testing.T) {
	x := newTuned(t, tune.Cached, "", cpuInfo(), nil)
	d := []tensor.Desc{tensor.Contiguous(tensor.F32, 64, 64)}
	call := ops.Softmax{Dim: -1}
	list := call.Spec().Strategies(call, &x.target, d, d)
	if len(list) < 2 {
		t.Fatalf("strategies %q", list)
	}
	x.db.Remember(string(callKey(nil, call, d)), list[1], 2)
	in, out := x.matrix(t), x.matrix(t)
	kernels := func(c spec.Call) (names []string) {
		p, err := x.Plan(c, []Operand{in}, []Operand{out})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Steps {
			names = append(names, s.Module.Name)
		}
		return names
	}
	relu := fusion.Fused{Calls: []spec.Call{ops.ReLU{}}, Args: [][]int{{0}}, Outs: []int{1}}
	plain := kernels(call)
	for _, joined := range [][]string{kernels(fusion.Epilogue{Call: call, Inputs: 1, Then: relu}), kernels(fusion.Prologue{First: relu, Call: call, Inputs: 1})} {
		if len(joined) != len(plain) {
			t.Errorf("%q, and by itself %q", joined, plain)
			continue
		}
		changed := false
		for i := range joined {
			changed = changed || joined[i] != plain[i]
			if !strings.Contains(joined[i], plain[i]) {
				t.Errorf("kernel %s, and by itself %s", joined[i], plain[i])
			}
		}
		if !changed {
			t.Errorf("%q are the kernels of the operation by itself", joined)
		}
	}
}

func (x *tuned) matrix(t *testing.T) Operand {
	o := x.vector(t, 64*64)
	o.Desc = tensor.Contiguous(tensor.F32, 64, 64)
	return o
}
