// Package fusion makes one launch of several elementwise operations. Their kernels are linked at
// run time of the functions of the single operations, so the results are those of the operations one by one.
// A graph compiler is its caller.
package fusion

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxInputs is the largest number of inputs.
const MaxInputs = 16

// Fused is a list of elementwise operations that are computed together. Its inputs are broadcast by the rule of
// NumPy, as each operation says, and may have any strides. All outputs have one shape.
//
// Values are numbered: the inputs come first, and then the result of each operation. A result of 16 bits is not rounded
// before the next operation takes it, unless it is that of a cast, or Strict is set. All others are bit for bit those of
// the operations one by one, on contiguous operands. Only the bits of NaN may differ.
type Fused struct {
	// Calls are the operations, each after those whose results it takes.
	Calls []spec.Call
	// Args are the values that each operation takes.
	Args [][]int
	// Outs are the values that are the outputs.
	Outs []int
	// Strict says that each result is rounded to its element type.
	Strict bool
}

// Spec returns the declaration.
func (Fused) Spec() *spec.Op { return fusedOp.Op() }

// Check reports whether the operations can be computed together on a device, for inputs of these descriptions. A
// caller may divide the operations where they cannot. It links nothing.
// Errors: ErrInvalidArgument for a list that makes no sense, ErrUnsupported for an operation or an element type that cannot
// be fused, *LimitError for too many operands.
func (f Fused) Check(t *spec.Target, in []tensor.Desc) error {
	if t == nil {
		return planner.Invalid("no target to plan for")
	}
	out, err := f.Spec().Shape(f, in)
	if err != nil {
		return err
	}
	_, err = layOut(&f, t, in, out)
	return err
}

// Fusible reports whether a call can be one of the operations, for inputs of these descriptions.
// Errors: those of Check.
func Fusible(c spec.Call, t *spec.Target, in []tensor.Desc) error {
	f := Fused{Calls: []spec.Call{c}, Args: [][]int{make([]int, len(in))}, Outs: []int{len(in)}}
	for i := range in {
		f.Args[0][i] = i
	}
	return f.Check(t, in)
}

var fusedOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkFused()
	inPlace := make([]int, MaxInputs)
	for i := range inPlace {
		inPlace[i] = i
	}
	return spec.Define(spec.Definition[*Fused]{
		Name: "fused", Group: "fused", Internal: true, WritesAll: true,
		Doc:    "Several elementwise operations in one launch.",
		In:     []spec.Arg{{Name: "in", Doc: "tensors that are broadcast together", Strides: spec.AnyStrides, Variadic: true}},
		Out:    []spec.Arg{{Name: "out", Doc: "the results, all of one shape", InPlace: inPlace}},
		Traits: spec.Traits{Class: spec.Elementwise},
		Shape: func(f *Fused, in []tensor.Desc) ([]tensor.Desc, error) {
			values, err := f.values(in)
			if err != nil {
				return nil, err
			}
			var out []tensor.Desc
			for _, v := range f.Outs {
				if v < len(in) || v >= len(values) {
					return nil, planner.Invalid("output %d (want the result of an operation)", v)
				}
				out = append(out, values[v])
				if !slices.Equal(out[0].Shape, values[v].Shape) {
					return nil, planner.Unsupported("outputs of several shapes, %v and %v", out[0], values[v])
				}
			}
			if len(out) == 0 {
				return nil, planner.Invalid("no outputs")
			}
			taken := f.taken(len(values))
			for i, v := range values {
				if !taken[i] {
					continue
				}
				if shape, ok := planner.BroadcastShape(v.Shape, out[0].Shape); !ok || !slices.Equal(shape, out[0].Shape) {
					return nil, planner.Unsupported("%v is not broadcast to the shape of the outputs, %v", v, out[0].Shape)
				}
			}
			return out, nil
		},
		Plan: plan,
		SizeClass: func(_ *Fused, in []tensor.Desc) []int {
			n := make([]int, len(in))
			for i, d := range in {
				n[i] = d.Elems()
			}
			return n
		},
		Reference: reference,
		Cost:      cost,
	})
}}

// taken reports for each value whether an operation takes it.
func (f *Fused) taken(n int) []bool {
	taken := make([]bool, n)
	for _, args := range f.Args {
		for _, a := range args {
			taken[a] = true
		}
	}
	return taken
}

// values returns the description of each value.
func (f *Fused) values(in []tensor.Desc) ([]tensor.Desc, error) {
	if len(f.Calls) == 0 || len(f.Calls) != len(f.Args) || len(in) > MaxInputs {
		return nil, planner.Invalid("%d operations, %d lists of operands, %d inputs (want 1 to %d)", len(f.Calls), len(f.Args), len(in), MaxInputs)
	}
	values := slices.Clone(in)
	for i, c := range f.Calls {
		c, err := spec.Resolve(c)
		if err != nil {
			return nil, err
		}
		var operands []tensor.Desc
		for _, a := range f.Args[i] {
			if a < 0 || a >= len(values) {
				return nil, planner.Invalid("operation %d takes value %d (want one before it)", i, a)
			}
			operands = append(operands, tensor.Contiguous(values[a].DType, values[a].Shape...))
		}
		out, err := c.Spec().Shape(c, operands)
		if err != nil {
			return nil, err
		}
		if len(out) != 1 {
			return nil, planner.Unsupported("%s has %d results", c.Spec().Name, len(out))
		}
		values = append(values, out[0])
	}
	return values, nil
}

// reference computes the outputs operation by operation.
func reference(f *Fused, in, out []*tensor.Host) {
	values := slices.Clone(in)
	for i, c := range f.Calls {
		var operands []*tensor.Host
		var descs []tensor.Desc
		for _, a := range f.Args[i] {
			operands, descs = append(operands, values[a]), append(descs, tensor.Contiguous(values[a].DType, values[a].Shape...))
		}
		shape, err := c.Spec().Shape(c, descs)
		if err != nil || len(shape) != 1 {
			return // Shape has refused it.
		}
		result := tensor.NewHost(shape[0])
		c.Spec().Reference(c, operands, []*tensor.Host{result})
		values = append(values, result)
	}
	for i, v := range f.Outs {
		out[i].SetFloats(values[v].Floats())
	}
}

// cost counts the arithmetic of all operations, and the memory traffic of inputs and outputs.
func cost(f *Fused, in []tensor.Desc) spec.Cost {
	values, err := f.values(in)
	if err != nil {
		return spec.Cost{}
	}
	var sum spec.Cost
	for i, c := range f.Calls {
		var operands []tensor.Desc
		for _, a := range f.Args[i] {
			operands = append(operands, values[a])
		}
		if op := c.Spec(); op.Cost != nil {
			sum.Flops += op.Cost(c, operands).Flops
		}
	}
	for _, d := range in {
		sum.Bytes += d.Bytes()
	}
	for _, v := range f.Outs {
		if v < len(values) {
			sum.Bytes += values[v].Bytes()
		}
	}
	return sum
}
