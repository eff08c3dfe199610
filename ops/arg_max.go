package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ArgMax gives the index, I32, of the largest element along a dimension, the
// first of equals. NaN counts as larger than all. No elements have no largest:
// that is ErrInvalidArgument.
type ArgMax struct {
	Dim int `attr:"dim,required" doc:"the dimension, negative from the end"`
}

// Spec returns the declaration.
func (ArgMax) Spec() *spec.Op { return argMaxOp }

type indexParams struct{ Count, Words uint32 }

var argFold = folder{name: "reduce/arg_max_stat", reals: 1, indexed: true}

var argMaxOp = newArg("arg_max", "The index of the largest element along a dimension, the first of equals. NaN counts as larger than all.",
	1, func(dim int) spec.Call { return ArgMax{dim} }, func(c spec.Call) int { return c.(ArgMax).Dim },
	append(argFold.kernels(floats...), spec.Kernel{Name: "reduce/arg_max.i32", Params: indexParams{}}))

// newArg declares the search for the extreme element, the largest after
// multiplication with sign.
func newArg(name, doc string, sign float32, call func(dim int) spec.Call, dim func(spec.Call) int, kernels []spec.Kernel) *spec.Op {
	op := &spec.Op{
		Name: name, Group: "reduce", Doc: doc,
		In:       []spec.Arg{{Name: "in", Doc: "a tensor of any shape but a scalar"}},
		Out:      []spec.Arg{{Name: "out", Doc: "I32, the shape of in without the dimension"}},
		Defaults: call(-1), Kernels: kernels, InPlace: []int{-1},
	}
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in, floats...); err != nil {
			return nil, err
		}
		k, err := oneDim(op.Name, dim(c), len(in[0].Shape))
		if err != nil {
			return nil, err
		}
		set := make([]bool, len(in[0].Shape))
		set[k] = true
		out := tensor.Contiguous(tensor.I32, reducedShape(in[0].Shape, set, false)...)
		if in[0].Shape[k] == 0 && out.Elems() > 0 {
			return nil, invalid(op.Name, "zero-size reduction of %v has no identity", in[0])
		}
		return []tensor.Desc{out}, nil
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		if err := planable(op, t, in, out); err != nil {
			return nil, err
		}
		plan := &spec.Plan{}
		if out[0].Elems() == 0 {
			return plan, nil
		}
		k, err := oneDim(op.Name, dim(c), len(in[0].Shape))
		if err != nil {
			return nil, err
		}
		if n := in[0].Shape[k]; n > math.MaxInt32 {
			return nil, &errs.LimitError{Name: "index", Want: int64(n), Have: math.MaxInt32}
		}
		f := argFold
		f.sign = sign
		states, err := addFold(plan, t, f, in[0].DType, normalise(in[0].Shape, k), spec.Ref{}, spec.In(0))
		if err != nil {
			return nil, err
		}
		size := f.stateBytes(in[0].DType)
		return plan, addPerRow(plan, t, "reduce/arg_max", tensor.I32, out[0].Elems(), func(count int) any {
			return indexParams{uint32(count), uint32(size / 4)}
		}, false, rowOperand{states, size}, rowOperand{spec.Out(0), 4})
	}
	op.Strategies = byFold
	op.SizeClass = func(c spec.Call, in []tensor.Desc) []int {
		k, err := oneDim(op.Name, dim(c), len(in[0].Shape))
		if err != nil {
			return nil
		}
		return normalise(in[0].Shape, k).sizes()
	}
	op.Reference = func(c spec.Call, in, out []*tensor.Host) {
		k, _ := oneDim(op.Name, dim(c), len(in[0].Shape))
		x, v, results := in[0].Floats(), normalise(in[0].Shape, k), []float64{}
		eachColumn(v, func(at func(int) int) {
			best := 0
			for r := range v.n {
				a, b := x[at(best)]*float64(sign), x[at(r)]*float64(sign)
				if b > a || b != b && a == a {
					best = r
				}
			}
			results = append(results, float64(best))
		})
		out[0].SetFloats(results)
	}
	op.Tolerance = func(spec.Call, tensor.DType, []tensor.Desc) spec.Tolerance {
		return spec.Tolerance{Why: "an index is right or wrong"}
	}
	op.Cost = func(_ spec.Call, in []tensor.Desc) spec.Cost {
		return spec.Cost{Flops: int64(in[0].Elems()), Bytes: in[0].Bytes()}
	}
	op.Cases = spec.Cases{
		DTypes: floats,
		Calls:  []spec.Call{call(-1), call(1), call(0)},
		Dims:   []spec.Dim{{Name: "outer"}, {Name: "n", Tiles: []int{16}}, {Name: "inner", Tiles: []int{4, 8}}},
		Sizes:  alongSizes,
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc {
			for _, n := range dims {
				if n == 0 {
					return nil
				}
			}
			return []tensor.Desc{tensor.Contiguous(d, dims...)}
		},
		Bench: benchCases(call(-1), 1),
		Low:   -4, High: 4, Specials: true,
		Invalid: []spec.Call{call(3), call(-4)},
		Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32)}, {tensor.Contiguous(tensor.I32, 3)}, {tensor.Contiguous(tensor.F32, 3, 0)}},
	}
	return spec.Register(op)
}
