package gemm

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TriangularProduct is the product with a triangular matrix.
type TriangularProduct struct{ Triangle }

// DefineTriangularProduct declares the product with a triangular matrix. The operands may have any strides.
func DefineTriangularProduct[A spec.Call](m Operation[A, TriangularProduct]) *spec.Op {
	d := definition(m, "BLAS xTRMM", float32And64, 1, triangleBench)
	d.In = slices.Clone(triangleOperands)
	d.Out[0].Doc = "the product, of the shape of b"
	d.Kernels = multiplyKernels
	d.Cases.Dims, d.Cases.Sizes, d.Cases.Refused = triangleDims, triangleSizes, triangleRefused
	d.Cases.Specials = true
	return spec.Define(d)
}

// add implements form.
func (f TriangularProduct) add(t *spec.Target, plan *spec.Plan, in []spec.Place, out spec.Place) error {
	return (&multiply{triangleCall: f.call(t, plan, in, out)}).add()
}

// reference implements form: the sums of the products that the triangle has.
func (f TriangularProduct) reference(in, outs []*tensor.Host) {
	out := outs[0]
	a, b := in[0].Floats(), in[1].Floats()
	res := make([]float64, len(b))
	last := len(out.Shape) - 2
	rows, cols := out.Shape[last], out.Shape[last+1]
	order := rows
	if f.Right {
		order = cols
	}
	// at is the element of op(A), and whether it counts.
	at := func(m []float64, i, j int) (float64, bool) {
		if f.Trans {
			i, j = j, i
		}
		switch {
		case i == j && f.Unit:
			return 1, true
		case i == j, i < j == f.Upper:
			return m[i*order+j], true
		}
		return 0, false
	}
	for number, own := range matrixNumbers(in[0].Desc, out.Shape[:last]) {
		m, from := a[own*order*order:], number*rows*cols
		for i := range rows {
			for j := range cols {
				sum := 0.0
				for k := range order {
					row, col, of := i, k, from+k*cols+j
					if f.Right {
						row, col, of = k, j, from+i*cols+k
					}
					if x, counts := at(m, row, col); counts && f.Alpha != 0 {
						sum += x * b[of]
					}
				}
				if f.Alpha != 0 {
					res[from+i*cols+j] = f.Alpha * sum
				}
			}
		}
	}
	out.SetFloats(res)
}

// tolerance implements form.
func (f TriangularProduct) tolerance(d tensor.DType, in []tensor.Desc) spec.Tolerance {
	n := in[0].Shape[len(in[0].Shape)-1]
	e, alpha := planner.AccumulatorEpsilon(d), math.Abs(f.Alpha)
	dot := DotTolerance(d, n, 1)
	return spec.Tolerance{
		Abs: alpha*(dot.Abs-planner.Tiny(d)) + planner.Tiny(d), Rel: dot.Rel + 4*e,
		Law: "|α|·x + (y + 4ε) of the value, where a product of matmul errs by x + y of its value",
		Any: planner.Rounded(dotChain(n)+4, e), AnyLaw: "((1 + ε)^(h + 4) − 1)·|α|·Σ|a·b|",
		Why: "a result is a sum of at most n products. Those of a block of 32 rows, and those of each square, are summed by themselves, as matmul does, and the sums are added. So a product is rounded as often as in a sum of n/2 terms, and once more for each of the log₂(n/32) additions, which is no more than the h of n terms. The result is multiplied by α, and α is rounded: 4ε covers both",
	}
}
