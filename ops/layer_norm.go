package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// LayerNorm normalises the last dimension: (x − mean)/√(variance + eps)·gamma +
// beta, with the population variance. Gamma and beta, [n] of the input's dtype,
// or both of F32 where that has 16 bits, may be left out: 1 and 0.
type LayerNorm struct {
	Eps float64 `attr:"eps,required" doc:"added to the variance, at least 0"`
}

// Spec returns the declaration.
func (LayerNorm) Spec() *spec.Op { return layerNormOp }

// layerNormLongest is the longest row that one invocation takes.
const layerNormLongest = 16384

// momentsFold finds mean and squared deviations.
var momentsFold = folder{name: "nn/layer_norm_stat", reals: 4, rowsOnly: true}

var layerNorm = norm{name: "nn/layer_norm", fold: momentsFold, longest: layerNormLongest}

var layerNormOp = &spec.Op{
	Name: "layer_norm", Group: "nn",
	Doc:    "Normalises the last dimension: (x − mean)/√(variance + eps)·gamma + beta, with the population variance.",
	Source: "Ba, Kiros and Hinton, Layer normalization, 2016",
	In: []spec.Arg{
		{Name: "in", Doc: "[..., n]"},
		{Name: "gamma", Doc: "[n], 1 if left out; of the dtype of in, or F32 if that has 16 bits", Optional: true},
		{Name: "beta", Doc: "[n], 0 if left out; of the dtype of gamma", Optional: true},
	},
	Out:      []spec.Arg{{Name: "out", Doc: "of the dtype and shape of in"}},
	Defaults: LayerNorm{Eps: 1e-5},
	InPlace:  []int{0},
}

func init() {
	op := layerNormOp
	op.Kernels = append(layerNorm.kernels(), dtypeVariants("nn/layer_norm_affine", affineParams{}, floats, nil)...)
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in, floats...); err != nil {
			return nil, err
		}
		if err := checkEps(op.Name, c.(LayerNorm).Eps); err != nil {
			return nil, err
		}
		if len(in[0].Shape) == 0 {
			return nil, invalid(op.Name, "a scalar has no last dimension")
		}
		if err := checkAffine(op, in, 1, len(in[0].Shape)-1); err != nil {
			return nil, err
		}
		return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		plan := &spec.Plan{}
		if err := planable(op, t, in, out); err != nil || in[0].Elems() == 0 {
			return plan, err
		}
		v := lastDim(in[0].Shape)
		return plan, layerNorm.plan(plan, t, c.(LayerNorm).Eps, in, v)
	}
	op.Strategies = func(_ spec.Call, t *spec.Target, in, _ []tensor.Desc) []string {
		return rowWays(t, in[0].DType, lastDim(in[0].Shape), layerNormLongest)
	}
	op.SizeClass = func(_ spec.Call, in []tensor.Desc) []int { return lastDim(in[0].Shape).sizes() }
	op.Reference = func(c spec.Call, in, out []*tensor.Host) {
		x, v := in[0].Floats(), lastDim(in[0].Shape)
		gamma, beta := columnsOf(in, 1, v.n, 1), columnsOf(in, 2, v.n, 0)
		for o := range min(v.outer, len(x)) {
			row := x[o*v.n : (o+1)*v.n]
			// Relative to one of them: float64 alone is not enough to check f64.
			origin := row[0]
			for i := range row {
				row[i] -= origin
			}
			mean, variance := moments(row)
			for i := range row {
				row[i] = (row[i]-mean)/math.Sqrt(variance+c.(LayerNorm).Eps)*gamma[i] + beta[i]
			}
		}
		out[0].SetFloats(x)
	}
	op.Tolerance = func(_ spec.Call, d tensor.DType, in []tensor.Desc) spec.Tolerance {
		e, h := workEpsilon(d), rowChain(lastDim(in[0].Shape).n)
		return spec.Tolerance{
			Abs: e*(32+3*math.Sqrt(h)) + tiny(d), Rel: 16*e + storeEpsilon(d),
			Law: "ε·(32 + 3·√h) + 16ε of the value, " + rowChainText + ", where elements are within a few standard deviations and weights up to 2",
			Why: "deviations are relative to an element, so that only their sums round: the mean of them, a few standard deviations at most, moves at most h times and rounds each time",
		}
	}
	op.Cost = func(_ spec.Call, in []tensor.Desc) spec.Cost {
		cost := spec.Cost{Flops: 8 * int64(in[0].Elems()), Bytes: in[0].Bytes()}
		for _, d := range in {
			cost.Bytes += d.Bytes()
		}
		return cost
	}
	op.Cases = spec.Cases{
		DTypes: floats, Calls: []spec.Call{LayerNorm{1e-5}, LayerNorm{1e-3}},
		Dims:  []spec.Dim{{Name: "rows"}, {Name: "n", Tiles: []int{16}}, {Name: "inputs", Only: []int{3, 1, 2}}},
		Sizes: [][]int{{1, 65535, 3}, {1, 65536, 3}, {3, 100000, 3}, {1, 1000000, 3}, {65535, 3, 3}, {65536, 4, 3}, {100000, 2, 3}, {600, 1024, 3}, {600, 1000, 3}, {1000, 201, 3}},
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc {
			columns := tensor.Contiguous(d, dims[1])
			return []tensor.Desc{tensor.Contiguous(d, dims[:2]...), columns, columns}[:dims[2]]
		},
		Bench: benchCasesOf(LayerNorm{1e-5}, func(d tensor.DType, rows, columns int) []tensor.Desc {
			return []tensor.Desc{tensor.Contiguous(d, rows, columns), tensor.Contiguous(d, columns), tensor.Contiguous(d, columns)}
		}),
		Low: -2, High: 2, Specials: true,
		// The second call is of rows far from zero.
		Range: func(c spec.Call, i int, _ []tensor.Desc) (low, high float64) {
			if i == 0 && c.(LayerNorm).Eps == 1e-3 {
				return 1e4 - 1, 1e4 + 1
			}
			return -2, 2
		},
		Invalid: []spec.Call{LayerNorm{-1e-5}, LayerNorm{math.NaN()}, LayerNorm{math.Inf(1)}},
		Refused: [][]tensor.Desc{
			{tensor.Contiguous(tensor.F32)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 2)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 1, 3)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F16, 3)},
			{tensor.Contiguous(tensor.F16, 2, 3), tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F16, 3)},
		},
	}
	spec.Register(op)
}

// columnsOf is the i-th input, or n times value if it was left out.
func columnsOf(in []*tensor.Host, i, n int, value float64) []float64 {
	if i < len(in) {
		return in[i].Floats()
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = value
	}
	return v
}

// moments is the mean and population variance of a row.
func moments(row []float64) (mean, variance float64) {
	n := float64(len(row))
	mean = sumOf(len(row), func(i int) float64 { return row[i] }) / n
	variance = sumOf(len(row), func(i int) float64 { return (row[i] - mean) * (row[i] - mean) }) / n
	return mean, variance
}
