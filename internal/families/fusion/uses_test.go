package fusion

import (
	"encoding/binary"
	"testing"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spirv"

	_ "github.com/lathe-gpu/lathe/ops/all" // the kernels
)

// TestReadsStored looks at kernels that read their result: always, or if a parameter says so.
func TestReadsStored(t *testing.T) {
	for _, c := range []struct {
		kernel, param string // the last one of 32 bits is accumulate
		value         uint32
		reads         bool
	}{
		{"blas/matmul_panel.f32", "", 0, false},
		{"blas/matmul_panel.f32.add", "", 0, true},
		{"blas/matmul_finish.f32", "", 0, false},
		{"blas/matmul_vector.f32", "accumulate", 0, false},
		{"blas/matmul_vector.f32", "accumulate", 1, true},
		{"blas/matmul_lanes.f32", "accumulate", 0, false},
		{"blas/matmul_lanes.f32", "accumulate", 1, true},
		{"nn/conv_line.f32.texel.whole", "biasBase", 0xffffffff, false},
		{"nn/conv_line.f32.texel.whole", "biasBase", 0xfffffffe, true},
		{"nn/softmax.f32.quad", "", 0, true},
	} {
		m, err := spirv.Module(c.kernel)
		if err != nil {
			t.Fatal(err)
		}
		declared, err := spirv.Declared(c.kernel)
		if err != nil {
			t.Fatal(err)
		}
		params, found := make([]byte, m.ParamSize), c.param == ""
		for _, p := range declared.Params {
			if p.Name == c.param {
				binary.LittleEndian.PutUint32(params[p.Offset:], c.value)
				found = true
			}
		}
		if !found {
			t.Errorf("%s has no parameter %s", c.kernel, c.param)
			continue
		}
		slot := uint32(0)
		for _, b := range m.Bindings {
			if b.Access.Writes() {
				slot = b.Slot
			}
		}
		if reads, err := spv.ReadsStored(m, slot, spv.Words, params); err != nil || reads != c.reads {
			t.Errorf("%s with %s %#x reads: %v, %v", c.kernel, c.param, c.value, reads, err)
		}
		if reads, err := spv.ReadsStored(m, slot, spv.Words, nil); err != nil || reads != (c.reads || c.param != "") {
			t.Errorf("%s with unknown parameters reads: %v, %v", c.kernel, reads, err)
		}
	}
}
