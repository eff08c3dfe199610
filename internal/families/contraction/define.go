// Package contraction declares einsum: products of tensors over labels of their dimensions, some of which are
// summed. Its plans consist of the steps of other families. A product of two operands with sums is a matrix product, one without sums is an
// elementwise product, and labels that only one operand has are reduced. Operands are views: their strides say how a label walks
// them, so that transposes and diagonals are no steps of their own unless a kernel cannot take them.
package contraction

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Einsum describes the operation. Its attributes have type A.
type Einsum[A spec.Call] struct {
	// Name, Doc and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// Call returns the attributes for an equation, and Equation the equation of attributes.
	Call     func(equation string) A
	Equation func(a A) string
}

// kernels lists the kernels of all steps.
func kernels() []spec.Kernel {
	return slices.Concat(
		gemm.Kernels(), movement.CopyKernels(), movement.FillKernels(),
		sumReducer.Kernels(planner.Floats...), reduction.NarrowKernels(),
		elementwise.BinaryKernels(mulShader, planner.Floats), elementwise.NarrowCastKernels(),
	)
}

// Define declares the operation. The inputs may have any strides.
func Define[A spec.Call](m Einsum[A]) *spec.Op {
	spirv.LinkBLAS()
	spirv.LinkMath()
	spirv.LinkMove()
	spirv.LinkReduce()
	space := func(a A, in []tensor.Desc) (*space, error) { return newSpace(m.Equation(a), in) }
	return spec.Define(spec.Definition[A]{
		Name: m.Name, Group: "blas", Doc: m.Doc,
		Source:   "ONNX Einsum; NumPy einsum",
		In:       []spec.Arg{{Name: "in", Doc: "the operands, of one dtype, whose dimensions the equation names", DTypes: planner.Floats, Strides: spec.AnyStrides, Variadic: true}},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, whose dimensions are those after ->"}},
		Traits:   spec.Traits{Class: spec.MatrixProduct, ONNX: m.ONNX},
		Defaults: m.Call("ij,jk->ik"),
		Kernels:  kernels(),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			x, err := space(a, in)
			if err != nil {
				return nil, err
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, x.shape(x.out)...)}, x.check()
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			if err := planner.CheckTarget(t, in[0]); err != nil {
				return nil, err
			}
			x, err := space(a, in)
			w := builder{space: x, t: t, plan: &spec.Plan{}}
			if err != nil || out[0].Elems() == 0 {
				return w.plan, err
			}
			return w.plan, w.add(out[0])
		},
		Reference: func(a A, in, out []*tensor.Host) { reference(m.Equation(a), in, out[0]) },
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			x, err := space(a, in)
			if err != nil {
				return spec.Tolerance{}
			}
			return x.tolerance(d)
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			x, err := space(a, in)
			if err != nil {
				return spec.Cost{}
			}
			c := spec.Cost{Bytes: tensor.Contiguous(in[0].DType, x.shape(x.out)...).Bytes()}
			for _, d := range in {
				c.Bytes += d.Bytes()
			}
			for _, s := range x.steps() {
				c.Flops += int64(min(s.flops, 1<<62/float64(len(in)+1)))
			}
			return c
		},
		Cases: cases(m),
	})
}

// tolerance is that of elements within ±1. The products of all steps are then within ±1 for each term.
func (x *space) tolerance(d tensor.DType) spec.Tolerance {
	all, sums, products, single := 1.0, 0, len(x.in)-1, 0.0
	e := planner.AccumulatorEpsilon(d)
	steps := x.steps()
	for _, s := range steps {
		all *= x.count(s.summed)
	}
	for _, s := range steps {
		n := x.count(s.summed)
		if s.y >= 0 && n > 1 {
			sums++
		}
		if s.y < 0 {
			// The bound of reduce_sum for one sum. The result adds as many of such errors, which are random, as there are other terms.
			single += e * (4 + n/4) * math.Sqrt(all/n)
		}
	}
	if all == 1 {
		why := "the device rounds each product once, up or down"
		if products == 0 {
			why = "bits are moved"
		}
		return planner.ElementTolerance(d, float64(products), 0, why)
	}
	terms := int(min(all, 1<<30))
	tol, times := gemm.DotTolerance(d, terms, 1), float64(max(sums, 1))
	tiny := planner.Tiny(d)
	tol.Abs = times*(tol.Abs-tiny) + single + tiny
	plain := float64(max(products, 0) - sums)
	tol.Rel = times*(tol.Rel-planner.StoreEpsilon(d)) + plain*e + planner.StoreEpsilon(d)
	tol.Repeated = times * gemm.RepeatedDot(d, terms, 1)
	tol.Any = planner.Rounded(times*math.Log1p(tol.Any)/math.Log1p(e)+reduction.Chain(terms)+plain, e)
	tol.Law = "s·ε·(2 + √(r·k)) + Σε·(4 + p/4)·√(k/p) + (s·ε·(2 + √(h/3)) + f·ε) of the value; k terms make an element, r = min(k, 4096), " +
		"h = min(k, 4096) + ⌈k/4096⌉ + 12, s of the products of two operands add terms, at least 1, and f do not, and p terms are added of an operand alone; for f64, r = k and h = k + 12"
	tol.RepeatedLaw = "s·" + gemm.RepeatedDotLaw + ", r = min(k, 4096)"
	tol.AnyLaw = "((1 + ε)^(s·h + c + f) − 1)·Σ|t|, t the products of the operands' elements, c = " + reduction.ChainText + " for n = k"
	tol.Why = "a sum of products errs as in matmul, and the errors of the factors of such a sum are random; a sum of one operand errs as in reduce_sum"
	return tol
}
