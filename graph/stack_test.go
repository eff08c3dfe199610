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
		missed []string // the reasons, in the order of the nodes
	}{
		{"constants", 2, func(g *graph.Graph, x *graph.Value) {
			// Constants that are equal are one, and so are their products.
			each(g, products(g, x, weight(g, d, c), weight(g, d, c+1), weight(g, d, c+2))...)
		}, nil},
		{"what depends on constants", 2, func(g *graph.Graph, x *graph.Value) {
			each(g, products(g, x, g.Exp(weight(g, d, c)), weight(g, c, d).Transpose(), weight(g, d, c+2))...)
		}, nil},
		{"params", 0, func(g *graph.Graph, x *graph.Value) {
			each(g, products(g, x, g.Param("a", tensor.F32, d, c), g.Param("b", tensor.F32, d, c), g.Param("c", tensor.F32, d, c))...)
		}, []string{"declare it with Weight", "declare it with Weight", "declare it with Weight"}},
		{"one param of three", 1, func(g *graph.Graph, x *graph.Value) {
			each(g, products(g, x, g.Param("a", tensor.F32, d, c), weight(g, d, c), weight(g, d, c+1))...)
		}, []string{"declare it with Weight"}},
		{"another input", 0, func(g *graph.Graph, x *graph.Value) {
			each(g, g.MatMul(x, weight(g, d, c)), g.MatMul(g.Exp(x), weight(g, d, c)))
		}, nil},
		{"another attribute", 0, func(g *graph.Graph, x *graph.Value) {
			each(g, g.MatMul(x, weight(g, d, c)), g.Call(ops.MatMul{TransB: true}, x, weight(g, c, d))[0])
		}, nil},
		{"constants only", 0, func(g *graph.Graph, _ *graph.Value) {
			x := weight(g, n, d)
			each(g, g.MatMul(x, weight(g, d, c)), g.MatMul(x, weight(g, d, c+1)))
		}, nil},
		{"an output", 0, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1))
			each(g, parts...)
			g.Output("z", parts[1])
		}, []string{"no other call", "its result is an output"}},
		{"a view that is an output", 0, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1))
			each(g, parts...)
			g.Output("z", parts[0].Narrow(0, 0, 1))
		}, []string{"an output is a view", "no other call"}},
		{"two have an epilogue", 0, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1), weight(g, d, c+2))
			each(g, g.Exp(parts[0]), g.Neg(parts[1]), parts[2])
		}, []string{"no other call", "no other call", "no other call"}},
		{"one has an epilogue", 1, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1), weight(g, d, c+2))
			each(g, g.Exp(parts[0]), parts[1], parts[2])
		}, []string{"no other call"}},
		{"an elementwise call of a part of one", 1, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1))
			each(g, g.Mul(parts[0].Narrow(0, 0, 2), g.Input("z", tensor.F32, 2, c)), parts[1])
		}, nil},
		{"a reader without strides", 1, func(g *graph.Graph, x *graph.Value) {
			parts := products(g, x, weight(g, d, c), weight(g, d, c+1), weight(g, d, c+2))
			each(g, parts[0], parts[1], g.Softmax(parts[2], -1))
		}, []string{"softmax, reads its result, and takes no strides"}},
		{"too large", 0, func(g *graph.Graph, _ *graph.Value) {
			x := g.Input("large", tensor.F32, 1<<22, 2)
			for i, v := range products(g, x, weight(g, 2, 4), weight(g, 2, 5)) {
				g.Output(fmt.Sprint("y", i), g.ReduceSum(g.MatMul(v, weight(g, 4+i, 1))))
			}
		}, []string{"larger than a binding", "no other call"}},
		{"biases and activations", 2, func(g *graph.Graph, x *graph.Value) {
			var parts []*graph.Value
			for i := range 3 {
				parts = append(parts, g.ReLU(g.Add(weight(g, c+i), g.MatMul(x, weight(g, d, c+i)))))
			}
			each(g, parts...)
		}, nil},
		{"two and two", 2, func(g *graph.Graph, x *graph.Value) {
			p := products(g, x, weight(g, d, c), weight(g, d, c+1), weight(g, d, c+2), weight(g, d, c+3), weight(g, d, c+4))
			each(g, g.ReLU(g.Add(p[0], weight(g, c))), p[1], g.ReLU(g.Add(p[2], weight(g, c+2))), p[3], g.ReLU(p[4]))
		}, []string{"no other call"}},
		{"biases of other ranks", 1, func(g *graph.Graph, x *graph.Value) {
			p := products(g, x, weight(g, d, c), weight(g, d, c+1), weight(g, d, c+2))
			each(g, g.Add(p[0], weight(g, c)), g.Add(p[1], weight(g, 1, c+1)), g.Add(p[2], weight(g, 1, c+2)))
		}, []string{"no other call"}},
		{"casts behind", 1, func(g *graph.Graph, x *graph.Value) {
			p := products(g, x, weight(g, d, c), weight(g, d, c+1))
			each(g, g.Cast(p[0], tensor.BF16), g.Cast(p[1], tensor.BF16))
		}, nil},
		{"a gate", 0, func(g *graph.Graph, x *graph.Value) {
			p := products(g, x, weight(g, d, c), weight(g, d, c+1).Narrow(1, 0, c))
			g.Output("y", g.Mul(g.SiLU(p[0]), p[1]))
		}, []string{"mul, reads its result and can be its epilogue", "mul, reads its result and can be its epilogue"}},
		{"a product twice, and a weight used outside", 1, func(g *graph.Graph, x *graph.Value) {
			w, v := g.Weight("w", tensor.F32, d, c), g.Weight("v", tensor.F32, d, c)
			each(g, append(products(g, x, w, w, v), g.MatMul(g.Exp(x), w))...)
		}, nil},
		{"views of views, and two views of a product", 1, func(g *graph.Graph, x *graph.Value) {
			p := products(g, x, weight(g, d, c+1), weight(g, d, c+3))
			each(g, p[0].Reshape(n, 2, (c+1)/2).Transpose(1, 0, 2).Narrow(0, 1, 1).Reshape(n, (c+1)/2), p[0].Narrow(0, 1, 2), p[1], p[1].Transpose())
		}, nil},
		{"a view that no part has", 0, func(g *graph.Graph, x *graph.Value) {
			p := products(g, x, weight(g, d, c+1), weight(g, d, c+2))
			each(g, p[0].Reshape((c+1)*n/4, 4), p[1])
		}, []string{"a view of its result is none of a part", "no other call"}},
		{"no columns, and no rows of the matrices", 1, func(g *graph.Graph, x *graph.Value) {
			p := products(g, x, weight(g, d, 0), weight(g, d, c))
			q := products(g, g.Input("empty", tensor.F32, n, 0), weight(g, 0, c), weight(g, 0, c+1))
			each(g, append(p, q...)...)
		}, nil},
		{"an If reads a product", 0, func(g *graph.Graph, x *graph.Value) {
			p := products(g, x, weight(g, d, c), g.Exp(weight(g, d, c)))
			each(g, p[0], p[1])
			is := func(v *graph.Value) func(*graph.Graph) []*graph.Value {
				return func(g *graph.Graph) []*graph.Value { return []*graph.Value{g.Exp(v)} }
			}
			g.Output("z", g.If(g.Input("is", tensor.Bool, 1), is(p[0]), is(p[1]))[0])
		}, []string{"if, reads its result", "if, reads its result"}},
		{"in a body", 0, func(g *graph.Graph, x *graph.Value) {
			is := func(g *graph.Graph) []*graph.Value {
				p := products(g, x, weight(g, d, c), weight(g, d, c+1))
				return []*graph.Value{g.MatMul(p[0].Transpose(), p[1])}
			}
			g.Output("z", g.If(g.Input("is", tensor.Bool, 1), is, func(g *graph.Graph) []*graph.Value { return []*graph.Value{weight(g, c, c+1)} })[0])
		}, nil},
		{"as many as fit a binding", 1, func(g *graph.Graph, _ *graph.Value) {
			x := g.Input("large", tensor.F32, 1<<20, 2)
			for i, v := range products(g, x, weight(g, 2, 12), weight(g, 2, 13), weight(g, 2, 20)) {
				g.Output(fmt.Sprint("y", i), g.ReduceSum(g.MatMul(v, g.Exp(weight(g, []int{12, 13, 20}[i], 1)))))
			}
		}, []string{"no other call"}},
		{"biases on different sides", 0, func(g *graph.Graph, x *graph.Value) {
			each(g, g.Sub(weight(g, c), g.MatMul(x, weight(g, d, c))), g.Sub(g.MatMul(x, weight(g, d, c+1)), weight(g, c+1)))
		}, []string{"no other call", "no other call"}},
		{"biases that are params", 0, func(g *graph.Graph, x *graph.Value) {
			each(g, g.Add(g.MatMul(x, weight(g, d, c)), g.Param("a", tensor.F32, c)), g.Add(g.MatMul(x, weight(g, d, c+1)), g.Param("b", tensor.F32, c+1)))
		}, []string{"reads its result and can be its epilogue", "reads its result and can be its epilogue"}},
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
			missed := plan.Report.Stack.Missed
			for k, m := range missed {
				if k >= len(e.missed) || !strings.Contains(m.Reason, e.missed[k]) {
					t.Errorf("missed: %+v, want %q", m, e.missed)
				}
			}
			if len(missed) < len(e.missed) || strings.Count(plan.String(), "\nnot joined: node ") != len(missed) || plan.Report.Stack.Joined != e.joined {
				t.Errorf("missed %+v, want %q\n%v", missed, e.missed, plan)
			}
			if a, b := len(plan.Program.Steps), len(without.Program.Steps); a > b || e.joined > 0 && a == b {
				t.Errorf("%d calls, and %d without the pass:\n%v\n%v", a, b, plan.Graph, without.Graph)
			}
		})
	}
}
