package graphs_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/tensor"
)

type values = []*graph.Value

// onBackends runs a test on each backend.
func onBackends(t *testing.T, f func(t *testing.T, dev *lathe.Device)) {
	for _, backend := range []string{"cpu", "vk", "wgpu"} {
		t.Run(backend, func(t *testing.T) {
			dev, err := lathe.Open(context.Background(), lathe.WithBackend(backend), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			defer dev.Close()
			f(t, dev)
		})
	}
}

func compiled(t *testing.T, dev *lathe.Device, g *graph.Graph, o graph.Options) *lathe.Executable {
	t.Helper()
	exe, err := dev.Compile(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exe.Free() })
	if b := exe.Plan().Program.Bytes; b.Arena < b.Lower {
		t.Errorf("an arena of %d bytes, below its lower bound %d", b.Arena, b.Lower)
	}
	return exe
}

func slice[T lathe.Element](t *testing.T, dev *lathe.Device, data []T, shape ...int) *lathe.Tensor {
	t.Helper()
	x, err := lathe.FromSlice(context.Background(), dev, data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func flag(t *testing.T, dev *lathe.Device, is bool) *lathe.Tensor {
	t.Helper()
	x, err := dev.NewTensor(tensor.Contiguous(tensor.Bool))
	if err == nil {
		b := byte(0)
		if is {
			b = 1
		}
		err = dev.Write(context.Background(), x, []byte{b})
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// run runs a graph and returns its results as numbers.
func run(t *testing.T, dev *lathe.Device, exe *lathe.Executable, in map[string]*lathe.Tensor) map[string][]float32 {
	t.Helper()
	out, err := exe.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]float32{}
	for name, x := range out {
		data, err := dev.Read(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range (&tensor.Host{Desc: x.Desc(), Data: data}).Floats() {
			all[name] = append(all[name], float32(v))
		}
	}
	return all
}

// TestIf takes both branches in turn: of captured values, of a view, of constants, one in another.
func TestIf(t *testing.T) {
	const n = 7
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		g := graph.New()
		c, d := g.Input("c", tensor.Bool), g.Input("d", tensor.Bool)
		x, w := g.Input("x", tensor.F32, n, n), g.Param("w", tensor.F32, n, n)
		h := g.Tanh(x)
		row := x.Narrow(0, 3, 1)
		r := g.If(c, func(g *graph.Graph) values {
			y := g.MatMul(h, w.Transpose())
			inner := g.If(d, func(g *graph.Graph) values {
				return values{g.Add(y, row), g.Exp(g.ReduceSum(y, 1))}
			}, func(g *graph.Graph) values {
				return values{g.Sub(h, row), g.ReduceSum(g.Mul(y, graph.Scalar(3)), 0)}
			})
			return values{g.ReLU(inner[0]), inner[1]}
		}, func(g *graph.Graph) values { return values{x, row.Reshape(n)} })
		g.Output("a", g.Add(r[0], h))
		g.Output("b", r[1])
		g.Output("same", r[1])
		data, weights := make([]float32, n*n), make([]float32, n*n)
		for i := range data {
			data[i], weights[i] = float32(i%11)/16-0.2, float32(i*7%13)/32
		}
		in := slice(t, dev, data, n, n)
		wt := slice(t, dev, weights, n, n)
		again := asJSON(t, g)
		for _, o := range []graph.Options{{}, {Without: []string{"control", "cse", "dce", "fuse", "epilogue", "prologue"}}, {Strict: true}} {
			for _, g := range []*graph.Graph{g, again} {
				exe := compiled(t, dev, g, o)
				if err := exe.SetParam("w", wt); err != nil {
					t.Fatal(err)
				}
				for k := range 6 {
					cc, dd := k&1 == 0, k&2 == 0
					got := run(t, dev, exe, map[string]*lathe.Tensor{"c": flag(t, dev, cc), "d": flag(t, dev, dd), "x": in})
					want := ifByCalls(t, dev, in, wt, cc, dd)
					for name := range want {
						if !slices.Equal(bits(got[name]), bits(want[name])) {
							t.Fatalf("%v %v, %s: got %v, want %v\n%v", cc, dd, name, got[name], want[name], exe.Plan())
						}
					}
				}
			}
		}
	})
}

func bits(list []float32) []uint32 {
	out := make([]uint32, len(list))
	for i, v := range list {
		out[i] = math.Float32bits(v)
	}
	return out
}

// ifByCalls is the graph of TestIf, call by call.
func ifByCalls(t *testing.T, dev *lathe.Device, x, w *lathe.Tensor, c, d bool) map[string][]float32 {
	must := func(x *lathe.Tensor, err error) *lathe.Tensor {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	h := must(dev.Tanh(x))
	row := must(x.Narrow(0, 3, 1))
	a, b := x, must(must(dev.Copy(row)).Reshape(-1))
	if c {
		y := must(dev.MatMul(h, must(w.Transpose())))
		if d {
			a, b = must(dev.Add(y, row)), must(dev.Exp(must(dev.ReduceSum(y, 1))))
		} else {
			a, b = must(dev.Sub(h, row)), must(dev.ReduceSum(must(dev.Mul(y, lathe.Scalar(3))), 0))
		}
		a = must(dev.ReLU(a))
	}
	a = must(dev.Add(a, h))
	out := map[string][]float32{}
	for name, v := range map[string]*lathe.Tensor{"a": a, "b": b, "same": b} {
		list, err := lathe.ToSlice[float32](context.Background(), v)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = list
	}
	return out
}

// newton is a graph that finds square roots: until the largest change is small, or at most so many times.
func newton(n, most int) *graph.Graph {
	g := graph.New()
	x := g.Input("x", tensor.F32, n)
	tol := g.Input("tol", tensor.F32)
	cond := func(g *graph.Graph, s values) *graph.Value {
		return g.Greater(g.ReduceMax(g.Abs(g.Sub(g.Mul(s[0], s[0]), x))), tol)
	}
	body := func(g *graph.Graph, s values) values {
		return values{g.Mul(g.Add(s[0], g.Div(x, s[0])), graph.Scalar(0.5)), g.Add(s[1], graph.Scalar(1))}
	}
	first := values{g.Add(x, graph.Scalar(1)), g.Input("zero", tensor.I32)}
	var s values
	if most > 0 {
		s = g.WhileAtMost(most, first, cond, body)
	} else {
		s = g.While(first, cond, body)
	}
	g.Output("root", g.Neg(s[0]))
	g.Output("steps", s[1])
	return g
}

// newtonByCalls is the same call by call.
func newtonByCalls(t *testing.T, dev *lathe.Device, x *lathe.Tensor, tol float32, most int) (root []float32, steps int) {
	must := func(x *lathe.Tensor, err error) *lathe.Tensor {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	s := must(dev.Add(x, lathe.Scalar(1)))
	for ; most == 0 || steps < most; steps++ {
		far, err := lathe.ToSlice[float32](context.Background(), must(dev.ReduceMax(must(dev.Abs(must(dev.Sub(must(dev.Mul(s, s)), x)))))))
		if err != nil {
			t.Fatal(err)
		}
		if !(far[0] > tol) {
			break
		}
		s = must(dev.Mul(must(dev.Add(s, must(dev.Div(x, s)))), lathe.Scalar(0.5)))
	}
	root, err := lathe.ToSlice[float32](context.Background(), must(dev.Neg(s)))
	if err != nil {
		t.Fatal(err)
	}
	return root, steps
}

// TestWhile finds square roots by Newton's method with other numbers of steps: none, odd, even, and up to a bound.
func TestWhile(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		x := slice(t, dev, []float32{2, 3, 5, 7, 11})
		zero := slice(t, dev, []int32{0})
		zero, err := zero.Reshape()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, most := range []int{0, 1, 2, 3} {
			exe := compiled(t, dev, newton(5, most), graph.Options{})
			for _, tol := range []float32{1e9, 40, 9, 3, 1e-2, 1e-4, float32(math.NaN())} {
				level, err := slice(t, dev, []float32{tol}).Reshape()
				if err != nil {
					t.Fatal(err)
				}
				got := run(t, dev, exe, map[string]*lathe.Tensor{"x": x, "zero": zero, "tol": level})
				root, steps := newtonByCalls(t, dev, x, tol, most)
				if !slices.Equal(bits(got["root"]), bits(root)) || int(got["steps"][0]) != steps {
					t.Fatalf("at most %d, to %v: got %v in %v steps, want %v in %d", most, tol, got["root"], got["steps"], root, steps)
				}
				seen[steps] = true
			}
		}
		if !seen[0] || !seen[1] || !seen[2] || !seen[3] || len(seen) < 5 {
			t.Errorf("numbers of steps %v", seen)
		}
	})
}

// decoder is a loop as of a language model: it appends the most probable token until the last one is found, or the text is full.
func decoder(vocabulary, length int) *graph.Graph {
	g := graph.New()
	table := g.Param("table", tensor.F32, vocabulary, vocabulary)
	stop := g.Input("stop", tensor.I32, 1)
	places := make([]float64, length)
	for i := range places {
		places[i] = float64(i)
	}
	h, _ := tensor.FromFloats(tensor.I32, []int{length}, places)
	at := g.Constant(h)
	s := g.WhileAtMost(length-1, values{g.Input("text", tensor.I32, length), g.Input("last", tensor.I32, 1), g.Input("n", tensor.I32, 1)},
		func(g *graph.Graph, s values) *graph.Value { return g.NotEqual(s[1], stop) },
		func(g *graph.Graph, s values) values {
			next := g.ArgMax(g.Gather(table, s[1], 0), 1)
			next = g.Cast(next, tensor.I32).Reshape(1)
			return values{g.Where(g.Equal(at, s[2]), next, s[0]), next, g.Add(s[2], graph.Scalar(1))}
		})
	g.Output("text", s[0])
	g.Output("n", s[2])
	return g
}

// TestDecoding decodes greedily, and then with a table that leads out of itself, which the device finds.
func TestDecoding(t *testing.T) {
	const vocabulary, length = 11, 13
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		ctx := context.Background()
		exe := compiled(t, dev, decoder(vocabulary, length), graph.Options{})
		if f := exe.Plan().Report.Fusion; f.Launches == 0 {
			t.Errorf("nothing is fused in the body:\n%v", exe.Plan())
		}
		table := make([]float32, vocabulary*vocabulary)
		for i := range vocabulary {
			table[i*vocabulary+(i*2+1)%vocabulary] = 1
		}
		if err := exe.SetParam("table", slice(t, dev, table, vocabulary, vocabulary)); err != nil {
			t.Fatal(err)
		}
		decode := func(first, stop int32) ([]float32, int) {
			in := map[string]*lathe.Tensor{"text": slice(t, dev, make([]int32, length)), "last": slice(t, dev, []int32{first}), "n": slice(t, dev, []int32{0}), "stop": slice(t, dev, []int32{stop})}
			got := run(t, dev, exe, in)
			return got["text"], int(got["n"][0])
		}
		for _, stop := range []int32{0, 3, 7, 9, -1} {
			want, n := make([]float32, length), 0
			for last := int32(0); last != stop && n < length-1; n++ {
				last = (last*2 + 1) % vocabulary
				want[n] = float32(last)
			}
			if got, steps := decode(0, stop); !slices.Equal(got, want) || steps != n {
				t.Errorf("until %d: got %v in %d steps, want %v in %d", stop, got, steps, want, n)
			}
		}
		// An index that is out of range in the body is an error of Run, and the executable works on.
		_, err := exe.Run(ctx, map[string]*lathe.Tensor{"text": slice(t, dev, make([]int32, length)), "last": slice(t, dev, []int32{vocabulary}), "n": slice(t, dev, []int32{0}), "stop": slice(t, dev, []int32{3})})
		if !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("an index out of range: %v", err)
		}
		if got, steps := decode(0, 3); steps != 2 || got[1] != 3 {
			t.Errorf("after an error: %v in %d steps", got, steps)
		}
	})
}

// TestEndless stops a loop that has no end by its context, and uses the executable again.
func TestEndless(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		g := graph.New()
		again := g.Input("again", tensor.Bool)
		s := g.While(values{g.Input("x", tensor.F32, 3)}, func(*graph.Graph, values) *graph.Value { return again },
			func(g *graph.Graph, s values) values { return values{g.Add(s[0], graph.Scalar(1))} })
		g.Output("y", s[0])
		exe := compiled(t, dev, g, graph.Options{})
		x := slice(t, dev, []float32{1, 2, 3})
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if _, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x, "again": flag(t, dev, true)}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if got := run(t, dev, exe, map[string]*lathe.Tensor{"x": x, "again": flag(t, dev, false)}); !slices.Equal(got["y"], []float32{1, 2, 3}) {
			t.Errorf("got %v", got)
		}
	})
}

// TestDecidedByConstants checks that the compiler takes the branch of a constant condition, and leaves out a loop that does not begin.
func TestDecidedByConstants(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		for _, is := range []float64{0, 1} {
			h, err := tensor.FromFloats(tensor.Bool, []int{1}, []float64{is})
			if err != nil {
				t.Fatal(err)
			}
			g := graph.New()
			x, c := g.Input("x", tensor.F32, 2, 3), g.Constant(h)
			r := g.If(c, func(g *graph.Graph) values {
				return g.If(c, func(g *graph.Graph) values { return values{g.Exp(x).Transpose(), x.Narrow(0, 1, 1)} },
					func(g *graph.Graph) values { return values{g.Neg(x).Transpose(), x.Narrow(0, 0, 1)} })
			}, func(g *graph.Graph) values { return values{x.Transpose(), x.Narrow(0, 0, 1)} })
			s := g.While(values{r[0], g.Add(r[1], graph.Scalar(1))}, func(g *graph.Graph, s values) *graph.Value {
				return g.Constant(must(tensor.FromFloats(tensor.Bool, nil, []float64{0})))
			},
				func(g *graph.Graph, s values) values { return values{g.Exp(s[0]), g.Exp(s[1])} })
			g.Output("a", s[0])
			g.Output("b", s[1])
			exe := compiled(t, dev, g, graph.Options{})
			if text := exe.Plan().Graph.String(); strings.Contains(text, "if") || strings.Contains(text, "while") || exe.Plan().Report.Changes["control"] < 2 {
				t.Errorf("control flow is left:\n%s", text)
			}
			undecided := compiled(t, dev, g, graph.Options{Without: []string{"control"}})
			in := map[string]*lathe.Tensor{"x": slice(t, dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3)}
			got, want := run(t, dev, exe, in), run(t, dev, undecided, in)
			if !slices.Equal(got["a"], want["a"]) || !slices.Equal(got["b"], want["b"]) || len(got["a"]) != 6 || got["b"][0] != []float32{2, 5}[int(is)] {
				t.Errorf("%v: got %v, want %v", is, got, want)
			}
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestGradientOfIf compares gradients through both branches with those of the branch alone.
func TestGradientOfIf(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		var k *graph.Value
		number, err := tensor.FromFloats(tensor.F32, nil, []float64{1.5})
		if err != nil {
			t.Fatal(err)
		}
		branches := []func(g *graph.Graph, x, w *graph.Value) values{
			func(g *graph.Graph, x, w *graph.Value) values {
				return values{g.Tanh(g.MatMul(x, w)), g.ReduceSum(g.Mul(x, x))}
			},
			func(g *graph.Graph, x, w *graph.Value) values {
				return values{g.Mul(x, g.Mul(k, graph.Scalar(3))), g.ReduceSum(w)}
			},
		}
		build := func(branch func(g *graph.Graph, x, w *graph.Value) values) *graph.Graph {
			g := graph.New()
			x, w := g.Input("x", tensor.F32, 3, 3), g.Input("w", tensor.F32, 3, 3)
			k = g.Constant(number)
			r := branch(g, g.Exp(x), w)
			d := g.Gradients(g.Mul(g.ReduceMean(g.Mul(r[0], r[0])), r[1]), x, w, k)
			g.Output("dk", d[2])
			g.Output("dx", d[0])
			g.Output("dw", d[1])
			return g
		}
		var c *graph.Value
		whole := compiled(t, dev, build(func(g *graph.Graph, x, w *graph.Value) values {
			c = g.Input("c", tensor.Bool)
			return g.If(c, func(g *graph.Graph) values { return branches[0](g, x, w) }, func(g *graph.Graph) values { return branches[1](g, x, w) })
		}), graph.Options{})
		x, w := slice(t, dev, []float32{.1, .2, .3, -.1, .5, .7, .11, .13, -.2}, 3, 3), slice(t, dev, []float32{.3, .1, .3, .4, -.5, .2, .1, .6, .2}, 3, 3)
		for i, branch := range branches {
			want := run(t, dev, compiled(t, dev, build(branch), graph.Options{}), map[string]*lathe.Tensor{"x": x, "w": w})
			got := run(t, dev, whole, map[string]*lathe.Tensor{"x": x, "w": w, "c": flag(t, dev, i == 0)})
			if i == 1 && got["dk"][0] == 0 {
				t.Error("no gradient of a constant from outside")
			}
			for name := range want {
				for j := range want[name] {
					if math.Abs(float64(got[name][j]-want[name][j])) > 1e-5*max(1, math.Abs(float64(want[name][j]))) {
						t.Fatalf("branch %d, %s: got %v, want %v", i, name, got[name], want[name])
					}
				}
			}
		}
	})
}
