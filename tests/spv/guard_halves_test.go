//go:build cgo

package spv_test

import (
	"testing"
	"time"
)

// Halves of constants, of what becomes one in the compiler, and of others.
func TestUnpackHalf(t *testing.T) {
	const types = "%v2f = OpTypeVector %f32 2\n%spec = OpSpecConstant %u32 0x1328b5a5\n%bits = OpConstant %u32 0x20000000\n%con = OpConstant %u32 0x3328b5a5\n%coni = OpConstant %i32 0x3328b5a5"
	var list []danger
	for name, word := range map[string]string{
		"constant":   "%q = OpCopyObject %u32 %con",
		"signed":     "%q = OpCopyObject %i32 %coni",
		"calculated": "%q = OpBitwiseOr %u32 %spec %bits",
		"always so":  "%q0 = OpISub %u32 %a %a\n%q = OpBitwiseOr %u32 %q0 %con",
		"read":       "%q = OpCopyObject %u32 %a",
	} {
		for i, want := range map[string]uint32{"0": 0xbeb4a000, "1": 0x3e650000} {
			list = append(list, danger{name: name + ", component " + i, x: []uint32{0x3328b5a5}, types: types, want: first(want),
				body: word + "\n%h = OpExtInst %v2f %glsl 62 %q\n%hy = OpCompositeExtract %f32 %h " + i + "\n%r = OpBitcast %u32 %hy"})
		}
	}
	brave(t, list, 20*time.Second)
}
