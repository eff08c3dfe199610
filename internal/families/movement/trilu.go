package movement

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

const triluShader = "move/trilu"

// triluParams is the push-constant block of move/trilu.comp.
type triluParams struct {
	Count, Rows, Columns, Row, Column uint32
	Diagonal, Upper                   int32
}

// unitName returns the name of the kernels for elements of a size in bytes.
func unitName(size int) string { return map[int]string{1: "u8", 2: "u16", 4: "u32", 8: "u64"}[size] }

// TriluKernels lists the kernels of PlanTrilu.
func TriluKernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, v := range []string{"u8", "u8.texel", "u16", "u16.texel", "u32", "u32.texel", "u64"} {
		ks = append(ks, spec.Kernel{Name: triluShader + "." + v, Params: triluParams{}})
	}
	return ks
}

// PlanTrilu plans that the elements of matrices on one side of a diagonal become zero. Input and
// output are contiguous.
// Errors: *LimitError.
func PlanTrilu(t *spec.Target, in tensor.Desc, diagonal int, upper bool) (*spec.Plan, error) {
	plan := &spec.Plan{}
	rows, columns := in.Shape[len(in.Shape)-2], in.Shape[len(in.Shape)-1]
	k := planner.FlatVariant(t, triluShader, in.DType)
	k.Name = triluShader + "." + unitName(in.DType.Size())
	if k.Texel {
		k.Name += ".texel"
	}
	side := int32(-1)
	if upper {
		side = 1
	}
	k.Params = func(first, count int) any {
		return triluParams{
			Count: uint32(count), Rows: uint32(rows), Columns: uint32(columns), Row: uint32(first / columns % rows), Column: uint32(first % columns),
			Diagonal: int32(min(max(diagonal, -rows), columns)), Upper: side,
		}
	}
	return plan, planner.AddFlat(plan, t, k, in.Elems(), planner.Flat(spec.In(0), in.DType), planner.Flat(spec.Out(0), in.DType))
}
