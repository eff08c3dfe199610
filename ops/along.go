package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// along is what one operation along a dimension, from tensors of one shape to
// another of it, adds to the family.
type along struct {
	name, doc, source string
	in                []spec.Arg
	call              func(dim int) spec.Call
	dim               func(spec.Call) int
	kernels           []spec.Kernel
	longest           int // of rowsFused, if there are kernels for whole rows
	plan              func(plan *spec.Plan, t *spec.Target, d tensor.DType, v normal) error
	// reference may work in its inputs.
	reference func(v normal, in [][]float64) []float64
	tolerance func(d tensor.DType, n int) spec.Tolerance
	low, high float64
	flops     int64
}

// oneDim checks a dimension of rank, negative from the end.
func oneDim(op string, dim, rank int) (int, error) {
	k := dim
	if k < 0 {
		k += rank
	}
	if k < 0 || k >= rank {
		return 0, invalid(op, "dimension %d of a tensor of rank %d", dim, rank)
	}
	return k, nil
}

// newAlong declares an operation along a dimension of contiguous tensors; views
// are copied before.
func newAlong(a along) *spec.Op {
	op := &spec.Op{
		Name: a.name, Group: "nn", Doc: a.doc, Source: a.source,
		In:       a.in,
		Out:      []spec.Arg{{Name: "out", Doc: "of the same dtype and shape"}},
		Defaults: a.call(-1), Kernels: a.kernels, InPlace: []int{0},
	}
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in, floats...); err != nil {
			return nil, err
		}
		if _, err := oneDim(op.Name, a.dim(c), len(in[0].Shape)); err != nil {
			return nil, err
		}
		for i, d := range in {
			if err := alike(op, i, d, in[0]); err != nil {
				return nil, err
			}
		}
		return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
	}
	see := func(c spec.Call, d tensor.Desc) normal {
		k, err := oneDim(op.Name, a.dim(c), len(d.Shape))
		if err != nil {
			return normal{}
		}
		return normalise(d.Shape, k)
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		plan := &spec.Plan{}
		if err := planable(op, t, in, out); err != nil {
			return nil, err
		}
		if in[0].Elems() == 0 {
			return plan, nil
		}
		return plan, a.plan(plan, t, in[0].DType, see(c, in[0]))
	}
	op.Strategies = byFold
	if a.longest > 0 {
		op.Strategies = func(c spec.Call, t *spec.Target, in, _ []tensor.Desc) []string {
			return rowWays(t, in[0].DType, see(c, in[0]), a.longest)
		}
	}
	op.SizeClass = func(c spec.Call, in []tensor.Desc) []int { return see(c, in[0]).sizes() }
	op.Reference = func(c spec.Call, in, out []*tensor.Host) {
		var v [][]float64
		for _, h := range in {
			v = append(v, h.Floats())
		}
		out[0].SetFloats(a.reference(see(c, in[0].Desc), v))
	}
	op.Tolerance = func(c spec.Call, d tensor.DType, in []tensor.Desc) spec.Tolerance {
		return a.tolerance(d, see(c, in[0]).n)
	}
	op.Cost = func(_ spec.Call, in []tensor.Desc) spec.Cost {
		return spec.Cost{Flops: a.flops * int64(in[0].Elems()), Bytes: int64(len(in)+1) * in[0].Bytes()}
	}
	op.Cases = spec.Cases{
		DTypes: floats,
		Calls:  []spec.Call{a.call(-1), a.call(1), a.call(0)},
		Dims:   []spec.Dim{{Name: "outer"}, {Name: "n", Tiles: []int{16}}, {Name: "inner", Tiles: []int{4, 8}}},
		Sizes:  alongSizes,
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc {
			var in []tensor.Desc
			for range a.in {
				in = append(in, tensor.Contiguous(d, dims...))
			}
			return in
		},
		Bench: benchCases(a.call(-1), len(a.in)),
		Low:   a.low, High: a.high, Specials: true,
		Invalid: []spec.Call{a.call(3), a.call(-4)},
		Refused: refusedPairs(len(a.in)),
	}
	return spec.Register(op)
}

// alongSizes are shapes with long dimensions: each of the three in turn.
var alongSizes = [][]int{
	{1, 1, 65535}, {1, 1, 65536}, {2, 1, 100000}, {1, 1, 1000000}, {1, 65535, 2}, {1, 65536, 4}, {2, 100000, 3},
	{65535, 1, 2}, {65536, 2, 2}, {100000, 1, 3}, {600, 1, 1024}, {600, 1, 1000}, {1000, 3, 67}, {3, 5, 100000},
}

// refusedPairs are inputs of different shapes or dtypes, where there are two, and
// a scalar.
func refusedPairs(n int) [][]tensor.Desc {
	f := tensor.Contiguous
	if n == 1 {
		return [][]tensor.Desc{{f(tensor.F32)}, {f(tensor.I32, 3)}}
	}
	return [][]tensor.Desc{
		{f(tensor.F32), f(tensor.F32)}, {f(tensor.F32, 2, 3), f(tensor.F32, 3, 2)}, {f(tensor.F32, 2, 3), f(tensor.F32, 1, 2, 3)},
		{f(tensor.F32, 2, 3), f(tensor.F16, 2, 3)},
	}
}

// alike reports an input i that has not the dtype and shape of the first.
func alike(op *spec.Op, i int, d, first tensor.Desc) error {
	if d.DType != first.DType || !slices.Equal(d.Shape, first.Shape) {
		return invalid(op.Name, "input %s is %v (want %v as %s)", op.In[i].Name, d, first, op.In[0].Name)
	}
	return nil
}

// planable reports operands that plans for contiguous tensors cannot take.
func planable(op *spec.Op, t *spec.Target, in, out []tensor.Desc) error {
	if err := checkTarget(op.Name, t, in...); err != nil {
		return err
	}
	for _, d := range append(append([]tensor.Desc(nil), in...), out...) {
		if !d.IsContiguous() {
			return unsupported(op.Name, "strides")
		}
	}
	return nil
}

// eachColumn calls f for every column of v, with where its r-th element is.
func eachColumn(v normal, f func(at func(r int) int)) {
	for o := range v.outer {
		for i := range v.inner {
			f(func(r int) int { return (o*v.n+r)*v.inner + i })
		}
	}
}

// sumOf adds f(0) to f(n-1) to double the precision: a plain sum in float64 is
// less exact than what it is to check. Algorithm: Neumaier, 1974.
func sumOf(n int, f func(i int) float64) float64 {
	sum, lost := 0.0, 0.0
	for i := range n {
		x := f(i)
		next := sum + x
		lost += rounding(sum, x, next)
		sum = next
	}
	if math.IsInf(sum, 0) || math.IsNaN(lost) {
		return sum
	}
	return sum + lost
}
