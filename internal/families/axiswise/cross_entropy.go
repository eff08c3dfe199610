package axiswise

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	lossShader     = "nn/cross_entropy"
	pickShader     = "nn/cross_entropy_pick"
	probsShader    = "nn/cross_entropy_probs"
	lossGradShader = "nn/cross_entropy_grad"
	gradRowsShader = "nn/cross_entropy_grad_rows"
)

// These are the push-constant blocks of the shaders above.
type (
	pickParams     struct{ Rows, N, Base, First, Words, Target, Picked uint32 }
	lossParams     struct{ Count uint32 }
	gradRowsParams struct{ Count, Words uint32 }
)

// CrossEntropy completes o with the kernels, shapes, plan, reference, tolerance and cost
// of cross entropy.
func CrossEntropy[A spec.Call](o Classified[A]) Classified[A] {
	o.Kernels = softmaxReducer.Kernels(planner.Floats...)
	for _, ks := range [][]spec.Kernel{
		mapKernels(probsShader, planner.Floats...),
		planner.DTypeVariants(pickShader, pickParams{}, planner.Floats, nil),
		planner.DTypeVariants(lossShader, lossParams{}, planner.Floats, nil),
	} {
		o.Kernels = append(o.Kernels, ks...)
	}
	o.Shape = func(in []tensor.Desc) []tensor.Desc {
		return []tensor.Desc{tensor.Contiguous(in[0].DType, in[1].Shape...), tensor.Contiguous(in[0].DType, in[0].Shape...)}
	}
	o.Plan = planCrossEntropy
	o.Reference = referenceCrossEntropy
	o.Tolerance = func(d tensor.DType, n int) spec.Tolerance {
		tol := expTolerance(d, n, 16)
		tol.Abs += 2 * planner.AccumulatorEpsilon(d)
		tol.Law, tol.Any, tol.AnyLaw = "2ε + "+tol.Law, 0, ""
		tol.Why = "a sum near 1 is rounded before its logarithm is taken; all else is as for softmax: " + tol.Why
		return tol
	}
	o.Cost = func(v planner.AxisView, in []tensor.Desc) spec.Cost {
		return spec.Cost{Flops: 6 * int64(in[0].Elems()), Bytes: 2*in[0].Bytes() + in[1].Bytes() + int64(v.Outer*in[0].DType.Size())}
	}
	return o
}

// planCrossEntropy is the Classified.Plan of cross entropy.
func planCrossEntropy(plan *spec.Plan, t *spec.Target, in []tensor.Desc, v planner.AxisView, status spec.Ref) error {
	d := in[0].DType
	accumulators, err := reduction.Add(plan, t, softmaxReducer, d, v, spec.Ref{}, spec.In(0))
	if err != nil {
		return err
	}
	picked, err := addPick(plan, t, d, in[1].DType, v)
	if err != nil {
		return err
	}
	probs := rowMap{shader: probsShader, reducer: softmaxReducer, status: status}
	if err := probs.add(plan, t, d, v, accumulators, spec.Out(1), spec.In(0)); err != nil {
		return err
	}
	size := planner.Accumulator(d).Size()
	return reduction.AddPerRow(plan, t, lossShader, d, v.Outer, func(count int) any { return lossParams{uint32(count)} }, status,
		reduction.RowOperand{Ref: accumulators, Size: 2 * size}, reduction.RowOperand{Ref: picked, Size: size}, reduction.RowOperand{Ref: spec.Out(0), Size: d.Size()})
}

// addPick appends the steps that read the element of each row's target. It returns the
// buffer of these elements, in the dtype of the accumulators.
// Errors: *LimitError.
func addPick(plan *spec.Plan, t *spec.Target, d, targets tensor.DType, v planner.AxisView) (spec.Ref, error) {
	size := planner.Accumulator(d).Size()
	picked := planner.AddScratch(plan, int64(v.Outer*size))
	room := planner.ChunkRoom{Elems: reduction.Room(t, d, d.Size()), Accumulators: reduction.Room(t, d, 8), PerBlock: 1, Unit: 1, Shared: true}
	return picked, planner.Chunks(v, room, func(x planner.Chunk) error {
		src, base := planner.Window(t, spec.In(0), d.Size(), int64(x.Start), int64(x.Elems()))
		index, at := planner.WordWindow(t, spec.In(1), targets.Size(), x.Block, x.Outer)
		to, word := planner.WordWindow(t, picked, size, x.Block, x.Outer)
		groups, err := planner.Grid(t, int64(planner.CeilDiv(x.Outer, planner.SmallGroup)))
		plan.Steps = append(plan.Steps, spec.Step{
			Module: spirv.Kernel(pickShader + "." + d.String()), Bind: []spec.Bind{src, index, to}, Groups: groups,
			Params: pickParams{uint32(x.Outer), uint32(x.N), base, uint32(x.Row), uint32(targets.Size() / 4), at, word},
		})
		return err
	})
}

// referenceCrossEntropy is the Classified.Reference of cross entropy.
func referenceCrossEntropy(v planner.AxisView, in, out []*tensor.Host) {
	x, targets := in[0].Floats(), in[1].Floats()
	loss := make([]float64, v.Outer)
	for o := range v.Outer {
		row := x[o*v.N : (o+1)*v.N]
		m := math.Inf(-1)
		for _, a := range row {
			m = math.Max(m, a)
		}
		picked := row[int(targets[o])]
		// The logarithm of the sum is computed as ln(1 + rest), which is exact if the rest
		// is near 0.
		rest, skipped := reduction.Sum(v.N, func(i int) float64 { return math.Exp(row[i] - m) })-1, math.IsInf(m, -1)
		loss[o] = math.Log1p(rest) + (m - picked)
		for i := range row {
			row[i] = math.Exp(row[i]-m) / (1 + rest)
			if skipped {
				row[i], loss[o] = 0, math.Inf(1)
			}
		}
	}
	out[0].SetFloats(loss)
	out[1].SetFloats(x)
}

// CrossEntropyGradient completes o with the kernels, plan, reference, tolerance and cost
// of the gradient of cross entropy.
func CrossEntropyGradient[A spec.Call](o Classified[A]) Classified[A] {
	o.Kernels = append(mapKernels(lossGradShader, planner.Floats...), planner.DTypeVariants(gradRowsShader, gradRowsParams{}, planner.Floats, nil)...)
	o.Shape = func(in []tensor.Desc) []tensor.Desc {
		return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}
	}
	o.Plan = func(plan *spec.Plan, t *spec.Target, in []tensor.Desc, v planner.AxisView, status spec.Ref) error {
		// The gradient and the target of a row are stored like an accumulator with an
		// index.
		d, rows := in[0].DType, reduction.Reducer{Values: 1, Indexed: true}
		size, words := rows.AccumulatorBytes(d), uint32(in[1].DType.Size()/4)
		made := planner.AddScratch(plan, int64(v.Outer*size))
		err := reduction.AddPerRow(plan, t, gradRowsShader, d, v.Outer, func(count int) any { return gradRowsParams{uint32(count), words} }, spec.Ref{},
			reduction.RowOperand{Ref: spec.In(2), Size: d.Size()}, reduction.RowOperand{Ref: spec.In(1), Size: in[1].DType.Size()}, reduction.RowOperand{Ref: made, Size: size})
		if err != nil {
			return err
		}
		return rowMap{shader: lossGradShader, reducer: rows, status: status}.add(plan, t, d, v, made, spec.Out(0), spec.In(0))
	}
	o.Reference = func(v planner.AxisView, in, out []*tensor.Host) {
		p, targets, dloss := in[0].Floats(), in[1].Floats(), in[2].Floats()
		for o := range v.Outer {
			p[o*v.N+int(targets[o])]--
			for i := range v.N {
				p[o*v.N+i] *= dloss[o]
			}
		}
		out[0].SetFloats(p)
	}
	o.Tolerance = func(d tensor.DType, _ int) spec.Tolerance {
		return spec.Tolerance{Abs: planner.Tiny(d), Rel: 2*planner.AccumulatorEpsilon(d) + planner.StoreEpsilon(d), Why: "a difference and a product, each of them rounded once"}
	}
	o.Cost = func(_ planner.AxisView, in []tensor.Desc) spec.Cost {
		return spec.Cost{Flops: 2 * int64(in[0].Elems()), Bytes: 2*in[0].Bytes() + in[1].Bytes() + in[2].Bytes()}
	}
	return o
}
