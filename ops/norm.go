package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// norm is a way to normalise rows: kernels of lib/norm.glsl.
type norm struct {
	name    string // group/name, without dtype
	fold    folder // that makes the states
	longest int    // row that one invocation takes
}

// normParams is the push-constant block of lib/norm_rows.glsl.
type normParams struct {
	Outer, N, Inner, Base, Last, Chunks, Chunk, Lanes, OutBase, First, Carry, Divisor uint32
	Sign, OutSign, Eps, EpsLow                                                        float32
}

// affineParams is the push-constant block of layer_norm_affine.comp.
type affineParams struct{ Count, Weights, Offsets uint32 }

// kernels lists those of the norm, without layer_norm_affine, which all share.
func (o norm) kernels() []spec.Kernel {
	return slices.Concat(o.fold.kernels(floats...), applyKernels(o.name+"_apply", floats...), rowKernels(o.name, normParams{}))
}

// plan appends the steps that normalise the rows of v, of the first input, with
// the weights and offsets that the others are.
// Errors: *LimitError.
func (o norm) plan(plan *spec.Plan, t *spec.Target, eps float64, in []tensor.Desc, v normal) error {
	d := in[0].DType
	gamma, beta := spec.Ref{}, spec.Ref{}
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
	low := float32(eps)
	if rowsFused(t, d, v, o.longest) {
		return addRows(plan, t, o.name, d, v, func(p foldParams) any {
			return normParams{Outer: p.Outer, N: p.N, Inner: 1, Base: p.Base, Last: p.Last, Chunks: 1, Chunk: p.Chunk, Lanes: p.Lanes,
				Divisor: 1, Sign: 1, OutSign: 1, Eps: low, EpsLow: float32(eps - float64(low))}
		}, []spec.Ref{spec.In(0)}, []spec.Bind{{Buf: affine}}, spec.Out(0))
	}
	states, err := addFold(plan, t, o.fold, d, v, spec.Ref{}, spec.In(0))
	if err != nil {
		return err
	}
	a := applier{name: o.name + "_apply", fold: o.fold, affine: affine, pair: 2 * work(d).Size(), total: v.n, eps: eps}
	return addApply(plan, t, a, d, v, states, spec.Out(0), spec.In(0))
}

// addAffine appends the interleaving of n weights and offsets of dtype d, either
// of which may be missing (the zero Ref), and returns where the pairs of dtype w are.
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
		if gamma.Kind == spec.RefNone {
			g, p.Weights = spec.Bind{Buf: nothing}, 0
		}
		if beta.Kind == spec.RefNone {
			b, p.Offsets = spec.Bind{Buf: nothing}, 0
		}
		made, _ := bindPart(t, out, pair, first, count)
		groups, err := grid(t, int64(ceilDiv(ceilDiv(count, 16/d.Size()), smallGroup)))
		if err != nil {
			return spec.Ref{}, err
		}
		plan.Steps = append(plan.Steps, spec.Step{
			Kernel: "nn/layer_norm_affine." + d.String(), Params: p, Bind: []spec.Bind{g, b, made}, Groups: groups,
		})
	}
	return out, nil
}

// checkEps reports an eps that is negative or not finite.
func checkEps(op string, eps float64) error {
	if !(eps >= 0) || math.IsInf(eps, 0) {
		return invalid(op, "eps %v (want a finite number of at least 0)", eps)
	}
	return nil
}

// checkAffine checks the inputs from the k-th on, which belong to the elements of
// the first from dimension axis on.
func checkAffine(op *spec.Op, in []tensor.Desc, k, axis int) error {
	own, d := in[0].Shape[axis:], in[0].DType
	for i := k; i < len(in); i++ {
		if !slices.Equal(in[i].Shape, own) {
			return invalid(op.Name, "input %s is %v (want %v)", op.In[i].Name, in[i], own)
		}
		if in[i].DType != in[k].DType || in[i].DType != d && in[i].DType != work(d) {
			return invalid(op.Name, "input %s is %v (want %v, or all of %v)", op.In[i].Name, in[i], d, work(d))
		}
	}
	return nil
}

// lastDim sees a shape from its last dimension.
func lastDim(shape []int) normal { return normalise(shape, len(shape)-1) }

// fromDim sees a shape as rows, of all from dimension k on.
func fromDim(shape []int, k int) normal {
	v := normalise(shape, k)
	return normal{v.outer, v.n * v.inner, 1}
}
