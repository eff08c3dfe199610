package convolution

import (
	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// isPointwise reports whether an element of the result is made of the elements at one position of the input only. The convolution
// is then a product of the filter [k,c] and the input [c,o] for each image and group.
func (x *geometry) isPointwise() bool {
	one := extent{1, 1, 1}
	return x.r == one && x.s == one && x.l == one && x.p == (extent{}) && x.o == x.i && x.rest == 0
}

// multiplies reports whether to plan a convolution as products of matrices, see addProducts.
func (x *geometry) multiplies(t *spec.Target) bool {
	return x.isPointwise() && x.in.dtype != tensor.F64 && x.c > 0 && (t.Strategy == byProduct || t.Strategy == "" && x.multipliesWell())
}

// multipliesWell reports whether products of matrices are the fastest way. Each image has launches of its own if there are several
// groups.
func (x *geometry) multipliesWell() bool {
	return x.k >= 4 && x.c >= 8 && x.o.elems() >= 16 && min(x.b, x.g) <= 4
}

// addProducts appends the launches of a pointwise convolution, whose result is F32, by the kernels of matrix products. If these
// cannot write to the result where it lies, it appends nothing and returns false.
// Errors: *LimitError.
func (x *geometry) addProducts(plan *spec.Plan, t *spec.Target) (made bool, err error) {
	own := *t
	own.Strategy = "" // The strategies of products are others.
	o := x.o.elems()
	shape := []int{x.g, x.b, x.k, o, x.c}
	of := func(p plane, k, o, c int) planner.Operand {
		return planner.Operand{Ref: p.ref, DType: p.dtype, Base: p.first, Strides: []int{p.g, p.b, k, o, c}}
	}
	a, b, to := of(x.filter, x.filter.k, 0, x.filter.c), of(x.in, 0, 1, x.in.c), of(x.out, x.out.k, 1, 0)
	if x.bias == nil {
		return gemm.AddInto(plan, &own, shape, a, b, to, nil, nil)
	}
	return gemm.AddInto(plan, &own, shape, a, b, to, func() (planner.Operand, error) {
		wide, err := x.wideBias(plan, t)
		if err != nil {
			return planner.Operand{}, err
		}
		return planner.Operand{Ref: wide.ref, DType: tensor.F32, Base: wide.first, Strides: []int{x.k, 0, 1, 0, 0}}, nil
	}, func(bias planner.Operand) error {
		bias.Strides = bias.Strides[:4]
		return movement.AddCopy(plan, &own, tensor.F32, shape[:4], bias, planner.Operand{Ref: to.Ref, Base: to.Base, Strides: to.Strides[:4]})
	})
}

// wideBias returns the bias as F32. If it has 16 bits, wideBias appends a cast.
// Errors: *LimitError.
func (x *geometry) wideBias(plan *spec.Plan, t *spec.Target) (*plane, error) {
	if x.bias.dtype == tensor.F32 {
		return x.bias, nil
	}
	wide := *x.bias
	wide.ref, wide.dtype = planner.AddScratch(plan, int64(x.g*x.k)*4), tensor.F32
	return &wide, addCast(plan, t, *x.bias, wide, x.g*x.k)
}
