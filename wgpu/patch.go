//go:build !nowgpu && cgo

package wgpu

/*
#include "bridge.h"
*/
import "C"

import (
	"encoding/binary"

	"github.com/lathe-gpu/lathe/gpu"
)

// patchSource replaces some bits of a word. WebGPU copies whole words only, but Write
// takes any range of bytes.
const patchSource = `
struct Params { index: u32, mask: u32, bits: u32 }
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(1) @binding(0) var<uniform> p: Params;
@compute @workgroup_size(1) fn main() {
	words[p.index] = (words[p.index] & ~p.mask) | (p.bits & p.mask);
}
` + "\x00"

// preparePatch compiles the shader of patchSource. The caller does not hold the lock.
func (d *Device) preparePatch() error {
	d.patchOnce.Lock()
	defer d.patchOnce.Unlock()
	if d.patch.c.pipeline != nil {
		return nil
	}
	d.patch.slots, d.patch.params, d.patch.lanes = []slot{{write: true, least: gpu.Unit}}, C.LWG_PARAMS_UNIFORM, 1
	return d.build(&d.patch, "write", []byte(patchSource), 0)
}

// patchBytes records the write of a few bytes that lie in one word of b.
func (d *Device) patchBytes(h gpu.Handle, b *buffer, offset int64, data []byte) {
	var mask, bits [4]byte
	for i, x := range data {
		mask[offset%4+int64(i)], bits[offset%4+int64(i)] = 0xFF, x
	}
	const span = 256 // bytes; a range begins at a multiple of the alignment, which is never larger
	base := offset &^ (span - 1)
	var params []byte
	for _, w := range []uint32{uint32(offset-base) / 4, binary.LittleEndian.Uint32(mask[:]), binary.LittleEndian.Uint32(bits[:])} {
		params = binary.LittleEndian.AppendUint32(params, w)
	}
	x := gpu.Dispatch{Bindings: []gpu.Binding{{Buffer: h}}, Params: params, Groups: [3]uint32{1, 1, 1}}
	d.record(&x, &d.patch, []use{{b, base, min(span, gpu.RoundUp(b.size)-base), true}})
}
