package lathe_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPlanMemory looks at where values lie: a chain of calls that can work in place needs the memory of one value.
func TestPlanMemory(t *testing.T) {
	dev := deviceFor(t)
	plan, err := dev.PlanGraph(chain(10), graph.Options{Without: []string{"fuse", "epilogue"}})
	if err != nil {
		t.Fatal(err)
	}
	const value = 32 * 32 * 4
	b := plan.Program.Bytes
	if b.Arena != b.Lower || b.Arena > 3*value || b.Values != 21*value { // a product may need scratch memory
		t.Errorf("got %+v, want an arena of at most %d, in place of %d", b, 3*value, 21*value)
	}
	if n := len(plan.Program.Steps); n != 22 {
		t.Errorf("got %d calls, want 22", n)
	}
	text := plan.String()
	for _, want := range []string{"matmul", "v0 f32[32,32] input x", "param w", "output y", "arena+", "cse 9", "blas/matmul", fmt.Sprintf("arena %d bytes (at least %d; 86016 without sharing)", b.Arena, b.Lower)} {
		if !strings.Contains(text, want) {
			t.Errorf("the plan has no %q:\n%s", want, text)
		}
	}
	var data struct {
		Inputs, Params []struct {
			Name, Tensor string
			Bytes        int64
		}
		Steps []struct {
			Call, Class string
			Kernels     []string
			Flops       int64
		}
		Launches     int
		Flops, Bytes int64
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &data); err != nil || len(data.Steps) != 22 || data.Launches != plan.Program.Launches() {
		t.Errorf("got %d steps and %d launches, %v, from %s", len(data.Steps), data.Launches, err, raw)
	}
	const product, each = 2 * 32 * 32 * 32, 32 * 32 // of add; tanh counts more
	if c := plan.Cost(); c.Flops < 2*product+10*each || c.Bytes < 22*2*value || c.Flops != data.Flops || c.Bytes != data.Bytes || data.Steps[0].Flops != product {
		t.Errorf("the cost is %+v, and in JSON %d and %d, %d of them of the first product", c, data.Flops, data.Bytes, data.Steps[0].Flops)
	}
	if p := data.Params[0]; p.Name != "w" || p.Tensor != "f32[32,32]" || p.Bytes != value || data.Steps[0].Class != "matrix product" || len(data.Steps[0].Kernels) == 0 {
		t.Errorf("the param is %+v, and the first step %+v", p, data.Steps[0])
	}
}

// TestPlanWidth looks at how a plan with long names and many operands is written.
func TestPlanWidth(t *testing.T) {
	dev := deviceFor(t)
	g := graph.New()
	var list []*graph.Value
	for i := range 12 {
		list = append(list, g.Input(fmt.Sprintf("an.input.with.a.rather.long.name.%d", i), tensor.F32, 1024, 64).Transpose())
	}
	y := g.Concat(0, list...).Label("a label of several words that does not fit into the column of calls")
	g.Output("y", g.Softmax(g.Exp(y), -1))
	g.Output("z", g.Input(strings.Repeat("long", 40), tensor.F32))
	plan, err := dev.PlanGraph(g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := plan.String()
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 120 || strings.TrimRight(line, " \n")+"\n" != line && line != "\n" {
			t.Errorf("%d characters, or spaces at the end: %q", n, line)
		}
	}
	if !strings.Contains(text, " an.input.with.a.rather.long.name.11\n") {
		t.Errorf("a name is divided:\n%s", text)
	}
}

// TestPasses counts what the passes do, and what they leave alone if they are off.
func TestPasses(t *testing.T) {
	dev := deviceFor(t)
	g := graph.New()
	x := g.Input("x", tensor.F32, 4, 5)
	c := g.Exp(g.Constant(tensor.NewHost(tensor.Contiguous(tensor.F32, 5)))) // of constants only
	a, b := g.Add(g.Sin(x), c), g.Add(g.Sin(x), c)                           // the same twice
	g.Cos(x)                                                                 // dead
	g.Output("y", g.Mul(a, b))
	g.Output("again", x.Transpose())
	for _, c := range []struct {
		without     []string
		calls, once int
	}{
		{[]string{"fuse"}, 4, 1}, // sin, add, mul, and a copy for the view
		{[]string{"fuse", "cse"}, 6, 1},
		{[]string{"fuse", "dce"}, 5, 1},
		{[]string{"fuse", "cse", "dce"}, 7, 1},
		{nil, 2, 1}, // what depends on constants only is not joined with the rest
	} {
		plan, err := dev.PlanGraph(g, graph.Options{Without: c.without})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(plan.Program.Steps); got != c.calls || len(plan.Program.Once) != c.once {
			t.Errorf("without %q: %d calls and %d once (want %d and %d):\n%v", c.without, got, len(plan.Program.Once), c.calls, c.once, plan)
		}
	}
	if _, err := dev.PlanGraph(g, graph.Options{Without: []string{"magic"}}); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("an unknown pass: %v", err)
	}
}

// TestFusion looks at which calls become one launch, and which must not.
func TestFusion(t *testing.T) {
	dev := deviceFor(t)
	for _, c := range []struct {
		name     string
		build    func(g *graph.Graph, x, w *graph.Value)
		calls    int // that are left
		fused    int // calls in shared launches
		launches int // of fused calls
		missed   string
	}{
		{"a chain", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.Tanh(g.Mul(g.Add(x, w), x))) }, 1, 3, 1, ""},
		{"a row is broadcast", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.Exp(g.Add(x, w.Narrow(0, 0, 1)))) }, 1, 2, 1, ""},
		{"branches meet", func(g *graph.Graph, x, w *graph.Value) {
			a := g.Exp(x)
			g.Output("y", g.Add(g.Sin(a), g.Cos(a)))
		}, 1, 4, 1, ""},
		{"a value between is an output", func(g *graph.Graph, x, w *graph.Value) {
			a := g.Exp(x)
			g.Output("a", a)
			g.Output("y", g.Sin(a))
		}, 1, 2, 1, ""},
		{"another call reads a value between", func(g *graph.Graph, x, w *graph.Value) {
			a := g.Exp(x)
			g.Output("y", g.Sin(a))
			g.Output("m", g.MatMul(a, w))
		}, 2, 2, 1, ""},
		{"a product between", func(g *graph.Graph, x, w *graph.Value) {
			a := g.Exp(x)
			g.Output("y", g.Add(g.MatMul(a, w), a))
		}, 3, 0, 0, "a call between them cannot be fused"},
		{"outputs of two shapes", func(g *graph.Graph, x, w *graph.Value) {
			a := g.Exp(w.Narrow(0, 0, 1))
			g.Output("a", a)
			g.Output("y", g.Add(x, a))
		}, 2, 0, 0, "shapes"},
		{"a transposed value", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.Sin(g.Exp(x).Transpose())) }, 2, 0, 0, ""},
		{"a call that is no function of single elements", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.Sin(g.Softmax(x, -1))) }, 2, 0, 0, ""},
		{"more than 32 calls", func(g *graph.Graph, x, w *graph.Value) {
			for range 40 {
				x = g.Tanh(x)
			}
			g.Output("y", x)
		}, 2, 40, 2, "more than 32 calls"},
		{"two groups that need each other", func(g *graph.Graph, x, w *graph.Value) {
			a, b := g.Exp(x), g.Exp(w)
			p, q := g.MatMul(a, x), g.MatMul(b, x)
			g.Output("y", g.Add(p, b)) // with b it needs a, and the other one needs b with a
			g.Output("z", g.Add(q, a))
		}, 5, 2, 1, "a call between them cannot be fused"},
	} {
		g := graph.New()
		c.build(g, g.Input("x", tensor.F32, 16, 16), g.Input("w", tensor.F32, 16, 16))
		plan, err := dev.PlanGraph(g, graph.Options{Without: []string{"epilogue", "prologue"}})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		f := plan.Report.Fusion
		if n := len(plan.Program.Steps); n != c.calls || f.Calls != c.fused || f.Launches != c.launches {
			t.Errorf("%s: %d calls, %d of %d in shared launches (want %d, %d of %d)\n%v", c.name, n, f.Launches, f.Calls, c.calls, c.launches, c.fused, plan)
		}
		if found := slices.ContainsFunc(f.Missed, func(m graph.Missed) bool { return c.missed != "" && strings.Contains(m.Reason, c.missed) }); found != (c.missed != "") {
			t.Errorf("%s: missed %v, want %q", c.name, f.Missed, c.missed)
		}
	}
}

// TestEpilogues looks which elementwise calls are computed by the kernels of the calls whose results they read, and which are not.
func TestEpilogues(t *testing.T) {
	dev := deviceFor(t)
	for _, c := range []struct {
		name      string
		build     func(g *graph.Graph, x, w *graph.Value)
		calls     int // that are left
		epilogues int
		missed    string
	}{
		{"a bias and an activation", func(g *graph.Graph, x, w *graph.Value) {
			g.Output("y", g.ReLU(g.Add(g.MatMul(x, w), w.Narrow(0, 0, 1))))
		}, 1, 1, ""},
		{"a residual", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.Add(x, g.MatMul(x, w))) }, 1, 1, ""},
		{"a scale behind a norm", func(g *graph.Graph, x, w *graph.Value) {
			g.Output("y", g.Mul(g.RMSNorm(x, w.Narrow(0, 0, 1).Reshape(16), -1, 1e-5), graph.Scalar(2.0)))
		}, 1, 1, ""},
		{"a reshaped result", func(g *graph.Graph, x, w *graph.Value) {
			g.Output("y", g.Add(g.MatMul(x, w).Reshape(4, 4, 16), w.Reshape(4, 4, 16)))
		}, 1, 1, ""},
		{"two products", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.Mul(g.MatMul(x, w), g.MatMul(w, x))) }, 2, 1, ""},
		{"one product twice", func(g *graph.Graph, x, w *graph.Value) {
			p := g.MatMul(x, w)
			g.Output("y", g.Mul(p, p))
		}, 2, 0, ""},
		{"the result is an output", func(g *graph.Graph, x, w *graph.Value) {
			p := g.MatMul(x, w)
			g.Output("p", p)
			g.Output("y", g.ReLU(p))
		}, 2, 0, ""},
		{"another call reads the result", func(g *graph.Graph, x, w *graph.Value) {
			p := g.MatMul(x, w)
			g.Output("y", g.ReLU(p))
			g.Output("z", g.Softmax(p, -1))
		}, 3, 0, ""},
		{"a transposed result", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.ReLU(g.MatMul(x, w).Transpose())) }, 2, 0, ""},
		{"a result that is broadcast", func(g *graph.Graph, x, w *graph.Value) {
			g.Output("y", g.Add(g.ReduceSum(x, 0), w))
		}, 2, 0, "not in the kernel of reduce_sum"},
		{"a result of another type", func(g *graph.Graph, x, w *graph.Value) {
			g.Output("y", g.Greater(g.MatMul(x, w), w))
		}, 2, 0, "not in the kernel of matmul"},
	} {
		g := graph.New()
		c.build(g, g.Input("x", tensor.F32, 16, 16), g.Input("w", tensor.F32, 16, 16))
		plan, err := dev.PlanGraph(g, graph.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		f := plan.Report.Fusion
		if n := len(plan.Program.Steps); n != c.calls || f.Epilogues != c.epilogues || plan.Report.Changes["epilogue"] != c.epilogues {
			t.Errorf("%s: %d calls, %d epilogues (want %d, %d)\n%v", c.name, n, f.Epilogues, c.calls, c.epilogues, plan)
		}
		if found := slices.ContainsFunc(f.Missed, func(m graph.Missed) bool { return strings.Contains(m.Reason, c.missed) }); found != (c.missed != "") && c.missed != "" {
			t.Errorf("%s: missed %v, want %q", c.name, f.Missed, c.missed)
		}
	}
}

// TestPrologues looks which elementwise calls are computed by the kernels of reductions, norms and softmax, and which are not.
func TestPrologues(t *testing.T) {
	dev := deviceFor(t)
	for _, c := range []struct {
		name             string
		build            func(g *graph.Graph, x, w *graph.Value)
		calls, prologues int
	}{
		{"a scale and a mask", func(g *graph.Graph, x, w *graph.Value) {
			g.Output("y", g.Softmax(g.Add(g.Mul(x, graph.Scalar(0.5)), w), -1))
		}, 1, 1},
		{"a residual in front of a norm", func(g *graph.Graph, x, w *graph.Value) {
			g.Output("y", g.RMSNorm(g.Add(x, w), w.Narrow(0, 0, 1).Reshape(16), -1, 1e-5))
		}, 1, 1},
		{"a sum of squares of differences", func(g *graph.Graph, x, w *graph.Value) {
			d := g.Sub(x, w)
			g.Output("y", g.ReduceSum(g.Mul(d, d), 0, 1))
		}, 1, 1},
		{"a prologue and an epilogue", func(g *graph.Graph, x, w *graph.Value) {
			g.Output("y", g.Mul(g.ReduceSum(g.Add(x, w), 1), w.Narrow(0, 0, 1).Reshape(16)))
		}, 1, 1},
		{"the sum is an output", func(g *graph.Graph, x, w *graph.Value) {
			s := g.Add(x, w)
			g.Output("s", s)
			g.Output("y", g.Softmax(s, -1))
		}, 2, 0},
		{"the sum has two readers", func(g *graph.Graph, x, w *graph.Value) {
			s := g.Add(x, w)
			g.Output("y", g.Softmax(s, -1))
			g.Output("z", g.Softmax(s, 0))
		}, 3, 0},
		{"a product", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.MatMul(g.Add(x, w), w)) }, 2, 0},
		{"only rows are read", func(g *graph.Graph, x, w *graph.Value) {
			g.Output("y", g.Softmax(g.Add(x.Narrow(0, 0, 1), w.Narrow(1, 0, 1)), -1))
		}, 2, 0},
	} {
		g := graph.New()
		c.build(g, g.Input("x", tensor.F32, 16, 16), g.Input("w", tensor.F32, 16, 16))
		plan, err := dev.PlanGraph(g, graph.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if n := len(plan.Program.Steps); n != c.calls || plan.Report.Fusion.Prologues != c.prologues || plan.Report.Changes["prologue"] != c.prologues {
			t.Errorf("%s: %d calls, %d prologues (want %d, %d)\n%v", c.name, n, plan.Report.Fusion.Prologues, c.calls, c.prologues, plan)
		}
	}
}

// TestGraphMistakes builds graphs wrongly: all mistakes are listed with their places.
func TestGraphMistakes(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	g := graph.New()
	x := g.Input("x", tensor.F32, 4, 5)
	bad := g.MatMul(x, x)
	g.Output("y", g.Add(bad, x)) // no mistake of its own
	g.Input("x", tensor.F32)
	x.Narrow(0, 3, 2)
	g.Add(graph.Scalar(1), graph.Scalar(2))
	other := graph.New().Input("z", tensor.F32, 4, 5)
	g.Add(x, other)
	g.Output("w", nil)
	g.Output("v", graph.Scalar(1).Transpose())
	_, err := dev.Compile(ctx, g, graph.Options{})
	if !errors.Is(err, lathe.ErrGraph) || !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Fatalf("got %v", err)
	}
	lines := strings.Split(err.Error(), "\n\t")
	if len(lines) != 8 {
		t.Errorf("got %d lines, want one and 7 mistakes:\n%v", len(lines), err)
	}
	for _, l := range lines[1:] {
		if !strings.Contains(l, "(executable_plan_test.go:") {
			t.Errorf("no place in %q", l)
		}
	}
	for name, g := range map[string]*graph.Graph{"none": nil, "zero": {}, "empty": graph.New()} {
		if _, err := dev.Compile(ctx, g, graph.Options{}); err == nil {
			t.Errorf("compiled a graph: %s", name)
		}
	}
}

// TestGraphKeepsNothing changes slices after they were given to a graph.
func TestGraphKeepsNothing(t *testing.T) {
	g := graph.New()
	pads := []int{1, 0}
	shape := []int{3}
	h := tensor.NewHost(tensor.Contiguous(tensor.F32, 3))
	y := g.Call(ops.PadTensor{Pads: pads}, g.Input("x", tensor.F32, shape...))[0]
	c := g.Constant(h)
	pads[0], pads[1], shape[0], h.Shape[0] = 0, 7, 9, 9
	if y.Shape()[0] != 4 || c.Shape()[0] != 3 {
		t.Errorf("got %v and %v", y, c)
	}
	g.Output("y", y)
	g.Output("c", c)
	plan, err := deviceFor(t).PlanGraph(g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if text := plan.String(); !strings.Contains(text, "pads=1,0") {
		t.Error(text)
	}
}

// TestManyMistakes makes more mistakes than a graph keeps.
func TestManyMistakes(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.F32, 2, 3)
	for range 130 {
		g.MatMul(x, x)
	}
	if text := g.Err().Error(); !strings.HasSuffix(text, "and 30 more") {
		t.Error(text[len(text)-80:])
	}
}

// TestSelfDifference subtracts values from themselves in a fused call: compilers would make 0 of that.
func TestSelfDifference(t *testing.T) {
	for _, backend := range []string{"cpu", "vk"} {
		dev, err := lathe.Open(context.Background(), quiet, lathe.WithBackend(backend))
		if errors.Is(err, lathe.ErrNoDevice) {
			continue // a program without a driver; tests/graphs fails where there must be one
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		g := graph.New()
		x, w := g.Input("x", tensor.F32, 4), g.Input("w", tensor.F32, 4)
		y := g.Neg(x)
		g.Output("a", g.Sub(y, y))
		g.Output("b", g.Sub(g.Add(x, w), g.Add(w, x)))
		g.Output("c", g.Neg(g.Sub(x, x)))
		exe, err := dev.Compile(ctx, g, graph.Options{Without: []string{"cse"}})
		if err != nil {
			t.Fatal(err)
		}
		inf := float32(math.Inf(1))
		in, err := lathe.FromSlice(ctx, dev, []float32{float32(math.NaN()), inf, -inf, 1}, 4)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": in, "w": filled(t, dev, 4)})
		if err != nil {
			t.Fatal(err)
		}
		for name, r := range out {
			v, err := lathe.ToSlice[float32](ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range v {
				if (i < 3) != (e != e) || i == 3 && e != 0 {
					t.Errorf("%s: %s is %v", backend, name, v)
				}
			}
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkCompile is the time that a graph of 1000 calls takes to compile, without its kernels.
func BenchmarkCompile(b *testing.B) {
	dev, err := lathe.Open(context.Background(), quiet, lathe.WithGPU(sink{null.NewRecorder(nil)}))
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	for b.Loop() {
		if _, err := dev.PlanGraph(chain(499), graph.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
