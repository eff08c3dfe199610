package gputest

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/gpu"
)

func testInfo(e *env) {
	info := e.dev.Info()
	if info.Backend == "" || info.Name == "" {
		e.Errorf("backend %q, name %q: want both", info.Backend, info.Name)
	}
	if info.Kind > gpu.CPU {
		e.Errorf("kind %d is none of gpu's", info.Kind)
	}
	l := info.Limits
	for _, c := range []struct {
		name string
		have int64
	}{
		{"MaxBuffer", l.MaxBuffer}, {"MaxBinding", l.MaxBinding}, {"OffsetAlign", l.OffsetAlign},
		{"MaxGroups[0]", int64(l.MaxGroups[0])}, {"MaxGroups[1]", int64(l.MaxGroups[1])}, {"MaxGroups[2]", int64(l.MaxGroups[2])},
		{"MaxLocalSize[0]", int64(l.MaxLocalSize[0])}, {"MaxLocalSize[1]", int64(l.MaxLocalSize[1])}, {"MaxLocalSize[2]", int64(l.MaxLocalSize[2])},
		{"MaxInvocations", int64(l.MaxInvocations)}, {"MaxSharedBytes", int64(l.MaxSharedBytes)},
		{"MaxParamBytes", int64(l.MaxParamBytes)}, {"MaxBindings", int64(l.MaxBindings)},
	} {
		if c.have <= 0 {
			e.Errorf("%s is %d: want more", c.name, c.have)
		}
	}
	if info.Memory < 0 {
		e.Errorf("Memory is %d: want 0 (unknown) or more", info.Memory)
	}
	if l.OffsetAlign&(l.OffsetAlign-1) != 0 {
		e.Errorf("OffsetAlign %d is no power of two", l.OffsetAlign)
	}
	if l.MaxTexelBuffers > 0 && (l.TexelAlign <= 0 || l.TexelAlign&(l.TexelAlign-1) != 0 || l.MaxTexels <= 0) {
		e.Errorf("texel buffers with TexelAlign %d, MaxTexels %d", l.TexelAlign, l.MaxTexels)
	}
	before := *info
	e.free(e.alloc(64))
	if again := *e.dev.Info(); again != before {
		e.Errorf("Info changed from %+v to %+v", before, again)
	}
}

var awkward = []int64{0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 1<<16 + 1, 1<<20 + 3}

// testAllocZero checks that buffers are zero at first, even if their memory was used
// before.
func testAllocZero(e *env) {
	for round := range 3 {
		var hs []gpu.Handle
		for _, n := range awkward {
			if n > e.dev.Info().Limits.MaxBuffer {
				continue
			}
			h := e.alloc(n)
			hs = append(hs, h)
			if got := e.read(h, int(n)); !bytes.Equal(got, make([]byte, n)) {
				e.Fatalf("round %d: fresh buffer of %d bytes is not zero", round, n)
			}
			e.must(e.dev.Write(e.ctx, h, 0, bytes.Repeat([]byte{0xA5}, int(n))))
		}
		e.free(hs...)
	}
}

// testAllocZeroPending checks that a pending write to a freed buffer does not reach the
// next buffer.
func testAllocZeroPending(e *env) {
	n := e.reach(1 << 16)
	for round := range 20 {
		src := e.words(pattern(n, uint32(round))...)
		dst := e.alloc(int64(4 * n))
		e.must(e.dev.Submit([]gpu.Dispatch{e.affine(src, dst, n, 3, 7)}))
		e.free(dst)
		next := e.alloc(int64(4 * n))
		e.compareWords(fmt.Sprintf("fresh buffer of round %d", round), e.readWords(next, n), make([]uint32, n))
		e.free(src, next)
	}
}

func testAllocErrors(e *env) {
	_, err := e.dev.Alloc(-1)
	e.wantError("negative size", err, gpu.ErrInvalidArgument)
	_, err = e.dev.Alloc(math.MinInt64)
	e.wantError("most negative size", err, gpu.ErrInvalidArgument)
	if limit := e.dev.Info().Limits.MaxBuffer; limit < math.MaxInt64 {
		_, err = e.dev.Alloc(limit + 1)
		e.wantError("over MaxBuffer", err, gpu.ErrLimit)
		_, err = e.dev.Alloc(math.MaxInt64)
		e.wantError("MaxInt64 bytes", err, gpu.ErrLimit)
	}
	e.free(e.alloc(16))
}

// testRanges checks that any byte range can be written and read, and that no other bytes
// change.
func testRanges(e *env) {
	const size = 300
	h := e.alloc(size)
	want := make([]byte, size)
	for i := range 400 {
		off := (i * 37) % size
		n := (i * 53) % (size - off + 1)
		data := bytes.Repeat([]byte{byte(i + 1)}, n)
		copy(want[off:], data)
		e.must(e.dev.Write(e.ctx, h, int64(off), data))
		if i%10 == 0 {
			got := make([]byte, size-off)
			e.must(e.dev.Read(e.ctx, h, int64(off), got))
			if !bytes.Equal(got, want[off:]) {
				e.Fatalf("after write %d of [%d,%d): wrong bytes from %d on", i, off, off+n, off)
			}
		}
	}
	if !bytes.Equal(e.read(h, size), want) {
		e.Error("wrong bytes in the end")
	}
	e.must(e.dev.Write(e.ctx, h, size, nil))
	e.must(e.dev.Read(e.ctx, h, size, nil))
	empty := e.alloc(0)
	e.must(e.dev.Write(e.ctx, empty, 0, []byte{}))
	e.must(e.dev.Read(e.ctx, empty, 0, nil))
	e.wantError("write to an empty buffer", e.dev.Write(e.ctx, empty, 0, []byte{1}), gpu.ErrInvalidArgument)
}

func testRangeErrors(e *env) {
	h := e.buffer(bytes.Repeat([]byte{7}, 100))
	for _, c := range []struct {
		offset int64
		n      int
	}{{-1, 1}, {-1, 0}, {math.MinInt64, 4}, {0, 101}, {100, 1}, {101, 0}, {1 << 40, 4}, {math.MaxInt64, 4}, {math.MaxInt64 - 3, 4}} {
		buf := bytes.Repeat([]byte{9}, c.n)
		e.wantError(fmt.Sprintf("write %d bytes at %d", c.n, c.offset), e.dev.Write(e.ctx, h, c.offset, buf), gpu.ErrInvalidArgument)
		e.wantError(fmt.Sprintf("read %d bytes at %d", c.n, c.offset), e.dev.Read(e.ctx, h, c.offset, buf), gpu.ErrInvalidArgument)
		if !bytes.Equal(buf, bytes.Repeat([]byte{9}, c.n)) {
			e.Errorf("refused read of %d bytes at %d wrote into dst", c.n, c.offset)
		}
	}
	if !bytes.Equal(e.read(h, 100), bytes.Repeat([]byte{7}, 100)) {
		e.Error("a refused write changed the buffer")
	}
}

// testWriteCopies checks that the caller may change its slice as soon as Write has
// returned.
func testWriteCopies(e *env) {
	data := make([]byte, 64)
	var hs []gpu.Handle
	for i := range 200 {
		for j := range data {
			data[j] = byte(i + j)
		}
		hs = append(hs, e.alloc(64))
		e.must(e.dev.Write(e.ctx, hs[i], 0, data))
	}
	for i, h := range hs {
		if got := e.read(h, 64); got[0] != byte(i) || got[63] != byte(i+63) {
			e.Fatalf("buffer %d holds % x", i, got[:4])
		}
	}
}

// testLargeTransfer checks transfers that are larger than any staging buffer, at odd
// offsets.
func testLargeTransfer(e *env) {
	size := min(40<<20+13, e.dev.Info().Limits.MaxBuffer)
	data := bytes.Repeat(encode(pattern(5003, 1)), int(size/(4*5003))+1)[:size]
	h := e.buffer(data)
	if !bytes.Equal(e.read(h, int(size)), data) {
		e.Fatal("read back differs")
	}
	part := make([]byte, size-size/3-1)
	e.must(e.dev.Read(e.ctx, h, size/3+1, part))
	if !bytes.Equal(part, data[size/3+1:]) {
		e.Error("part read back differs")
	}
	e.must(e.dev.Write(e.ctx, h, 1, data[:size-1]))
	if got := e.read(h, int(size)); got[0] != data[0] || !bytes.Equal(got[1:], data[:size-1]) {
		e.Error("write at offset 1 went wrong")
	}
}

// testInvalidHandles checks that every call refuses a handle that is stale, zero,
// invented or of another device, and that no data changes.
func testInvalidHandles(e *env) {
	other := e.openAnother()
	foreign, err := other.Alloc(64)
	e.must(err)
	stale := e.alloc(64)
	e.free(stale)
	reused := e.words(pattern(16, 5)...) // This buffer may get the memory of stale.
	good := e.words(pattern(16, 6)...)
	for _, c := range []struct {
		name string
		h    gpu.Handle
	}{
		{"stale", stale}, {"foreign", foreign}, {"zero", 0}, {"all ones", math.MaxUint64},
		{"next generation", reused + 1<<24}, {"slot off the table", reused | 1<<24 - 1},
	} {
		e.wantError(c.name+": free", e.dev.Free(c.h), gpu.ErrInvalidHandle)
		e.wantError(c.name+": write", e.dev.Write(e.ctx, c.h, 0, []byte{1, 2, 3, 4}), gpu.ErrInvalidHandle)
		e.wantError(c.name+": read", e.dev.Read(e.ctx, c.h, 0, make([]byte, 4)), gpu.ErrInvalidHandle)
		e.wantError(c.name+": submit as input", e.dev.Submit([]gpu.Dispatch{e.affine(c.h, good, 16, 0, 0)}), gpu.ErrInvalidHandle)
		e.wantError(c.name+": submit as output", e.dev.Submit([]gpu.Dispatch{e.affine(good, c.h, 16, 0, 0)}), gpu.ErrInvalidHandle)
	}
	e.compareWords("reused buffer", e.readWords(reused, 16), pattern(16, 5))
	e.compareWords("good buffer", e.readWords(good, 16), pattern(16, 6))
	if err := other.Free(foreign); err != nil {
		e.Errorf("the foreign handle on its own device: %v", err)
	}
	e.must(e.dev.Sync(e.ctx))
}

// testFreePending checks that work still finishes if its buffers are freed right after
// Submit.
func testFreePending(e *env) {
	n := e.reach(1 << 16)
	for round := range 30 {
		in := pattern(n, uint32(round))
		src, mid, dst := e.words(in...), e.alloc(int64(4*n)), e.alloc(int64(4*n))
		e.must(e.dev.Submit([]gpu.Dispatch{e.affine(src, mid, n, 5, 1), e.affine(mid, dst, n, 1, 2)}))
		e.free(src, mid)
		// These are new buffers, perhaps in the memory of the freed ones. They are written
		// at once.
		x, y := e.alloc(int64(4*n)), e.alloc(int64(4*n))
		e.must(e.dev.Write(e.ctx, x, 0, bytes.Repeat([]byte{0xEE}, 4*n)))
		e.must(e.dev.Write(e.ctx, y, 0, bytes.Repeat([]byte{0xDD}, 4*n)))
		for i := range in {
			in[i] = in[i]*5 + 3
		}
		e.compareWords(fmt.Sprintf("round %d", round), e.readWords(dst, n), in)
		e.wantError("read of a freed buffer", e.dev.Read(e.ctx, src, 0, make([]byte, 4)), gpu.ErrInvalidHandle)
		e.free(x, y, dst)
	}
}

// testMemoryReturned allocates and frees far more memory than the device has, in small
// parts.
func testMemoryReturned(e *env) {
	info := e.dev.Info()
	size := min(64<<20, info.Limits.MaxBuffer)
	if info.Memory > 0 {
		size = min(size, info.Memory/4)
	}
	for i := range 40 {
		h := e.alloc(size)
		e.must(e.dev.Write(e.ctx, h, size-1, []byte{byte(i)}))
		if i%2 == 0 {
			e.free(h)
			continue
		}
		n := e.reach(64)
		e.must(e.dev.Submit([]gpu.Dispatch{{
			Module: e.module(affineName), Bindings: []gpu.Binding{{Buffer: h, Size: int64(4 * n)}, {Buffer: h, Size: int64(4 * n)}},
			Params: encode([]uint32{uint32(n), 1, 1}), Groups: e.groups(n, 64),
		}}))
		e.free(h)
	}
	e.must(e.dev.Sync(e.ctx))
	for range 20000 { // Handles and small blocks are used again too.
		e.free(e.alloc(256))
	}
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	e.must(e.dev.Sync(ctx))
}
