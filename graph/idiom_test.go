package graph_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// roomy is a compiler for no device, and tight one that launches nothing.
var roomy = paper{spec.Target{MaxBindings: 32, MaxParamBytes: 128}}

type tight struct{ paper }

func (c tight) Target() spec.Target {
	t := c.paper.Target()
	t.MaxBinding = 4
	return t
}

// numbers is a constant.
func numbers(t *testing.T, g *graph.Graph, d tensor.DType, shape []int, values ...float64) *graph.Value {
	t.Helper()
	h, err := tensor.FromFloats(d, shape, values)
	if err != nil {
		t.Fatal(err)
	}
	return g.Constant(h)
}

// TestIdiomMisses spells attention out in forms that may not become a call of it, and compares what the report says.
func TestIdiomMisses(t *testing.T) {
	half, inf := graph.Scalar(0.5), math.Inf(-1)
	for _, c := range []struct {
		name   string
		reason string // empty if nothing is reported
		build  func(g *graph.Graph, q, k, v *graph.Value)
	}{
		{"the probabilities are an output", "reads the probabilities", func(g *graph.Graph, q, k, v *graph.Value) {
			p := g.Softmax(g.MatMul(q, k.Transpose(0, 2, 1)), -1)
			g.Output("p", p)
			g.Output("y", g.MatMul(p, v))
		}},
		{"the scores are an output", "reads the scores", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.MatMul(q, k.Transpose(0, 2, 1))
			g.Output("s", s)
			g.Output("y", g.MatMul(g.Softmax(g.Mul(s, half), -1), v))
		}},
		{"a view of the scores is read", "reads the scores", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.MatMul(q, k.Transpose(0, 2, 1))
			g.Output("s", g.Neg(s.Narrow(0, 0, 1)))
			g.Output("y", g.MatMul(g.Softmax(s, -1), v))
		}},
		{"the gradient reads the probabilities", "reads the probabilities", func(g *graph.Graph, q, k, v *graph.Value) {
			y := g.MatMul(g.Softmax(g.Mul(g.MatMul(q, k.Transpose(0, 2, 1)), half), -1), v)
			g.Output("y", y)
			g.Output("dq", g.Gradients(g.ReduceSum(g.Mul(y, y)), q)[0])
		}},
		{"the scale is an input", "the scale is no constant", func(g *graph.Graph, q, k, v *graph.Value) {
			g.Output("y", g.MatMul(g.Softmax(g.Mul(g.MatMul(q, k.Transpose(0, 2, 1)), g.Input("scale", tensor.F32)), -1), v))
		}},
		{"the scale differs from row to row", "the scale is no constant", func(g *graph.Graph, q, k, v *graph.Value) {
			g.Output("y", g.MatMul(g.Softmax(g.Mul(g.MatMul(q, k.Transpose(0, 2, 1)), numbers(t, g, tensor.F32, []int{3, 1}, 1, 2, 3)), -1), v))
		}},
		{"a division by 0", "scale (got +Inf", func(g *graph.Graph, q, k, v *graph.Value) {
			g.Output("y", g.MatMul(g.Softmax(g.Div(g.MatMul(q, k.Transpose(0, 2, 1)), graph.Scalar(0.0)), -1), v))
		}},
		{"the mask is scaled", "scaled after they are masked", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.Add(g.MatMul(q, k.Transpose(0, 2, 1)), g.Input("mask", tensor.F32, 5))
			g.Output("y", g.MatMul(g.Softmax(g.Mul(s, half), -1), v))
		}},
		{"the mask has more matrices", "are broadcast to", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.Add(g.MatMul(q, k.Transpose(0, 2, 1)), g.Input("mask", tensor.F32, 7, 1, 1, 5))
			g.Output("y", g.MatMul(g.Softmax(s, -1), v))
		}},
		{"the values have more matrices", "more dimensions than the scores", func(g *graph.Graph, q, k, v *graph.Value) {
			g.Output("y", g.MatMul(g.Softmax(g.MatMul(q, k.Transpose(0, 2, 1)), -1), v.Expand(3, 2, 5, 4)))
		}},
		{"one matrix of scores for all values", "broadcast to the dimensions of the values", func(g *graph.Graph, q, k, v *graph.Value) {
			g.Output("y", g.MatMul(g.Softmax(g.MatMul(q.Narrow(0, 0, 1), k.Narrow(0, 0, 1).Transpose(0, 2, 1)), -1), v))
		}},
		{"masked scores become a small number", "become -1", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.Where(g.Input("seen", tensor.Bool, 5), g.MatMul(q, k.Transpose(0, 2, 1)), numbers(t, g, tensor.F32, nil, -1))
			g.Output("y", g.MatMul(g.Softmax(s, -1), v))
		}},
		{"a condition that is an input, and -1e9", "the condition is no constant", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.Where(g.Input("seen", tensor.Bool, 5), g.MatMul(q, k.Transpose(0, 2, 1)), numbers(t, g, tensor.F32, nil, -1e9))
			g.Output("y", g.MatMul(g.Softmax(s, -1), v))
		}},
		{"a query sees no key but by -1e9", "a query sees no key", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.Where(numbers(t, g, tensor.Bool, []int{3, 1}, 1, 0, 1), g.MatMul(q, k.Transpose(0, 2, 1)), numbers(t, g, tensor.F32, nil, -1e9))
			g.Output("y", g.MatMul(g.Softmax(s, -1), v))
		}},
		{"-1e9 beside another mask", "there are 2 masks", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.Where(numbers(t, g, tensor.Bool, []int{5}, 1, 0, 1, 1, 1), g.MatMul(q, k.Transpose(0, 2, 1)), numbers(t, g, tensor.F32, nil, -1e9))
			g.Output("y", g.MatMul(g.Softmax(g.Add(s, g.Input("mask", tensor.F32, 5)), -1), v))
		}},
		{"scores are replaced by an input", "no constant", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.Where(g.Input("seen", tensor.Bool, 5), g.MatMul(q, k.Transpose(0, 2, 1)), g.Input("x", tensor.F32))
			g.Output("y", g.MatMul(g.Softmax(s, -1), v))
		}},
		{"a mask of F32 for scores of 16 bits", "a mask of f32 is added to scores of bf16", func(g *graph.Graph, q, k, v *graph.Value) {
			small := func(x *graph.Value) *graph.Value { return g.Cast(x, tensor.BF16) }
			s := g.Cast(g.MatMul(small(q), small(k).Transpose(0, 2, 1)), tensor.F32)
			g.Output("y", g.MatMul(small(g.Softmax(g.Add(s, g.Input("mask", tensor.F32, 5)), -1)), small(v)))
		}},
		{"scores are rounded", "become bf16", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.Cast(g.MatMul(q, k.Transpose(0, 2, 1)), tensor.BF16)
			g.Output("y", g.MatMul(g.Softmax(s, -1), g.Cast(v, tensor.BF16)))
		}},
		{"scores become integers", "scores of i32 become f32", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.Cast(g.Cast(g.MatMul(q, k.Transpose(0, 2, 1)), tensor.I32), tensor.F32)
			g.Output("y", g.MatMul(g.Softmax(s, -1), v))
		}},
		{"scores become other 16 bits", "become bf16", func(g *graph.Graph, q, k, v *graph.Value) {
			half := func(x *graph.Value) *graph.Value { return g.Cast(x, tensor.F16) }
			s := g.Cast(g.MatMul(half(q), half(k).Transpose(0, 2, 1)), tensor.BF16)
			g.Output("y", g.MatMul(g.Cast(g.Softmax(s, -1), tensor.F16), half(v)))
		}},
		{"probabilities are read before the cast", "reads the probabilities", func(g *graph.Graph, q, k, v *graph.Value) {
			small := func(x *graph.Value) *graph.Value { return g.Cast(x, tensor.BF16) }
			p := g.Softmax(g.Cast(g.MatMul(small(q), small(k).Transpose(0, 2, 1)), tensor.F32), -1)
			g.Output("p", p)
			g.Output("y", g.MatMul(small(p), small(v)))
		}},
		{"softmax over the queries", "over dimension 1 of [2 3 5]", func(g *graph.Graph, q, k, v *graph.Value) {
			g.Output("y", g.MatMul(g.Softmax(g.MatMul(q, k.Transpose(0, 2, 1)), 1), v))
		}},
		{"transposed probabilities", "the probabilities are transposed", func(g *graph.Graph, q, k, v *graph.Value) {
			p := g.Softmax(g.MatMul(k, q.Transpose(0, 2, 1)), -1)
			g.Output("y", g.Call(ops.MatMul{TransA: true}, p, v)[0])
		}},
		{"a view of the probabilities", "a view of the probabilities", func(g *graph.Graph, q, k, v *graph.Value) {
			p := g.Softmax(g.MatMul(q, k.Transpose(0, 2, 1)), -1)
			g.Output("y", g.MatMul(p.Reshape(1, 2, 3, 5), v))
		}},
		{"a copy of the probabilities", "a view of the probabilities", func(g *graph.Graph, q, k, v *graph.Value) {
			p := g.Call(ops.Transpose{Perm: []int{0, 2, 1}}, g.Softmax(g.MatMul(k, q.Transpose(0, 2, 1)), -1))[0]
			g.Output("y", g.MatMul(p.Narrow(1, 0, 2), v))
		}},
		{"the probabilities are changed", "the call mul is between", func(g *graph.Graph, q, k, v *graph.Value) {
			p := g.Softmax(g.MatMul(q, k.Transpose(0, 2, 1)), -1)
			g.Output("y", g.MatMul(g.Mul(p, g.Input("drop", tensor.F32, 5)), v))
		}},
		{"a view of the scores", "a view or a copy of the scores", func(g *graph.Graph, q, k, v *graph.Value) {
			s := g.MatMul(q, k.Transpose(0, 2, 1)).Reshape(1, 2, 3, 5)
			g.Output("y", g.MatMul(g.Softmax(g.Add(s, g.Input("mask", tensor.F32, 5)), -1), v))
		}},
		{"a NaN for a scale", "the scale is no constant", func(g *graph.Graph, q, k, v *graph.Value) {
			g.Output("y", g.MatMul(g.Softmax(g.Mul(graph.Scalar(math.NaN()), g.MatMul(q, k.Transpose(0, 2, 1))), -1), v))
		}},
		{"no product", "", func(g *graph.Graph, q, k, v *graph.Value) {
			g.Output("y", g.MatMul(g.Softmax(g.Mul(q, half), -1), v.Narrow(1, 0, 4)))
		}},
		{"constants only", "", func(g *graph.Graph, _, _, _ *graph.Value) {
			x := numbers(t, g, tensor.F32, []int{2, 2}, 1, 2, 3, inf)
			g.Output("y", g.MatMul(g.Softmax(g.MatMul(x, x), -1), x))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graph.New()
			c.build(g, g.Input("q", tensor.F32, 2, 3, 4), g.Input("k", tensor.F32, 2, 5, 4), g.Input("v", tensor.F32, 2, 5, 4))
			plan, err := graph.Compile(g, roomy, graph.Options{Without: []string{"fuse", "epilogue", "prologue"}})
			if err != nil {
				t.Fatal(err)
			}
			r := plan.Report.Idioms
			if r.Replaced != 0 || plan.Report.Changes["idiom"] != 0 || strings.Contains(plan.Graph.String(), "= attention") {
				t.Errorf("%+v:\n%v", r, plan.Graph)
			}
			if missed := len(r.Missed) == 1 && strings.Contains(r.Missed[0].Reason, c.reason) && strings.HasPrefix(r.Missed[0].Call, "matmul"); missed != (c.reason != "") || !missed && len(r.Missed) > 0 {
				t.Errorf("%+v, want %q", r.Missed, c.reason)
			}
			if data, err := json.Marshal(plan); err != nil || !strings.Contains(string(data), `"idioms":{"replaced":0,`) {
				t.Errorf("%s, %v", data, err)
			}
			if strings.Contains(plan.String(), "\nno idiom: node ") != (c.reason != "") {
				t.Errorf("the plan is\n%v", plan)
			}
			if len(plan.Report.Fusion.Missed) != 0 {
				t.Errorf("not fused: %v", plan.Report.Fusion.Missed)
			}
		})
	}
}

// spelledOut is attention of which nothing but a dead call reads the probabilities too.
func spelledOut() *graph.Graph {
	g := graph.New()
	q, k, v := g.Input("q", tensor.F32, 2, 3, 4), g.Input("k", tensor.F32, 2, 5, 4), g.Param("v", tensor.F32, 2, 5, 7)
	p := g.Softmax(g.Mul(g.MatMul(q, k.Transpose(0, 2, 1)), graph.Scalar(0.5)), -1)
	g.Neg(p)
	y := g.MatMul(p, v).Label("heads")
	g.Output("y", y)
	g.Output("z", g.Exp(y.Reshape(6, 7)))
	return g
}

// TestIdiomOptions compiles a spelled-out form with the options that decide about it.
func TestIdiomOptions(t *testing.T) {
	all := []string{"matmul", "mul", "softmax", "exp", "attention"}
	for _, c := range []struct {
		name     string
		o        graph.Options
		replaced int
		reason   string
	}{
		{"usual", graph.Options{}, 1, ""},
		{"strict", graph.Options{Strict: true}, 0, ""},
		{"without", graph.Options{Without: []string{"idiom"}}, 0, ""},
		{"without others", graph.Options{Without: []string{"cse", "dce"}}, 1, ""},
		{"in 16 bits", graph.Options{Precision: tensor.BF16}, 1, ""},
		{"supported", graph.Options{Supported: all}, 1, ""},
		{"not supported", graph.Options{Supported: all[:4]}, 0, `does not list "attention"`},
		{"clean", graph.Options{AssertFusionClean: true, Supported: all[:4]}, 0, `does not list "attention"`},
	} {
		if c.name == "in 16 bits" && c.o.Supported == nil {
			c.o.Without = []string{"epilogue"}
		}
		if c.o.Supported != nil {
			c.o.Supported = append(slices.Clone(c.o.Supported), "copy")
			c.o.Without = []string{"cse"}
			if c.name != "clean" {
				c.o.Without = []string{"dce"}
				c.o.Supported = append(c.o.Supported, "neg")
			}
		}
		plan, err := graph.Compile(spelledOut(), roomy, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		r, text := plan.Report.Idioms, plan.Graph.String()
		if r.Replaced != c.replaced || strings.Count(text, "attention") != c.replaced || (c.replaced == 0) != strings.Contains(text, "softmax") && len(c.o.Without) == 0 {
			t.Errorf("%s: %+v\n%v", c.name, r, text)
		}
		if (len(r.Missed) > 0) != (c.reason != "") || c.reason != "" && !strings.Contains(r.Missed[0].Reason, c.reason) {
			t.Errorf("%s: %+v", c.name, r.Missed)
		}
		if c.replaced == 1 && !strings.Contains(plan.String(), "heads") {
			t.Errorf("%s: the label is lost:\n%v", c.name, plan)
		}
	}
	if plan, err := graph.Compile(spelledOut(), tight{roomy}, graph.Options{}); err != nil || plan.Report.Idioms.Replaced != 0 || len(plan.Report.Idioms.Missed) != 1 {
		t.Errorf("a device that cannot plan attention: %v\n%v", err, plan)
	}
}

// TestFindIdiomMistakes asks what is no call, without a graph, and a call that declares no idiom.
func TestFindIdiomMistakes(t *testing.T) {
	for _, c := range []spec.Call{nil, ops.MatMul{}} {
		if _, _, err := spec.FindIdiom(c, nil, nil); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%v: %v", c, err)
		}
	}
}
