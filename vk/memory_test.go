//go:build !novk && cgo

package vk

import (
	"context"
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

func dispatches(d ...gpu.Dispatch) []gpu.Dispatch { return d }

// TestOutOfMemory fills the device's heap. lavapipe would grant anything, so
// it is our own count that must say no; and the device stays usable.
func TestOutOfMemory(t *testing.T) {
	d := openTest(t, Options{})
	l := d.Info().Limits
	var limit *gpu.LimitError
	if _, err := d.Alloc(l.MaxBuffer + 1); !errors.As(err, &limit) || limit.Name != "MaxBuffer" {
		t.Errorf("a buffer past MaxBuffer: got %v, want *LimitError MaxBuffer", err)
	}
	if _, err := d.Alloc(-1); !errors.Is(err, gpu.ErrInvalidArgument) {
		t.Errorf("size -1: got %v", err)
	}
	testkit.Ability(t, d.Info().Memory <= 8<<30, d.Info().Name, "at most 8 GiB of memory, to be filled")
	// Nothing is written: on a CPU driver the pages are never touched.
	var held []gpu.Handle
	size := min(l.MaxBuffer, 256<<20)
	var err error
	for range 2 * (d.Info().Memory/size + 1) {
		var h gpu.Handle
		if h, err = d.Alloc(size); err != nil {
			break
		}
		held = append(held, h)
	}
	if !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Fatalf("%d buffers of %d on a heap of %d: got %v, want ErrOutOfMemory", len(held), size, d.Info().Memory, err)
	}
	if d.pool.total > d.pool.kind.heapSize {
		t.Errorf("%d bytes of blocks on a heap of %d", d.pool.total, d.pool.kind.heapSize)
	}
	for _, h := range held {
		if err := d.Free(h); err != nil {
			t.Fatal(err)
		}
	}
	h, err := d.Alloc(size)
	if err != nil {
		t.Fatalf("after everything is freed: %v", err)
	}
	if err := d.Free(h); err != nil {
		t.Fatal(err)
	}
	if x := alloc(t, d, 5); testgpu.Read(t, d, x, 1)[0] != 5 {
		t.Error("the device does not work any more")
	}
}

// TestBlocksReturned wants idle memory bounded, and reused within the bound.
func TestBlocksReturned(t *testing.T) {
	d := openTest(t, Options{})
	testkit.Ability(t, d.Info().Memory >= 1<<30, d.Info().Name, "1 GiB of memory")
	var held []gpu.Handle
	for range 12 {
		h, err := d.Alloc(60 << 20)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, h)
	}
	for _, h := range held {
		d.Free(h)
	}
	if d.pool.total > idleBytes+blockSize {
		t.Errorf("%d MiB are kept with nothing in use", d.pool.total>>20)
	}
	before := objects.memories.Load()
	for range 100 {
		h, err := d.Alloc(50 << 20)
		if err != nil {
			t.Fatal(err)
		}
		d.Free(h)
	}
	if now := objects.memories.Load(); now != before {
		t.Errorf("alloc and free of one buffer: %d blocks, then %d", before, now)
	}
}

// TestBlockSizes wants no block of a power of two, for which lavapipe compiles kernels anew.
func TestBlockSizes(t *testing.T) {
	d := openTest(t, Options{})
	testkit.Ability(t, d.Info().Memory >= 1<<30, d.Info().Name, "1 GiB of memory")
	for _, size := range []int64{4, 1 << 20, 32 << 20, 64 << 20, 128 << 20} {
		h, err := d.Alloc(size)
		if err != nil {
			t.Fatal(err)
		}
		if got := testgpu.Read(t, d, h, 1)[0]; got != 0 { // memory may be given at the first use
			t.Errorf("%d bytes: got %d", size, got)
		}
	}
	if len(d.pool.blocks) < 3 {
		t.Errorf("%d blocks, want some", len(d.pool.blocks))
	}
	for _, b := range d.pool.blocks {
		if b.size&(b.size-1) == 0 {
			t.Errorf("a block of %d bytes", b.size)
		}
	}
}

// TestRunAhead allocates, submits and frees without ever waiting. Memory must
// stay bounded all the same.
func TestRunAhead(t *testing.T) {
	d := openTest(t, Options{})
	testkit.Ability(t, d.Info().Memory >= 1<<30, d.Info().Name, "1 GiB of memory")
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	y := alloc(t, d, make([]uint32, 64)...)
	for i := range 200 {
		x, err := d.Alloc(16 << 20)
		if err == nil {
			err = d.Write(context.Background(), x, 0, testkit.Words(uint32(i)))
		}
		if err == nil {
			err = d.Submit(dispatches(testgpu.Affine(m, x, y, 1, 1, 1)))
		}
		if err == nil {
			err = d.Free(x)
		}
		if err != nil {
			t.Fatal(err)
		}
		if d.pool.total > 2*device.DoomedBytes {
			t.Fatalf("turn %d: %d MiB in use", i, d.pool.total>>20)
		}
	}
	if got := testgpu.Read(t, d, y, 1); got[0] != 200 {
		t.Errorf("got %d, want 200", got[0])
	}
}

// TestViewsBounded binds many ranges of one buffer as texels.
func TestViewsBounded(t *testing.T) {
	d := openTest(t, Options{})
	testkit.Ability(t, d.Info().Limits.MaxTexelBuffers > 0, d.Info().Name, "texel buffers")
	m := testgpu.Kernel(t, testgpu.TexelKernel)
	align := d.Info().Limits.TexelAlign
	const ranges = 5 * maxViews
	src, err := d.Alloc(ranges*align + 16)
	if err != nil {
		t.Fatal(err)
	}
	dst := alloc(t, d, 0, 0, 0, 0)
	for i := range int64(ranges) {
		if err := d.Write(context.Background(), src, i*align, testkit.Words(uint32(i)+1)); err != nil {
			t.Fatal(err)
		}
		err := d.Submit(dispatches(gpu.Dispatch{Module: m, Params: testkit.Words(1), Groups: [3]uint32{1, 1, 1},
			Bindings: []gpu.Binding{{Buffer: src, Offset: i * align, Size: 16}, {Buffer: dst}}}))
		if err != nil {
			t.Fatal(err)
		}
		if got := testgpu.Read(t, d, dst, 1); got[0] != uint32(i)+1 {
			t.Fatalf("range %d: got %d", i, got[0])
		}
		if n := objects.views.Load(); n > maxViews+1 {
			t.Fatalf("range %d: %d views", i, n)
		}
	}
	d.Free(src)
	if n := objects.views.Load(); n != 1 {
		t.Errorf("after the buffer is freed: %d views, want the other buffer's", n)
	}
}

// TestBarriers counts the barriers of recorded batches.
func TestBarriers(t *testing.T) {
	d := openTest(t, Options{})
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	a, b, c, e := alloc(t, d, 1), alloc(t, d, 2), alloc(t, d, 3), alloc(t, d, 4)
	align := d.Info().Limits.OffsetAlign
	wide := alloc(t, d, make([]uint32, align)...)
	part := func(i int64) gpu.Binding { return gpu.Binding{Buffer: wide, Offset: i * align, Size: align} }
	ranges := func(from, to int64) gpu.Dispatch {
		x := testgpu.Affine(m, a, b, 1, 1, 1)
		x.Bindings = []gpu.Binding{part(from), part(to)}
		return x
	}
	on := func(x, y gpu.Handle) gpu.Dispatch { return testgpu.Affine(m, x, y, 1, 1, 1) }
	for _, tc := range []struct {
		name string
		list []gpu.Dispatch
		want int
	}{
		{"apart", dispatches(on(a, b), on(c, e)), 0},
		{"same input", dispatches(on(a, b), on(a, c), on(a, e)), 0},
		{"read after write", dispatches(on(a, b), on(b, c)), 1},
		{"write after read", dispatches(on(a, b), on(c, a)), 1},
		{"write after write", dispatches(on(a, b), on(c, b)), 1},
		{"chain", dispatches(on(a, b), on(b, c), on(c, e)), 2},
		{"one barrier for two", dispatches(on(a, b), on(c, e), on(b, a), on(e, c)), 1},
		{"in place", dispatches(on(a, a), on(a, a)), 1},
		{"ranges apart", dispatches(ranges(0, 1), ranges(2, 3)), 0},
		{"ranges meet", dispatches(ranges(0, 1), ranges(1, 2)), 1},
	} {
		if err := d.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := d.Submit(tc.list); err != nil {
			t.Fatal(err)
		}
		if d.rec == nil {
			t.Fatal("the batch is gone before it was worth a submission")
		}
		got := 0
		for _, cmd := range d.rec.cmds {
			got += int(cmd.barrier)
		}
		if got != tc.want {
			t.Errorf("%s: got %d barriers, want %d", tc.name, got, tc.want)
		}
	}
}

// TestUnrelatedCopies wants Write and Read of a buffer that no pending work
// uses to leave that work alone, and those of one that is used to flush it.
func TestUnrelatedCopies(t *testing.T) {
	d := openTest(t, Options{})
	testkit.Ability(t, d.pool.kind.cached, d.Info().Name, "memory that the host copies to and from")
	ctx := context.Background()
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	x, y, z := alloc(t, d, 1), alloc(t, d, 2), alloc(t, d, 3)
	buf := make([]byte, 4)
	for _, c := range []struct {
		name  string
		do    func() error
		flush bool
	}{
		{"write elsewhere", func() error { return d.Write(ctx, z, 0, buf) }, false},
		{"read elsewhere", func() error { return d.Read(ctx, z, 0, buf) }, false},
		{"read what is only read", func() error { return d.Read(ctx, x, 0, buf) }, false},
		{"write what is read", func() error { return d.Write(ctx, x, 0, buf) }, true},
		{"read what is written", func() error { return d.Read(ctx, y, 0, buf) }, true},
		{"write what is written", func() error { return d.Write(ctx, y, 0, buf) }, true},
	} {
		if err := d.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		if err := d.Submit(dispatches(testgpu.Affine(m, x, y, 1, 1, 1))); err != nil {
			t.Fatal(err)
		}
		if d.rec == nil {
			t.Fatal("the batch is gone before it was worth a submission")
		}
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		if flushed := d.rec == nil; flushed != c.flush {
			t.Errorf("%s: flushed %v, want %v", c.name, flushed, c.flush)
		}
	}
}
