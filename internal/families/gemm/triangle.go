package gemm

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Triangle is what the attributes of an operation with a triangular matrix A and a matrix B say.
type Triangle struct {
	// Right says that A is to the right, Upper that it is upper triangular, Trans that op is the transpose, and Unit
	// that the diagonal counts as ones.
	Right, Upper, Trans, Unit bool
	// Alpha is the factor of B.
	Alpha float64
}

// shape implements form.
func (f Triangle) shape(in []tensor.Desc) (tensor.Desc, error) {
	a, b := in[0], in[1]
	var none tensor.Desc
	if math.IsNaN(f.Alpha) || math.IsInf(f.Alpha, 0) || a.DType != tensor.F64 && math.Abs(f.Alpha) > math.MaxFloat32 {
		return none, planner.Invalid("alpha (got %v, want a finite number of the dtype)", f.Alpha)
	}
	if a.DType != b.DType {
		return none, planner.Invalid("dtypes differ: %v", in)
	}
	if len(a.Shape) < 2 || len(b.Shape) < 2 {
		return none, planner.Invalid("operands %v and %v (want two dimensions or more of each)", a, b)
	}
	last := len(b.Shape) - 2
	n := b.Shape[last]
	if f.Right {
		n = b.Shape[last+1]
	}
	if !slices.Equal(a.Shape[len(a.Shape)-2:], []int{n, n}) {
		return none, planner.Invalid("a is %v (want [..., %d,%d])", a, n, n)
	}
	all, ok := planner.BroadcastShape(b.Shape[:last], a.Shape[:len(a.Shape)-2])
	if !ok || !slices.Equal(all, b.Shape[:last]) {
		return none, planner.Invalid("the batch of a %v cannot be broadcast to that of b %v", a, b)
	}
	return tensor.Contiguous(b.DType, b.Shape...), nil
}

// cost implements form.
func (f Triangle) cost(in []tensor.Desc, out tensor.Desc) spec.Cost {
	n := int64(in[0].Shape[len(in[0].Shape)-1])
	return spec.Cost{Flops: n * int64(out.Elems()), Bytes: in[0].Bytes()/2 + in[1].Bytes() + out.Bytes()}
}

// inputs implements form.
func (f Triangle) inputs(d tensor.DType, dims []int) []tensor.Desc {
	form, n, w := dims[0], dims[1], dims[2]
	as, bs := []int{n, n}, []int{n, w}
	if f.Right {
		bs = []int{w, n}
	}
	switch form {
	case 2: // a batch with one matrix
		bs = append([]int{3}, bs...)
	case 3:
		as, bs = append([]int{2, 1}, as...), append([]int{2, 3}, bs...)
	}
	return []tensor.Desc{tensor.Contiguous(d, as...), tensor.Contiguous(d, bs...)}
}

// These are operands and cases of the operations with triangular matrices.
var (
	triangleOperands = []spec.Arg{
		{Name: "a", Doc: "[..., n,n], of which one triangle is read", DTypes: float32And64, Strides: spec.AnyStrides},
		{Name: "b", Doc: "[..., n,m], or [..., m,n] with right; the leading dimensions of a are broadcast to those of b", DTypes: float32And64, Strides: spec.AnyStrides},
	}
	triangleDims    = []spec.Dim{{Name: "form", Only: []int{1, 2, 3}}, {Name: "n", Tiles: []int{8, triangleBlock, 2 * triangleBlock}}, {Name: "m", Tiles: []int{64}}}
	triangleSizes   = [][]int{{1, 257, 261}, {1, 2, 100000}, {2, 131, 130}, {1, 500, 1}}
	triangleBench   = [][]int{{1, 128, 128}, {1, 512, 1024}, {1, 2048, 2048}}
	triangleRefused = [][]tensor.Desc{
		f32([]int{2, 3}, []int{3, 5}), f32([]int{3}, []int{3, 5}), f32([]int{3, 3}, []int{3}), f32([]int{3, 3}, []int{4, 5}),
		f32([]int{2, 3, 3}, []int{3, 5}), f32([]int{2, 3, 3}, []int{3, 3, 5}),
		{tensor.Contiguous(tensor.F32, 3, 3), tensor.Contiguous(tensor.F64, 3, 5)},
	}
)
