package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Fill makes a tensor whose elements are all Value. A floating-point dtype rounds Value to
// nearest even. It must not overflow there, but it may be NaN or infinite. An integer dtype
// must be able to hold Value. For bool, Value is 0 or 1.
type Fill struct {
	Value float64      `attr:"value" doc:"the value of every element, one that the element type can hold"`
	DType tensor.DType `attr:"dtype" doc:"the element type"`
	Shape []int        `attr:"shape" doc:"the shape; an empty list makes a scalar"`
}

// Spec returns the declaration.
func (Fill) Spec() *spec.Op { return fillOp.Op() }

// holds reports whether an element of dtype d can be v, after rounding if d is a
// floating-point dtype.
func holds(d tensor.DType, v float64) bool {
	least, most := 0.0, 0.0
	switch d {
	case tensor.Bool:
		return v == 0 || v == 1
	case tensor.U8:
		most = math.MaxUint8
	case tensor.U32:
		most = math.MaxUint32
	case tensor.U16:
		most = math.MaxUint16
	case tensor.U64:
		most = 0x1p64 - 2048 // the largest float64 below 2^64
	case tensor.I8:
		least, most = math.MinInt8, math.MaxInt8
	case tensor.I16:
		least, most = math.MinInt16, math.MaxInt16
	case tensor.I32:
		least, most = math.MinInt32, math.MaxInt32
	case tensor.I64:
		least, most = math.MinInt64, 0x1p63-1024 // the largest float64 below 2^63
	default:
		one, _ := tensor.FromFloats(d, nil, []float64{v})
		return math.IsInf(v, 0) || !math.IsInf(one.At(), 0)
	}
	return v == math.Trunc(v) && v >= least && v <= most
}

var fillOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return spec.Define(spec.Definition[*Fill]{
		Name: "fill", Group: "move", Doc: "Makes a tensor whose elements all have the same value.",
		Out:      []spec.Arg{{Name: "out", Doc: "the tensor, of the attributes' dtype and shape"}},
		Traits:   spec.Traits{Class: spec.Elementwise},
		Defaults: &Fill{DType: tensor.F32},
		Kernels:  movement.FillKernels(),
		Shape: func(c *Fill, _ []tensor.Desc) ([]tensor.Desc, error) {
			out := tensor.Contiguous(c.DType, c.Shape...)
			if err := out.Check(); err != nil {
				return nil, err
			}
			if !holds(c.DType, c.Value) {
				return nil, planner.Invalid("value (got %v, want one that %v can hold)", c.Value, c.DType)
			}
			return []tensor.Desc{out}, nil
		},
		Plan: func(c *Fill, t *spec.Target, _, out []tensor.Desc) (*spec.Plan, error) {
			return movement.PlanFill(c.Value, t, out[0])
		},
		Reference: func(c *Fill, _, out []*tensor.Host) {
			out[0].Each(func(index []int, _ int) { out[0].Set(c.Value, index...) })
		},
		Tolerance: func(*Fill, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "the value is rounded on the host"}
		},
		Cost: func(c *Fill, _ []tensor.Desc) spec.Cost {
			return spec.Cost{Bytes: int64(tensor.Contiguous(c.DType, c.Shape...).Elems() * c.DType.Size())}
		},
		Cases: spec.CasesOf[*Fill]{
			DTypes: tensor.DTypes(),
			Calls: []*Fill{
				{DType: tensor.F32}, {1.5, tensor.F32, []int{7, 11}}, {math.NaN(), tensor.F32, []int{3}}, {math.Inf(-1), tensor.F16, []int{5, 5}},
				{0.1, tensor.F16, []int{1029}}, {-0.1, tensor.BF16, []int{33, 3}}, {0.1, tensor.F64, []int{255}},
				{-2, tensor.I32, []int{4099}}, {-0x1p62, tensor.I64, []int{9, 2}}, {1, tensor.Bool, []int{67}},
				{255, tensor.U8, []int{1}}, {-128, tensor.I8, []int{16383}}, {math.MaxUint32, tensor.U32, nil},
				{-32768, tensor.I16, []int{257}}, {65535, tensor.U16, []int{3, 5}}, {0x1p63, tensor.U64, []int{7}},
				{2, tensor.F32, []int{0, 4}},
			},
			Inputs: func(*Fill, tensor.DType, []int) []tensor.Desc { return []tensor.Desc{} },
			Bench: planner.BenchCalls(func(d tensor.DType, rows, columns int) (spec.Call, []tensor.Desc) {
				return Fill{1, d, []int{rows, columns}}, nil
			}),
			Invalid: []*Fill{
				{256, tensor.U8, []int{2}}, {0.5, tensor.I32, []int{2}}, {math.NaN(), tensor.I64, []int{2}}, {2, tensor.Bool, []int{2}},
				{0x1p63, tensor.I64, []int{2}}, {0x1p64, tensor.U64, []int{2}}, {-1, tensor.U64, []int{2}}, {32768, tensor.I16, []int{2}}, {-1, tensor.U16, []int{2}}, {1e6, tensor.F16, []int{2}}, {1, tensor.F32, []int{-1}}, {1, tensor.Invalid, []int{2}},
			},
		},
	})
}}
