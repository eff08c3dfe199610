package exec

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec/tune"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// counted is an operation that a program could declare. It counts how often it is
// planned.
type counted struct {
	N    int       `attr:"n,zero"`
	Dims []int     `attr:"dims"`
	X    float64   `attr:"x"`
	With spec.Call // an attribute that is a call
}

func (counted) Spec() *spec.Op { return countedOp }

var (
	plans         atomic.Int64
	countedOp     *spec.Op
	countedModule = null.Module("test/counted", 0, spv.Binding{Slot: 0}, spv.Binding{Slot: 1}, spv.Binding{Slot: 2}, spv.Binding{Slot: 3})
)

func init() {
	countedOp = spec.Define(spec.Definition[counted]{
		Name: "counted", In: []spec.Arg{{Name: "in"}}, Out: []spec.Arg{{Name: "out", InPlace: []int{0}}},
		Shape: func(_ counted, in []tensor.Desc) ([]tensor.Desc, error) { return in[:1], nil },
		Plan: func(_ counted, _ *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			plans.Add(1)
			bind := func(refs ...spec.Ref) (list []spec.Bind) {
				for _, r := range refs {
					list = append(list, spec.Bind{Buf: r})
				}
				return list
			}
			step := spec.Step{Module: countedModule, Groups: [3]uint32{1, 1, 1}, Bind: bind(spec.In(0), spec.Scratch(0), spec.Status(1), spec.Out(0))}
			last := step
			last.Bind = bind(spec.In(0), spec.Scratch(1), spec.Status(0), spec.Out(0))
			fault := spec.DeviceCheck{Error: func([4]uint32) error { return errs.ErrType }}
			return &spec.Plan{Steps: []spec.Step{step, last}, Scratch: []int64{64, 4096}, Checks: []spec.DeviceCheck{fault, fault}}, nil
		},
	})
}

// at returns a tensor that begins first elements after the start of a buffer.
func at(t *testing.T, dev gpu.Device, first int, shape ...int) Operand {
	t.Helper()
	d := tensor.Contiguous(tensor.F32, shape...)
	h, err := dev.Alloc(int64(first*4) + d.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return Operand{Buffer: h, Offset: int64(first * 4), Desc: d}
}

// TestCompiledOnce checks that a call is planned once for operands at the same places, in
// whatever buffers they are and whatever form the call has. It is planned again for
// anything else.
func TestCompiledOnce(t *testing.T) {
	r, dev := recorder(t)
	ctx := t.Context()
	run := func(c spec.Call, in, out Operand) int64 {
		t.Helper()
		before := plans.Load()
		if err := r.Run(ctx, c, []Operand{in}, []Operand{out}); err != nil {
			t.Fatal(err)
		}
		return plans.Load() - before
	}
	a, b := at(t, dev, 0, 8, 4), at(t, dev, 0, 8, 4)
	wide := Operand{Buffer: at(t, dev, 0, 100).Buffer, Desc: tensor.Desc{DType: tensor.F32, Shape: []int{8, 4}, Strides: []int{8, 1}}}
	integer := b
	integer.Desc.DType = tensor.I32
	for i, c := range []struct {
		call    spec.Call
		in, out Operand
		want    int64
	}{
		{counted{N: 1}, a, b, 1},
		{counted{N: 1}, a, b, 0},
		{&counted{N: 1}, b, at(t, dev, 0, 8, 4), 0},
		{counted{N: 1}, a, a, 0}, // in place
		{counted{N: 2}, a, b, 1},
		{counted{N: 1, Dims: []int{}}, a, b, 1},
		{counted{N: 1, Dims: []int{1, 2}}, a, b, 1},
		{counted{N: 1, Dims: []int{1, 2}}, a, b, 0},
		{counted{N: 1, Dims: []int{1}}, a, b, 1},
		{counted{N: 1, X: 0.5}, a, b, 1},
		{counted{N: 1, With: counted{N: 1}}, a, b, 1},
		{counted{N: 1, With: counted{N: 2}}, a, b, 1},
		{counted{N: 1, With: counted{N: 2}}, a, b, 0},
		{counted{N: 1}, at(t, dev, 0, 4, 8), at(t, dev, 0, 4, 8), 1},
		{counted{N: 1}, at(t, dev, 0, 32), at(t, dev, 0, 32), 1},
		{counted{N: 1}, at(t, dev, 1, 8, 4), b, 1},
		{counted{N: 1}, at(t, dev, 5, 8, 4), b, 0}, // the same misalignment
		{counted{N: 1}, a, at(t, dev, 1, 8, 4), 1},
		{counted{N: 1}, wide, b, 1},
		{counted{N: 1}, wide, b, 0},
	} {
		if got := run(c.call, c.in, c.out); got != c.want {
			t.Errorf("%d: planned %d times, want %d", i, got, c.want)
		}
	}
	if err := r.Run(ctx, counted{N: 1}, []Operand{integer}, []Operand{b}); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("another dtype: %v", err)
	}
	bad := a
	bad.Offset = 2
	if err := r.Run(ctx, counted{N: 1}, []Operand{bad}, []Operand{b}); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("an offset within an element: %v", err)
	}
	half := a
	half.Buffer, half.Offset = b.Buffer, 16
	if err := r.Run(ctx, counted{N: 1}, []Operand{half}, []Operand{b}); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("an overlap: %v", err)
	}
}

// TestCompiledAgain checks that a call is compiled again after a new choice of
// strategies.
func TestCompiledAgain(t *testing.T) {
	db, err := tune.Open(tune.Cached, tune.Device{}, "")
	if err != nil {
		t.Fatal(err)
	}
	r, dev := recorder(t, WithTuning(db))
	a, b := at(t, dev, 0, 8), at(t, dev, 0, 8)
	for i, want := range []int64{1, 0, 1, 0} {
		if i == 2 {
			db.Remember("counted f32 8", "other", 1)
		}
		before := plans.Load()
		if err := r.Run(t.Context(), counted{}, []Operand{a}, []Operand{b}); err != nil {
			t.Fatal(err)
		}
		if got := plans.Load() - before; got != want {
			t.Errorf("run %d: planned %d times, want %d", i, got, want)
		}
	}
}

// TestCacheBounds checks that the cache keeps its limits while many goroutines use it.
func TestCacheBounds(t *testing.T) {
	r, dev := recorder(t)
	a, b := at(t, dev, 0, 8), at(t, dev, 0, 8)
	var work sync.WaitGroup
	for k := range 4 {
		work.Go(func() {
			for i := range maxCompiled {
				if err := r.Run(context.Background(), counted{N: i * (k + 1)}, []Operand{a}, []Operand{b}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	steps := 0
	for _, c := range r.cache.calls {
		steps += len(c.steps)
	}
	if n := len(r.cache.calls); n > maxCompiled || n < maxCompiled/2 || steps != r.cache.steps {
		t.Errorf("%d calls of %d steps (counted %d)", n, steps, r.cache.steps)
	}
}

// TestBind checks that Bind returns the list that Run submits, on the caller's buffers.
func TestBind(t *testing.T) {
	r, dev := recorder(t)
	in, out := []Operand{at(t, dev, 3, 8)}, []Operand{at(t, dev, 0, 8)}
	c, err := r.Compile(counted{N: 7}, []Place{r.PlaceOf(in[0])}, []Place{r.PlaceOf(out[0])})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Scratch) != 1+1 || len(c.Checks) != 2 || len(c.Modules()) < 1 {
		t.Fatalf("scratch %v, %d checks, modules %v", c.Scratch, len(c.Checks), c.Modules())
	}
	var scratch []gpu.Handle
	for _, n := range c.Scratch {
		h, err := dev.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		scratch = append(scratch, h)
	}
	words, err := dev.Alloc(1024)
	if err != nil {
		t.Fatal(err)
	}
	status := []gpu.Binding{{Buffer: words, Size: StatusBytes}, {Buffer: words, Offset: 512, Size: StatusBytes}}
	list, err := c.Bind(in, out, scratch, status)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), counted{N: 7}, in, out); err != nil {
		t.Fatal(err)
	}
	ran := dev.Recorded()
	if len(ran) != len(list) {
		t.Fatalf("%d launches, Run makes %d", len(list), len(ran))
	}
	for i := range list {
		if list[i].Module != ran[i].Module || list[i].Groups != ran[i].Groups || string(list[i].Params) != string(ran[i].Params) {
			t.Errorf("launch %d differs: %+v and %+v", i, list[i], ran[i])
		}
		for j, b := range list[i].Bindings {
			if was := ran[i].Bindings[j]; b.Size != was.Size || b.Buffer == in[0].Buffer && was.Buffer != b.Buffer {
				t.Errorf("launch %d: binding %d is %+v and %+v", i, j, b, was)
			}
		}
	}
	status0 := list[len(list)-1].Bindings[2]
	if status0 != status[0] || list[len(list)-2].Bindings[2] != status[1] {
		t.Errorf("status words %+v", status0)
	}
	for name, f := range map[string]func() error{
		"operands elsewhere": func() error { _, err := c.Bind(out, out, scratch, status); return err },
		"no input":           func() error { _, err := c.Bind(nil, out, scratch, status); return err },
		"no scratch":         func() error { _, err := c.Bind(in, out, nil, status); return err },
		"no words":           func() error { _, err := c.Bind(in, out, scratch, status[:1]); return err },
		"a place nowhere": func() error {
			_, err := r.Compile(counted{}, []Place{{Desc: in[0].Desc, Misalignment: 3}}, []Place{{Desc: out[0].Desc}})
			return err
		},
		"another shape": func() error {
			_, err := r.Compile(counted{}, []Place{{Desc: in[0].Desc}}, []Place{{Desc: tensor.Contiguous(tensor.F32, 9)}})
			return err
		},
	} {
		if err := f(); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestShareScratch checks that scratch buffers share memory only if no step needs both.
func TestShareScratch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := &spec.Plan{Scratch: rapid.SliceOfN(rapid.Int64Range(16, 1000), 0, 12).Draw(t, "sizes")}
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			var s spec.Step
			for range rapid.IntRange(0, 3).Draw(t, "bindings") {
				if n := len(plan.Scratch); n > 0 {
					s.Bind = append(s.Bind, spec.Bind{Buf: spec.Scratch(rapid.IntRange(0, n-1).Draw(t, "scratch"))})
				}
			}
			plan.Steps = append(plan.Steps, s)
		}
		share, sizes := shareScratch(plan)
		lives := plan.Lifetimes()
		used := int64(0)
		for i, l := range lives {
			if l.Last < 0 {
				continue
			}
			used += plan.Scratch[i]
			if sizes[share[i]] < plan.Scratch[i] {
				t.Fatalf("buffer %d of %d bytes in one of %d", i, plan.Scratch[i], sizes[share[i]])
			}
			for j := range i {
				if m := lives[j]; m.Last >= 0 && share[i] == share[j] && m.First <= l.Last && l.First <= m.Last {
					t.Fatalf("buffers %d and %d live at once, %v and %v", j, i, m, l)
				}
			}
		}
		all := int64(0)
		for _, n := range sizes {
			all += n
		}
		if all > used*2 {
			t.Fatalf("%d bytes for %d", all, used)
		}
	})
	two := &spec.Plan{Scratch: []int64{100, 100, 40}, Steps: []spec.Step{
		{Bind: []spec.Bind{{Buf: spec.Scratch(0)}}}, {Bind: []spec.Bind{{Buf: spec.Scratch(0)}, {Buf: spec.Scratch(2)}}}, {Bind: []spec.Bind{{Buf: spec.Scratch(1)}}},
	}}
	if share, sizes := shareScratch(two); !slices.Equal(share, []int{0, 0, 1}) || !slices.Equal(sizes, []int64{100, 40}) {
		t.Errorf("got %v, %v", share, sizes)
	}
	if diff := cmp.Diff([]spec.Lifetime{{First: 0, Last: 1}, {First: 2, Last: 2}, {First: 1, Last: 1}}, two.Lifetimes()); diff != "" {
		t.Error(diff)
	}
}

// TestCachedRunAllocates checks that a call in the cache allocates nothing until it is
// submitted.
func TestCachedRunAllocates(t *testing.T) {
	testkit.NoRace(t, "makes sync.Pool drop memory at random")
	dev := quiet{null.New(nil)}
	r, err := New(dev)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	defer r.Close()
	in, out := []Operand{at(t, dev, 0, 64)}, []Operand{at(t, dev, 0, 64)}
	var c spec.Call = counted{N: 3, Dims: []int{1, 2}}
	run := func() {
		if err := r.Run(t.Context(), c, in, out); err != nil {
			t.Fatal(err)
		}
		r.work.Load().status.wait = r.work.Load().status.wait[:0] // Sync does the same.
		r.work.Load().status.free = append(r.work.Load().status.free[:0], 5, 6, 7, 8)
	}
	run()
	if n := testing.AllocsPerRun(100, run); n > 0 {
		t.Errorf("%v allocations a call", n)
	}
}
