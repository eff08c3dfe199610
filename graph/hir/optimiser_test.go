package hir_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/hir"
	"github.com/lathe-gpu/lathe/tensor"
)

// steps runs a graph of an optimiser again and again. Its outputs are its params in the next run. It returns those called "param".
func steps(t *testing.T, build func(g *graph.Graph, param, grad *graph.Value), state []string, n int, grads func(step int) []float32) [][]float32 {
	t.Helper()
	dev, err := lathe.Open(t.Context(), lathe.WithBackend("cpu"), lathe.WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	g := graph.New()
	build(g, g.Param("param", tensor.F32, 4), g.Input("grad", tensor.F32, 4))
	exe, err := dev.Compile(t.Context(), g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range state {
		x, err := lathe.FromSlice(t.Context(), dev, []float32{0, 0, 0, 0})
		if name == "step" {
			x, err = lathe.FromSlice(t.Context(), dev, []float32{0})
			if err == nil {
				x, err = x.Reshape()
			}
		}
		if err == nil {
			err = exe.SetParam(name, x)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var list [][]float32
	for k := range n {
		x, err := lathe.FromSlice(t.Context(), dev, grads(k+1))
		if err != nil {
			t.Fatal(err)
		}
		out, err := exe.Run(t.Context(), map[string]*lathe.Tensor{"grad": x})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range state {
			if err := exe.SetParam(name, out[name]); err != nil {
				t.Fatal(err)
			}
		}
		p, err := lathe.ToSlice[float32](t.Context(), out["param"])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// gradient is some gradient of a step. One element is always 0, another one small.
func gradient(step int) []float32 {
	s := float32(math.Sin(float64(step)))
	return []float32{s, 1e-4 * s, 0, 3 - s}
}

// TestAdam compares 300 steps of one compiled graph with the formula in float64.
func TestAdam(t *testing.T) {
	for _, d := range []hir.AdamDecay{{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}, {Beta1: 0, Beta2: 0.5, Eps: 1e-4}} {
		const rate = 0.01
		got := steps(t, func(g *graph.Graph, param, grad *graph.Value) {
			step := g.Add(g.Param("step", tensor.F32), graph.Scalar(1))
			p, m, v := hir.Adam(g, param, grad, g.Param("m", tensor.F32, 4), g.Param("v", tensor.F32, 4), step, graph.Scalar(rate), d)
			g.Output("param", p)
			g.Output("m", m)
			g.Output("v", v)
			g.Output("step", step)
		}, []string{"param", "m", "v", "step"}, 300, gradient)
		var p, m, v [4]float64
		for k, have := range got {
			n := float64(k + 1)
			for i, x := range gradient(k + 1) {
				m[i] = d.Beta1*m[i] + (1-d.Beta1)*float64(x)
				v[i] = d.Beta2*v[i] + (1-d.Beta2)*float64(x)*float64(x)
				p[i] -= rate * m[i] / (1 - math.Pow(d.Beta1, n)) / (math.Sqrt(v[i]/(1-math.Pow(d.Beta2, n))) + d.Eps)
				// A step is about rate, and is rounded by a few units.
				if off := math.Abs(float64(have[i]) - p[i]); !(off <= 2e-6*(rate*n+math.Abs(p[i]))) {
					t.Fatalf("step %d, element %d: %v, in float64 %v", k+1, i, have[i], p[i])
				}
			}
		}
	}
}

// TestSGD compares steps with the formula in float64, with momentum and without, at a rate that is a value.
func TestSGD(t *testing.T) {
	for _, momentum := range []float64{0, 0.9} {
		state := []string{"param"}
		if momentum != 0 {
			state = append(state, "velocity")
		}
		got := steps(t, func(g *graph.Graph, param, grad *graph.Value) {
			var velocity *graph.Value
			if momentum != 0 {
				velocity = g.Param("velocity", tensor.F32, 4)
			}
			p, v := hir.SGD(g, param, grad, velocity, g.Cast(g.Fill(0.125, tensor.F16), tensor.F32), momentum)
			g.Output("param", p)
			if v != nil {
				g.Output("velocity", v)
			}
		}, state, 20, gradient)
		var p, v [4]float64
		for k, have := range got {
			for i, x := range gradient(k + 1) {
				v[i] = momentum*v[i] + float64(x)
				p[i] -= 0.125 * v[i]
				if off := math.Abs(float64(have[i]) - p[i]); !(off <= 1e-6*(1+math.Abs(p[i]))) {
					t.Fatalf("momentum %v, step %d, element %d: %v, in float64 %v", momentum, k+1, i, have[i], p[i])
				}
			}
		}
	}
}

// A step of Adam is one launch.
func TestAdamLaunches(t *testing.T) {
	dev, err := lathe.Open(t.Context(), lathe.WithBackend("cpu"), lathe.WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	g := graph.New()
	in := func(name string, shape ...int) *graph.Value { return g.Param(name, tensor.F32, shape...) }
	p, m, v := hir.Adam(g, in("p", 64, 8), in("g", 64, 8), in("m", 64, 8), in("v", 64, 8), in("step"), graph.Scalar(0.1), hir.AdamDecay{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8})
	g.Output("p", p)
	g.Output("m", m)
	g.Output("v", v)
	plan, err := dev.PlanGraph(g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(plan.String(), "1 call of 25, 1 launch,") {
		t.Errorf("more than one launch:\n%v", plan)
	}
}
