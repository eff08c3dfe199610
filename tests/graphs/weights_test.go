package graphs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/tensor"
)

// weighted is a graph whose weights go through calls of their own, a strided view and kernels that pack them. declare is Graph.Param or Graph.Weight.
func weighted(declare func(*graph.Graph, string, tensor.DType, ...int) *graph.Value, rows int) *graph.Graph {
	g := graph.New()
	x := g.Input("x", tensor.F32, rows, 37)
	w, v := declare(g, "w", tensor.F32, 37, 23), declare(g, "v", tensor.F32, 11, 23)
	scaled := g.Mul(w, g.Add(g.Param("scale", tensor.F32, 1), graph.Scalar(1))) // a param that may change stays in each run
	h := g.MatMul(x, g.Tanh(w).Label("tanh of w"))
	h = g.Add(h, g.MatMul(x, scaled))
	h = g.MatMul(h, v.Transpose(1, 0))
	h = g.LayerNorm(h, declare(g, "gamma", tensor.F32, 11), nil, 1e-5)
	g.Output("y", g.MatMul(h, g.Constant(ramp(11, 5))))
	return g
}

// ramp is a matrix of small numbers.
func ramp(shape ...int) *tensor.Host {
	h := tensor.NewHost(tensor.Contiguous(tensor.F32, shape...))
	values := make([]float64, h.Desc.Elems())
	for i := range values {
		values[i] = float64(i%13)/8 - 0.7
	}
	h, err := tensor.FromFloats(tensor.F32, shape, values)
	if err != nil {
		panic(err)
	}
	return h
}

// TestWeights compares a graph of weights with one of params that may change, bit for bit: at first, after weights were set again, and with runs in
// flight between two settings.
func TestWeights(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"cpu", "vk", "wgpu"} {
		t.Run(backend, func(t *testing.T) {
			dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			defer dev.Close()
			upload := func(factor float32, shape ...int) *lathe.Tensor {
				data := make([]float32, tensor.Contiguous(tensor.F32, shape...).Elems())
				for i := range data {
					data[i] = factor * (float32((i*29)%31)/16 - 0.9)
				}
				x, err := lathe.FromSlice(ctx, dev, data, shape...)
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
			plain, err := dev.Compile(ctx, weighted((*graph.Graph).Param, 19), graph.Options{})
			if err != nil {
				t.Fatal(err)
			}
			exe, err := dev.Compile(ctx, weighted((*graph.Graph).Weight, 19), graph.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p, q := exe.Plan().Program, plain.Plan().Program
			if len(p.Prepare) != 1 || p.Launches() >= q.Launches() || len(q.Prepare) != 0 {
				t.Errorf("%d calls once a weight is set, and %d launches a run (want 1, and fewer than %d):\n%v", len(p.Prepare), p.Launches(), q.Launches(), exe.Plan())
			}
			if text := exe.Plan().String(); !strings.Contains(text, "once a weight is set") || backend == "cpu" && (p.Bytes.Packed == 0 || !strings.Contains(text, "(once)") || !strings.Contains(text, "packed")) {
				t.Errorf("the plan does not say what runs once:\n%s", text)
			}
			x, scale := upload(1, 19, 37), upload(1)
			var waiting []*lathe.Tensor // results of the executable, which are read after all runs
			var want [][]float32
			for round := range 4 {
				factor := float32(round%3) + 1
				w, v, gamma := upload(factor, 37, 23), upload(factor/2, 11, 23), upload(factor/4, 11)
				for _, e := range []*lathe.Executable{plain, exe} {
					if round < 3 {
						err = errors.Join(e.SetParam("w", w), e.SetParam("v", v), e.SetParam("scale", scale))
					}
					if err = errors.Join(err, e.SetParam("gamma", gamma)); err != nil { // the last round sets this one alone
						t.Fatal(err)
					}
				}
				for range 2 {
					a, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
					if err != nil {
						t.Fatal(err)
					}
					b, err := plain.Run(ctx, map[string]*lathe.Tensor{"x": x})
					if err != nil {
						t.Fatal(err)
					}
					waiting = append(waiting, a["y"])
					list, err := lathe.ToSlice[float32](ctx, b["y"])
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, list)
				}
			}
			for i, y := range waiting {
				got, err := lathe.ToSlice[float32](ctx, y)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want[i]) {
					t.Errorf("run %d: the results of weights and of params differ", i)
				}
			}
			if slices.Equal(want[0], want[2]) || slices.Equal(want[5], want[6]) {
				t.Error("the results do not depend on the weights")
			}
			out, err := dev.NewTensor(tensor.Contiguous(tensor.F32, 19, 5))
			if err != nil {
				t.Fatal(err)
			}
			in, outs := []*lathe.Tensor{x}, []*lathe.Tensor{out}
			if n := testing.AllocsPerRun(100, func() {
				if err := exe.RunInto(ctx, in, outs); err != nil {
					t.Fatal(err)
				}
			}); n > 0.5 && backend == "cpu" { // a driver allocates for each batch of runs
				t.Errorf("%v allocations a run", n)
			}
		})
	}
}

// TestWeightsOfModels sets weights that two graphs of one model share, and runs the graphs in turn.
func TestWeightsOfModels(t *testing.T) {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithBackend("cpu"), lathe.WithLogger(nil))
	testkit.Opened(t, err)
	defer dev.Close()
	model := func(declare func(*graph.Graph, string, tensor.DType, ...int) *graph.Value) *lathe.Model {
		return dev.Model(func(g *graph.Graph) {
			x := g.Input("x", tensor.F32, g.Dim("ROWS"), 8)
			g.Output("y", g.MatMul(x, g.Exp(declare(g, "w", tensor.F32, 8, 8))))
		}, graph.Options{})
	}
	weights, params := model((*graph.Graph).Weight), model((*graph.Graph).Param)
	defer weights.Free()
	defer params.Free()
	for round := range 3 {
		w := fromFloats(t, dev, float64(round), 8, 8)
		if err := errors.Join(weights.SetParam("w", w), params.SetParam("w", w)); err != nil {
			t.Fatal(err)
		}
		for _, rows := range []int{3, 5, 3} {
			x := fromFloats(t, dev, 1, rows, 8)
			var lists [2][]float32
			for i, m := range []*lathe.Model{weights, params} {
				exe, err := m.At(ctx, graph.Dims{"ROWS": rows})
				if err != nil {
					t.Fatal(err)
				}
				lists[i] = run(t, dev, exe, map[string]*lathe.Tensor{"x": x})["y"]
			}
			if !slices.Equal(lists[0], lists[1]) {
				t.Errorf("round %d, %d rows: %v, want %v", round, rows, lists[0], lists[1])
			}
		}
	}
}

func fromFloats(t *testing.T, dev *lathe.Device, factor float64, shape ...int) *lathe.Tensor {
	t.Helper()
	h := ramp(shape...)
	data := make([]float32, h.Desc.Elems())
	for i, v := range h.Floats() {
		data[i] = float32(v * factor)
	}
	x, err := lathe.FromSlice(context.Background(), dev, data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestWeightsAreNotFed feeds a weight, which is an error that says what to do.
func TestWeightsAreNotFed(t *testing.T) {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithBackend("cpu"), lathe.WithLogger(nil))
	testkit.Opened(t, err)
	defer dev.Close()
	g := graph.New()
	g.Output("w.new", g.Exp(g.Weight("w", tensor.F32, 4)))
	exe, err := dev.Compile(ctx, g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := exe.Feed("w", "w.new"); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), "declare it with Param") {
		t.Errorf("got %v", err)
	}
	if _, err := exe.Run(ctx, nil); !errors.Is(err, lathe.ErrNotInitialized) {
		t.Errorf("a run without the weight: %v", err)
	}
}

// TestWeightsInBodies reads weights in the bodies of an If and a While, as they are, through calls and through strided views, and compares the results with those of
// params that may change, after each of the weights was set.
func TestWeightsInBodies(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"cpu", "vk", "wgpu"} {
		t.Run(backend, func(t *testing.T) {
			dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			defer dev.Close()
			build := func(declare func(*graph.Graph, string, tensor.DType, ...int) *graph.Value) *graph.Graph {
				g := graph.New()
				x, w, v := g.Input("x", tensor.F32, 5, 7), declare(g, "w", tensor.F32, 7, 7), declare(g, "v", tensor.F32, 7, 7)
				both := g.Mul(g.Tanh(w), graph.Scalar(0.25))
				y := g.If(g.Greater(g.ReduceMax(w), graph.Scalar(1)), func(g *graph.Graph) []*graph.Value {
					return []*graph.Value{g.MatMul(g.MatMul(x, both), v.Transpose())}
				}, func(g *graph.Graph) []*graph.Value { return []*graph.Value{g.MatMul(x, w)} })[0]
				s := g.WhileAtMost(4, []*graph.Value{y}, func(g *graph.Graph, s []*graph.Value) *graph.Value {
					return g.Less(g.ReduceMax(g.Abs(s[0])), graph.Scalar(50))
				}, func(g *graph.Graph, s []*graph.Value) []*graph.Value {
					return []*graph.Value{g.Add(g.MatMul(s[0], g.Add(v, both)), s[0])}
				})
				g.Output("y", s[0])
				return g
			}
			var exes []*lathe.Executable
			for _, declare := range []func(*graph.Graph, string, tensor.DType, ...int) *graph.Value{(*graph.Graph).Weight, (*graph.Graph).Param} {
				exe, err := dev.Compile(ctx, build(declare), graph.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer exe.Free()
				exes = append(exes, exe)
			}
			if p := exes[0].Plan().Program; len(p.Prepare) < 2 {
				t.Errorf("only %d calls are hoisted\n%v", len(p.Prepare), exes[0].Plan())
			}
			x, seen := fromFloats(t, dev, 1, 5, 7), map[float32]bool{}
			for round, name := range []string{"w", "v", "w", "v", "w"} {
				var lists [2][]float32
				for k, exe := range exes {
					if round == 0 {
						if err := exe.SetParam("v", fromFloats(t, dev, 0.5, 7, 7)); err != nil {
							t.Fatal(err)
						}
					}
					if err := exe.SetParam(name, fromFloats(t, dev, []float64{1, 1.5, 4, -0.5, 2}[round], 7, 7)); err != nil {
						t.Fatal(err)
					}
					for range 2 {
						lists[k] = run(t, dev, exe, map[string]*lathe.Tensor{"x": x})["y"]
					}
				}
				if !slices.Equal(lists[0], lists[1]) {
					t.Errorf("round %d: %v, want %v", round, lists[0], lists[1])
				}
				seen[lists[1][0]] = true
			}
			if len(seen) != 5 {
				t.Errorf("the results do not depend on the weights: %v", seen)
			}
		})
	}
}
