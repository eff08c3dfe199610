package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestStackPlans counts the products that become one, of graphs of three products.
func TestStackPlans(t *testing.T) {
	const n, d, c = 3, 5, 7
	weight := func(g *graph.Graph, shape ...int) *graph.Value {
		return numbers(t, g, tensor.F32, shape, make([]float64, tensor.Contiguous(tensor.F32, shape...).Elems())...)
	}
	// each reads each of three products so that it takes strides.
	each := func(g *graph.Graph, parts ...*graph.Value) {
		for i, v := range parts {
			g.Output(fmt.Sprint("y", i), g.MatMul(v.Transpose(), v))
		}
	}
	products := func(g *graph.Graph, x *graph.Value, w ...*graph.Value) []*graph.Value {
		var parts []*graph.Value
		for _, v := range w {
			parts = append(parts, g.MatMul(x, v))
		}
		return parts
	}
	for _, e := range []struct {
		name   string
		joined int
		build  func(g *graph.Graph, x *graph.Value)
	}{
		{"constants", 2, func(g *graph.Graph, x *graph.Value) {
			// Constants that are equal are one, and so are their products.
			each(g, products(g, x, weight(g, d, c), weight(g, d, c+1), weight(g, d, c+2))...)
		}},
		{"what depends on constants", 2, func(g *graph.Graph, x *graph.Value) {
			each(g, products(g, x, g.Exp(weight(g, d, c)), weight(g, c, d).Transpose(), weight(g, d, c+2))...)
		}},
		{"params", 0, func(g *graph.Graph, x *graph.Value) {
			each(g, products(g, x, g.Param("a", tensor.F32, d, c), g.Param("b", tensor.F32, d, c), g.Param("c", tensor.F32, d, c))...)
		}},
		{"one param of three", 1, func(g *graph.Graph, x *graph.Value) {
			each(g, products(g, x, g.Param("a", tensor.F32, d, c), weight(g, d, c), weight(g, d, c+1))...)
		}},
		{"another input", 0, func(g *graph.Graph, x *graph.Value) {
			each(g, g.MatMul(x, weight(g, d, c)), g.MatMul(g.Exp(x), weight(g, d, c)))
		}},
		{"another attribute", 0, func(g *graph.Graph, x *graph.Value) {
			each(g, g.MatMul(x, weight(g, d, c)), g.Call(ops.MatMul{TransB: true}, x, weight(g, c, d))[0])
		}},
		{"constants only", 0, func(g *graph.Graph, _ *graph.Value) {
			x := weight(g, n, d)
			each(g, g.MatMul(x, weight(g, d, c)), g.MatMul(x, weight(g, d, c+1)))
		}},
		{"an output", 0, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1))
			each(g, parts...)
			g.Output("z", parts[1])
		}},
		{"a view that is an output", 0, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1))
			each(g, parts...)
			g.Output("z", parts[0].Narrow(0, 0, 1))
		}},
		{"two have an epilogue", 0, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1), weight(g, d, c+2))
			each(g, g.Exp(parts[0]), g.Neg(parts[1]), parts[2])
		}},
		{"one has an epilogue", 1, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1), weight(g, d, c+2))
			each(g, g.Exp(parts[0]), parts[1], parts[2])
		}},
		{"an elementwise call of a part of one", 1, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1))
			each(g, g.Mul(parts[0].Narrow(0, 0, 2), g.Input("z", tensor.F32, 2, c)), parts[1])
		}},
		{"a reader without strides", 1, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1), weight(g, d, c+2))
			each(g, parts[0], parts[1], g.Softmax(parts[2], -1))
		}},
		{"too large", 0, func(g *graph.Graph, _ *graph.Value) {
			x := g.Input("large", tensor.F32, 1<<22, 2)
			for i, v := range products(g, x, weight(g, 2, 4), weight(g, 2, 5)) {
				g.Output(fmt.Sprint("y", i), g.ReduceSum(g.MatMul(v, weight(g, 4+i, 1))))
			}
		}},
		{"biases and activations", 2, func(g *graph.Graph, x *graph.Value) {
			var parts []*graph.Value
			for i := range 3 {
				parts = append(parts, g.ReLU(g.Add(weight(g, c+i), g.MatMul(x, weight(g, d, c+i)))))
			}
			each(g, parts...)
		}},
		{"biases on different sides", 0, func(g *graph.Graph, x *graph.Value) {
			each(g, g.Sub(weight(g, c), g.MatMul(x, weight(g, d, c))), g.Sub(g.MatMul(x, weight(g, d, c+1)), weight(g, c+1)))
		}},
		{"biases that are params", 0, func(g *graph.Graph, x *graph.Value) {
			each(g, g.Add(g.MatMul(x, weight(g, d, c)), g.Param("a", tensor.F32, c)), g.Add(g.MatMul(x, weight(g, d, c+1)), g.Param("b", tensor.F32, c+1)))
		}},
	} {
		t.Run(e.name, func(t *testing.T) {
			g := graph.New()
			e.build(g, g.Input("x", tensor.F32, n, d))
			plan, err := graph.Compile(g, roomy, graph.Options{})
			if err != nil {
				t.Fatal(err)
			}
			without, err := graph.Compile(g, roomy, graph.Options{Without: []string{"stack"}})
			if err != nil {
				t.Fatal(err)
			}
			if got := plan.Report.Changes["stack"]; got != e.joined || strings.Contains(plan.Graph.String(), "= concat") != (e.joined > 0) {
				t.Errorf("%d joined (want %d):\n%v", got, e.joined, plan.Graph)
			}
			if a, b := len(plan.Program.Steps), len(without.Program.Steps); a > b || e.joined > 0 && a == b {
				t.Errorf("%d calls, and %d without the pass:\n%v\n%v", a, b, plan.Graph, without.Graph)
			}
		})
	}
}
