package gemm

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Triangular describes the solution of triangular systems. Its attributes have type A.
type Triangular[A spec.Call] struct {
	// Name, Doc and Defaults are those of spec.Definition.
	Name, Doc string
	Defaults  A
	// Of returns what the attributes say.
	Of func(a A) Triangle
	// Calls are attributes to try besides Defaults. Invalid are attributes that must be refused.
	Calls, Invalid []A
}

// Triangle is what the attributes of a triangular system say: op(A)·X = α·B, or X·op(A) = α·B.
type Triangle struct {
	// Right says that A is to the right of X, Upper that it is upper triangular, Trans that op is the transpose, and Unit
	// that the diagonal counts as ones.
	Right, Upper, Trans, Unit bool
	// Alpha is the factor of B.
	Alpha float64
}

// DefineTriangular declares the solution of triangular systems. The operands may have any strides.
func DefineTriangular[A spec.Call](m Triangular[A]) *spec.Op {
	spirv.LinkBLAS()
	spirv.LinkMove()
	types := []tensor.DType{tensor.F32, tensor.F64}
	return spec.Define(spec.Definition[A]{
		Name: m.Name, Group: "blas", Doc: m.Doc,
		Source: "BLAS xTRSM",
		In: []spec.Arg{
			{Name: "a", Doc: "[..., n,n], of which one triangle is read", DTypes: types, Strides: spec.AnyStrides},
			{Name: "b", Doc: "[..., n,m], or [..., m,n] with right; the leading dimensions of a are broadcast to those of b", DTypes: types, Strides: spec.AnyStrides},
		},
		Out:       []spec.Arg{{Name: "out", Doc: "the solution, of the shape of b", Strides: spec.AnyStrides, InPlace: []int{1}, RoundsByStrides: true}},
		Traits:    spec.Traits{Class: spec.MatrixProduct},
		Defaults:  m.Defaults,
		Kernels:   solveKernels,
		WritesAll: true,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			out, err := m.Of(a).shape(in)
			return []tensor.Desc{out}, err
		},
		PlanAt: func(a A, t *spec.Target, in, out []spec.Place) (*spec.Plan, error) {
			if err := planner.CheckTarget(t, in[0].Desc); err != nil {
				return nil, err
			}
			plan := &spec.Plan{}
			if out[0].Desc.Elems() == 0 {
				return plan, nil
			}
			return plan, m.Of(a).solve(t, plan, in, out[0]).add()
		},
		Reference: func(a A, in, out []*tensor.Host) { m.Of(a).reference(in, out[0]) },
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance { return m.Of(a).tolerance(d, in) },
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			n := int64(in[0].Shape[len(in[0].Shape)-1])
			return spec.Cost{Flops: n * int64(in[1].Elems()), Bytes: in[0].Bytes()/2 + 2*in[1].Bytes()}
		},
		Cases: triangularCases(m),
	})
}

// shape checks the call and returns the description of the result.
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

// solve describes a call, whose result is not empty. With Right it is the transposed system, op(A)ᵀ·Xᵀ = α·Bᵀ.
func (f Triangle) solve(t *spec.Target, plan *spec.Plan, in []spec.Place, out spec.Place) *solve {
	last := len(out.Desc.Shape) - 2
	batch := out.Desc.Shape[:last]
	s := &solve{t: t, plan: plan, alpha: f.Alpha, upper: f.Upper != f.Trans, unit: f.Unit}
	rows, cols := out.Desc.Shape[last], out.Desc.Shape[last+1]
	if f.Right {
		rows, cols, s.upper = cols, rows, !s.upper
	}
	as, ar, ac := matrixStrides(in[0].Desc, batch, f.Trans != f.Right)
	operand := func(ref spec.Ref, p spec.Place, strides []int) planner.Operand {
		return planner.Operand{Ref: ref, DType: p.Desc.DType, Strides: strides, Base: int(p.Misalignment) / p.Desc.DType.Size()}
	}
	operands, own := []planner.Operand{operand(spec.In(0), in[0], as)}, [][]int{{ar, 0, ac}}
	for i, p := range []spec.Place{in[1], out} {
		strides, r, c := matrixStrides(p.Desc, batch, f.Right)
		ref := []spec.Ref{spec.In(1), spec.Out(0)}[i]
		operands, own = append(operands, operand(ref, p, strides)), append(own, []int{r, c, 0})
	}
	shape, operands := planner.Collapse(batch, operands)
	if len(shape) < 2 {
		shape = append([]int{1}, shape...)
		for i := range operands {
			operands[i].Strides = append([]int{0}, operands[i].Strides...)
		}
	}
	for i := range operands {
		operands[i].Strides = append(operands[i].Strides, own[i]...)
	}
	s.shape, s.a, s.b, s.x = append(shape, rows, cols), operands[0], operands[1], operands[2]
	return s
}

// reference is the spec.Definition.Reference: substitution, column by column.
func (f Triangle) reference(in []*tensor.Host, out *tensor.Host) {
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

// tolerance is the spec.Definition.Tolerance.
func (f Triangle) tolerance(d tensor.DType, in []tensor.Desc) spec.Tolerance {
	n, e, alpha := float64(in[0].Shape[len(in[0].Shape)-1]), planner.AccumulatorEpsilon(d), math.Abs(f.Alpha)
	return spec.Tolerance{
		Abs: e*alpha*(8+4*math.Sqrt(n)) + planner.Tiny(d), Rel: 4 * e, Repeated: 4 * e * alpha * n * (n + 8),
		Law: "ε·|α|·(8 + 4·√n) + 4ε of the value", RepeatedLaw: "4·ε·|α|·n·(n + 8)",
		Why: "the result solves (A + ΔA)·X = α·B with |ΔA| ≤ ((1 + ε)ⁿ − 1)·|A| (Higham, theorem 8.5). In the cases, rows of A have a diagonal of 1 or more, and other elements whose sum is at most ½, so that |X| ≤ 2·|α| and ‖A⁻¹‖ ≤ 2: the error is at most 2·2·|α| times that of a sum of n terms, which grows with √n. Repeated elements bring others to the diagonal, of 1/(4n) or more: a division by one makes the error of such a sum 4n times as large, and roundings of equal terms go the same way",
	}
}

// triangularCases returns the Cases.
func triangularCases[A spec.Call](m Triangular[A]) spec.CasesOf[A] {
	inputs := func(a A, d tensor.DType, dims []int) []tensor.Desc {
		form, n, w := dims[0], dims[1], dims[2]
		as, bs := []int{n, n}, []int{n, w}
		if m.Of(a).Right {
			bs = []int{w, n}
		}
		switch form {
		case 2: // a batch of systems with one matrix
			bs = append([]int{3}, bs...)
		case 3:
			as, bs = append([]int{2, 1}, as...), append([]int{2, 3}, bs...)
		}
		return []tensor.Desc{tensor.Contiguous(d, as...), tensor.Contiguous(d, bs...)}
	}
	return spec.CasesOf[A]{
		DTypes: []tensor.DType{tensor.F32, tensor.F64}, Calls: slices.Concat([]A{m.Defaults}, m.Calls), Invalid: m.Invalid,
		Dims:   []spec.Dim{{Name: "form", Only: []int{1, 2, 3}}, {Name: "n", Tiles: []int{8, solveBlock, 2 * solveBlock}}, {Name: "m", Tiles: []int{64}}},
		Sizes:  [][]int{{1, 257, 261}, {1, 2, 100000}, {2, 131, 130}, {1, 500, 1}},
		Inputs: inputs,
		// There are no Specials: a device may take a subnormal divisor for 0 in one row and not in another. Systems of random triangular matrices have solutions that grow exponentially with n.
		Settle: func(a A, i int, d tensor.Desc, values []float64) {
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
		},
		Bench: func(d tensor.DType) []spec.BenchCase {
			var cases []spec.BenchCase
			for _, s := range [][]int{{1, 128, 128}, {1, 512, 1024}, {1, 2048, 2048}} {
				cases = append(cases, spec.BenchCase{Call: m.Defaults, In: inputs(m.Defaults, d, s)})
			}
			return append(cases, spec.BenchCase{Call: m.Defaults, In: inputs(m.Defaults, d, []int{1, 4096, 4096}), GPU: true})
		},
		Low: -1, High: 1,
		Refused: [][]tensor.Desc{
			f32([]int{2, 3}, []int{3, 5}), f32([]int{3}, []int{3, 5}), f32([]int{3, 3}, []int{3}), f32([]int{3, 3}, []int{4, 5}),
			f32([]int{2, 3, 3}, []int{3, 5}), f32([]int{2, 3, 3}, []int{3, 3, 5}),
			{tensor.Contiguous(tensor.F32, 3, 3), tensor.Contiguous(tensor.F64, 3, 5)},
		},
	}
}
