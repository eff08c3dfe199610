package graph_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

type values = []*graph.Value

// A loop halves a value until it is small. Both functions read a value from outside.
func ExampleGraph_While() {
	g := graph.New()
	x, limit := g.Input("x", tensor.F32), g.Param("limit", tensor.F32)
	s := g.While([]*graph.Value{x},
		func(g *graph.Graph, s []*graph.Value) *graph.Value { return g.Greater(s[0], limit) },
		func(g *graph.Graph, s []*graph.Value) []*graph.Value {
			return []*graph.Value{g.Mul(s[0], graph.Scalar(0.5))}
		})
	g.Output("y", s[0])
	m, err := g.MIR()
	fmt.Printf("%v%v", m, err)
	// Output:
	// v0 = input x  f32[]
	// v1 = param limit  f32[]
	// v2 = while v0 v1  f32[]
	//     condition:
	//         v0 = input s0  f32[]
	//         v1 = input c0  f32[]
	//         v2 = greater v0 v1  bool[]
	//         output r0 = v2
	//     body:
	//         v0 = input s0  f32[]
	//         v1 = input c0  f32[]
	//         v2 = constant  f32[]
	//         v3 = mul v0 v2  f32[]
	//         output r0 = v3
	// output y = v2
	// <nil>
}

// A step of training that is left out if the gradient is not finite.
func ExampleGraph_If() {
	g := graph.New()
	w, d := g.Param("w", tensor.F32, 784, 10), g.Input("gradient", tensor.F32, 784, 10)
	good := g.Less(g.ReduceMax(g.Abs(d)), graph.Scalar(1e30))
	r := g.If(good,
		func(g *graph.Graph) []*graph.Value { return []*graph.Value{g.Sub(w, g.Mul(d, graph.Scalar(0.01)))} },
		func(g *graph.Graph) []*graph.Value { return []*graph.Value{w} })
	g.Output("w.new", r[0])
	fmt.Println(r[0], g.Err())
	// Output: f32[784,10] <nil>
}

// branch and its like are a small graph with control flow, of which one thing may differ.
type controlled struct{ then, most, other float64 }

func (c controlled) graph() *graph.Graph {
	g := graph.New()
	x := g.Input("x", tensor.F32, 4)
	s := g.WhileAtMost(int(c.most), values{x}, func(g *graph.Graph, s values) *graph.Value { return g.Less(g.ReduceMax(s[0]), graph.Scalar(c.other)) },
		func(g *graph.Graph, s values) values { return values{g.Exp(g.Neg(s[0]))} })
	g.Output("y", g.If(g.Less(g.ReduceMax(x), graph.Scalar(0)), func(g *graph.Graph) values { return values{g.Mul(s[0], graph.Scalar(c.then))} },
		func(g *graph.Graph) values { return values{g.Tanh(g.Abs(g.Neg(s[0])))} })[0])
	return g
}

// TestControlFingerprint changes something in a body, and the bound: each makes another fingerprint.
func TestControlFingerprint(t *testing.T) {
	seen := map[[32]byte]controlled{}
	for _, c := range []controlled{{2, 3, 4}, {3, 3, 4}, {2, 4, 4}, {2, 3, 5}} {
		a, b := planOf(t, c.graph(), graph.Options{}), planOf(t, c.graph(), graph.Options{})
		if a.Fingerprint() != b.Fingerprint() {
			t.Errorf("%v: two fingerprints of one graph", c)
		}
		if other, ok := seen[a.Fingerprint()]; ok {
			t.Errorf("%v and %v have one fingerprint", c, other)
		}
		seen[a.Fingerprint()] = c
	}
}

func planOf(t *testing.T, g *graph.Graph, o graph.Options) *graph.Plan {
	t.Helper()
	p, err := graph.Compile(g, paper{}, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestControlPlan reads the plan of a graph with control flow: its steps, its text and its JSON.
func TestControlPlan(t *testing.T) {
	p := planOf(t, controlled{2, 3, 4}.graph(), graph.Options{Without: []string{"fuse"}})
	var bodies, calls []string
	for _, s := range p.Steps() {
		bodies, calls = append(bodies, s.Body), append(calls, s.Call)
	}
	at := func(i int, suffix string) bool { return strings.HasSuffix(bodies[i], suffix) }
	if calls[0] != "while at most 3 times" || !at(1, " condition") || !at(3, " body") || calls[3] != "neg" || calls[4] != "exp" || !at(5, " carry") || calls[5] != "copy" || bodies[6] != "" {
		t.Errorf("steps %q of %q", calls, bodies)
	}
	text := p.String()
	for _, want := range []string{" condition:\n", " body:\n", " carry:\n", " then:\n", " else:\n", "after it:\n", "while at most 3 times"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if len([]rune(line)) > 120 {
			t.Errorf("a line of %d characters: %s", len([]rune(line)), line)
		}
	}
	data, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(data), `"class":"control flow"`) || !strings.Contains(string(data), ` then"`) {
		t.Errorf("%v: %s", err, data)
	}
	if !strings.Contains(text, "10 calls of 10") { // the carry is one more, and the loop and the branch are none
		t.Errorf("no number of calls in\n%s", text)
	}
}

// TestControlMistakes builds what cannot be. Each mistake is collected once and says where it is, and nothing panics.
func TestControlMistakes(t *testing.T) {
	one := func(v *graph.Value) func(*graph.Graph) values { return func(*graph.Graph) values { return values{v} } }
	always := func(c *graph.Value) func(*graph.Graph, values) *graph.Value {
		return func(*graph.Graph, values) *graph.Value { return c }
	}
	same := func(_ *graph.Graph, s values) values { return s }
	for want, build := range map[string]func(g *graph.Graph, x, c *graph.Value) values{
		"want one element of bool":       func(g *graph.Graph, x, c *graph.Value) values { return g.If(x, one(x), one(x)) },
		"no value of a graph":            func(g *graph.Graph, x, c *graph.Value) values { return g.If(nil, one(x), one(x)) },
		"if: invalid argument: the cond": func(g *graph.Graph, x, c *graph.Value) values { return g.If(graph.Scalar(1), one(x), one(x)) },
		"no function":                    func(g *graph.Graph, x, c *graph.Value) values { return g.If(c, nil, one(x)) },
		"1 and 0 results": func(g *graph.Graph, x, c *graph.Value) values {
			return g.If(c, one(x), func(*graph.Graph) values { return nil })
		},
		"output 0 is bool":   func(g *graph.Graph, x, c *graph.Value) values { return g.If(c, one(x), one(c)) },
		"result 0 of a body": func(g *graph.Graph, x, c *graph.Value) values { return g.If(c, one(nil), one(x)) },
		"k is 3 and 2": func(g *graph.Graph, x, c *graph.Value) values {
			return g.If(c, func(g *graph.Graph) values { return values{g.MatMul(x, x)} }, one(x))
		},
		"want it outside": func(g *graph.Graph, x, c *graph.Value) values {
			return g.If(c, func(g *graph.Graph) values { return values{g.Param("p", tensor.F32, 2, 3)} }, one(x))
		},
		"its function returns the results": func(g *graph.Graph, x, c *graph.Value) values {
			return g.If(c, func(g *graph.Graph) values { g.Output("z", x); return values{x} }, one(x))
		},
		"used outside of it (return it from the body's function)": func(g *graph.Graph, x, c *graph.Value) values {
			var inner *graph.Value
			g.If(c, func(g *graph.Graph) values { inner = g.Neg(x); return values{inner} }, one(x))
			return values{g.Exp(inner)}
		},
		"has returned": func(g *graph.Graph, x, c *graph.Value) values {
			var inner *graph.Graph
			g.If(c, func(g *graph.Graph) values { inner = g; return values{x} }, one(x))
			return values{inner.Neg(x)}
		},
		"no state": func(g *graph.Graph, x, c *graph.Value) values { return g.While(nil, always(c), same) },
		"state 0 is no value": func(g *graph.Graph, x, c *graph.Value) values {
			return g.While(values{graph.Scalar(1)}, always(c), same)
		},
		"the condition is no value of a graph (want a value; g.Constant": func(g *graph.Graph, x, c *graph.Value) values {
			return g.While(values{x}, func(g *graph.Graph, s values) *graph.Value { return graph.Scalar(1) }, same)
		},
		"at most 0 steps":                 func(g *graph.Graph, x, c *graph.Value) values { return g.WhileAtMost(0, values{x}, always(c), same) },
		"while: invalid argument: no fun": func(g *graph.Graph, x, c *graph.Value) values { return g.While(values{x}, nil, same) },
		"(want f32[2,3], as the first state)": func(g *graph.Graph, x, c *graph.Value) values {
			return g.While(values{x}, always(c), func(g *graph.Graph, s values) values { return values{c} })
		},
		"the condition is f32[2,3]": func(g *graph.Graph, x, c *graph.Value) values { return g.While(values{x}, always(x), same) },
		"a body with 2 results (want as many)": func(g *graph.Graph, x, c *graph.Value) values {
			return g.While(values{x}, always(c), func(g *graph.Graph, s values) values { return values{x, x} })
		},
		"gradient of while": func(g *graph.Graph, x, c *graph.Value) values {
			s := g.While(values{x}, always(c), func(g *graph.Graph, s values) values { return values{g.Exp(s[0])} })
			return g.Gradients(g.ReduceSum(s[0]), x)
		},
	} {
		g := graph.New()
		r := build(g, g.Input("x", tensor.F32, 2, 3), g.Input("c", tensor.Bool))
		for _, v := range r {
			g.Output("y", g.Neg(v)) // no mistake of its own
		}
		err := g.Err()
		if err == nil || !errors.Is(err, errs.ErrGraph) || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "control_test.go:") {
			t.Errorf("want %q: got %v", want, err)
		}
	}
	if list := (*graph.Graph)(nil).If(nil, nil, nil); len(list) != 1 {
		t.Errorf("of no graph: %v", list)
	}
	if list := (&graph.Graph{}).While(make(values, 2), nil, nil); len(list) != 2 {
		t.Errorf("of a zero graph: %v", list)
	}
}

// TestControlDims asks for a dim in a body only.
func TestControlDims(t *testing.T) {
	g := graph.NewWithDims(graph.Dims{"N": 3})
	x := g.Input("x", tensor.F32)
	g.Output("y", g.If(g.Input("c", tensor.Bool), func(g *graph.Graph) values { return values{g.Exp(x.Expand(g.Dim("N")))} }, func(g *graph.Graph) values { return values{x.Expand(3)} })[0])
	planOf(t, g, graph.Options{})
}
