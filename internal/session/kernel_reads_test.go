package session

import (
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/tensor"
)

// TestReads lists the dtypes that a shader may read as numbers of each type.
func TestReads(t *testing.T) {
	all := tensor.DTypes()
	own := func(d ...tensor.DType) []tensor.DType { return d }
	// other returns the dtypes that have another size, and those of also.
	other := func(size int, also ...tensor.DType) (list []tensor.DType) {
		for _, d := range all {
			if d.Size() != size || slices.Contains(also, d) {
				list = append(list, d)
			}
		}
		return list
	}
	for kind, want := range map[string][]tensor.DType{
		"f32": own(tensor.F32), "f64": own(tensor.F64), "f16": own(tensor.F16),
		"i8": own(tensor.I8, tensor.Bool), "i32": own(tensor.I32), "i64": own(tensor.I64),
		"i16": own(tensor.I16, tensor.F16, tensor.BF16), "u16": other(2, tensor.U16, tensor.F16, tensor.BF16),
		"u64": other(8, tensor.U64), "u8": other(1, tensor.U8, tensor.Bool), "u32": other(4, tensor.U32),
	} {
		for _, d := range all {
			if got := reads(kind, d); got != slices.Contains(want, d) {
				t.Errorf("reads(%s, %v) = %v", kind, d, got)
			}
		}
	}
}
