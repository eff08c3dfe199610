package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// CrossEntropy compares logits with target classes: for each row the loss
// −ln p of its target, where p is the softmax of the row, and all of p. Both are
// of the dtype of the logits. A row of −Inf alone has p = 0 and the loss +Inf. A
// target out of range is an error of the next Sync, and nothing is written.
type CrossEntropy struct{}

// Spec returns the declaration.
func (CrossEntropy) Spec() *spec.Op { return crossEntropyOp }

type pickParams struct{ Rows, N, Base, First, Words, Target, Picked uint32 }

type lossParams struct{ Count uint32 }

var crossEntropyOp = newClassed(&spec.Op{
	Name: "cross_entropy", Group: "nn",
	Doc: "The loss −ln p of each row's target class, by log-sum-exp, and the softmax p of the logits. A target out of range is an error.",
	In:  []spec.Arg{{Name: "logits", Doc: "[..., C]"}, {Name: "targets", Doc: "[...], I32 or I64 from 0 to C−1"}},
	Out: []spec.Arg{
		{Name: "loss", Doc: "[...], of the dtype of the logits"},
		{Name: "probs", Doc: "[..., C], of the dtype of the logits"},
	},
	Defaults: CrossEntropy{},
	InPlace:  []int{-1, 0},
	Kernels: append(append(applyKernels("nn/cross_entropy_probs", floats...), dtypeVariants("nn/cross_entropy_pick", pickParams{}, floats, nil)...),
		dtypeVariants("nn/cross_entropy", lossParams{}, floats, nil)...),
	Shape: func(_ spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		shape := in[0].Shape
		return []tensor.Desc{tensor.Contiguous(in[0].DType, shape[:len(shape)-1]...), tensor.Contiguous(in[0].DType, shape...)}, nil
	},
	Plan: func(_ spec.Call, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
		plan, d, v := &spec.Plan{}, in[0].DType, lastDim(in[0].Shape)
		if err := addIndexCheck(plan, t, "cross_entropy", spec.In(1), in[1].DType, v.outer, v.n); err != nil {
			return nil, err
		}
		states, err := addFold(plan, t, softmaxFold, d, v, spec.Ref{}, spec.In(0))
		if err != nil {
			return nil, err
		}
		picked, err := addPick(plan, t, d, in[1].DType, v)
		if err != nil {
			return nil, err
		}
		probs := applier{name: "nn/cross_entropy_probs", fold: softmaxFold, fault: true}
		if err := addApply(plan, t, probs, d, v, states, spec.Out(1), spec.In(0)); err != nil {
			return nil, err
		}
		w := work(d).Size()
		return plan, addPerRow(plan, t, "nn/cross_entropy", d, v.outer, func(count int) any { return lossParams{uint32(count)} }, true,
			rowOperand{states, 2 * w}, rowOperand{picked, w}, rowOperand{spec.Out(0), d.Size()})
	},
	Reference: func(_ spec.Call, in, out []*tensor.Host) {
		x, targets, v := in[0].Floats(), in[1].Floats(), lastDim(in[0].Shape)
		loss := make([]float64, v.outer)
		for o := range v.outer {
			row := x[o*v.n : (o+1)*v.n]
			m := math.Inf(-1)
			for _, a := range row {
				m = math.Max(m, a)
			}
			picked := row[int(targets[o])]
			// ln Σ as ln(1 + the rest), which is exact near 0.
			rest, skipped := sumOf(v.n, func(i int) float64 { return math.Exp(row[i] - m) })-1, math.IsInf(m, -1)
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
	},
	Tolerance: func(_ spec.Call, d tensor.DType, in []tensor.Desc) spec.Tolerance {
		n, e := lastDim(in[0].Shape).n, workEpsilon(d)
		tol := expTolerance(d, n, 16)
		tol.Abs += 2 * e
		tol.Law, tol.Any, tol.AnyLaw = "2ε + "+tol.Law, 0, ""
		tol.Why = "a sum near 1 rounds before its logarithm is taken; else as softmax: " + tol.Why
		return tol
	},
	Cost: func(_ spec.Call, in []tensor.Desc) spec.Cost {
		rows := lastDim(in[0].Shape).outer
		return spec.Cost{Flops: 6 * int64(in[0].Elems()), Bytes: 2*in[0].Bytes() + in[1].Bytes() + int64(rows*in[0].DType.Size())}
	},
	Cases: spec.Cases{
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc { return classedInputs(d, dims) },
		Bench: benchCasesOf(CrossEntropy{}, func(d tensor.DType, rows, columns int) []tensor.Desc {
			return []tensor.Desc{tensor.Contiguous(d, rows, columns), tensor.Contiguous(tensor.I32, rows)}
		}),
		Range: func(_ spec.Call, i int, in []tensor.Desc) (low, high float64) {
			n := in[0].Shape[len(in[0].Shape)-1]
			switch {
			case i == 1:
				return 0, float64(max(n-1, 0))
			case n == 13: // far apart
				return -1e4, 1e4
			}
			return -8, 8
		},
		Specials: true,
		Refused: [][]tensor.Desc{
			{tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.I32)},
			{tensor.Contiguous(tensor.F32, 2, 0), tensor.Contiguous(tensor.I32, 2)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.I32, 3)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 2)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.I32, 2, 1)},
		},
		Faults: func(d tensor.DType) [][]*tensor.Host {
			return classedFaults(tensor.NewHost(tensor.Contiguous(d, 5, 7)))
		},
	},
})

// addPick appends the steps that find each row's logit of its target.
func addPick(plan *spec.Plan, t *spec.Target, d, targets tensor.DType, v normal) (spec.Ref, error) {
	w := fold{t: t, d: d}
	size := work(d).Size()
	picked := scratch(plan, int64(v.outer*size))
	room := pieceRoom{elems: w.room(d.Size()), states: w.room(8), perOuter: 1, unit: 1, shared: true}
	return picked, pieces(v, room, func(x piece) error {
		src, base := bindPart(t, spec.In(0), d.Size(), x.start, x.elems())
		index, at := bindWords(t, spec.In(1), targets.Size(), x.o, x.outer)
		to, word := bindWords(t, picked, size, x.o, x.outer)
		groups, err := grid(t, int64(ceilDiv(x.outer, smallGroup)))
		plan.Steps = append(plan.Steps, spec.Step{
			Kernel: "nn/cross_entropy_pick." + d.String(), Bind: []spec.Bind{src, index, to}, Groups: groups,
			Params: pickParams{uint32(x.outer), uint32(x.n), base, uint32(x.row), uint32(targets.Size() / 4), at, word},
		})
		return err
	})
}
