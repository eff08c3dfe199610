package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Symmetry is what the attributes of the product of a matrix with its transpose say, of which one triangle is computed.
type Symmetry struct {
	// Trans says that a is [..., k,n]. Upper says that the upper triangle is computed.
	Trans, Upper bool
	// Alpha and Beta are the factors of the product and of c.
	Alpha, Beta float64
}

// DefineSymmetric declares α·A·Aᵀ + β·C, of which one triangle is computed. The operands may have any strides.
func DefineSymmetric[A spec.Call](m Operation[A, Symmetry]) *spec.Op {
	d := definition(m, "BLAS xSYRK", float32And64, 1, [][]int{{1, 128, 128}, {1, 512, 512}, {1, 1024, 1024}})
	d.In = []spec.Arg{
		{Name: "a", Doc: "[..., n,k], or [..., k,n] with trans", DTypes: float32And64, Strides: spec.AnyStrides},
		{Name: "c", Doc: "[..., n,n] with the leading dimensions of a; zeros if it is left out", Optional: true, DTypes: float32And64, Strides: spec.AnyStrides},
	}
	d.Out[0].Doc = "[..., n,n]"
	d.Kernels = slices.Concat(scaledKernels, kernelsOf("blas/gemm_finish", triangleParams{}, "f32.triangle", "f32.triangle.texel", "f64.triangle"))
	d.Cases.Dims = []spec.Dim{{Name: "form", Only: []int{1, 2, 3}}, {Name: "n", Tiles: []int{8, 64}}, {Name: "k", Tiles: []int{8}}}
	d.Cases.Sizes = [][]int{{1, 257, 131}, {2, 128, 64}, {1, 3, 70000}, {3, 9, 100000}, {1, 700, 2}}
	d.Cases.Specials = true
	d.Cases.Refused = [][]tensor.Desc{
		f32([]int{3}, []int{3, 3}), f32([]int{3, 2}, []int{2, 2}), f32([]int{3, 2}, []int{3}), f32([]int{3, 2}, []int{1, 3}), f32([]int{2, 3, 2}, []int{3, 3}),
		{tensor.Contiguous(tensor.F32, 3, 2), tensor.Contiguous(tensor.F64, 3, 3)},
	}
	return spec.Define(d)
}

// scaling is the product of a matrix with itself. Its operands are those that twice returns.
func (f Symmetry) scaling() Scaling {
	s := Scaling{TransA: f.Trans, TransB: !f.Trans, Alpha: f.Alpha, Beta: f.Beta, triangle: lowerTriangle}
	if f.Upper {
		s.triangle = upperTriangle
	}
	return s
}

// twice returns the operands with the first one twice: a product of a matrix with itself.
func twice[T any](in []T) []T { return slices.Concat(in[:1], in) }

// shape implements form.
func (f Symmetry) shape(in []tensor.Desc) (tensor.Desc, error) {
	out, err := f.scaling().shape(twice(in))
	if err == nil && len(in) > 1 && !slices.Equal(in[1].Shape, out.Shape) {
		err = planner.Invalid("c is %v (want %v)", in[1], out.Shape)
	}
	return out, err
}

// add implements form.
func (f Symmetry) add(t *spec.Target, plan *spec.Plan, in []spec.Place, out spec.Place) error {
	s, err := f.scaling().scaled(t, plan, twice(in), out)
	if err != nil {
		return err
	}
	if s.a.Ref, s.b.Ref = spec.In(0), spec.In(0); s.c != nil {
		s.c.Ref = spec.In(1)
	}
	return s.add()
}

// reference implements form.
func (f Symmetry) reference(in, out []*tensor.Host) {
	f.scaling().reference(twice(in), out)
	v := out[0].Floats()
	n := out[0].Shape[len(out[0].Shape)-1]
	var c []float64
	if len(in) > 1 {
		c = in[1].Floats()
	}
	for i := range v {
		row, col := i/n%n, i%n
		if row == col || row > col != f.Upper {
			continue
		}
		if v[i] = 0; c != nil {
			v[i] = c[i]
		}
	}
	out[0].SetFloats(v)
}

// tolerance implements form.
func (f Symmetry) tolerance(d tensor.DType, in []tensor.Desc) spec.Tolerance {
	return f.scaling().tolerance(d, twice(in))
}

// cost implements form.
func (f Symmetry) cost(in []tensor.Desc, out tensor.Desc) spec.Cost {
	_, _, k := f.scaling().transposes().sizes(twice(in))
	return spec.Cost{Flops: int64(out.Elems()) * int64(k), Bytes: in[0].Bytes() + out.Bytes()}
}

// inputs implements form.
func (f Symmetry) inputs(d tensor.DType, dims []int) []tensor.Desc {
	form, n, k := dims[0], dims[1], dims[2]
	as, cs := []int{n, k}, []int{n, n}
	if f.Trans {
		as = []int{k, n}
	}
	if form == 2 {
		as, cs = append([]int{3}, as...), append([]int{3}, cs...)
	}
	in := []tensor.Desc{tensor.Contiguous(d, as...), tensor.Contiguous(d, cs...)}
	if form == 3 {
		in = in[:1]
	}
	return in
}
