// Package gputest is the suite that any gpu.Device must pass. One line in a
// device's own tests runs it:
//
//	func TestDevice(t *testing.T) { gputest.Run(t, open) }
//
// Its shaders are shaders/test/gputest_*.comp.
package gputest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// These are the names of the suite's kernels.
const (
	addName      = "test/gputest_add.f32"
	affineName   = "test/gputest_affine.u32"
	gridName     = "test/gputest_grid.u32"
	lengthName   = "test/gputest_length.u32"
	pushName     = "test/gputest_push.u32"
	reverseName  = "test/gputest_reverse.u32"
	subgroupName = "test/gputest_subgroup.u32"
	texelName    = "test/gputest_texel.u32"
)

// patience is the longest time that the suite waits for a device.
const patience = 2 * time.Minute

// Run runs the suite. Each part is a subtest. open returns a new device, which Run
// closes. open may skip the test if there is no device. Run calls open several times, and
// earlier devices may still be open then.
func Run(t *testing.T, open func(testing.TB) gpu.Device) {
	for _, c := range []struct {
		name string
		test func(*env)
	}{
		{"Info", testInfo},
		{"AllocZero", testAllocZero},
		{"AllocZeroAfterPendingWrite", testAllocZeroPending},
		{"AllocErrors", testAllocErrors},
		{"WriteReadRanges", testRanges},
		{"WriteReadErrors", testRangeErrors},
		{"WriteTakesItsCopy", testWriteCopies},
		{"LargeTransfer", testLargeTransfer},
		{"InvalidHandles", testInvalidHandles},
		{"FreePending", testFreePending},
		{"MemoryReturned", testMemoryReturned},

		{"Add", testAdd},
		{"Order", testOrder},
		{"RandomChain", testRandomChain},
		{"LongList", testLongList},
		{"BindingRanges", testBindingRanges},
		{"Aliased", testAliased},
		{"ArrayLength", testArrayLength},
		{"PastRange", testPastRange},
		{"PushConstants", testPush},
		{"Grid", testGrid},
		{"SharedMemory", testShared},
		{"Subgroups", testSubgroups},
		{"TexelBuffers", testTexels},
		{"NoGroups", testNoGroups},
		{"EmptyList", testEmptyList},
		{"BadDispatchRunsNone", testBadRunsNone},
		{"KeepsNothing", testKeepsNothing},
		{"Limits", testLimits},
		{"DispatchCompute", testDispatchCompute},
		{"Prepared", testPrepared},
		{"PreparedLong", testPreparedLong},
		{"PreparedSet", testPreparedSet},
		{"PreparedStale", testPreparedStale},
		{"PreparedConcurrent", testPreparedConcurrent},
		{"PreparedFree", testPreparedFree},
		{"PreparedSets", testPreparedSets},
		{"PreparedClose", testPreparedClose},
		{"Trace", testTrace},
		{"TraceConcurrent", testTraceConcurrent},

		{"Cancelled", testCancelled},
		{"CancelledDuring", testCancelledDuring},
		{"Concurrent", testConcurrent},
		{"ConcurrentOneBuffer", testConcurrentOneBuffer},
		{"Close", testClose},
		{"CloseWhileBusy", testCloseWhileBusy},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			e := &env{T: t, ctx: ctx, open: open}
			e.dev = e.openAnother()
			c.test(e)
		})
	}
}

// env is a subtest with its device.
type env struct {
	*testing.T
	ctx  context.Context
	open func(testing.TB) gpu.Device
	dev  gpu.Device
}

// openAnother opens a device. It is closed at the end of the subtest, and Close must
// succeed.
func (e *env) openAnother() gpu.Device {
	e.Helper()
	if e.open == nil {
		e.Fatal("no function that opens a device")
	}
	dev := e.open(e.T)
	if errs.Nil(dev) {
		e.Fatal("open returned no device")
	}
	e.Cleanup(func() {
		if err := dev.Close(); err != nil {
			e.Errorf("close: %v", err)
		}
	})
	return dev
}

// must ends the subtest if err is not nil.
func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// wantError reports an error if err does not match want.
func (e *env) wantError(what string, err, want error) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

// module returns a kernel of the suite.
func (e *env) module(name string) *spv.Module {
	e.Helper()
	m, err := extra.Module(name)
	e.must(err)
	return m
}

// alloc allocates a buffer of size bytes.
func (e *env) alloc(size int64) gpu.Handle {
	e.Helper()
	h, err := e.dev.Alloc(size)
	e.must(err)
	return h
}

// buffer allocates a buffer that holds data.
func (e *env) buffer(data []byte) gpu.Handle {
	e.Helper()
	h := e.alloc(int64(len(data)))
	e.must(e.dev.Write(e.ctx, h, 0, data))
	return h
}

// words allocates a buffer that holds 32-bit words.
func (e *env) words(w ...uint32) gpu.Handle {
	e.Helper()
	return e.buffer(encode(w))
}

// read returns the first n bytes of a buffer.
func (e *env) read(h gpu.Handle, n int) []byte {
	e.Helper()
	dst := bytes.Repeat([]byte{0x5A}, n)
	e.must(e.dev.Read(e.ctx, h, 0, dst))
	return dst
}

// readWords returns the first n words of a buffer.
func (e *env) readWords(h gpu.Handle, n int) []uint32 {
	e.Helper()
	return decode(e.read(h, 4*n))
}

// free frees buffers.
func (e *env) free(hs ...gpu.Handle) {
	e.Helper()
	for _, h := range hs {
		e.must(e.dev.Free(h))
	}
}

// compareWords reports the first difference between the words of a buffer and the
// expected words.
func (e *env) compareWords(what string, got, want []uint32) {
	e.Helper()
	if len(got) != len(want) {
		e.Errorf("%s: got %d words, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			e.Errorf("%s: word %d of %d: got %#x, want %#x", what, i, len(got), got[i], want[i])
			return
		}
	}
}

// affine returns a dispatch that computes dst[i] = src[i]·scale + shift for i < n, modulo
// 2³².
func (e *env) affine(src, dst gpu.Handle, n int, scale, shift uint32) gpu.Dispatch {
	e.Helper()
	return gpu.Dispatch{
		Module:   e.module(affineName),
		Bindings: []gpu.Binding{{Buffer: src}, {Buffer: dst}},
		Params:   encode([]uint32{uint32(n), scale, shift}),
		Groups:   e.groups(n, 64),
	}
}

// groups returns how many workgroups of local invocations are needed for n invocations in
// x.
func (e *env) groups(n, local int) [3]uint32 {
	return [3]uint32{uint32((n + local - 1) / local), 1, 1}
}

// reach returns the number of elements that one dispatch of affine can cover on this
// device, but at most n.
func (e *env) reach(n int) int {
	l := &e.dev.Info().Limits
	return int(min(int64(n), int64(l.MaxGroups[0])*64, l.MaxBinding/4, l.MaxBuffer/4))
}

// pattern returns n words that differ from one another, and from those of other seeds.
func pattern(n int, seed uint32) []uint32 {
	w := make([]uint32, n)
	for i := range w {
		w[i] = uint32(i)*2654435761 ^ seed*40503
	}
	return w
}

// encode returns words as little-endian bytes.
func encode(w []uint32) []byte {
	b := make([]byte, 0, 4*len(w))
	for _, x := range w {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

// decode is the inverse of encode.
func decode(b []byte) []uint32 {
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}
