package graphs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/tensor"
)

// doubling is a loop of so many steps as an input says, and an If behind it. It feeds "n.new" to "n".
func doubling() *graph.Graph {
	g := graph.New()
	n := g.Param("n", tensor.I32, 1)
	x := g.Input("x", tensor.F32, 5)
	zero, _ := tensor.FromFloats(tensor.I32, []int{1}, []float64{0})
	s := g.While(values{x, g.Constant(zero)},
		func(g *graph.Graph, s values) *graph.Value { return g.Less(s[1], n) },
		func(g *graph.Graph, s values) values {
			return values{g.Add(s[0], s[0]), g.Add(s[1], graph.Scalar(1))}
		})
	r := g.If(g.Greater(n, graph.Scalar(2)), func(g *graph.Graph) values { return values{g.Neg(s[0])} }, func(g *graph.Graph) values { return values{s[0]} })
	g.Output("y", r[0])
	g.Output("n.new", g.Add(s[1], graph.Scalar(1)))
	return g
}

func doubled(n int) []float32 {
	list := []float32{1, 2, 3, 4, 5}
	for i := range list {
		list[i] *= float32(int(1) << n)
		if n > 2 {
			list[i] = -list[i]
		}
	}
	return list
}

// TestControlFaults makes each call of the device in a run fail. The run returns the error, what is fed stays, and the next run is right.
func TestControlFaults(t *testing.T) {
	ctx := context.Background()
	inner, err := cpu.Open(cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	broken := faulty.New(inner)
	dev, err := lathe.Open(ctx, lathe.WithGPU(broken), lathe.WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	exe := compiled(t, dev, doubling(), graph.Options{})
	if err := errors.Join(exe.SetParam("n", slice(t, dev, []int32{0}, 1)), exe.Feed("n", "n.new")); err != nil {
		t.Fatal(err)
	}
	in := []*lathe.Tensor{slice(t, dev, []float32{1, 2, 3, 4, 5})}
	out := []*lathe.Tensor{slice(t, dev, make([]float32, 5))}
	step := 0
	right := func() {
		t.Helper()
		if err := exe.RunInto(ctx, in, out); err != nil {
			t.Fatal(err)
		}
		got, err := lathe.ToSlice[float32](ctx, out[0])
		if err != nil || !slices.Equal(got, doubled(step)) {
			t.Fatalf("run %d: got %v, %v, want %v", step, got, err, doubled(step))
		}
		step++
	}
	right()
	failed := 0
	for _, kind := range []faulty.Call{faulty.Submit, faulty.Read} {
		for n := 1; n <= 12; n++ {
			injected := errors.New("injected")
			broken.Fail(kind, n, injected)
			if err := exe.RunInto(ctx, in, out); err != nil {
				if !errors.Is(err, injected) {
					t.Errorf("%v %d: %v", kind, n, err)
				}
				failed++
			} else {
				step++
			}
			for broken.Pending() > 0 { // later than the run
				_, _ = lathe.ToSlice[float32](ctx, out[0])
				if broken.Pending() > 0 {
					_, _ = dev.Neg(in[0])
				}
			}
			right()
			if step > 8 {
				if step = 0; exe.SetParam("n", slice(t, dev, []int32{0}, 1)) != nil {
					t.Fatal("set param")
				}
			}
		}
	}
	if failed < 10 {
		t.Errorf("%d runs have failed", failed)
	}
}

// TestControlAllocates runs loops of few and of many steps into tensors that are there: no step allocates, on the host or on the device.
func TestControlAllocates(t *testing.T) {
	testkit.NoRace(t, "allocates")
	inner, err := cpu.Open(cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	counted := faulty.New(inner)
	dev, err := lathe.Open(context.Background(), lathe.WithGPU(counted), lathe.WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	in := []*lathe.Tensor{slice(t, dev, []float32{1, 2, 3, 4, 5})}
	out := []*lathe.Tensor{slice(t, dev, make([]float32, 5)), slice(t, dev, []int32{0}, 1)}
	for _, n := range []int32{1, 101} {
		exe := compiled(t, dev, doubling(), graph.Options{})
		if err := exe.SetParam("n", slice(t, dev, []int32{n}, 1)); err != nil {
			t.Fatal(err)
		}
		run := func() {
			if err := exe.RunInto(context.Background(), in, out); err != nil {
				t.Fatal(err)
			}
		}
		run()
		before := counted.Calls(faulty.Alloc)
		if a := testing.AllocsPerRun(20, run); a > 0 {
			t.Errorf("%v allocations in a run of %d steps", a, n)
		}
		if made := counted.Calls(faulty.Alloc) - before; made != 0 {
			t.Errorf("runs of %d steps make %d buffers", n, made)
		}
	}
}

// TestControlBeside runs executables with control flow beside each other, and one model of several sizes.
func TestControlBeside(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		ctx := context.Background()
		var all sync.WaitGroup
		for n := range 4 {
			exe := compiled(t, dev, doubling(), graph.Options{})
			if err := exe.SetParam("n", slice(t, dev, []int32{int32(n)}, 1)); err != nil {
				t.Fatal(err)
			}
			x := slice(t, dev, []float32{1, 2, 3, 4, 5})
			all.Go(func() {
				for range 5 {
					out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
					if err != nil {
						t.Error(err)
						return
					}
					if got, err := lathe.ToSlice[float32](ctx, out["y"]); err != nil || !slices.Equal(got, doubled(n)) {
						t.Errorf("%d steps: got %v, %v, want %v", n, got, err, doubled(n))
					}
				}
			})
		}
		all.Wait()

		model := dev.Model(func(g *graph.Graph) {
			x := g.Input("x", tensor.F32, g.Dim("N"))
			w := g.Param("w", tensor.F32)
			g.Output("y", g.If(g.Greater(w, graph.Scalar(0)), func(in *graph.Graph) values {
				return values{in.Add(x, w.Expand(g.Dim("N")))}
			}, func(in *graph.Graph) values { return values{in.Sub(x, w)} })[0])
		}, graph.Options{})
		defer model.Free()
		for i, n := range []int{3, 1, 17, 3} {
			w, err := slice(t, dev, []float32{[]float32{2, -2}[i%2]}).Reshape()
			if err != nil {
				t.Fatal(err)
			}
			if err := model.SetParam("w", w); err != nil {
				t.Fatal(err)
			}
			exe, err := model.At(ctx, graph.Dims{"N": n})
			if err != nil {
				t.Fatal(err)
			}
			x := slice(t, dev, make([]float32, n))
			if got := run(t, dev, exe, map[string]*lathe.Tensor{"x": x})["y"]; len(got) != n || slices.ContainsFunc(got, func(v float32) bool { return v != 2 }) {
				t.Errorf("size %d: got %v", n, got)
			}
		}
	})
}

// TestControlRefused refuses what the device or the options do not allow inside of bodies, and uses freed tensors.
func TestControlRefused(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		ctx := context.Background()
		_, err := dev.PlanGraph(doubling(), graph.Options{Supported: []string{"less", "greater", "neg", "copy"}})
		if !errors.Is(err, lathe.ErrGraphRefused) || !strings.Contains(err.Error(), "node 0 of") && !strings.Contains(err.Error(), " body, add") {
			t.Errorf("got %v", err)
		}
		exe := compiled(t, dev, doubling(), graph.Options{})
		if _, err := dev.CompileLIR(ctx, exe.Plan().Program); !errors.Is(err, lathe.ErrUnsupported) || !strings.Contains(err.Error(), "an If or a While") {
			t.Errorf("as a schedule: %v", err)
		}
		n := slice(t, dev, []int32{1}, 1)
		if err := exe.SetParam("n", n); err != nil {
			t.Fatal(err)
		}
		if err := dev.Free(n); err != nil {
			t.Fatal(err)
		}
		x := slice(t, dev, []float32{1, 2, 3, 4, 5})
		if _, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x}); !errors.Is(err, lathe.ErrInvalidHandle) {
			t.Errorf("with a freed param: %v", err)
		}
		if err := exe.SetParam("n", slice(t, dev, []int32{2}, 1)); err != nil {
			t.Fatal(err)
		}
		if got := run(t, dev, exe, map[string]*lathe.Tensor{"x": x}); !slices.Equal(got["y"], doubled(2)) {
			t.Errorf("got %v", got)
		}
	})
}

// TestControlPrecision lowers the products inside of bodies.
func TestControlPrecision(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		g := graph.New()
		x := g.Input("x", tensor.F32, 4, 4)
		s := g.WhileAtMost(2, values{x}, func(g *graph.Graph, s values) *graph.Value {
			return g.Less(g.ReduceMax(s[0]), graph.Scalar(100))
		},
			func(g *graph.Graph, s values) values { return values{g.MatMul(s[0], x)} })
		g.Output("y", s[0])
		in := map[string]*lathe.Tensor{"x": slice(t, dev, []float32{1, 2, 0, 1, 0, 1, 3, 0, 1, 1, 1, 1, 2, 0, 0, 1}, 4, 4)}
		exe := compiled(t, dev, g, graph.Options{Precision: tensor.BF16})
		if n := exe.Plan().Report.Changes["precision"]; n != 1 || !strings.Contains(exe.Plan().Graph.String(), "bf16[4,4]") {
			t.Errorf("%d products in 16 bits of\n%v", n, exe.Plan().Graph)
		}
		// small integers, which are exact in BF16
		if got, want := run(t, dev, exe, in), run(t, dev, compiled(t, dev, g, graph.Options{}), in); !slices.Equal(got["y"], want["y"]) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
