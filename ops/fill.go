package ops

import (
	"encoding/binary"
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Fill makes a tensor whose elements are all Value. Floating-point types round
// it to nearest even, and must not overflow; NaN and infinities are legal there.
// Integers must be able to hold it, and a bool is 0 or 1.
type Fill struct {
	Value float64      `attr:"value" doc:"what every element is"`
	DType tensor.DType `attr:"dtype" doc:"the element type"`
	Shape []int        `attr:"shape" doc:"the shape; none is a scalar"`
}

// Spec returns the declaration.
func (Fill) Spec() *spec.Op { return fillOp }

type fillParams struct{ Count, X, Y, Z, W uint32 }

// holds reports whether an element of d can be v, rounded if d rounds.
func holds(d tensor.DType, v float64) bool {
	least, most := 0.0, 0.0
	switch d {
	case tensor.Bool:
		return v == 0 || v == 1
	case tensor.U8:
		most = math.MaxUint8
	case tensor.U32:
		most = math.MaxUint32
	case tensor.I8:
		least, most = math.MinInt8, math.MaxInt8
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

var fillOp = spec.Register(&spec.Op{
	Name: "fill", Group: "move", Doc: "Makes a tensor whose elements are all one value.",
	Out:      []spec.Arg{{Name: "out", Doc: "the tensor, of the attributes' dtype and shape"}},
	Defaults: Fill{DType: tensor.F32},
	Kernels: []spec.Kernel{
		{Name: "move/fill.u8", Params: fillParams{}},
		{Name: "move/fill.u8.texel", Params: fillParams{}},
	},
	Shape: func(call spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		c := call.(Fill)
		if len(in) > 0 {
			return nil, invalid("fill", "inputs (got %d, want none)", len(in))
		}
		out := tensor.Contiguous(c.DType, c.Shape...)
		if err := out.Check(); err != nil {
			return nil, err
		}
		if !holds(c.DType, c.Value) {
			return nil, invalid("fill", "value (got %v, want one that %v can hold)", c.Value, c.DType)
		}
		return []tensor.Desc{out}, nil
	},
	Plan: func(call spec.Call, t *spec.Target, _, out []tensor.Desc) (*spec.Plan, error) {
		if !out[0].IsContiguous() {
			return nil, unsupported("fill", "an output with strides")
		}
		d := out[0].DType
		var v [16]float64
		for i := range v {
			v[i] = call.(Fill).Value
		}
		pack, err := tensor.FromFloats(d, []int{16 / d.Size()}, v[:16/d.Size()])
		if err != nil {
			return nil, err
		}
		var w [4]uint32
		for i := range w {
			w[i] = binary.LittleEndian.Uint32(pack.Data[4*i:])
		}
		k := flatVariant(t, "move/fill", tensor.U8)
		k.params = func(_, count int) any { return fillParams{uint32(count), w[0], w[1], w[2], w[3]} }
		return planFlat(t, k, out[0].Elems()*d.Size(), flatOperand{spec.Out(0), tensor.U8})
	},
	Reference: func(call spec.Call, _, out []*tensor.Host) {
		out[0].Each(func(index []int, _ int) { out[0].Set(call.(Fill).Value, index...) })
	},
	Tolerance: func(spec.Call, tensor.DType, []tensor.Desc) spec.Tolerance {
		return spec.Tolerance{Why: "the value is rounded on the host"}
	},
	Cost: func(call spec.Call, _ []tensor.Desc) spec.Cost {
		c := call.(Fill)
		return spec.Cost{Bytes: int64(tensor.Contiguous(c.DType, c.Shape...).Elems() * c.DType.Size())}
	},
	Cases: spec.Cases{
		DTypes: tensor.DTypes(),
		Calls: []spec.Call{
			Fill{DType: tensor.F32}, Fill{1.5, tensor.F32, []int{7, 11}}, Fill{math.NaN(), tensor.F32, []int{3}}, Fill{math.Inf(-1), tensor.F16, []int{5, 5}},
			Fill{0.1, tensor.F16, []int{1029}}, Fill{-0.1, tensor.BF16, []int{33, 3}}, Fill{0.1, tensor.F64, []int{255}},
			Fill{-2, tensor.I32, []int{4099}}, Fill{-0x1p62, tensor.I64, []int{9, 2}}, Fill{1, tensor.Bool, []int{67}},
			Fill{255, tensor.U8, []int{1}}, Fill{-128, tensor.I8, []int{16383}}, Fill{math.MaxUint32, tensor.U32, nil},
			Fill{2, tensor.F32, []int{0, 4}},
		},
		Inputs: func(tensor.DType, []int) []tensor.Desc { return []tensor.Desc{} },
		Bench: func(d tensor.DType) []spec.BenchCase {
			var ws []spec.BenchCase
			for _, s := range benchShapes {
				ws = append(ws, spec.BenchCase{Call: Fill{1, d, s}})
			}
			return ws
		},
		Invalid: []spec.Call{
			Fill{256, tensor.U8, []int{2}}, Fill{0.5, tensor.I32, []int{2}}, Fill{math.NaN(), tensor.I64, []int{2}}, Fill{2, tensor.Bool, []int{2}},
			Fill{0x1p63, tensor.I64, []int{2}}, Fill{1e6, tensor.F16, []int{2}}, Fill{1, tensor.F32, []int{-1}}, Fill{1, tensor.Invalid, []int{2}},
		},
	},
})
