package quantisation

import (
	"cmp"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/convolution"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// convDims are the free dimensions of the cases: those of convolutions, which zero points or scales there are, and
// which dtypes.
var convDims = append(slices.Clone(convolution.CaseDims), spec.Dim{Name: "zeros", Only: []int{0, 1, 2, 3}}, spec.Dim{Name: "dtypes", Only: []int{0, 1, 2, 3}})

// convSizes are sizes whose sums have several runs, also of the taps of one channel, and whose operands are large.
var convSizes = [][]int{
	{1, 700, 3, 9, 3, 2, 3, 1}, {1, 2, 3, 700, 600, 1, 2, 0}, {1, 1, 2, 66_000, 5, 1, 1, 1}, {1, 65_537, 1, 3, 2, 1, 3, 2},
	{70_000, 1, 2, 3, 2, 1, 3, 3}, {2, 40, 65, 17, 3, 2, 2, 1}, {1, 33, 5, 12, 3, 3, 3, 0},
}

// convInputs makes the inputs of an operation from x and w. zeros says which zero points or scales there are, and dtypes which
// dtypes further tensors have.
type convInputs func(x, w tensor.Desc, zeros, dtypes int) []tensor.Desc

// integerConvInputs makes the inputs of conv_integer.
func integerConvInputs(x, w tensor.Desc, zeros, dtypes int) []tensor.Desc {
	in := []tensor.Desc{x, w}
	switch zeros {
	case 1:
		in = append(in, tensor.Contiguous(x.DType, 1))
	case 2:
		in = append(in, tensor.Contiguous(x.DType), tensor.Contiguous(w.DType))
	case 3:
		in = append(in, tensor.Contiguous(x.DType, dtypes/2), tensor.Contiguous(w.DType, w.Shape[0])) // one number, or none
	}
	return in
}

// quantisedConvInputs makes the inputs of qlinear_conv.
func quantisedConvInputs(x, w tensor.Desc, zeros, dtypes int) []tensor.Desc {
	scale, zero, to := []int{}, []int{}, x.DType
	if zeros&1 == 1 {
		scale = []int{w.Shape[0]}
	}
	if zeros&2 == 2 {
		zero = []int{w.Shape[0]}
	}
	if dtypes&2 == 2 {
		to = otherByte(to)
	}
	in := []tensor.Desc{
		x, tensor.Contiguous(tensor.F32), tensor.Contiguous(x.DType), w, tensor.Contiguous(tensor.F32, scale...), tensor.Contiguous(w.DType, zero...),
		tensor.Contiguous(tensor.F32), tensor.Contiguous(to),
	}
	if x.Shape[0]%2 == 1 {
		in = append(in, tensor.Contiguous(tensor.I32, w.Shape[0]))
	}
	return in
}

// refusedInput is an input, by number, with which a call must be refused.
type refusedInput struct {
	i int
	d tensor.Desc
}

// cases declares the cases of an operation. numbers says which numbers input i has.
func (c Conv[A]) cases(inputs convInputs, numbers func(i int, d tensor.DType) (low, high float64), refused []refusedInput) spec.CasesOf[A] {
	cases := spec.CasesOf[A]{
		DTypes: byteTypes, Calls: c.Calls, Invalid: c.Invalid, Dims: convDims, Sizes: convSizes, Specials: true,
		Inputs: func(a A, d tensor.DType, dims []int) []tensor.Desc {
			x, w, _, _, ok := convolution.Shapes(c.Attributes(a), d, dims[:6])
			if !ok || tensor.Contiguous(d, w.Shape[1:]...).Elems() > mostSummed {
				return nil
			}
			if dims[7]&1 == 1 {
				w.DType = otherByte(d)
			}
			return inputs(x, w, dims[6], dims[7])
		},
		Range: func(_ A, i int, in []tensor.Desc) (float64, float64) { return numbers(i, in[i].DType) },
		Bench: func(d tensor.DType) []spec.BenchCase {
			var list []spec.BenchCase
			for _, s := range convolution.BenchSizes {
				x, w, _, _, pads := convolution.BenchShapes(d, s)
				list = append(list, spec.BenchCase{Call: c.Padded(pads), In: inputs(x, w, 2, 0)})
			}
			cost := func(b spec.BenchCase) int64 {
				k := b.Call.Spec().Cost(b.Call, b.In)
				return k.Flops + k.Bytes
			}
			slices.SortFunc(list, func(a, b spec.BenchCase) int { return cmp.Compare(cost(a), cost(b)) })
			return list
		},
	}
	long := tensor.Contiguous(tensor.U8, 1, mostSummed+1, 1, 1)
	cases.Refused = [][]tensor.Desc{inputs(long, long, 2, 0)}
	for _, r := range refused {
		in := inputs(tensor.Contiguous(tensor.U8, 1, 4, 7, 7), tensor.Contiguous(tensor.U8, 5, 4, 3, 3), 2, 0)
		in[r.i] = r.d
		cases.Refused = append(cases.Refused, in)
	}
	return cases
}
