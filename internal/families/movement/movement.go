// Package movement declares the operations that move elements and compute nothing. Their
// plans are copies between operands with strides. Other plans use AddCopy too.
package movement

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Movement describes an operation that moves elements of any dtype, with attributes of
// type A.
type Movement[A spec.Call] struct {
	// Name, Doc, ONNX and Defaults are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	Defaults  A
	// In is the input. A variadic input stands for several.
	In spec.Arg
	// Out documents the output.
	Out string
	// Shape checks the attributes and returns the shape of the output. All inputs have
	// the same dtype.
	Shape func(a A, in []tensor.Desc) ([]int, error)
	// Copies lists the copies that make up a call. Shape has checked the call before.
	Copies func(a A, in []tensor.Desc, out tensor.Desc) []Copy
	// Value, if set, returns the value of new elements. A copy whose Src.Ref is spec.Scratch(0)
	// reads it: its strides are 0. The shape rule has checked that the dtype can hold it.
	Value func(a A) float64
	// Origin returns which element belongs at an index of the output: the number of the
	// input, and the index there. It may change the slice index. The number is -1 for
	// a new element. The reference uses it.
	Origin func(a A, in []*tensor.Host, index []int) (int, []int)
	// Cases are the cases of the operation. Define adds the element types, the values, the
	// default call, and benchmarks of that call if there are none.
	Cases spec.CasesOf[A]
}

// Copy is a copy of elements from Src to Dst. Shape is the index space of both, as in
// AddCopy.
type Copy struct {
	Shape    []int
	Src, Dst planner.Operand
}

// Define declares an operation that moves elements. Its inputs and its output may have
// any strides and begin at any element.
func Define[A spec.Call](m Movement[A]) *spec.Op {
	spirv.LinkMove()
	m.In.Strides = spec.AnyStrides
	shape := func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
		for _, d := range in {
			if d.DType != in[0].DType {
				return nil, planner.Invalid("inputs of dtypes %v and %v", in[0].DType, d.DType)
			}
		}
		shape, err := m.Shape(a, in)
		if err != nil {
			return nil, err
		}
		return []tensor.Desc{tensor.Contiguous(in[0].DType, shape...)}, nil
	}
	cases := m.Cases
	cases.DTypes, cases.Low, cases.High, cases.Specials = tensor.DTypes(), -100, 100, true
	cases.Calls = append([]A{m.Defaults}, cases.Calls...)
	cases.Inputs = fewLarge(cases.Inputs)
	if cases.Bench == nil {
		cases.Bench = planner.BenchCases(m.Defaults, 1)
	}
	kernels := CopyKernels()
	if m.Value != nil {
		kernels = append(kernels, FillKernels()...)
	}
	return spec.Define(spec.Definition[A]{
		Name: m.Name, Group: "move", Doc: m.Doc,
		In:       []spec.Arg{m.In},
		Out:      []spec.Arg{{Name: "out", Doc: m.Out, Strides: spec.AnyStrides}},
		Traits:   spec.Traits{Class: spec.Movement, ONNX: m.ONNX},
		Defaults: m.Defaults,
		Kernels:  kernels,
		Shape:    shape,
		PlanAt: func(a A, t *spec.Target, in, out []spec.Place) (*spec.Plan, error) {
			plan, d := &spec.Plan{}, out[0].Desc.DType
			descs := make([]tensor.Desc, len(in))
			for i, p := range in {
				descs[i] = p.Desc
			}
			copies := m.Copies(a, descs, out[0].Desc)
			if m.Value != nil && slices.ContainsFunc(copies, func(c Copy) bool { return c.Src.Ref.Kind == spec.RefScratch }) {
				if err := AddFill(plan, t, m.Value(a), d, planner.AddScratch(plan, planner.Pack), planner.Pack/d.Size()); err != nil {
					return nil, err
				}
			}
			for _, c := range copies {
				if c.Src.Ref.Kind == spec.RefIn {
					c.Src.Base += int(in[c.Src.Ref.Index].Misalignment) / d.Size()
				}
				c.Dst.Base += int(out[0].Misalignment) / d.Size()
				if err := AddCopy(plan, t, d, c.Shape, c.Src, c.Dst); err != nil {
					return nil, err
				}
			}
			return plan, nil
		},
		Reference: func(a A, in, out []*tensor.Host) {
			size := out[0].DType.Size()
			own := make([]int, len(out[0].Shape)) // Origin may change it
			out[0].Each(func(index []int, to int) {
				copy(own, index)
				i, at := m.Origin(a, in, own)
				if i < 0 {
					out[0].Set(m.Value(a), index...)
					return
				}
				from := 0
				for d, stride := range in[i].ElementStrides() {
					from += at[d] * stride
				}
				copy(out[0].Data[to*size:(to+1)*size], in[i].Data[from*size:])
			})
		},
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "bits are moved"}
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			bytes := int64(0)
			for _, d := range in {
				bytes += int64(d.Elems() * d.DType.Size())
			}
			if out, err := shape(a, in); err == nil {
				bytes += int64(out[0].Elems() * out[0].DType.Size())
			}
			return spec.Cost{Bytes: bytes}
		},
		Cases: cases,
	})
}

// fewLarge returns the inputs of cases without large ones of types that others stand for: an element is
// moved by its size alone.
func fewLarge[A spec.Call](inputs func(A, tensor.DType, []int) []tensor.Desc) func(A, tensor.DType, []int) []tensor.Desc {
	return func(a A, d tensor.DType, dims []int) []tensor.Desc {
		in := inputs(a, d, dims)
		if slices.Contains([]tensor.DType{tensor.I16, tensor.U16, tensor.U64}, d) && slices.ContainsFunc(in, func(t tensor.Desc) bool { return t.Elems() > 1<<18 }) {
			return nil
		}
		return in
	}
}

// Permute returns a slice in the order of perm: element i is of[perm[i]].
func Permute(of, perm []int) []int {
	out := make([]int, len(perm))
	for i, d := range perm {
		out[i] = of[d]
	}
	return out
}
