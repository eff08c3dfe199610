package graphs_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/tensor"
)

// swing is a loop: x becomes tanh(x·w)+c·s and s becomes 0.9·s+0.1·mean(x), while the sum of x is above a limit. It counts its steps. build makes the whole loop of a step and of a
// condition.
func swing(limit float64, build func(g *graph.Graph, first values, cond func(*graph.Graph, values) *graph.Value, step func(*graph.Graph, values) values) values) *graph.Graph {
	g := graph.New()
	x, w, c := g.Input("x", tensor.F32, 2, 3), g.Input("w", tensor.F32, 3, 3), g.Input("c", tensor.F32, 3)
	start := g.Constant(must(tensor.FromFloats(tensor.F32, nil, []float64{0.5})))
	zero := g.Constant(must(tensor.FromFloats(tensor.I32, nil, []float64{0})))
	first := values{g.Mul(x, graph.Scalar(2)), start, zero}
	s := build(g, first, func(g *graph.Graph, s values) *graph.Value {
		return g.Greater(g.ReduceSum(s[0]), graph.Scalar(limit))
	}, func(g *graph.Graph, s values) values {
		next := g.Add(g.Tanh(g.MatMul(s[0], w.Transpose())), g.Mul(c, s[1]))
		return values{next, g.Add(g.Mul(s[1], graph.Scalar(0.9)), g.Mul(g.ReduceMean(s[0]), graph.Scalar(0.1))), g.Add(s[2], graph.Scalar(1))}
	})
	d := g.Gradients(g.Add(g.ReduceSum(g.Mul(s[0], s[0])), s[1]), x, w, c, start)
	for i, name := range []string{"dx", "dw", "dc", "dstart"} {
		g.Output(name, d[i])
	}
	g.Output("steps", s[2])
	return g
}

// swingInFloat64 is the value that swing differentiates, of at most so many steps.
func swingInFloat64(x, w, c []float64, s float64, most int, limit float64) (loss float64, steps int) {
	var state [6]float64
	for i := range state {
		state[i] = 2 * x[i]
	}
	for ; steps < most; steps++ {
		sum := 0.0
		for _, v := range state {
			sum += v
		}
		if !(sum > limit) {
			break
		}
		var next [6]float64
		for i := range 2 {
			for j := range 3 {
				dot := 0.0
				for k := range 3 {
					dot += state[3*i+k] * w[3*j+k]
				}
				next[3*i+j] = math.Tanh(dot) + c[j]*s
			}
		}
		state, s = next, 0.9*s+0.1*sum/6
	}
	for _, v := range state {
		loss += v * v
	}
	return loss + s, steps
}

// TestGradientOfWhile compares gradients through loops of no, some and the most steps with central differences in float64, and with those of a graph in which
// each step is written out.
func TestGradientOfWhile(t *testing.T) {
	testlevel.Turn(t, 5)
	const most = 4
	x := []float64{.9, .2, .3, .8, .5, .7}
	w := []float64{.3, .1, .3, .4, .5, .2, -.1, .6, .2}
	c := []float64{.1, -.2, .3}
	float32s := func(list []float64) []float32 {
		out := make([]float32, len(list))
		for i, v := range list {
			out[i] = float32(v)
		}
		return out
	}
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		in := map[string]*lathe.Tensor{"x": slice(t, dev, float32s(x), 2, 3), "w": slice(t, dev, float32s(w), 3, 3), "c": slice(t, dev, float32s(c), 3)}
		seen := map[int]bool{}
		for _, limit := range []float64{100, 3, 2.2, -100} {
			g := swing(limit, func(g *graph.Graph, first values, cond func(*graph.Graph, values) *graph.Value, step func(*graph.Graph, values) values) values {
				return g.WhileAtMost(most, first, cond, step)
			})
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
			got := run(t, dev, compiled(t, dev, g, graph.Options{}), in)
			_, steps := swingInFloat64(x, w, c, 0.5, most, limit)
			if seen[steps] = true; int(got["steps"][0]) != steps {
				t.Fatalf("limit %v: %v steps, want %d", limit, got["steps"], steps)
			}
			start := []float64{0.5}
			for name, of := range map[string][]float64{"dx": x, "dw": w, "dc": c, "dstart": start} {
				for i := range of {
					const h = 1e-6
					was := of[i]
					of[i] = was + h
					high, up := swingInFloat64(x, w, c, start[0], most, limit)
					of[i] = was - h
					low, down := swingInFloat64(x, w, c, start[0], most, limit)
					of[i] = was
					if want := (high - low) / (2 * h); up != down || math.Abs(float64(got[name][i])-want) > 1e-4*max(1, math.Abs(want)) {
						t.Errorf("%d steps, %s[%d]: got %v, want %v", steps, name, i, got[name][i], want)
					}
				}
			}
			flat := swing(limit, func(g *graph.Graph, s values, _ func(*graph.Graph, values) *graph.Value, step func(*graph.Graph, values) values) values {
				for range steps {
					s = step(g, s)
				}
				return s
			})
			want := run(t, dev, compiled(t, dev, flat, graph.Options{}), in)
			for name := range want {
				for i := range want[name] {
					if math.Abs(float64(got[name][i]-want[name][i])) > 1e-5*max(1, math.Abs(float64(want[name][i]))) {
						t.Errorf("%d steps, %s: got %v, written out %v", steps, name, got[name], want[name])
					}
				}
			}
		}
		if !seen[0] || !seen[most] || len(seen) < 3 {
			t.Errorf("numbers of steps %v", seen)
		}
	})
}

// TestGradientOfLoops takes gradients of gradients of a loop, and of a loop with an If and a loop in its body. What they compute are powers of x, so the
// derivatives are known.
func TestGradientOfLoops(t *testing.T) {
	testlevel.Turn(t, 5)
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		g := graph.New()
		x, yes := g.Input("x", tensor.F32), g.Input("yes", tensor.Bool)
		always := func(*graph.Graph, values) *graph.Value { return yes }
		fourth := g.WhileAtMost(2, values{x}, always, func(g *graph.Graph, s values) values { return values{g.Mul(s[0], s[0])} })[0] // x⁴
		first := g.Gradients(fourth, x)[0]
		g.Output("first", first)                                                              // 4x³
		g.Output("second", g.Gradients(first, x)[0])                                          // 12x²
		nested := g.WhileAtMost(3, values{x}, always, func(g *graph.Graph, s values) values { // x → x² → 2x² twice, each time
			square := g.If(yes, func(g *graph.Graph) values { return values{g.Mul(s[0], s[0])} }, func(g *graph.Graph) values { return values{s[0]} })[0]
			return g.WhileAtMost(2, values{square}, always, func(g *graph.Graph, s values) values { return values{g.Mul(s[0], graph.Scalar(2))} })
		})[0] // 4x², 64x⁴, 16384x⁸
		g.Output("nested", g.Gradients(nested, x)[0])
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		v := float32(0.75)
		number, err := slice(t, dev, []float32{v}).Reshape()
		if err != nil {
			t.Fatal(err)
		}
		got := run(t, dev, compiled(t, dev, g, graph.Options{}), map[string]*lathe.Tensor{"x": number, "yes": flag(t, dev, true)})
		for name, want := range map[string]float32{"first": 4 * v * v * v, "second": 12 * v * v, "nested": 8 * 16384 * v * v * v * v * v * v * v} {
			if d := got[name][0]/want - 1; !(math.Abs(float64(d)) < 1e-5) {
				t.Errorf("%s: got %v, want %v", name, got[name], want)
			}
		}
	})
}

// TestGradientOfWhileRefused checks that a loop without a bound has no gradient, and that the error says what to do.
func TestGradientOfWhileRefused(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.F32)
	s := g.While(values{x}, func(g *graph.Graph, s values) *graph.Value { return g.Less(s[0], graph.Scalar(1)) }, func(g *graph.Graph, s values) values { return values{g.Exp(s[0])} })
	g.Gradients(s[0], x)
	if err := g.Err(); !errors.Is(err, lathe.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), "gradient of while") || !strings.Contains(fmt.Sprint(err), "WhileAtMost") {
		t.Errorf("the gradient of a loop: %v", err)
	}
}

// TestGradientOfManySteps checks that bounds for which no stack can be are a mistake, and do not end the program.
func TestGradientOfManySteps(t *testing.T) {
	for _, shape := range [][]int{{}, {0, 2}} {
		for _, most := range []int{math.MaxInt32, math.MaxInt} {
			g := graph.New()
			x, yes := g.Input("x", tensor.F32, shape...), g.Input("yes", tensor.Bool)
			s := g.WhileAtMost(most, values{x}, func(*graph.Graph, values) *graph.Value { return yes }, func(g *graph.Graph, s values) values { return values{g.Mul(s[0], s[0])} })
			g.GradientsFrom(s[0], x, x)
			if err := g.Err(); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(fmt.Sprint(err), "gradient of while") {
				t.Errorf("%d steps of %v: %v", most, shape, err)
			}
		}
	}
}
