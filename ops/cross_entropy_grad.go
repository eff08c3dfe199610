package ops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// CrossEntropyGrad is the gradient of CrossEntropy's loss: of the probabilities p
// it gave, its targets and the gradient of each row's loss,
// dlogits = (p − onehot(target))·dloss. A target out of range is an error of the
// next Sync, and nothing is written.
type CrossEntropyGrad struct{}

// Spec returns the declaration.
func (CrossEntropyGrad) Spec() *spec.Op { return crossEntropyGradOp }

type gradRowsParams struct{ Count, Words uint32 }

var crossEntropyGradOp = newClassed(&spec.Op{
	Name: "cross_entropy_grad", Group: "nn",
	Doc: "The gradient of cross entropy: (p − onehot(target))·dloss. A target out of range is an error.",
	In: []spec.Arg{{Name: "probs", Doc: "[..., C], of cross_entropy"}, {Name: "targets", Doc: "[...], I32 or I64 from 0 to C−1"},
		{Name: "dloss", Doc: "[...], the gradient of each loss, of the dtype of probs"}},
	Out:      []spec.Arg{{Name: "dlogits", Doc: "[..., C], of the dtype of probs"}},
	Defaults: CrossEntropyGrad{},
	InPlace:  []int{0},
	Kernels:  append(applyKernels("nn/cross_entropy_grad", floats...), dtypeVariants("nn/cross_entropy_grad_rows", gradRowsParams{}, floats, nil)...),
	Shape: func(_ spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
	},
	Plan: func(_ spec.Call, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
		plan, d, v := &spec.Plan{}, in[0].DType, lastDim(in[0].Shape)
		if err := addIndexCheck(plan, t, "cross_entropy_grad", spec.In(1), in[1].DType, v.outer, v.n); err != nil {
			return nil, err
		}
		state := folder{reals: 1, indexed: true}
		size := state.stateBytes(d)
		states, words := scratch(plan, int64(v.outer*size)), uint32(in[1].DType.Size()/4)
		err := addPerRow(plan, t, "nn/cross_entropy_grad_rows", d, v.outer, func(count int) any { return gradRowsParams{uint32(count), words} }, false,
			rowOperand{spec.In(2), d.Size()}, rowOperand{spec.In(1), in[1].DType.Size()}, rowOperand{states, size})
		if err != nil {
			return nil, err
		}
		return plan, addApply(plan, t, applier{name: "nn/cross_entropy_grad", fold: state, fault: true}, d, v, states, spec.Out(0), spec.In(0))
	},
	Reference: func(_ spec.Call, in, out []*tensor.Host) {
		p, targets, dloss, v := in[0].Floats(), in[1].Floats(), in[2].Floats(), lastDim(in[0].Shape)
		for o := range v.outer {
			p[o*v.n+int(targets[o])]--
			for i := range v.n {
				p[o*v.n+i] *= dloss[o]
			}
		}
		out[0].SetFloats(p)
	},
	Tolerance: func(_ spec.Call, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
		return spec.Tolerance{Abs: tiny(d), Rel: 2*workEpsilon(d) + storeEpsilon(d), Why: "a difference and a product, each rounded once"}
	},
	Cost: func(_ spec.Call, in []tensor.Desc) spec.Cost {
		return spec.Cost{Flops: 2 * int64(in[0].Elems()), Bytes: 2*in[0].Bytes() + in[1].Bytes() + in[2].Bytes()}
	},
	Cases: spec.Cases{
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc { return classedInputs(d, dims, d) },
		Bench: benchCasesOf(CrossEntropyGrad{}, func(d tensor.DType, rows, columns int) []tensor.Desc {
			return []tensor.Desc{tensor.Contiguous(d, rows, columns), tensor.Contiguous(tensor.I32, rows), tensor.Contiguous(d, rows)}
		}),
		Range: func(_ spec.Call, i int, in []tensor.Desc) (low, high float64) {
			switch i {
			case 0:
				return 0, 1
			case 1:
				return 0, float64(max(in[0].Shape[len(in[0].Shape)-1]-1, 0))
			}
			return -2, 2
		},
		Specials: true,
		Refused: [][]tensor.Desc{
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.I32, 2), tensor.Contiguous(tensor.F32, 3)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.I32, 2), tensor.Contiguous(tensor.F16, 2)},
		},
		Faults: func(d tensor.DType) [][]*tensor.Host {
			return classedFaults(tensor.NewHost(tensor.Contiguous(d, 5, 7)), tensor.NewHost(tensor.Contiguous(d, 5)))
		},
	},
})
