package elementwise

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// castParams is the push-constant block of move/cast.comp. Count is the number of
// elements. IsSigned is 1 if integers have a sign: those that come in, or that floats become.
type castParams struct{ Count, IsSigned uint32 }

// castTypes says how the kernels of cast.comp name each dtype. Integers of one size
// have one name with and without a sign, since the sign is a parameter. Only from floats i32 has its own.
var castTypes = map[tensor.DType]string{
	tensor.F32: "f32", tensor.F16: "f16", tensor.BF16: "bf16", tensor.F64: "f64", tensor.I64: "i64",
	tensor.I32: "u32", tensor.U32: "u32", tensor.I8: "u8", tensor.U8: "u8", tensor.Bool: "u8",
	tensor.I16: "u16", tensor.U16: "u16", tensor.U64: "i64",
}

// castKernel returns the name of the kernel that casts, or "" if the elements keep their
// bits.
func castKernel(from, to tensor.DType) string {
	src, dst := castTypes[from], castTypes[to]
	switch {
	case from == to || from == tensor.Bool && dst == "u8":
		return ""
	case to == tensor.Bool:
		dst = "bool"
	case isFloat(from) && to == tensor.I32:
		dst = "i32"
	case src == dst:
		return ""
	}
	return "move/cast." + src + "." + dst
}

// castTexels reports whether the kernel has a texel variant. It has one between
// floating-point numbers of 16 bits and of 32 bits.
func castTexels(from, to tensor.DType) bool {
	return isFloat(from) && isFloat(to) && from.Size()+to.Size() == 6
}

func isFloat(d tensor.DType) bool { return slices.Contains(planner.Floats, d) }

// CastKernels names the kernels that PlanCast launches.
func CastKernels() []spec.Kernel {
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

// NarrowCastKernels lists the kernels of AddCast that convert floating-point numbers of 16 bits to F32 and back.
func NarrowCastKernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range []tensor.DType{tensor.F16, tensor.BF16} {
		for _, pair := range [][2]tensor.DType{{d, tensor.F32}, {tensor.F32, d}} {
			k := CastKernelOf(pair[0], pair[1])
			ks = append(ks, k, spec.Kernel{Name: k.Name + ".texel", Params: k.Params})
		}
	}
	return ks
}

// PlanCast plans the conversion of the input's elements to the dtype of the output. Both
// are contiguous and have the same shape.
// Errors: ErrUnsupported, *LimitError.
func PlanCast(t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
	plan := &spec.Plan{}
	if in.DType != out.DType {
		if err := planner.CheckTarget(t, in, out); err != nil {
			return nil, err
		}
	}
	return plan, AddCast(plan, t, in.DType, out.DType, in.Elems(), spec.In(0), spec.Out(0))
}

// AddCast appends to a plan the launches that convert n contiguous elements of src to dst.
// Errors: *LimitError.
func AddCast(plan *spec.Plan, t *spec.Target, from, to tensor.DType, n int, src, dst spec.Ref) error {
	name := castKernel(from, to)
	if name == "" {
		return movement.AddFlatCopy(plan, t, int64(n)*int64(to.Size()), src, 0, dst, 0)
	}
	// An invocation handles four elements, whatever the sizes of their packs.
	k := planner.FlatKernel{Name: name, Local: planner.SmallGroup * max(from.Size(), to.Size()) / 4, Packs: 1}
	if castTexels(from, to) && planner.UsesTexels(t, planner.TexelGroup) { // An invocation handles eight elements.
		k = planner.FlatKernel{Name: name + ".texel", Texel: true, Local: planner.TexelGroup, Packs: 2}
	}
	k.Params = func(_, count int) any { return castParams{uint32(count), castSign(from, to)} }
	return planner.AddFlat(plan, t, k, n, planner.Flat(src, from), planner.Flat(dst, to))
}

// castSign is castParams.IsSigned.
func castSign(from, to tensor.DType) uint32 {
	signed := []tensor.DType{tensor.I8, tensor.I16, tensor.I32, tensor.I64}
	if slices.Contains(signed, from) || isFloat(from) && slices.Contains(signed, to) {
		return 1
	}
	return 0
}

// CastKernelOf names the kernel of AddCast that converts between two dtypes. It may have a texel variant if neither
// has integers.
func CastKernelOf(from, to tensor.DType) spec.Kernel {
	return spec.Kernel{Name: castKernel(from, to), Params: castParams{}}
}
