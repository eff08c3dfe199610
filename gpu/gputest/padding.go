package gputest

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
)

// lengths runs the kernel that computes the lengths and the sums of its arrays, which are
// the ranges a and b.
func (e *env) lengths(a, b gpu.Binding, value uint32) []uint32 {
	e.Helper()
	found := e.alloc(16)
	defer e.free(found)
	e.must(e.dev.Submit([]gpu.Dispatch{{
		Module: e.module(lengthName), Bindings: []gpu.Binding{a, b, {Buffer: found}},
		Params: encode([]uint32{value}), Groups: [3]uint32{1, 1, 1},
	}}))
	return e.readWords(found, 4)
}

// testArrayLength checks that an array without a length has as many elements as its
// range. An element that the end of the range cuts counts too.
func testArrayLength(e *env) {
	for _, size := range []int64{1, 3, 4, 5, 8, 12, 15, 16, 17, 20, 28, 31, 32, 36, 255, 256, 1000} {
		data := bytes.Repeat([]byte{1}, int(size))
		sum := uint32(0)
		for i := range size {
			sum += 1 << (i % 4 * 8)
		}
		// The sum covers all words. The rest of a vector of four may be padding, which
		// holds zeros unless the device puts a guard zone there.
		got := e.lengths(gpu.Binding{Buffer: e.buffer(data)}, gpu.Binding{Buffer: e.buffer(data)}, 0)
		want := []uint32{uint32(size+3) / 4, sum, uint32(size+15) / 16}
		e.compareWords(fmt.Sprintf("%d bytes", size), got[:3], want)
	}
	// A range with a size has that size. So does a range that begins at an offset.
	align := max(e.dev.Info().Limits.OffsetAlign, 16)
	h := e.buffer(make([]byte, align+36))
	got := e.lengths(gpu.Binding{Buffer: h, Size: 20}, gpu.Binding{Buffer: h, Offset: align, Size: 36}, 0)
	e.compareWords("ranges", []uint32{got[0], got[2]}, []uint32{5, 2})
	got = e.lengths(gpu.Binding{Buffer: h, Offset: align}, gpu.Binding{Buffer: h, Offset: align}, 0)
	e.compareWords("from an offset on", []uint32{got[0], got[2]}, []uint32{9, 3})
	// An empty range has at most one element. WebGPU always has memory for one.
	none := e.alloc(0)
	if got := e.lengths(gpu.Binding{Buffer: none}, gpu.Binding{Buffer: none}, 0); got[0] > 1 || got[1] != 0 || got[2] > 1 || got[3] != 0 {
		e.Errorf("an empty buffer: got lengths and sums %d (want lengths of at most 1, sums of 0)", got)
	}
}

// Padding checks that a Write which reaches the end of a buffer clears what a shader has
// written after the end. It is not part of Run, because the memory there must be the
// device's own and not a guard zone.
func Padding(t *testing.T, open func(testing.TB) gpu.Device) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	e := &env{T: t, ctx: ctx, open: open}
	e.dev = e.openAnother()
	for _, size := range []int64{1, 2, 4, 5, 7, 8, 12, 13, 15, 20, 23, 30, 1001, 4004} {
		for _, from := range []int64{0, 1, 2, 3, size / 2, size - 4, size - 3, size - 2, size - 1} {
			if from < 0 || from >= size {
				continue
			}
			h := e.buffer(make([]byte, size))
			other := e.words(0)
			both := []gpu.Binding{{Buffer: other}, {Buffer: h}}
			e.lengths(both[0], both[1], 0xFFFFFFFF)
			e.must(e.dev.Write(e.ctx, h, 0, make([]byte, from)))
			e.must(e.dev.Write(e.ctx, h, from, make([]byte, size-from)))
			e.must(e.dev.Write(e.ctx, other, 0, make([]byte, 4)))
			if got := e.lengths(both[0], both[1], 0); got[3] != 0 {
				e.Errorf("%d bytes, the last write from %d on: the padding adds up to %#x, want 0", size, from, got[3])
			}
			e.free(h, other)
		}
	}
}

// testPastRange checks that, on CPU drivers, an index after the end of a range reads zero
// and writes nothing. Their robust access uses the range. Vulkan allows other drivers to
// access any data in the same memory, so they are not checked.
func testPastRange(e *env) {
	if e.dev.Info().Kind != gpu.CPU {
		e.Skip("needs a CPU driver: others do not promise where an index past the end of a range leads")
	}
	align := max(int(e.dev.Info().Limits.OffsetAlign)/4, 4) // words
	all := pattern(4*align, 5)
	src, dst := e.words(all...), e.words(all...)
	d := e.affine(src, dst, 3*align, 1, 1) // These are three times as many elements as the ranges have.
	d.Bindings[0].Size, d.Bindings[1].Offset, d.Bindings[1].Size = int64(4*align), int64(4*align), int64(4*align)
	neighbour := e.words(all...)
	e.must(e.dev.Submit([]gpu.Dispatch{d}))
	want := append([]uint32(nil), all...)
	for i := range align {
		want[align+i] = all[i] + 1
	}
	e.compareWords("a range written past its end", e.readWords(dst, len(want)), want)
	e.compareWords("the buffer beside it", e.readWords(neighbour, len(all)), all)
}
