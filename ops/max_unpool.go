package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxUnpool puts the elements of a tensor [N,C,spatial...] back to where MaxPoolIndices took them
// from. All other elements of the output are zero. The indices are numbers of elements of the whole
// output, taken as flat, as ONNX defines them. The spatial sizes of the output are
// (size−1)·stride + kernel − pads. Several inputs of MaxPoolIndices have outputs of one size, so
// Size may choose another one that pooling takes to the size of the input. If
// several elements have one index, the last one in row-major order counts. Negative indices count
// from the end. Errors and limits are those of ScatterElements.
//
// For the input output_shape of ONNX, whose indices are for the sizes without it, pad the
// output by PadTensor.
type MaxUnpool struct {
	Kernel  []int `attr:"kernel,required" onnx:"kernel_shape" doc:"the size of a window"`
	Strides []int `attr:"strides" onnx:"strides" doc:"the steps from window to window; empty means 1"`
	Pads    []int `attr:"pads" onnx:"pads" doc:"the pads before each dimension, then after each; empty means 0"`
	Size    []int `attr:"size" doc:"the spatial sizes of the output; empty means the least ones"`
}

// Spec returns the declaration.
func (MaxUnpool) Spec() *spec.Op { return maxUnpoolOp.Op() }

// Gradient declares the gradient: the elements of dy that the indices name.
func (c MaxUnpool) Gradient(t *spec.Tape) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		back := func(v spec.Value) spec.Value { return t.Call(Gather{}, t.Reshape(v, -1), t.In(1)) }
		t.SetGradient(0, remaining(t, t.In(0), func(own spec.Value) spec.Value { return back(t.Call(c, own, t.In(1))) }, back(dy)))
	}
}

var maxUnpoolOp = spec.Declaration{Define: func() *spec.Op {
	windows := func(c *MaxUnpool) pooling.Windows {
		return pooling.Windows{Kernel: c.Kernel, Strides: c.Strides, Pads: c.Pads}
	}
	return indexing.DefineScatter(indexing.Scatter[*MaxUnpool]{
		Name: "max_unpool", ONNX: []string{"MaxUnpool"},
		Doc:      "Puts elements back to where max_pool_indices took them from, among zeros. An index out of range is an error.",
		Indices:  "of the shape of updates; the number of an element of the whole output, from -n to n-1",
		Updates:  "[N,C,spatial...], any dtype",
		Out:      "[N,C,spatial...], of the dtype of updates",
		Defaults: &MaxUnpool{Kernel: []int{2, 2}},
		Replaces: true,
		Data: func(c *MaxUnpool, _, updates []int) ([]int, error) {
			return windows(c).Unpooled(updates, c.Size)
		},
		Address: func(_ *MaxUnpool, data, indices []int) (indexing.Addressing, error) {
			return indexing.FlatIndices(data, indices)
		},
		Origin: func(_ *MaxUnpool, in []*tensor.Host, at func(int, ...int) int, index []int) []int {
			n := at(in[0].Elems(), index...)
			for k := len(index) - 1; k >= 0; k-- {
				index[k], n = n%in[0].Shape[k], n/in[0].Shape[k]
			}
			return index
		},
		Cases: spec.CasesOf[*MaxUnpool]{
			DTypes: tensor.DTypes(),
			Calls: []*MaxUnpool{
				{Kernel: []int{2, 2}, Strides: []int{2, 2}}, {Kernel: []int{3, 2}, Strides: []int{2, 1}, Pads: []int{1, 0, 1, 1}},
				{Kernel: []int{3}}, {Kernel: []int{2}, Strides: []int{3}, Pads: []int{1, 0}}, {Kernel: []int{2, 1, 3}, Strides: []int{2, 1, 2}},
				{Kernel: []int{2, 2}, Strides: []int{2, 2}, Size: []int{7, 5}}, {Kernel: []int{2}, Strides: []int{2}, Size: []int{75}},
			},
			Invalid: []*MaxUnpool{
				{}, {Kernel: []int{0, 2}}, {Kernel: []int{2}}, {Kernel: []int{2, 2, 2, 2}}, {Kernel: []int{2, 2}, Strides: []int{0, 1}},
				{Kernel: []int{2, 2}, Strides: []int{1}}, {Kernel: []int{2, 2}, Pads: []int{1}}, {Kernel: []int{2, 2}, Pads: []int{-1, 0, 0, 0}},
				{Kernel: []int{2, 2}, Size: []int{4}}, {Kernel: []int{2, 2}, Size: []int{1 << 28, 5}}, {Kernel: []int{2, 2}, Size: []int{-4, 5}},
			},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 1, 3, 2, 2), tensor.Contiguous(tensor.F32, 1, 3, 2, 2)}, {tensor.Contiguous(tensor.F32, 1, 3, 2, 2), tensor.Contiguous(tensor.I32, 1, 3, 2, 1)},
				{tensor.Contiguous(tensor.F32, 3, 2), tensor.Contiguous(tensor.I32, 3, 2)}, {tensor.Contiguous(tensor.F32, 1, 3, 0, 2), tensor.Contiguous(tensor.I32, 1, 3, 0, 2)},
			},
			Dims:   []spec.Dim{{Name: "planes"}, {Name: "size", Tiles: []int{4}}, {Name: "bits", Only: []int{32, 64}}},
			Sizes:  [][]int{{1, 300, 32}},
			Inputs: unpoolInputs,
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, n := range []int{14, 56, 112} {
					x := tensor.Contiguous(d, 1, 64, n, n)
					cases = append(cases, spec.BenchCase{Call: MaxUnpool{Kernel: []int{2, 2}, Strides: []int{2, 2}}, In: []tensor.Desc{x, tensor.Contiguous(tensor.I32, x.Shape...)}})
				}
				return cases
			},
			Faults: indexing.BadIndices([]int{1, 1, 2, 3}, []int{1, 1, 2, 3}, 24),
		},
	})
}}

// unpoolInputs returns updates and indices whose first spatial size is dims[1], and the others follow
// from it or from the sizes that the call gives.
func unpoolInputs(c *MaxUnpool, d tensor.DType, dims []int) []tensor.Desc {
	shape, bits := []int{dims[0], 1}, tensor.I32
	for k := range c.Kernel {
		n := dims[1]
		if k > 0 {
			n = max(dims[1]/3, 1)
		}
		if len(c.Size) > 0 {
			n = (c.Size[k]-c.Kernel[k])/c.Strides[k] + 1
		}
		shape = append(shape, n)
	}
	if dims[2] == 64 {
		bits = tensor.I64
	}
	x := tensor.Contiguous(d, shape...)
	out, err := pooling.Windows{Kernel: c.Kernel, Strides: c.Strides, Pads: c.Pads}.Unpooled(shape, c.Size)
	if err != nil || x.Elems() > 1<<20 || tensor.Contiguous(d, out...).Elems() > 1<<21 {
		return nil
	}
	return []tensor.Desc{x, tensor.Contiguous(bits, shape...)}
}
