package lathe_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/tensor"
)

// descent is a step of gradient descent of (w·x − 1)², and its loss.
func descent() *graph.Graph {
	g := graph.New()
	w, x := g.Param("w", tensor.F32, 4), g.Input("x", tensor.F32, 4)
	off := g.Sub(g.Mul(w, x), graph.Scalar(1))
	g.Output("w.new", g.Sub(w, g.Mul(g.Mul(off, x), graph.Scalar(0.25))))
	g.Output("loss", g.Mul(off, off))
	return g
}

func floats(t *testing.T, x *lathe.Tensor, err error) []float32 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	list, err := lathe.ToSlice[float32](context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestFeed trains with an output that feeds a param, and by setting the param after each run: both are the same. A run that fails on
// the way changes nothing.
func TestFeed(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"cpu", "vk"} {
		t.Run(backend, func(t *testing.T) {
			testkit.Built(t, drivers.Built(), backend)
			dev, err := lathe.Open(ctx, quiet, lathe.WithBackend(backend))
			testkit.Opened(t, err)
			defer dev.Close()
			exe, err := dev.Compile(ctx, descent(), graph.Options{})
			if err != nil {
				t.Fatal(err)
			}
			plain, err := dev.Compile(ctx, descent(), graph.Options{})
			if err != nil {
				t.Fatal(err)
			}
			w, x := filled(t, dev, 4), filled(t, dev, 4)
			before := floats(t, w, nil)
			if err := errors.Join(exe.SetParam("w", w), exe.Feed("w", "w.new"), plain.SetParam("w", w)); err != nil {
				t.Fatal(err)
			}
			in := map[string]*lathe.Tensor{"x": x}
			for step := range 7 {
				if step == 3 { // from other weights on
					w := filled(t, dev, 4)
					if err := errors.Join(exe.SetParam("w", w), plain.SetParam("w", w)); err != nil {
						t.Fatal(err)
					}
				}
				got, err := exe.Run(ctx, in)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != 1 {
					t.Errorf("results %v (want the loss)", got)
				}
				want, err := plain.Run(ctx, in)
				if err != nil {
					t.Fatal(err)
				}
				if err := plain.SetParam("w", want["w.new"]); err != nil {
					t.Fatal(err)
				}
				state, err := exe.Param("w")
				if a, b := floats(t, state, err), floats(t, want["w.new"], nil); !slices.Equal(a, b) {
					t.Errorf("step %d: the param is %v, want %v", step, a, b)
				}
				if a, b := floats(t, got["loss"], nil), floats(t, want["loss"], nil); !slices.Equal(a, b) {
					t.Errorf("step %d: the loss is %v, want %v", step, a, b)
				}
			}
			if after := floats(t, w, nil); !slices.Equal(before, after) {
				t.Errorf("the tensor of SetParam has become %v (was %v)", after, before)
			}
			copied, err := exe.Param("w")
			if err != nil {
				t.Fatal(err)
			}
			if err := exe.Free(); err != nil {
				t.Fatal(err)
			}
			if got := floats(t, copied, nil); len(got) != 4 {
				t.Errorf("after Free a copy is %v", got)
			}
			if _, err := exe.Param("w"); !errors.Is(err, lathe.ErrClosed) {
				t.Errorf("a param after Free: %v", err)
			}
		})
	}
}

// TestFeedMistakes feeds wrongly.
func TestFeedMistakes(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	g := graph.New()
	a, b := g.Param("a", tensor.F32, 4), g.Param("b", tensor.F32, 2, 2)
	g.Output("x", g.Neg(a))
	g.Output("y", g.Exp(a))
	g.Output("i", g.Cast(a, tensor.I32))
	g.Output("z", g.Neg(b))
	exe, err := dev.Compile(ctx, g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exe.Param("a"); !errors.Is(err, lathe.ErrNotInitialized) {
		t.Errorf("a param that was not set: %v", err)
	}
	if err := exe.Feed("a", "x"); err != nil {
		t.Fatal(err)
	}
	for text, pair := range map[string][2]string{
		`no param "q"`: {"q", "y"}, `no output "q"`: {"b", "q"}, "f32[2,2]": {"b", "y"}, "i32[4]": {"b", "i"}, `output "x" or param "b" is`: {"b", "x"}, `output "y" or param "a" is`: {"a", "y"},
	} {
		if pair[1] == "x" { // the shape is wrong too
			text = "f32[4]"
		}
		if err := exe.Feed(pair[0], pair[1]); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), text) {
			t.Errorf("feed %v: %v (want %s)", pair, err, text)
		}
	}
	if err := errors.Join(exe.SetParam("a", filled(t, dev, 4)), exe.SetParam("b", filled(t, dev, 2, 2))); err != nil {
		t.Fatal(err)
	}
	four := make([]*lathe.Tensor, 4)
	for i := range four {
		four[i] = filled(t, dev, 4)
	}
	if err := exe.RunInto(ctx, nil, four); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("an output that is fed: %v", err)
	}
	if err := exe.Free(); err != nil {
		t.Fatal(err)
	}
	if err := exe.Feed("b", "z"); !errors.Is(err, lathe.ErrClosed) {
		t.Errorf("feed after Free: %v", err)
	}
}

// TestFeedFaults makes calls of the device fail while a loop runs: the params stay as they were, and Free leaves nothing behind.
func TestFeedFaults(t *testing.T) {
	ctx := context.Background()
	inner, err := cpu.Open(cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	broken := faulty.New(inner)
	dev, err := lathe.Open(ctx, quiet, lathe.WithGPU(broken))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	exe, err := dev.Compile(ctx, descent(), graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, x, loss := filled(t, dev, 4), filled(t, dev, 4), filled(t, dev, 4)
	injected := errors.New("injected")
	left := broken.Calls(faulty.Alloc) - broken.Calls(faulty.Free)
	for i := range 2 {
		broken.Fail(faulty.Alloc, i+1, injected)
		if err := exe.Feed("w", "w.new"); !errors.Is(err, injected) {
			t.Errorf("feed without memory: %v", err)
		}
		if n := broken.Calls(faulty.Alloc) - broken.Calls(faulty.Free) - left; n != 1 { // the one that failed
			t.Errorf("%d buffers are left", n-1)
		}
		left++
	}
	if err := errors.Join(exe.SetParam("w", w), exe.Feed("w", "w.new")); err != nil {
		t.Fatal(err)
	}
	run := func() error { return exe.RunInto(ctx, []*lathe.Tensor{x}, []*lathe.Tensor{loss}) }
	state := func() []float32 {
		s, err := exe.Param("w")
		return floats(t, s, err)
	}
	for range 3 {
		before := state()
		broken.Fail(faulty.Submit, 1, injected)
		if err := run(); !errors.Is(err, injected) {
			t.Errorf("a run that fails: %v", err)
		}
		if after := state(); !slices.Equal(before, after) {
			t.Errorf("a run that fails has made %v of %v", after, before)
		}
		if err := run(); err != nil {
			t.Fatal(err)
		}
	}
	allocs := broken.Calls(faulty.Alloc)
	for range 100 {
		if err := run(); err != nil {
			t.Fatal(err)
		}
	}
	if n := broken.Calls(faulty.Alloc) - allocs; n != 0 {
		t.Errorf("100 runs make %d buffers", n)
	}
	if n := testing.AllocsPerRun(100, func() { _ = run() }); n > 20 {
		t.Errorf("%v allocations a run", n)
	}
	if err := exe.Free(); err != nil {
		t.Fatal(err)
	}
}

// TestFeedModel feeds a param of a model from graphs of two sizes.
func TestFeedModel(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	model := dev.Model(func(g *graph.Graph) {
		x := g.Input("x", tensor.F32, g.Dim("N"))
		sum := g.Param("sum", tensor.F32)
		g.Output("more", g.Add(sum, g.ReduceSum(x)))
	}, graph.Options{})
	defer model.Free()
	zero, err := dev.NewTensor(tensor.Contiguous(tensor.F32))
	if err != nil {
		t.Fatal(err)
	}
	if err := model.SetParam("sum", zero); err != nil {
		t.Fatal(err)
	}
	want := float32(0)
	var last *lathe.Executable
	for i, n := range []int{3, 5, 3, 4} {
		exe, err := model.At(ctx, graph.Dims{"N": n})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := exe.Feed("sum", "more"); err != nil {
				t.Fatal(err)
			}
		}
		x := filled(t, dev, n)
		for _, v := range floats(t, x, nil) {
			want += v
		}
		if out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x}); err != nil || len(out) != 0 {
			t.Fatalf("results %v, %v", out, err)
		}
		last = exe
	}
	sum, err := last.Param("sum")
	if got := floats(t, sum, err); got[0] != want {
		t.Errorf("the sum is %v, want %v", got, want)
	}
}
