package gemm

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// TriangularSystem is the solution of triangular systems.
type TriangularSystem struct{ Triangle }

// DefineTriangularSystem declares the solution of triangular systems. The operands may have any strides.
func DefineTriangularSystem[A spec.Call](m Operation[A, TriangularSystem]) *spec.Op {
	spirv.LinkMove()
	d := definition(m, "BLAS xTRSM", float32And64, 1, triangleBench)
	d.In = triangleOperands
	d.Out[0].Doc = "the solution, of the shape of b"
	d.Kernels = solveKernels
	d.Cases.Dims, d.Cases.Sizes, d.Cases.Refused = triangleDims, triangleSizes, triangleRefused
	// There are no Specials: a device may take a subnormal divisor for 0 in one row and not in another. Systems of random triangular matrices have solutions that grow exponentially with n.
	d.Cases.Settle = func(_ A, i int, d tensor.Desc, values []float64) {
		if i > 0 || len(values) == 0 {
			return
		}
		n := d.Shape[len(d.Shape)-1]
		for k, v := range values {
			if k/n%n == k%n {
				values[k] = 1 + math.Abs(v)
			} else {
				values[k] = math.Copysign(1+math.Abs(v), v) / float64(4*n)
			}
		}
	}
	return spec.Define(d)
}

// add implements form.
func (f TriangularSystem) add(t *spec.Target, plan *spec.Plan, in []spec.Place, out spec.Place) error {
	return (&solve{triangleCall: f.call(t, plan, in, out)}).add()
}

// reference implements form: substitution, column by column.
func (f TriangularSystem) reference(in, outs []*tensor.Host) {
	out := outs[0]
	a, b := in[0].Floats(), in[1].Floats()
	res := make([]float64, len(b))
	last := len(out.Shape) - 2
	rows, cols := out.Shape[last], out.Shape[last+1]
	order, systems, row, col := rows, cols, cols, 1
	if f.Right {
		order, systems, row, col = cols, rows, 1, cols
	}
	upper := (f.Upper != f.Trans) != f.Right
	// at is the element of op(A), or of its transpose with Right.
	at := func(m []float64, i, j int) float64 {
		if f.Trans != f.Right {
			i, j = j, i
		}
		return m[i*order+j]
	}
	x := make([]float64, order)
	for number, own := range matrixNumbers(in[0].Desc, out.Shape[:last]) {
		m, from := a[own*order*order:], number*rows*cols
		for c := range systems {
			for k := range x {
				i := k
				if upper {
					i = order - 1 - k
				}
				sum := 0.0
				if f.Alpha != 0 {
					sum = f.Alpha * b[from+i*row+c*col]
					for l := range k {
						j := l
						if upper {
							j = order - 1 - l
						}
						sum -= at(m, i, j) * x[j]
					}
					if !f.Unit {
						sum /= at(m, i, i)
					}
				}
				x[i] = sum
				res[from+i*row+c*col] = sum
			}
		}
	}
	out.SetFloats(res)
}

// tolerance implements form.
func (f TriangularSystem) tolerance(d tensor.DType, in []tensor.Desc) spec.Tolerance {
	n, e, alpha := float64(in[0].Shape[len(in[0].Shape)-1]), planner.AccumulatorEpsilon(d), math.Abs(f.Alpha)
	return spec.Tolerance{
		Abs: e*alpha*(8+4*math.Sqrt(n)) + planner.Tiny(d), Rel: 4 * e, Repeated: 4 * e * alpha * n * (n + 8), RepeatedFirst: true,
		Law: "ε·|α|·(8 + 4·√n) + 4ε of the value", RepeatedLaw: "4·ε·|α|·n·(n + 8)",
		Why: "the result solves (A + ΔA)·X = α·B with |ΔA| ≤ ((1 + ε)ⁿ − 1)·|A| (Higham, theorem 8.5). In the cases, rows of A have a diagonal of 1 or more, and other elements whose sum is at most ½, so that |X| ≤ 2·|α| and ‖A⁻¹‖ ≤ 2: the error is at most 2·2·|α| times that of a sum of n terms, which grows with √n. Repeated elements bring others to the diagonal, of 1/(4n) or more: a division by one makes the error of such a sum 4n times as large, and roundings of equal terms go the same way",
	}
}
