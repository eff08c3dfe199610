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
	Eps float64 `attr:"eps" doc:"added to the variance, at least 0"`
}

// Spec returns the declaration.
func (LayerNorm) Spec() *spec.Op { return layerNormOp }

// layerNormLongest is the longest row that one invocation takes.
const layerNormLongest = 16384

// momentsFold finds mean and squared deviations.
var momentsFold = folder{name: "nn/layer_norm_stat", reals: 4, rowsOnly: true}

// normParams is the push-constant block of layer_norm.comp.
type normParams struct {
	Outer, N, Inner, Base, Last, Chunks, Chunk, Lanes, OutBase, First, Carry, Divisor uint32
	Sign, OutSign, Eps, EpsLow                                                        float32
}

// affineParams is the push-constant block of layer_norm_affine.comp.
type affineParams struct{ Count, Weights, Offsets uint32 }

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
	op.Kernels = append(append(momentsFold.kernels(floats...), applyKernels("nn/layer_norm_apply", floats...)...),
		append(dtypeVariants("nn/layer_norm", normParams{}, floats, foldTexels), dtypeVariants("nn/layer_norm_affine", affineParams{}, floats, nil)...)...)
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
		if err := checkAffine(op, in, 1); err != nil {
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
		return plan, planLayerNorm(plan, t, c.(LayerNorm).Eps, in, v)
	}
	op.Variants = func(_ spec.Call, t *spec.Target, in, _ []tensor.Desc) []string {
		return rowWays(t, in[0].DType, lastDim(in[0].Shape), layerNormLongest)
	}
	op.Class = func(_ spec.Call, in []tensor.Desc) []int { return lastDim(in[0].Shape).sizes() }
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
	op.Tolerance = func(_ spec.Call, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
		e := workEpsilon(d)
		return spec.Tolerance{Abs: 32*e + tiny(d), Rel: 16*e + storeEpsilon(d),
			Why: "deviations are relative to an element, so that only their sums round; results are a few units before beta is added"}
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
		Bench: worksOf(LayerNorm{1e-5}, func(d tensor.DType, rows, columns int) []tensor.Desc {
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

// checkEps reports an eps that is negative or not finite.
func checkEps(op string, eps float64) error {
	if !(eps >= 0) || math.IsInf(eps, 0) {
		return invalid(op, "eps %v (want a finite number of at least 0)", eps)
	}
	return nil
}

// checkAffine checks the inputs from the k-th on, which belong to the columns of
// the first.
func checkAffine(op *spec.Op, in []tensor.Desc, k int) error {
	n, d := in[0].Shape[len(in[0].Shape)-1], in[0].DType
	for i := k; i < len(in); i++ {
		if len(in[i].Shape) != 1 || in[i].Shape[0] != n {
			return invalid(op.Name, "input %s is %v (want [%d])", op.In[i].Name, in[i], n)
		}
		if in[i].DType != in[k].DType || in[i].DType != d && in[i].DType != work(d) {
			return invalid(op.Name, "input %s is %v (want %v, or all of %v)", op.In[i].Name, in[i], d, work(d))
		}
	}
	return nil
}

// lastDim sees a shape from its last dimension.
func lastDim(shape []int) normal { return normalise(shape, len(shape)-1) }

func planLayerNorm(plan *spec.Plan, t *spec.Target, eps float64, in []tensor.Desc, v normal) error {
	d := in[0].DType
	gamma, beta := spec.Ref(-1), spec.Ref(-1)
	columns := d
	if len(in) > 1 {
		gamma, columns = spec.In(1), in[1].DType
	}
	if len(in) > 2 {
		beta = spec.In(2)
	}
	affine, err := addAffine(plan, t, columns, work(d), v.n, gamma, beta)
	if err != nil {
		return err
	}
	pair := 2 * work(d).Size()
	low := float32(eps)
	if rowsFused(t, d, v, layerNormLongest) {
		return addRows(plan, t, "nn/layer_norm", d, v, func(p foldParams) any {
			return normParams{Outer: p.Outer, N: p.N, Inner: 1, Base: p.Base, Last: p.Last, Chunks: 1, Chunk: p.Chunk, Lanes: p.Lanes,
				Divisor: 1, Sign: 1, OutSign: 1, Eps: low, EpsLow: float32(eps - float64(low))}
		}, []spec.Ref{spec.In(0)}, []spec.Bind{{Buf: affine}}, spec.Out(0))
	}
	states, err := addFold(plan, t, momentsFold, d, v, -1, spec.In(0))
	if err != nil {
		return err
	}
	a := applier{name: "nn/layer_norm_apply", fold: momentsFold, affine: affine, pair: pair, total: v.n, eps: eps}
	return addApply(plan, t, a, d, v, states, spec.Out(0), spec.In(0))
}

// addAffine appends the interleaving of n weights and offsets of dtype d, either
// of which may be missing (negative), and returns where the pairs of dtype w are.
func addAffine(plan *spec.Plan, t *spec.Target, d, w tensor.DType, n int, gamma, beta spec.Ref) (spec.Ref, error) {
	pair := 2 * w.Size()
	out, p := scratch(plan, int64(n*pair)), affineParams{Weights: 1, Offsets: 1}
	nothing := scratch(plan, 0)
	most := int(min(t.MaxBinding/int64(pair), 1<<24)/windowAlign(t)) * int(windowAlign(t))
	for first := 0; first < n; first += most {
		count := min(most, n-first)
		p.Count = uint32(count)
		g, _ := bindPart(t, gamma, d.Size(), first, count)
		b, _ := bindPart(t, beta, d.Size(), first, count)
		if gamma < 0 {
			g, p.Weights = spec.Bind{Buf: nothing}, 0
		}
		if beta < 0 {
			b, p.Offsets = spec.Bind{Buf: nothing}, 0
		}
		made, _ := bindPart(t, out, pair, first, count)
		groups, err := grid(t, int64(ceilDiv(ceilDiv(count, 16/d.Size()), smallGroup)))
		if err != nil {
			return 0, err
		}
		plan.Steps = append(plan.Steps, spec.Step{
			Kernel: "nn/layer_norm_affine." + d.String(), Params: p, Bind: []spec.Bind{g, b, made}, Groups: groups,
		})
	}
	return out, nil
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
