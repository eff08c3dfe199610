package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// RMSNorm divides by the root of the mean square of all elements from dimension
// Dim on: x/√(mean x² + Eps)·gamma. Gamma has the shape of these dimensions,
// and the input's dtype, or F32 where that has 16 bits; 1 if it is left out.
type RMSNorm struct {
	Dim int     `attr:"dim,required" doc:"the first of the dimensions that are normalised together, negative from the end"`
	Eps float64 `attr:"eps,required" doc:"added to the mean square, at least 0"`
}

// Spec returns the declaration.
func (RMSNorm) Spec() *spec.Op { return rmsNormOp }

var rmsNorm = norm{name: "nn/rms_norm", fold: folder{name: "nn/rms_norm_stat", reals: 1, rowsOnly: true}, longest: rmsNormLongest}

// rmsNormLongest is the longest row that one invocation takes: beyond it, the
// roundings of so many sums in turn add up.
const rmsNormLongest = 4096

var rmsNormOp = &spec.Op{
	Name: "rms_norm", Group: "nn",
	Doc:    "Divides by the root mean square of the last dimensions: x/√(mean x² + eps)·gamma.",
	Source: "Zhang and Sennrich, Root mean square layer normalization, 2019",
	In: []spec.Arg{
		{Name: "in", Doc: "a tensor of any shape but a scalar"},
		{Name: "gamma", Doc: "of the shape of in from dim on, 1 if left out; of the dtype of in, or F32 if that has 16 bits", Optional: true},
	},
	Out:      []spec.Arg{{Name: "out", Doc: "of the dtype and shape of in"}},
	Defaults: RMSNorm{Dim: -1, Eps: 1e-5},
	Kernels:  rmsNorm.kernels(),
	InPlace:  []int{0},
}

func init() {
	op, contiguous := rmsNormOp, tensor.Contiguous
	// see is the normalised rows of a call that Shape takes.
	see := func(c spec.Call, in []tensor.Desc) normal {
		k, err := oneDim(op.Name, c.(RMSNorm).Dim, len(in[0].Shape))
		if err != nil {
			return normal{}
		}
		return fromDim(in[0].Shape, k)
	}
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in, floats...); err != nil {
			return nil, err
		}
		if err := checkEps(op.Name, c.(RMSNorm).Eps); err != nil {
			return nil, err
		}
		k, err := oneDim(op.Name, c.(RMSNorm).Dim, len(in[0].Shape))
		if err != nil {
			return nil, err
		}
		if err := checkAffine(op, in, 1, k); err != nil {
			return nil, err
		}
		return []tensor.Desc{contiguous(in[0].DType, in[0].Shape...)}, nil
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		plan := &spec.Plan{}
		if err := planable(op, t, in, out); err != nil || in[0].Elems() == 0 {
			return plan, err
		}
		return plan, rmsNorm.plan(plan, t, c.(RMSNorm).Eps, in, see(c, in))
	}
	op.Strategies = func(c spec.Call, t *spec.Target, in, _ []tensor.Desc) []string {
		return rowWays(t, in[0].DType, see(c, in), rmsNormLongest)
	}
	op.SizeClass = func(c spec.Call, in []tensor.Desc) []int { return see(c, in).sizes() }
	op.Reference = func(c spec.Call, in, out []*tensor.Host) {
		x, v := in[0].Floats(), see(c, []tensor.Desc{in[0].Desc})
		gamma := columnsOf(in, 1, v.n, 1)
		for o := range min(v.outer, len(x)) {
			row := x[o*v.n : (o+1)*v.n]
			square := sumOf(len(row), func(i int) float64 { return row[i] * row[i] }) / float64(v.n)
			for i := range row {
				row[i] = row[i] / math.Sqrt(square+c.(RMSNorm).Eps) * gamma[i]
			}
		}
		out[0].SetFloats(x)
	}
	op.Tolerance = func(c spec.Call, d tensor.DType, in []tensor.Desc) spec.Tolerance {
		e, h := workEpsilon(d), rowChain(see(c, in).n)
		return spec.Tolerance{
			Abs: tiny(d) * (2 + 2/math.Sqrt(c.(RMSNorm).Eps+0x1p-60)), Rel: e*(8+math.Sqrt(h/3)/2) + storeEpsilon(d),
			Law: "ε·(8 + ½·√(h/3)) of the value, " + rowChainText,
			Any: rounded(h/2+12, e), AnyLaw: "((1 + ε)^(12+h/2) − 1) of the value",
			Why: "nothing cancels: a square is rounded at most h times on its way through the sum, and the root halves that; " +
				"elements below the least normal number, which devices may take for 0, are multiplied by up to 1/√eps",
		}
	}
	op.Cost = func(_ spec.Call, in []tensor.Desc) spec.Cost {
		cost := spec.Cost{Flops: 4 * int64(in[0].Elems()), Bytes: in[0].Bytes()}
		for _, d := range in {
			cost.Bytes += d.Bytes()
		}
		return cost
	}
	inputs := func(c spec.Call, d tensor.DType, dims []int) []tensor.Desc {
		gamma := contiguous(d, dims[1])
		if c.(RMSNorm).Dim == 0 {
			gamma = contiguous(d, dims[:2]...)
		}
		return []tensor.Desc{contiguous(d, dims[:2]...), gamma}[:dims[2]]
	}
	op.Cases = spec.Cases{
		DTypes: floats, Calls: []spec.Call{RMSNorm{-1, 1e-5}, RMSNorm{0, 1e-3}},
		Dims:     []spec.Dim{{Name: "rows"}, {Name: "n", Tiles: []int{16}}, {Name: "inputs", Only: []int{2, 1}}},
		Sizes:    [][]int{{1, 65535, 2}, {1, 65536, 2}, {3, 100000, 2}, {1, 1000000, 2}, {65535, 3, 2}, {65536, 4, 2}, {100000, 2, 2}, {600, 1024, 2}, {600, 1000, 2}, {1000, 201, 2}},
		Inputs:   func(d tensor.DType, dims []int) []tensor.Desc { return inputs(op.Defaults, d, dims) },
		InputsOf: inputs,
		Bench: benchCasesOf(op.Defaults, func(d tensor.DType, rows, columns int) []tensor.Desc {
			return []tensor.Desc{contiguous(d, rows, columns), contiguous(d, columns)}
		}),
		Low: -2, High: 2, Specials: true,
		Invalid: []spec.Call{RMSNorm{-1, -1e-5}, RMSNorm{-1, math.NaN()}, RMSNorm{-1, math.Inf(1)}, RMSNorm{2, 1e-5}, RMSNorm{-3, 1e-5}},
		Refused: [][]tensor.Desc{
			{contiguous(tensor.F32)}, {contiguous(tensor.I32, 3)},
			{contiguous(tensor.F32, 2, 3), contiguous(tensor.F32, 2)},
			{contiguous(tensor.F32, 2, 3), contiguous(tensor.F32, 2, 3)},
			{contiguous(tensor.F32, 2, 3), contiguous(tensor.F16, 3)},
			{contiguous(tensor.BF16, 2, 3), contiguous(tensor.F16, 3)},
		},
	}
	spec.Register(op)
}
