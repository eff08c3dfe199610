//go:build !nowgpu && cgo

package wgpu

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

func alloc(t testing.TB, d *Device, size int64) gpu.Handle {
	t.Helper()
	h, err := d.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Empty buffers, one read and one written, do no harm to the batch they are in.
func TestEmptyBindings(t *testing.T) {
	d, m := openTest(t, Options{}), testgpu.Kernel(t, testgpu.AffineKernel)
	x, none, other := alloc(t, d, 16), alloc(t, d, 0), alloc(t, d, 0)
	list := []gpu.Dispatch{testgpu.Affine(m, x, x, 4, 1, 5), testgpu.Affine(m, none, other, 0, 1, 1), testgpu.Affine(m, x, none, 0, 1, 1), testgpu.Affine(m, none, none, 0, 1, 1)}
	if err := d.Submit(list); err != nil {
		t.Fatal(err)
	}
	if got := testgpu.Read(t, d, x, 1)[0]; got != 5 {
		t.Errorf("got %d, want 5", got)
	}
}

// The largest buffer that the limits allow is no error, the next one is theirs.
func TestLargestBuffer(t *testing.T) {
	d := openTest(t, Options{})
	most := d.Info().Limits.MaxBuffer
	h, err := d.Alloc(most)
	if err != nil && !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Fatalf("%d bytes: %v", most, err)
	}
	if err == nil {
		if err := d.Free(h); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Alloc(most + 1); !errors.Is(err, gpu.ErrLimit) {
		t.Errorf("one more: got %v, want ErrLimit", err)
	}
}

// Limits that the adapter does not know are numbers that mean the default in a request. What is asked for is another
// number, which is not above the adapter's, and limits that it knows stay.
func TestDefiniteLimits(t *testing.T) {
	var a adapter
	l := &a.limits
	l.maxBuffer, l.maxStorageBinding, l.maxUniformBinding = math.MaxUint64, math.MaxUint32, math.MaxUint64
	l.maxStorageBuffers, l.maxGroups, l.maxLocalSize[2], l.textures[3] = math.MaxUint32, 65535, math.MaxUint32, math.MaxUint32
	definite(l)
	if l.maxBuffer != 1<<40 || l.maxStorageBinding != math.MaxUint32 || l.maxUniformBinding != 1<<40 {
		t.Errorf("bytes: %+v", *l)
	}
	if l.maxStorageBuffers != math.MaxUint32-1 || l.maxGroups != 65535 || l.maxLocalSize[2] != math.MaxUint32-1 || l.textures[3] != math.MaxUint32-1 {
		t.Errorf("numbers: %+v", *l)
	}
}

// Waits that are cancelled end soon, whatever the device is busy with, and leave
// nothing behind.
func TestCancelledWaits(t *testing.T) {
	testlevel.Turn(t, 5)
	d, m := openTest(t, Options{}), testgpu.Kernel(t, testgpu.AffineKernel)
	ctx := context.Background()
	const n = 64 * 65535
	big, small := alloc(t, d, 4*n), alloc(t, d, 16)
	var list []gpu.Dispatch
	for range 40 {
		list = append(list, testgpu.Affine(m, big, big, n, 1, 1))
	}
	for round := range 3 {
		if err := d.Submit(list); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			short, cancel := context.WithTimeout(ctx, 3*time.Millisecond)
			for name, err := range map[string]error{"sync": d.Sync(short), "read": d.Read(short, big, 0, make([]byte, 4*n)),
				"write": d.Write(short, big, 0, make([]byte, 4))} {
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := d.Submit([]gpu.Dispatch{testgpu.Affine(m, small, small, 1, 1, 1)}); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
		if err := d.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		if got := testgpu.Read(t, d, small, 1)[0]; got != uint32(20*(round+1)) {
			t.Errorf("round %d: got %d, want %d", round, got, 20*(round+1))
		}
	}
	if n := len(d.staging); n > 4 {
		t.Errorf("%d staging buffers are left", n)
	}
}

// A Read larger than a staging buffer sees a write wholly or not at all.
func TestLargeReadIsWhole(t *testing.T) {
	testlevel.Need(t, testlevel.Full)
	d := openTest(t, Options{})
	ctx, stop := context.WithCancel(context.Background())
	const n = stagingBytes + 8<<20
	h := alloc(t, d, n)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := byte(1); ctx.Err() == nil; i ^= 3 {
			if err := d.Write(context.Background(), h, 0, bytes.Repeat([]byte{i}, n)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	buf := make([]byte, n)
	for range 12 {
		if err := d.Read(context.Background(), h, 0, buf); err != nil {
			t.Fatal(err)
		}
		if buf[0] != buf[n-1] {
			t.Errorf("a read begins with %d and ends with %d", buf[0], buf[n-1])
		}
	}
	stop()
	wg.Wait()
}

// Writes that each need a submission do not pile up.
func TestManyWrites(t *testing.T) {
	d := openTest(t, Options{})
	ctx := context.Background()
	h := alloc(t, d, 64)
	for i := range 3000 {
		if err := d.Write(ctx, h, 1, []byte{byte(i), 7}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(d.inflight); n > maxInflight+2 {
		t.Errorf("%d submissions under way", n)
	}
	const last = 2999
	if got, want := testgpu.Read(t, d, h, 1)[0], uint32(last&0xFF)<<8|7<<16; got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
}

// A Read whose own submission fails says so, although another call may be told of
// the failure first.
func TestOwnError(t *testing.T) {
	d, m := openTest(t, Options{}), testgpu.Kernel(t, testgpu.AffineKernel)
	ctx := context.Background()
	const n = 64 * 65535
	big, small := alloc(t, d, 4*n), alloc(t, d, 16)
	for range 5 {
		if err := errors.Join(d.Submit([]gpu.Dispatch{testgpu.Affine(m, big, big, n, 1, 1), testgpu.Affine(m, big, big, n, 1, 1)}), d.Write(ctx, small, 0, testkit.Words(1))); err != nil {
			t.Fatal(err)
		}
		inject(t, gpu.ErrOutOfMemory, func(int) bool { return true })
		var wg sync.WaitGroup
		wg.Go(func() { _ = d.Sync(ctx) })
		buf := []byte{9, 9, 9, 9}
		err := d.Read(ctx, small, 0, buf)
		wg.Wait()
		fault.Store(nil)
		if !errors.Is(err, gpu.ErrOutOfMemory) {
			t.Errorf("got %v and %v, want ErrOutOfMemory", err, buf)
		}
		_ = d.Sync(ctx)
	}
}

// A buffer that is a uniform buffer and written in one dispatch is refused, and
// the batch goes on.
func TestUniformAndWritten(t *testing.T) {
	m := compile(t, `#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform A { uvec4 a; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
void main() { b[0] += a.x; }`)
	d := openTest(t, Options{})
	ctx := context.Background()
	x, y := alloc(t, d, 1024), alloc(t, d, 16)
	if err := d.Write(ctx, x, 0, testkit.Words(3, 0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	bind := func(a, b gpu.Binding) []gpu.Dispatch {
		return []gpu.Dispatch{{Module: m, Bindings: []gpu.Binding{a, b}, Groups: [3]uint32{1, 1, 1}}}
	}
	if err := d.Submit(bind(gpu.Binding{Buffer: x, Size: 16}, gpu.Binding{Buffer: y})); err != nil {
		t.Fatal(err)
	}
	err := d.Submit(bind(gpu.Binding{Buffer: x, Size: 16}, gpu.Binding{Buffer: x, Offset: 512}))
	if !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
	if got := testgpu.Read(t, d, y, 1)[0]; got != 3 {
		t.Errorf("the dispatch before: got %d, want 3", got)
	}
}

// compile makes a module of GLSL, with glslc.
func compile(t *testing.T, source string) *spv.Module {
	t.Helper()
	m, err := spv.Parse("a", testkit.GLSL(t, source, "--target-env=vulkan1.1", "-O"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
