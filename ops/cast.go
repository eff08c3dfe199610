package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Cast converts the elements of a tensor to another type. From floating point to integers
// it truncates toward zero, a number out of range becomes the nearest number in range, and
// NaN becomes 0. From integers to narrower integers it wraps in two's complement, as C and
// NumPy do. To floating point it rounds to nearest even. To bool, 0 becomes false, and all
// other values, including NaN, become true.
type Cast struct {
	To tensor.DType `attr:"to,required" onnx:"to" doc:"the element type of the result"`
}

// Spec returns the declaration.
func (Cast) Spec() *spec.Op { return castOp.Op() }

// Gradient declares the gradient: dy in the dtype of the input.
func (Cast) Gradient(t *spec.Tape) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		t.SetGradient(0, as(t, dy, t.In(0)))
	}
}

var castOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return spec.Define(spec.Definition[*Cast]{
		Name: "cast", Group: "move", Doc: "Converts elements to another type. From floating point to integers it truncates, and numbers out of range become the nearest number in range. Integers wrap.",
		In:       []spec.Arg{{Name: "in", Doc: "a tensor of any dtype and shape"}},
		Out:      []spec.Arg{{Name: "out", Doc: "the converted elements, of the same shape"}},
		Traits:   spec.Traits{Class: spec.Elementwise, ONNX: []string{"Cast"}},
		Defaults: &Cast{To: tensor.F32},
		Kernels:  elementwise.CastKernels(),
		Shape: func(c *Cast, in []tensor.Desc) ([]tensor.Desc, error) {
			if !c.To.Valid() {
				return nil, planner.Invalid("to %v (want one of %v)", c.To, tensor.DTypes())
			}
			return []tensor.Desc{tensor.Contiguous(c.To, in[0].Shape...)}, nil
		},
		Plan: func(_ *Cast, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			return elementwise.PlanCast(t, in[0], out[0])
		},
		Part: func(c *Cast, _ *spec.Target, in []tensor.DType) spec.Part { return elementwise.CastPart(in[0], c.To) },
		Reference: func(_ *Cast, in, out []*tensor.Host) {
			v := in[0].Floats()
			integers := !slices.Contains(planner.Floats, in[0].DType)
			for i, x := range v {
				switch d := out[0].DType; {
				case slices.Contains(planner.Floats, d) || d == tensor.Bool:
				case !integers:
					v[i] = math.Trunc(x)
				case d == tensor.I8:
					v[i] = float64(int8(int64(x)))
				case d == tensor.U8:
					v[i] = float64(uint8(int64(x)))
				case d == tensor.I16:
					v[i] = float64(int16(int64(x)))
				case d == tensor.U16:
					v[i] = float64(uint16(int64(x)))
				case d == tensor.U64:
					v[i] = float64(uint64(int64(x)))
				case d == tensor.I32:
					v[i] = float64(int32(int64(x)))
				case d == tensor.U32:
					v[i] = float64(uint32(int64(x)))
				}
			}
			out[0].SetFloats(v)
		},
		Tolerance: func(_ *Cast, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			tol := spec.Tolerance{Why: "a result that the type does not have is rounded to nearest even"}
			if slices.Contains(planner.Floats, d) && in[0].DType == tensor.F64 {
				tol.Abs = planner.Tiny(d) // for results too small for a normal number
			}
			return tol
		},
		Cost: func(c *Cast, in []tensor.Desc) spec.Cost {
			return spec.Cost{Bytes: int64(in[0].Elems()) * int64(in[0].DType.Size()+c.To.Size())}
		},
		Cases: spec.CasesOf[*Cast]{
			DTypes: tensor.DTypes(),
			Calls: func() (calls []*Cast) {
				for _, d := range tensor.DTypes() {
					calls = append(calls, &Cast{d})
				}
				return calls
			}(),
			Dims:   []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 256}}},
			Inputs: planner.SameInputs[*Cast](1),
			Bench: func(d tensor.DType) []spec.BenchCase {
				to := tensor.F16
				if d == to {
					to = tensor.F32
				}
				return planner.BenchCases(Cast{to}, 1)(d)
			},
			Low: -70000, High: 70000, Specials: true,
			Invalid: []*Cast{{}, {tensor.DType(99)}},
		},
	})
}}
