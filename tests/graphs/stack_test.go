package graphs_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// projections is a graph of several products of one x, [batch,n,d], with constant matrices.
type projections struct {
	n, d    int
	columns []int
	// form is what reads the products: heads (attention), bias (and then heads), gate (SwiGLU), output, sum, norm, relu and act (bias and ReLU).
	form   string
	transB bool
	dtype  tensor.DType
}

// weights are those of product i: matrix and bias.
func (p projections) weights(i int) (w, bias []float64) {
	rng := rand.New(rand.NewPCG(uint64(i), 9))
	list := make([]float64, (p.d+1)*p.columns[i])
	for k := range list {
		list[k] = float64(rng.IntN(17))/8 - 1
	}
	return list[p.columns[i]:], list[:p.columns[i]]
}

// graph makes the graph, and a function that computes its output in float64 of x.
func (p projections) graph() (*graph.Graph, func(x []float64) []float64) {
	g := graph.New()
	x := g.Input("x", p.dtype, p.n, p.d)
	parts := make([]*graph.Value, len(p.columns))
	for i, columns := range p.columns {
		w, bias := p.weights(i)
		shape := []int{p.d, columns}
		if p.transB {
			shape, w = []int{columns, p.d}, turned(w, p.d, columns)
		}
		parts[i] = g.Call(ops.MatMul{TransB: p.transB}, x, g.Constant(host(p.dtype, shape, w...)))[0]
		if p.form == "bias" || p.form == "relu" || p.form == "act" {
			b := g.Constant(host(p.dtype, []int{columns}, bias...))
			if i == 1 && p.form == "relu" { // on the other side
				b = b.Reshape(1, columns)
			}
			parts[i] = g.Add(parts[i], b)
		}
		if p.form == "relu" || p.form == "act" {
			parts[i] = g.ReLU(parts[i])
		}
	}
	switch p.form {
	case "gate":
		g.Output("y", g.Mul(g.SiLU(parts[0]), parts[1]))
	case "output":
		g.Output("y", parts[0])
		g.Output("z", parts[1])
	case "sum":
		g.Output("y", g.Add(parts[0], parts[1]))
	case "norm":
		g.Output("y", g.MatMul(g.Softmax(parts[0], -1), parts[1].Transpose()))
	default:
		// Two heads: the columns of each part are divided.
		for i, v := range parts {
			parts[i] = v.Reshape(p.n, 2, p.columns[i]/2).Transpose(1, 0, 2)
		}
		g.Output("y", g.MatMul(g.MatMul(parts[0], parts[1].Transpose(0, 2, 1)), parts[2]))
	}
	return g, func(x []float64) []float64 {
		made := make([][]float64, len(parts))
		for i, columns := range p.columns {
			w, bias := p.weights(i)
			made[i] = product(x, w, p.n, p.d, columns)
			for k := range made[i] {
				if p.form == "bias" || p.form == "relu" || p.form == "act" {
					made[i][k] += bias[k%columns]
				}
				if p.form == "relu" || p.form == "act" {
					made[i][k] = max(made[i][k], 0)
				}
			}
		}
		out := make([]float64, 0, p.n*p.columns[0])
		switch p.form {
		case "gate":
			for k, a := range made[0] {
				out = append(out, a/(1+math.Exp(-a))*made[1][k])
			}
		case "output":
			out = made[0]
		case "sum":
			for k, a := range made[0] {
				out = append(out, a+made[1][k])
			}
		case "norm":
			c := p.columns[0]
			for r := range p.n {
				row, sum := made[0][r*c:(r+1)*c], 0.0
				most := slices.Max(row)
				for k := range row {
					row[k] = math.Exp(row[k] - most)
					sum += row[k]
				}
				for k := range row {
					row[k] /= sum
				}
			}
			out = product(made[0], turned(made[1], p.n, c), p.n, c, p.n)
		default:
			for h := range 2 {
				var heads [3][]float64
				for i, c := range p.columns {
					for r := range p.n {
						heads[i] = append(heads[i], made[i][r*c+h*c/2:r*c+(h+1)*c/2]...)
					}
				}
				d := p.columns[0] / 2
				out = append(out, product(product(heads[0], turned(heads[1], p.n, d), p.n, d, p.n), heads[2], p.n, p.n, p.columns[2]/2)...)
			}
		}
		return out
	}
}

// turned is a matrix of n rows transposed.
func turned(a []float64, n, m int) []float64 {
	out := make([]float64, n*m)
	for i := range n {
		for j := range m {
			out[j*n+i] = a[i*m+j]
		}
	}
	return out
}

func product(a, b []float64, n, k, m int) []float64 {
	out := make([]float64, n*m)
	for i := range n {
		for j := range m {
			for e := range k {
				out[i*m+j] += a[i*k+e] * b[e*m+j]
			}
		}
	}
	return out
}

// TestStack joins products that share an input where that saves launches, and compares the results with those in float64.
func TestStack(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"cpu", "vk", "wgpu"} {
		t.Run(backend, func(t *testing.T) {
			dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			defer dev.Close()
			for _, c := range []struct {
				p      projections
				joined int
			}{
				{projections{n: 7, d: 5, columns: []int{6, 6, 10}, form: "heads"}, 2},
				{projections{n: 13, d: 11, columns: []int{14, 14, 14}, form: "bias"}, 2},
				{projections{n: 1, d: 3, columns: []int{2, 2, 2}, form: "bias", transB: true}, 2},
				{projections{n: 64, d: 64, columns: []int{64, 64, 64}, form: "heads", transB: true}, 2},
				{projections{n: 5, d: 7, columns: []int{6, 6, 6}, form: "heads", dtype: tensor.BF16}, 2},
				{projections{n: 5, d: 7, columns: []int{4, 4, 6}, form: "act"}, 2},
				{projections{n: 5, d: 7, columns: []int{4, 4, 6}, form: "relu"}, 1}, // the bias of the second one has another rank
				{projections{n: 5, d: 7, columns: []int{11, 11}, form: "gate"}, 0},  // SiLU and the product are an epilogue
				{projections{n: 5, d: 7, columns: []int{11, 11}, form: "sum"}, 0},
				{projections{n: 5, d: 7, columns: []int{11, 11}, form: "output"}, 0}, // would be copied
				{projections{n: 5, d: 7, columns: []int{11, 11}, form: "norm"}, 0},   // softmax takes no strides
				{projections{n: 0, d: 7, columns: []int{4, 4, 4}, form: "heads"}, 0},
			} {
				most := 0.02
				if c.p.dtype == tensor.Invalid {
					c.p.dtype, most = tensor.F32, 1e-5
				}
				rng := rand.New(rand.NewPCG(1, 4))
				x := make([]float64, c.p.n*c.p.d)
				for i := range x {
					x[i] = float64(rng.IntN(9))/4 - 1
				}
				for _, o := range []graph.Options{{}, {Strict: true}, {Without: []string{"stack"}}, {Supported: []string{"matmul", "add", "relu", "silu", "mul", "softmax", "copy"}}} {
					g, want := c.p.graph()
					name := fmt.Sprintf("%+v, %+v", c.p, o)
					exe, err := dev.Compile(ctx, g, o)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					plan := exe.Plan()
					joined := c.joined
					if o.Strict || o.Without != nil || o.Supported != nil {
						joined = 0
					}
					if got := plan.Report.Changes["stack"]; got != joined {
						t.Errorf("%s: %d joined (want %d)\n%v", name, got, joined, plan)
					}
					if joined > 0 {
						alone, err := dev.PlanGraph(g, graph.Options{Without: []string{"stack"}})
						if err != nil {
							t.Fatal(err)
						}
						if a, b := len(plan.Program.Steps), len(alone.Program.Steps); a != b-joined {
							t.Errorf("%s: %d calls, and %d without the pass\n%v\n%v", name, a, b, plan, alone)
						}
					}
					in, err := dev.NewTensor(tensor.Contiguous(c.p.dtype, c.p.n, c.p.d))
					if err != nil {
						t.Fatal(err)
					}
					if err := dev.Write(ctx, in, host(c.p.dtype, in.Shape(), x...).Data); err != nil {
						t.Fatal(err)
					}
					out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": in})
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					data, err := dev.Read(ctx, out["y"])
					if err != nil {
						t.Fatal(err)
					}
					got := (&tensor.Host{Desc: out["y"].Desc(), Data: data}).Floats()
					largest := 1.0
					for _, w := range want(x) {
						largest = max(largest, math.Abs(w))
					}
					if len(got) != len(want(x)) {
						t.Fatalf("%s: %d elements (want %d)", name, len(got), len(want(x)))
					}
					for i, w := range want(x) {
						if !(math.Abs(got[i]-w) <= most*largest) {
							t.Errorf("%s: element %d is %v (want %v)\n%v", name, i, got[i], w, plan)
							break
						}
					}
					if joined > 0 && strings.Count(plan.Graph.String(), "concat") == 0 {
						t.Errorf("%s: nothing is concatenated\n%v", name, plan.Graph)
					}
					if err := exe.Free(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// TestStackBatches joins products of a batch of matrices with matrices of one and with batches of them, whose parts are read in several views, and compares the results with
// those of the graph without the pass.
func TestStackBatches(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"cpu", "vk", "wgpu"} {
		for _, batches := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", backend, batches), func(t *testing.T) {
				dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
				testkit.Opened(t, err)
				defer dev.Close()
				const b, n, d, c = 2, 7, 5, 6
				g, rng := graph.New(), rand.New(rand.NewPCG(2, 6))
				some := func(shape ...int) *graph.Value {
					values := make([]float64, tensor.Contiguous(tensor.F32, shape...).Elems())
					for i := range values {
						values[i] = float64(rng.IntN(17))/8 - 1
					}
					return g.Constant(host(tensor.F32, shape, values...))
				}
				x := g.Input("x", tensor.F32, b, n, d)
				var parts []*graph.Value
				for range 4 {
					w := some(d, c)
					if batches {
						w = some(b, d, c)
					}
					parts = append(parts, g.Add(g.MatMul(x, w), some(1, c)))
				}
				heads := func(v *graph.Value) *graph.Value { return v.Reshape(b, n, 2, c/2).Transpose(0, 2, 1, 3) }
				g.Output("heads", g.MatMul(heads(parts[0]), heads(parts[1]).Transpose(0, 1, 3, 2)))
				g.Output("rows", g.MatMul(parts[2].Reshape(b*n, c), some(c, 3)))
				g.Output("some", g.MatMul(parts[3].Narrow(1, 2, 3).Narrow(2, 1, 4), some(4, 2)))
				g.Output("again", g.MatMul(parts[3], some(c, 2)))
				values := make([]float32, b*n*d)
				for i := range values {
					values[i] = float32(rng.IntN(9))/4 - 1
				}
				in, err := lathe.FromSlice(ctx, dev, values, b, n, d)
				if err != nil {
					t.Fatal(err)
				}
				var results []map[string]*lathe.Tensor
				for k, o := range []graph.Options{{}, {Without: []string{"stack"}}} {
					exe, err := dev.Compile(ctx, g, o)
					if err != nil {
						t.Fatal(err)
					}
					if got, want := exe.Plan().Report.Changes["stack"], 3*(1-k); got != want {
						t.Errorf("%d joined (want %d)\n%v", got, want, exe.Plan())
					}
					out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": in})
					if err != nil {
						t.Fatal(err)
					}
					results = append(results, out)
				}
				for name, want := range results[1] {
					a, err := lathe.ToSlice[float32](ctx, results[0][name])
					if err != nil {
						t.Fatal(err)
					}
					w, err := lathe.ToSlice[float32](ctx, want)
					if err != nil {
						t.Fatal(err)
					}
					for i := range w {
						if !(math.Abs(float64(a[i]-w[i])) <= 1e-4) {
							t.Fatalf("%s: element %d is %v (want %v)", name, i, a[i], w[i])
						}
					}
				}
			})
		}
	}
}

// TestStackMany joins 40 products, more than a device binds, of which each third has no bias, with weights, in F32 and by products in 16 bits, and compares the results with those of
// the graph without the pass, also after one weight was set again.
func TestStackMany(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"cpu", "vk", "wgpu"} {
		for _, precision := range []tensor.DType{tensor.Invalid, tensor.BF16} {
			t.Run(fmt.Sprintf("%s/%v", backend, precision), func(t *testing.T) {
				testlevel.Turn(t, 3)
				dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
				testkit.Opened(t, err)
				defer dev.Close()
				const n, d, many = 3, 5, 40
				most := 1e-5
				if precision != tensor.Invalid {
					most = 0.02
				}
				g := graph.New()
				x := g.Input("x", tensor.F32, n, d)
				for i := range many {
					c := 1 + i%3
					y := g.MatMul(x, g.Weight(fmt.Sprint("w", i), tensor.F32, d, c))
					if i%3 > 0 {
						y = g.Add(y, g.Constant(ramp(c)))
					}
					g.Output(fmt.Sprint("y", i), g.MatMul(y.Transpose(), y))
				}
				in := fromFloats(t, dev, 1, n, d)
				var results [2][]map[string]*lathe.Tensor
				for k, o := range []graph.Options{{Precision: precision}, {Precision: precision, Without: []string{"stack"}}} {
					exe, err := dev.Compile(ctx, g, o)
					if err != nil {
						t.Fatal(err)
					}
					defer exe.Free()
					want := []int{many - 2, 0}[k]
					if got := exe.Plan().Report.Stack; got.Joined != want || len(got.Missed) > 0 {
						t.Errorf("%+v (want %d joined)\n%v", got, want, exe.Plan())
					}
					for i := range many {
						if err := exe.SetParam(fmt.Sprint("w", i), fromFloats(t, dev, float64(i%5)+0.5, d, 1+i%3)); err != nil {
							t.Fatal(err)
						}
					}
					for round := range 2 {
						if round == 1 {
							if err := exe.SetParam("w7", fromFloats(t, dev, -1, d, 2)); err != nil {
								t.Fatal(err)
							}
						}
						out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": in})
						if err != nil {
							t.Fatal(err)
						}
						results[k] = append(results[k], out)
					}
				}
				for round, out := range results[1] {
					for name, y := range out {
						want, err := lathe.ToSlice[float32](ctx, y)
						if err != nil {
							t.Fatal(err)
						}
						got, err := lathe.ToSlice[float32](ctx, results[0][round][name])
						if err != nil {
							t.Fatal(err)
						}
						largest := 1.0
						for _, w := range want {
							largest = max(largest, math.Abs(float64(w)))
						}
						for i := range want {
							if !(math.Abs(float64(got[i]-want[i])) <= most*largest) {
								t.Fatalf("run %d: element %d of %s is %v (want %v)", round, i, name, got[i], want[i])
							}
						}
					}
				}
			})
		}
	}
}

// BenchmarkStack runs three products of one input with the pass and without, and reports the ratio of the least times.
func BenchmarkStack(b *testing.B) {
	ctx := context.Background()
	for _, backend := range []string{"vk", "cpu"} {
		for _, n := range []int{1, 16, 128} {
			b.Run(fmt.Sprintf("%s/%d", backend, n), func(b *testing.B) {
				dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
				testkit.Opened(b, err)
				defer dev.Close()
				p := projections{n: n, d: 256, columns: []int{256, 256, 256}, form: "bias", dtype: tensor.F32}
				x, err := lathe.FromSlice(ctx, dev, make([]float32, n*256), n, 256)
				if err != nil {
					b.Fatal(err)
				}
				g, _ := p.graph()
				given := map[string]*lathe.Tensor{"x": x}
				milliseconds(b, leastTimes(b, timed(b, dev, g, graph.Options{Without: []string{"stack"}}, given), timed(b, dev, g, graph.Options{}, given)), "alone", "joined")
			})
		}
	}
}

// BenchmarkGate runs a gate, silu(x·a) ⊙ x·b, as it is written and with one product of both matrices side by side, and reports the ratio of the least times.
func BenchmarkGate(b *testing.B) {
	ctx := context.Background()
	for _, backend := range []string{"vk", "cpu"} {
		for _, s := range [][3]int{{1, 256, 704}, {16, 256, 704}, {128, 256, 704}, {128, 512, 1408}, {1, 1024, 2816}} {
			b.Run(fmt.Sprintf("%s/%d·%d·%d", backend, s[0], s[1], s[2]), func(b *testing.B) {
				dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
				testkit.Opened(b, err)
				defer dev.Close()
				n, d, m := s[0], s[1], s[2]
				x, err := lathe.FromSlice(ctx, dev, make([]float32, n*d), n, d)
				if err != nil {
					b.Fatal(err)
				}
				given := map[string]*lathe.Tensor{"x": x}
				alone, joined := graph.New(), graph.New()
				in := alone.Input("x", tensor.F32, n, d)
				alone.Output("y", alone.Mul(alone.SiLU(alone.MatMul(in, alone.Constant(ramp(d, m)))), alone.MatMul(in, alone.Exp(alone.Constant(ramp(d, m))))))
				in = joined.Input("x", tensor.F32, n, d)
				p := joined.MatMul(in, joined.Constant(ramp(d, 2*m)))
				joined.Output("y", joined.Mul(joined.SiLU(p.Narrow(1, 0, m)), p.Narrow(1, m, m)))
				milliseconds(b, leastTimes(b, timed(b, dev, alone, graph.Options{}, given), timed(b, dev, joined, graph.Options{}, given)), "alone", "joined")
			})
		}
	}
}
