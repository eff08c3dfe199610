package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Symmetric describes the product of a matrix with its transpose, of which one triangle is computed. Its attributes have type A.
type Symmetric[A spec.Call] struct {
	// Name, Doc and Defaults are those of spec.Definition.
	Name, Doc string
	Defaults  A
	// Of returns what the attributes say. TransA says that a is [..., k,n].
	Of func(a A) (f Scaling, upper bool)
	// Calls are attributes to try besides Defaults. Invalid are attributes that must be refused.
	Calls, Invalid []A
}

// DefineSymmetric declares α·A·Aᵀ + β·C, of which one triangle is computed. The operands may have any strides.
func DefineSymmetric[A spec.Call](m Symmetric[A]) *spec.Op {
	spirv.LinkBLAS()
	types := []tensor.DType{tensor.F32, tensor.F64}
	of := func(a A) Scaling {
		f, upper := m.Of(a)
		f.TransB, f.triangle = !f.TransA, lowerTriangle
		if upper {
			f.triangle = upperTriangle
		}
		return f
	}
	return spec.Define(spec.Definition[A]{
		Name: m.Name, Group: "blas", Doc: m.Doc,
		Source: "BLAS xSYRK",
		In: []spec.Arg{
			{Name: "a", Doc: "[..., n,k], or [..., k,n] with trans", DTypes: types, Strides: spec.AnyStrides},
			{Name: "c", Doc: "[..., n,n] with the leading dimensions of a; zeros if it is left out", Optional: true, DTypes: types, Strides: spec.AnyStrides},
		},
		Out:       []spec.Arg{{Name: "out", Doc: "[..., n,n]", Strides: spec.AnyStrides, InPlace: []int{1}, RoundsByStrides: true}},
		Traits:    spec.Traits{Class: spec.MatrixProduct},
		Defaults:  m.Defaults,
		Kernels:   slices.Concat(scaledKernels, kernelsOf("blas/gemm_finish", triangleParams{}, "f32.triangle", "f32.triangle.texel", "f64.triangle")),
		WritesAll: true,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			out, err := of(a).shape(twice(in))
			if err == nil && len(in) > 1 && !slices.Equal(in[1].Shape, out.Shape) {
				err = planner.Invalid("c is %v (want %v)", in[1], out.Shape)
			}
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
			s, err := of(a).scaled(t, plan, twice(in), out[0])
			if err != nil {
				return nil, err
			}
			if s.a.Ref, s.b.Ref = spec.In(0), spec.In(0); s.c != nil {
				s.c.Ref = spec.In(1)
			}
			return plan, s.add()
		},
		Reference: func(a A, in, out []*tensor.Host) {
			f := of(a)
			f.reference(twice(in), out)
			v := out[0].Floats()
			n := out[0].Shape[len(out[0].Shape)-1]
			var c []float64
			if len(in) > 1 {
				c = in[1].Floats()
			}
			for i := range v {
				row, col := i/n%n, i%n
				if row == col || row > col == (f.triangle == lowerTriangle) {
					continue
				}
				if v[i] = 0; c != nil {
					v[i] = c[i]
				}
			}
			out[0].SetFloats(v)
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance { return of(a).tolerance(d, twice(in)) },
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			out, err := of(a).shape(twice(in))
			if err != nil {
				return spec.Cost{}
			}
			_, _, k := of(a).transposes().sizes(twice(in))
			return spec.Cost{Flops: int64(out.Elems()) * int64(k), Bytes: in[0].Bytes() + out.Bytes()}
		},
		Cases: symmetricCases(m),
	})
}

// twice returns the operands with the first one twice: a product of a matrix with itself.
func twice[T any](in []T) []T { return slices.Concat(in[:1], in) }

// symmetricCases returns the Cases.
func symmetricCases[A spec.Call](m Symmetric[A]) spec.CasesOf[A] {
	inputs := func(a A, d tensor.DType, dims []int) []tensor.Desc {
		form, n, k := dims[0], dims[1], dims[2]
		as, cs := []int{n, k}, []int{n, n}
		if f, _ := m.Of(a); f.TransA {
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
	return spec.CasesOf[A]{
		DTypes: []tensor.DType{tensor.F32, tensor.F64}, Calls: slices.Concat([]A{m.Defaults}, m.Calls), Invalid: m.Invalid,
		Dims:   []spec.Dim{{Name: "form", Only: []int{1, 2, 3}}, {Name: "n", Tiles: []int{8, 64}}, {Name: "k", Tiles: []int{8}}},
		Sizes:  [][]int{{1, 257, 131}, {2, 128, 64}, {1, 3, 70000}, {3, 9, 100000}, {1, 700, 2}},
		Inputs: inputs,
		Bench: func(d tensor.DType) []spec.BenchCase {
			var cases []spec.BenchCase
			for _, s := range [][]int{{1, 128, 128}, {1, 512, 512}, {1, 1024, 1024}} {
				cases = append(cases, spec.BenchCase{Call: m.Defaults, In: inputs(m.Defaults, d, s)})
			}
			return append(cases, spec.BenchCase{Call: m.Defaults, In: inputs(m.Defaults, d, []int{1, 4096, 4096}), GPU: true})
		},
		Low: -1, High: 1, Specials: true,
		Refused: [][]tensor.Desc{
			f32([]int{3}, []int{3, 3}), f32([]int{3, 2}, []int{2, 2}), f32([]int{3, 2}, []int{3}), f32([]int{3, 2}, []int{1, 3}), f32([]int{2, 3, 2}, []int{3, 3}),
			{tensor.Contiguous(tensor.F32, 3, 2), tensor.Contiguous(tensor.F64, 3, 3)},
		},
	}
}
