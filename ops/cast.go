package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Cast converts the elements of a tensor to another type. From floating point
// to integers it truncates toward zero, numbers out of range become the nearest
// one in range, and NaN becomes 0. From integers to narrower ones it wraps in
// two's complement, as C and NumPy do. To floating point it rounds to nearest
// even; to bool it is true of all but 0, NaN included.
type Cast struct {
	To tensor.DType `attr:"to,required" doc:"the element type of the result"`
}

// Spec returns the declaration.
func (Cast) Spec() *spec.Op { return castOp }

type castParams struct{ Count, IsSigned uint32 }

// castTypes are how kernels of cast.comp name what they read and write: the
// sign of integers of 8 and 32 bits is a parameter.
var castTypes = map[tensor.DType]string{
	tensor.F32: "f32", tensor.F16: "f16", tensor.BF16: "bf16", tensor.F64: "f64", tensor.I64: "i64",
	tensor.I32: "u32", tensor.U32: "u32", tensor.I8: "u8", tensor.U8: "u8", tensor.Bool: "u8",
}

// castKernel is the kernel that casts, or "" where elements keep their bits.
func castKernel(from, to tensor.DType) string {
	src, dst := castTypes[from], castTypes[to]
	switch {
	case from == to || from == tensor.Bool && dst == "u8":
		return ""
	case to == tensor.Bool:
		dst = "bool"
	case slices.Contains(floats, from) && to == tensor.I32:
		dst = "i32"
	case src == dst:
		return ""
	}
	return "move/cast." + src + "." + dst
}

// castTexels reports whether the kernel has a texel variant: floating-point
// numbers of 16 bits and of 32.
func castTexels(from, to tensor.DType) bool {
	return slices.Contains(floats, from) && slices.Contains(floats, to) && from.Size()+to.Size() == 6
}

func castKernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, from := range tensor.DTypes() {
		for _, to := range tensor.DTypes() {
			k := spec.Kernel{Name: castKernel(from, to), Params: castParams{}}
			if k.Name != "" && !slices.Contains(ks, k) {
				ks = append(ks, k)
				if castTexels(from, to) {
					ks = append(ks, spec.Kernel{Name: k.Name + ".texel", Params: castParams{}})
				}
			}
		}
	}
	return ks
}

var castOp = spec.Register(&spec.Op{
	Name: "cast", Group: "move", Doc: "Converts elements to another type. Floating point is truncated to integers and kept within their range; integers wrap.",
	In:       []spec.Arg{{Name: "in", Doc: "a tensor of any dtype and shape"}},
	Out:      []spec.Arg{{Name: "out", Doc: "the converted elements, of the same shape"}},
	Defaults: Cast{To: tensor.F32},
	Kernels:  castKernels(),
	Shape: func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if len(in) != 1 {
			return nil, invalid("cast", "inputs (got %d, want 1)", len(in))
		}
		if err := in[0].Check(); err != nil {
			return nil, err
		}
		to := c.(Cast).To
		if !to.Valid() {
			return nil, invalid("cast", "to %v (want one of %v)", to, tensor.DTypes())
		}
		out := tensor.Contiguous(to, in[0].Shape...)
		return []tensor.Desc{out}, out.Check()
	},
	Plan: func(_ spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		from, to, n := in[0].DType, out[0].DType, in[0].Elems()
		name := castKernel(from, to)
		if from != to {
			if err := checkTarget("cast", t, in[0], out[0]); err != nil {
				return nil, err
			}
		}
		if !in[0].IsContiguous() || !out[0].IsContiguous() {
			return nil, unsupported("cast", "strides")
		}
		if name == "" {
			plan := &spec.Plan{}
			return plan, movement.AddFlatCopy(plan, t, int64(n)*int64(to.Size()), spec.In(0), 0, spec.Out(0), 0)
		}
		// Four elements an invocation, whatever packs they make.
		k := flatKernel{name: name, local: smallGroup * max(from.Size(), to.Size()) / 4, packs: 1}
		if castTexels(from, to) && usesTexels(t, texelGroup) {
			k = flatKernel{name: name + ".texel", texel: true, local: texelGroup, packs: 2} // eight
		}
		isSigned := uint32(0)
		if from == tensor.I8 || from == tensor.I32 || slices.Contains(floats, from) && to == tensor.I8 {
			isSigned = 1
		}
		k.params = func(_, count int) any { return castParams{uint32(count), isSigned} }
		return planFlat(t, k, n, flatOperand{spec.In(0), from}, flatOperand{spec.Out(0), to})
	},
	Reference: func(_ spec.Call, in, out []*tensor.Host) {
		v := in[0].Floats()
		whole := !slices.Contains(floats, in[0].DType)
		for i, x := range v {
			switch d := out[0].DType; {
			case slices.Contains(floats, d) || d == tensor.Bool:
			case !whole:
				v[i] = math.Trunc(x)
			case d == tensor.I8:
				v[i] = float64(int8(int64(x)))
			case d == tensor.U8:
				v[i] = float64(uint8(int64(x)))
			case d == tensor.I32:
				v[i] = float64(int32(int64(x)))
			case d == tensor.U32:
				v[i] = float64(uint32(int64(x)))
			}
		}
		out[0].SetFloats(v)
	},
	Tolerance: func(c spec.Call, d tensor.DType, in []tensor.Desc) spec.Tolerance {
		tol := spec.Tolerance{Why: "the one rounding is to nearest even"}
		if slices.Contains(floats, d) && in[0].DType == tensor.F64 {
			tol.Abs = tiny(d) // of what is too small for a normal number
		}
		return tol
	},
	Cost: func(c spec.Call, in []tensor.Desc) spec.Cost {
		return spec.Cost{Bytes: int64(in[0].Elems()) * int64(in[0].DType.Size()+c.(Cast).To.Size())}
	},
	Cases: spec.Cases{
		DTypes: tensor.DTypes(),
		Calls: func() (calls []spec.Call) {
			for _, d := range tensor.DTypes() {
				calls = append(calls, Cast{d})
			}
			return calls
		}(),
		Dims: []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 256}}},
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc {
			return []tensor.Desc{tensor.Contiguous(d, dims...)}
		},
		Bench: func(d tensor.DType) []spec.BenchCase {
			to := tensor.F16
			if d == to {
				to = tensor.F32
			}
			return benchCases(Cast{to}, 1)(d)
		},
		Low: -70000, High: 70000, Specials: true,
		Invalid: []spec.Call{Cast{}, Cast{tensor.DType(99)}},
	},
})
