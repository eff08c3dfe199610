package gradients_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestMistakes says what Gradients refuses, and with which words. Each mistake is collected with its place.
func TestMistakes(t *testing.T) {
	other := graph.New().Input("x", tensor.F32, 2)
	for name, c := range map[string]struct {
		build func(g *graph.Graph, x *graph.Value) []*graph.Value
		want  string
		is    error
	}{
		"many elements": {func(g *graph.Graph, x *graph.Value) []*graph.Value { return g.Gradients(g.Exp(x), x) }, "the loss is f32[2] (want one element", lathe.ErrInvalidArgument},
		"no loss":       {func(g *graph.Graph, x *graph.Value) []*graph.Value { return g.Gradients(nil, x) }, "the value to differentiate is no value", lathe.ErrInvalidArgument},
		"a number": {func(g *graph.Graph, x *graph.Value) []*graph.Value {
			return g.Gradients(g.ReduceSum(x), graph.Scalar(1))
		}, "value 0 is no value", lathe.ErrInvalidArgument},
		"another graph": {func(g *graph.Graph, x *graph.Value) []*graph.Value { return g.Gradients(g.ReduceSum(x), x, other) }, "a value of another graph (value 1 of gradients)", lathe.ErrInvalidArgument},
		"a view": {func(g *graph.Graph, x *graph.Value) []*graph.Value {
			v := x.Reshape(2, 1)
			return g.Gradients(g.ReduceSum(v), v)
		}, "value 0 is a view", lathe.ErrInvalidArgument},
		"integers": {func(g *graph.Graph, x *graph.Value) []*graph.Value {
			i := g.Input("i", tensor.I32, 2)
			return g.Gradients(g.ReduceSum(x), i)
		}, "value 0 is i32[2] (want floating-point elements)", lathe.ErrInvalidArgument},
		"a seed of another shape": {func(g *graph.Graph, x *graph.Value) []*graph.Value {
			return g.GradientsFrom(g.Exp(x), g.ReduceSum(x), x)
		}, "the seed is f32[] (want f32[2])", lathe.ErrInvalidArgument},
		"an operation without": {func(g *graph.Graph, x *graph.Value) []*graph.Value {
			c := g.Call(ops.Col2Im{ImageShape: []int{2}, BlockShape: []int{2}}, x.Reshape(1, 2, 1))[0]
			return g.Gradients(g.ReduceSum(c), x)
		}, "gradient of col2im: unsupported: the operation declares none", lathe.ErrUnsupported},
		"attributes without": {func(g *graph.Graph, x *graph.Value) []*graph.Value {
			i := g.Input("i", tensor.I32, 2)
			return g.Gradients(g.ReduceSum(g.ScatterElements(x, i, x, 0, "mul")), x)
		}, "gradient of scatter_elements: unsupported: reduction mul", lathe.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New()
			x := g.Input("x", tensor.F32, 2)
			for _, v := range c.build(g, x) {
				g.Output("later "+v.String(), g.Exp(v)) // no mistakes of its own
			}
			err := g.Err()
			if !errors.Is(err, lathe.ErrGraph) || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "mistakes_test.go:") {
				t.Errorf("got %v, want %q with its place", err, c.want)
			}
			if strings.Count(err.Error(), "\n") != 1 {
				t.Errorf("%v (want one mistake)", err)
			}
		})
	}
}

// calls are the names of the operations that a graph calls, and how often.
func calls(t *testing.T, g *graph.Graph) map[string]int {
	t.Helper()
	m, err := g.MIR()
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]int{}
	for _, n := range m.Nodes() {
		if n.Kind == mir.Op {
			list[n.Call.Spec().Name]++
		}
	}
	return list
}

// TestOnlyWhatIsNeeded counts calls: no gradient of a value that nobody asks for, or that the loss does not depend on, is computed.
func TestOnlyWhatIsNeeded(t *testing.T) {
	g := graph.New()
	x, w, unused := g.Input("x", tensor.F32, 3, 4), g.Param("w", tensor.F32, 4, 5), g.Param("unused", tensor.F32, 7)
	loss := g.ReduceMean(g.MatMul(x, w))
	g.Exp(w) // nothing that the loss depends on
	before := calls(t, g)
	d := g.Gradients(loss, w, unused)
	after := calls(t, g)
	if n := after["matmul"] - before["matmul"]; n != 1 {
		t.Errorf("%d products for one gradient (want 1)", n)
	}
	if after["mul"]-before["mul"] != 1 || after["exp"] != 1 {
		t.Errorf("calls %v, before %v", after, before)
	}
	if got := d[1].String(); got != "f32[7]" {
		t.Errorf("the gradient of a value that the loss does not depend on is %s", got)
	}
}

// The gradient of a value is the sum over its readers, and no gradient goes through integers.
func TestReaders(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.F32, 3)
	rounded := g.Cast(g.Cast(x, tensor.I32), tensor.F32)
	d := g.Gradients(g.ReduceSum(g.Add(g.Add(g.Mul(x, x), x), rounded)), x)[0]
	g.Output("d", d)
	dev, err := lathe.Open(t.Context(), lathe.WithBackend("cpu"), lathe.WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	exe, err := dev.Compile(t.Context(), g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Free()
	in, err := lathe.FromSlice(t.Context(), dev, []float32{1, -2, 3.5})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exe.Run(t.Context(), map[string]*lathe.Tensor{"x": in})
	if err != nil {
		t.Fatal(err)
	}
	got, err := lathe.ToSlice[float32](t.Context(), out["d"])
	if err != nil || got[0] != 3 || got[1] != -3 || got[2] != 8 {
		t.Errorf("got %v, %v, want 3, -3, 8", got, err)
	}
}

// A Tape on which nothing was written does nothing.
func TestGradientsOfNothing(t *testing.T) {
	if _, err := spec.Gradients(ops.Exp{}, nil, nil, nil, nil, nil); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("without a graph: %v", err)
	}
}

// TestGradientsOfEmptyProducts multiplies matrices without elements, and leaves out the weights of a norm: their gradients have the shapes of the inputs.
func TestGradientsOfEmptyProducts(t *testing.T) {
	for name, shapes := range map[string][2][]int{"no inner dimension": {{2, 2, 0}, {0, 3}}, "no columns": {{2, 2, 3}, {3, 0}}, "no batch": {{0, 2, 3}, {3, 4}}} {
		g := graph.New()
		a, b := g.Input("a", tensor.F32, shapes[0]...), g.Input("b", tensor.F32, shapes[1]...)
		d := g.Gradients(g.ReduceSum(g.MatMul(a, b)), a, b)
		if err := g.Err(); err != nil || !slices.Equal(d[0].Shape(), shapes[0]) || !slices.Equal(d[1].Shape(), shapes[1]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	g := graph.New()
	x, gamma, beta := g.Input("x", tensor.F32, 3, 4), g.Input("gamma", tensor.F32, 0), g.Input("beta", tensor.F32, 4)
	d := g.Gradients(g.ReduceSum(g.LayerNorm(x, gamma, beta, 1e-5)), x, gamma, beta)
	if err := g.Err(); err != nil || !slices.Equal(d[1].Shape(), []int{0}) || !slices.Equal(d[2].Shape(), []int{4}) {
		t.Errorf("a norm without weights: %v", err)
	}
}
