package graphs_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// sharing makes a random graph of products that share inputs. Its numbers are halves and small, so that all sums are exact: how products are joined changes no bit.
type sharing struct {
	rng     *rand.Rand
	g       *graph.Graph
	declare func(*graph.Graph, string, tensor.DType, ...int) *graph.Value // Graph.Weight or Graph.Param
	names   []string
	shapes  map[string][]int
	made    []*graph.Value // the matrices so far
}

// oddHalves are random numbers, none of which is 0.
func oddHalves(rng *rand.Rand, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(2*rng.IntN(4)-3) / 2
	}
	return list
}

// leaf is a weight, or sometimes a constant, or a param that may change in each run.
func (s *sharing) leaf(shape ...int) *graph.Value {
	k := s.rng.IntN(12)
	values := oddHalves(s.rng, tensor.Contiguous(tensor.F32, shape...).Elems())
	if k == 0 {
		return s.g.Constant(host(tensor.F32, shape, values...))
	}
	name := fmt.Sprint("w", len(s.names))
	s.names, s.shapes[name] = append(s.names, name), shape
	if k == 1 {
		return s.g.Param(name, tensor.F32, shape...)
	}
	return s.declare(s.g, name, tensor.F32, shape...)
}

// matrix is a matrix of some leaf, as it is, or what becomes of it once it is set.
func (s *sharing) matrix(rows, columns int) *graph.Value {
	var v *graph.Value
	switch s.rng.IntN(8) {
	case 0:
		v = s.leaf(columns, rows).Transpose()
	case 1:
		v = s.g.Neg(s.leaf(rows, columns))
	case 2:
		v = s.leaf(rows, columns+2).Narrow(1, 1, columns)
	case 3:
		for _, v := range s.made { // one that another product reads too
			if slices.Equal(v.Shape(), []int{rows, columns}) {
				return v
			}
		}
		fallthrough
	default:
		v = s.leaf(rows, columns)
	}
	s.made = append(s.made, v)
	return v
}

// products are some products of x, and what is behind them up to where their results are read.
func (s *sharing) products(x *graph.Value) (list []*graph.Value) {
	d, c, bias, act, turned := x.Shape()[1], 1+s.rng.IntN(6), s.rng.IntN(3) > 0, s.rng.IntN(3) == 0, s.rng.IntN(4) == 0
	for range 2 + s.rng.IntN(4) {
		if s.rng.IntN(3) == 0 {
			c = 1 + s.rng.IntN(6)
		}
		var y *graph.Value
		if turned != (s.rng.IntN(8) == 0) {
			y = s.g.Call(ops.MatMul{TransB: true}, x, s.matrix(c, d))[0]
		} else {
			y = s.g.MatMul(x, s.matrix(d, c))
		}
		if bias {
			y = s.g.Add(y, s.leaf(c))
		}
		if act {
			y = s.g.ReLU(y)
		}
		list = append(list, y)
	}
	return list
}

// build makes the graph. Products of its first products share inputs too.
func (s *sharing) build() {
	x := s.g.Input("x", tensor.F32, 1+s.rng.IntN(5), 1+s.rng.IntN(6))
	for i, y := range s.products(x) {
		name := fmt.Sprint("y", i)
		switch s.rng.IntN(6) {
		case 0:
			s.g.Output(name, y)
		case 1:
			for k, z := range s.products(y) {
				s.g.Output(fmt.Sprint(name, ".", k), s.g.MatMul(z.Transpose(), z))
			}
		case 2:
			s.g.Output(name, s.g.MatMul(y.Narrow(0, 0, 1), s.matrix(y.Shape()[1], 2)))
		default:
			s.g.Output(name, s.g.MatMul(y.Transpose(), y))
		}
	}
}

// TestStackOfWeights sets the weights of random graphs one at a time, in random order, and some of them again between runs, and compares each run with one of params that may change, whose
// products are not joined; and the last run with that of the graph compiled anew. All bit for bit.
func TestStackOfWeights(t *testing.T) {
	graphs := map[string]int{"cpu": 2, "vk": 2} // WebGPU's driver waits for each result
	if testlevel.IsFull() {
		graphs = map[string]int{"cpu": 100, "vk": 100, "wgpu": 20}
	}
	seed := testlevel.Seed(t)
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		n, tries, joined, once, changed := graphs[dev.Info().Backend], 0, 0, 0, 0
		for done := 0; done < n && tries < 10*n; tries++ {
			w := &weightsTest{t: t, dev: dev, rng: rand.New(rand.NewPCG(seed, uint64(tries)))}
			w.graph()
			if joined, once, changed = joined+w.joined, once+w.once, changed+w.changed; w.joined > 0 && w.once > 0 {
				done++
			}
			if t.Failed() {
				t.Fatalf("graph %d of seed %d", tries, seed)
			}
		}
		if t.Logf("%d graphs: %d calls joined, %d run once, %d results changed", tries, joined, once, changed); joined < n || once < n || n > 1 && changed < n {
			t.Error("there is little to compare")
		}
	})
}

// weightsTest is TestStackOfWeights for one graph.
type weightsTest struct {
	t      *testing.T
	dev    *lathe.Device
	rng    *rand.Rand
	params *sharing                 // their names and shapes
	now    map[string]*lathe.Tensor // what they are set to

	joined, once, changed int
}

// compile compiles the same random graph as seed says, with weights and all passes or with params and without joined products.
func (w *weightsTest) compile(seed uint64, weights bool, o graph.Options) (*lathe.Executable, *sharing) {
	s := &sharing{rng: rand.New(rand.NewPCG(seed, 0)), g: graph.New(), declare: (*graph.Graph).Weight, shapes: map[string][]int{}}
	if !weights {
		s.declare, o.Without = (*graph.Graph).Param, []string{"stack"}
	}
	s.build()
	return compiled(w.t, w.dev, s.g, o), s
}

// set sets a param to a new tensor, which may be a view with strides, or to that of another param.
func (w *weightsTest) set(name string, exes ...*lathe.Executable) {
	shape := w.params.shapes[name]
	var x *lathe.Tensor
	switch k := w.rng.IntN(5); {
	case k == 0:
		for _, other := range w.params.names {
			if slices.Equal(w.params.shapes[other], shape) {
				x = w.now[other]
			}
		}
	case k == 1 && len(shape) == 2:
		x = must(w.tensor(shape[1], shape[0]).Transpose())
	}
	if x == nil {
		x = w.tensor(shape...)
	}
	w.now[name] = x
	for _, exe := range exes {
		if err := exe.SetParam(name, x); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *weightsTest) tensor(shape ...int) *lathe.Tensor {
	var data []float32
	for _, v := range oddHalves(w.rng, tensor.Contiguous(tensor.F32, shape...).Elems()) {
		data = append(data, float32(v))
	}
	return slice(w.t, w.dev, data, shape...)
}

func (w *weightsTest) graph() {
	ctx, seed, o := context.Background(), w.rng.Uint64(), graph.Options{}
	if w.rng.IntN(4) == 0 {
		o.Precision = tensor.BF16
	}
	exe, s := w.compile(seed, true, o)
	plain, _ := w.compile(seed, false, o)
	w.params, w.now = s, map[string]*lathe.Tensor{}
	w.joined, w.once = exe.Plan().Report.Stack.Joined, len(exe.Plan().Program.Prepare)
	in := map[string]*lathe.Tensor{}
	for _, p := range exe.Plan().Program.Inputs {
		in[p.Name] = w.tensor(p.Desc.Shape...)
	}
	for _, k := range w.rng.Perm(len(s.names)) {
		if w.rng.IntN(4) == 0 {
			if _, err := exe.Run(ctx, in); !errors.Is(err, lathe.ErrNotInitialized) {
				w.t.Errorf("a run before all params are set: %v", err)
			}
		}
		w.set(s.names[k], exe, plain)
	}
	// The results are read after all runs, so that weights are set while runs are in flight.
	var got, want []map[string]*lathe.Tensor
	for range 5 {
		got, want = append(got, must(exe.Run(ctx, in))), append(want, must(plain.Run(ctx, in)))
		for range 1 + w.rng.IntN(3) {
			w.set(s.names[w.rng.IntN(len(s.names))], exe, plain)
		}
	}
	anew, _ := w.compile(seed, true, o)
	for _, name := range s.names {
		if err := anew.SetParam(name, w.now[name]); err != nil {
			w.t.Fatal(err)
		}
	}
	got, want = append(got, must(exe.Run(ctx, in)), must(exe.Run(ctx, in))), append(want, must(anew.Run(ctx, in)), must(plain.Run(ctx, in)))
	var last map[string][]float32
	for i := range got {
		now := map[string][]float32{}
		for name, x := range want[i] {
			now[name] = must(lathe.ToSlice[float32](ctx, x))
			if y := must(lathe.ToSlice[float32](ctx, got[i][name])); !slices.Equal(bits(y), bits(now[name])) {
				w.t.Errorf("run %d, precision %v, %s: got %v, want %v\n%v\n%v", i, o.Precision, name, y, now[name], s.g, exe.Plan())
			}
			if last != nil && !slices.Equal(now[name], last[name]) {
				w.changed++
			}
		}
		last = now
	}
	for _, e := range []*lathe.Executable{exe, plain, anew} {
		if err := e.Free(); err != nil {
			w.t.Error(err)
		}
	}
}
