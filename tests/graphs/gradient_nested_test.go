package graphs_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/tensor"
)

// nestings are the forms of nested: what a step of its loop of n steps is. m is a loop of m steps.
var nestings = []string{"m in n", "if in n", "if in m in n", "m in if in n"}

// nested is a graph with gradients, and gradients of these, through control flow that is nested. Each step is at most one product. written, if it is not nil, has n and m, and the
// graph has no loops then: each step is written out.
func nested(form string, most int, written []int) *graph.Graph {
	g := graph.New()
	x, w, c := g.Input("x", tensor.F32, 2, 3), g.Input("w", tensor.F32, 3, 3), g.Input("c", tensor.F32, 3)
	counts := values{g.Input("n", tensor.I32), g.Input("m", tensor.I32)}
	number := func(g *graph.Graph, k int) *graph.Value { return g.Constant(host(tensor.I32, nil, float64(k))) }
	loop := func(g *graph.Graph, i int, x *graph.Value, step func(g *graph.Graph, x, k *graph.Value) *graph.Value) *graph.Value {
		if written != nil {
			for k := range written[i] {
				x = step(g, x, number(g, k))
			}
			return x
		}
		return g.WhileAtMost(most, values{x, number(g, 0)}, func(g *graph.Graph, s values) *graph.Value { return g.Less(s[1], counts[i]) }, func(g *graph.Graph, s values) values {
			return values{step(g, s[0], s[1]), g.Add(s[1], graph.Scalar(1))}
		})[0]
	}
	product := func(g *graph.Graph, x, _ *graph.Value) *graph.Value { return g.Mul(g.MatMul(x, w), c) }
	branch := func(then func(g *graph.Graph, x, k *graph.Value) *graph.Value) func(g *graph.Graph, x, k *graph.Value) *graph.Value {
		return func(g *graph.Graph, x, k *graph.Value) *graph.Value {
			return g.If(g.Equal(k, graph.Scalar(1)), func(g *graph.Graph) values { return values{then(g, x, k)} }, func(g *graph.Graph) values { return values{g.Add(g.Mul(x, c), c)} })[0]
		}
	}
	inner := func(of func(g *graph.Graph, x, k *graph.Value) *graph.Value) func(g *graph.Graph, x, k *graph.Value) *graph.Value {
		return func(g *graph.Graph, x, _ *graph.Value) *graph.Value { return g.Add(loop(g, 1, x, of), x) }
	}
	step := map[string]func(g *graph.Graph, x, k *graph.Value) *graph.Value{
		"m in n": inner(product), "if in n": branch(product), "if in m in n": inner(branch(product)), "m in if in n": branch(inner(product)),
	}[form]
	y := loop(g, 0, x, step)
	d := g.Gradients(g.ReduceSum(g.Mul(y, y)), x, w, c)
	g.Output("y", y)
	for i, name := range []string{"dx", "dw", "dc"} {
		g.Output(name, d[i])
	}
	g.Output("ddx", g.Gradients(g.ReduceSum(d[1]), x)[0])
	return g
}

// products is how many products a value of the last of so many steps has gone through.
func products(form string, n, m int) int {
	switch form {
	case "m in n":
		return n * m
	case "if in n":
		return min(n/2, 1) // the If takes the branch with the product once, in the second step
	case "if in m in n":
		return n * min(m/2, 1)
	}
	return min(n/2, 1) * m
}

// TestGradientOfNested compares gradients through nested loops with those of the steps written out; bit for bit, with those of the graph that was written as JSON and read; and with those of
// products in 16 bits.
//
// The bound for these is no guess. All numbers are positive and nothing is subtracted, so the relative errors of a sum are at most those of its parts, and those of a product are those of its
// factors and three roundings, of both factors and of the result. So the last state has 3 roundings for each product that it has gone through, and the sum of its squares has 6. What
// leads back through a product, to one factor, is multiplied by the other one: a gradient has no more roundings than what it is of.
func TestGradientOfNested(t *testing.T) {
	testlevel.Turn(t, 5)
	const most = 3
	unit := map[tensor.DType]float64{tensor.F16: 0x1p-11, tensor.BF16: 0x1p-8} // the largest relative error of a rounding
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		in := map[string]*lathe.Tensor{
			"x": slice(t, dev, []float32{.9, .2, .3, .8, .5, .7}, 2, 3),
			"w": slice(t, dev, []float32{.3, .1, .45, .4, .5, .2, .15, .6, .2}, 3, 3),
			"c": slice(t, dev, []float32{.7, .9, 1.1}, 3),
		}
		for i, form := range nestings {
			if !testlevel.Sampled(i, len(nestings)) {
				continue
			}
			g := nested(form, most, nil)
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
			options := []graph.Options{{}, {Precision: tensor.BF16}}
			half := graph.Options{Precision: tensor.F16}
			if f := dev.Info().Features; f.F16 && f.Storage16 {
				options = append(options, half)
			} else if _, err := dev.PlanGraph(g, half); !errors.Is(err, lathe.ErrGraphRefused) || !errors.Is(err, lathe.ErrUnsupported) {
				t.Errorf("%s on a device without f16: %v", form, err)
			}
			again, flat := asJSON(t, g), map[[2]int]map[string][]float32{}
			for _, o := range options {
				exe, read := compiled(t, dev, g, o), compiled(t, dev, again, o)
				if changes := exe.Plan().Report.Changes["precision"]; (changes > 0) != (o.Precision != tensor.Invalid) {
					t.Errorf("%s, %v: %d products in 16 bits", form, o.Precision, changes)
				}
				for _, counts := range [][2]int{{2, 2}, {3, 1}, {1, 4}, {0, 1}} {
					in["n"], in["m"] = must(slice(t, dev, []int32{int32(counts[0])}).Reshape()), must(slice(t, dev, []int32{int32(counts[1])}).Reshape())
					n, m := min(counts[0], most), min(counts[1], most)
					if o.Precision == tensor.Invalid {
						flat[counts] = run(t, dev, compiled(t, dev, nested(form, most, []int{n, m}), o), in)
					}
					got, from := run(t, dev, exe, in), run(t, dev, read, in)
					roundings := 6 * float64(products(form, n, m)) * unit[o.Precision]
					bound, off := 1e-5+math.Expm1(roundings), 0.0 // F32 rounds too
					for name, want := range flat[counts] {
						if !slices.Equal(bits(got[name]), bits(from[name])) {
							t.Errorf("%s, %v, %v steps, %s: got %v, and from JSON %v", form, o.Precision, counts, name, got[name], from[name])
						}
						for i, v := range want {
							e := math.Abs(float64(got[name][i] - v))
							if !(e <= bound*float64(v)) {
								t.Errorf("%s, %v, %v steps, %s: got %v, want %v (and at most %v of it off)", form, o.Precision, counts, name, got[name], want, bound)
								break
							}
							if v > 0 {
								off = max(off, e/float64(v))
							}
						}
					}
					if t.Logf("%s, %v, %v steps: off by %.2g of at most %.2g", form, o.Precision, counts, off, bound); roundings > 0 && off < 1e-5 {
						t.Errorf("%s, %v, %v steps: nothing is rounded", form, o.Precision, counts)
					}
				}
			}
		}
	})
}

// asJSON is a graph written and read.
func asJSON(t *testing.T, g *graph.Graph) *graph.Graph {
	t.Helper()
	file, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	again := graph.New()
	if err := json.Unmarshal(file, again); err != nil {
		t.Fatal(err)
	}
	if was, is := must(g.MIR()).String(), must(again.MIR()).String(); is != was {
		t.Fatalf("it came back as\n%vwant\n%v", is, was)
	}
	return again
}

// TestInputsStayInOrder fuses calls around an input that stands between them, which must not come behind one that they read: RunInto is given inputs in their order, and so are
// bodies. Gradients of an If have such inputs, behind the calls of the branch.
func TestInputsStayInOrder(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		g := graph.New()
		x := g.Neg(g.Input("x", tensor.F32, 2))
		y := g.ReduceSum(g.Input("y", tensor.F32, 2), 0)
		g.Output("sum", g.Add(x, g.Input("z", tensor.F32, 2)))
		g.Output("y", y)
		exe := compiled(t, dev, g, graph.Options{})
		if exe.Plan().Report.Fusion.Calls != 2 {
			t.Errorf("nothing is fused\n%v", exe.Plan())
		}
		in := []*lathe.Tensor{slice(t, dev, []float32{1, 2}), slice(t, dev, []float32{10, 20}), slice(t, dev, []float32{100, 200})}
		out := []*lathe.Tensor{slice(t, dev, []float32{0, 0}), must(slice(t, dev, []float32{0}).Reshape())}
		if err := exe.RunInto(context.Background(), in, out); err != nil {
			t.Fatal(err)
		}
		for i, want := range [][]float32{{99, 198}, {30}} {
			if got := must(lathe.ToSlice[float32](context.Background(), out[i])); !slices.Equal(got, want) {
				t.Errorf("output %d: got %v, want %v\n%v", i, got, want, exe.Plan())
			}
		}
	})
}
