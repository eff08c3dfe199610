//go:build !novk && cgo

package vk

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
)

// increments returns a list that adds 1 to each of 64 words, so many times.
func increments(t testing.TB, h gpu.Handle, count int) []gpu.Dispatch {
	t.Helper()
	list := make([]gpu.Dispatch, count)
	for i := range list {
		list[i] = testgpu.Affine(testgpu.Kernel(t, testgpu.AffineKernel), h, h, 64, 1, 1)
	}
	return list
}

// TestPreparedFaults fails each call of the driver once, while a list is prepared and while it is
// submitted. The call returns the error and has no other effect, and the next one works.
func TestPreparedFaults(t *testing.T) {
	ctx := context.Background()
	for _, call := range []string{"vkCreateCommandPool", "vkCreateDescriptorPool", "vkEndCommandBuffer", "vkQueueSubmit"} {
		t.Run(call, func(t *testing.T) {
			before := objects.batches.Load()
			d := openTest(t, Options{})
			h, err := d.Alloc(256)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Write(ctx, h, 0, make([]byte, 256)); err != nil {
				t.Fatal(err)
			}
			if err := d.Sync(ctx); err != nil {
				t.Fatal(err)
			}
			failed := 0
			f := func(name string) result {
				if name == call && failed == 0 {
					failed++
					return -3 // VK_ERROR_INITIALIZATION_FAILED
				}
				return success
			}
			fault.Store(&f)
			t.Cleanup(func() { fault.Store(nil) })
			p, err := d.Prepare(increments(t, h, 5))
			if err == nil {
				err = p.Submit()
			} else if n := objects.batches.Load() - before; n != batchCount {
				t.Errorf("%d batches after the error, want %d", n, batchCount)
			}
			if err == nil || failed != 1 {
				t.Fatalf("got error %v, and %d calls failed", err, failed)
			}
			if p == nil {
				if p, err = d.Prepare(increments(t, h, 5)); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				if err := p.Submit(); err != nil {
					t.Fatal(err)
				}
			}
			got := make([]byte, 256)
			if err := d.Read(ctx, h, 0, got); err != nil {
				t.Fatal(err)
			}
			if v := binary.LittleEndian.Uint32(got); v != 15 {
				t.Errorf("got %d, want 15", v)
			}
			if err := p.Free(); err != nil {
				t.Error(err)
			}
			if n := objects.batches.Load() - before; n != batchCount {
				t.Errorf("%d batches after Free, want %d", n, batchCount)
			}
		})
	}
}

// TestPreparedLost loses the device at a submission. All later calls return ErrDeviceLost, and
// Close releases all.
func TestPreparedLost(t *testing.T) {
	d := openTest(t, Options{})
	h, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Prepare(increments(t, h, 5))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Submit(); err != nil {
			t.Fatal(err)
		}
	}
	f := func(name string) result {
		if name == "vkQueueSubmit" {
			return -4 // VK_ERROR_DEVICE_LOST
		}
		return success
	}
	fault.Store(&f)
	t.Cleanup(func() { fault.Store(nil) })
	for range 2 {
		if err := p.Submit(); !errors.Is(err, gpu.ErrDeviceLost) {
			t.Errorf("got error %v, want ErrDeviceLost", err)
		}
	}
	if err := d.Close(); !errors.Is(err, gpu.ErrDeviceLost) {
		t.Errorf("close: got error %v, want ErrDeviceLost", err)
	}
}

// TestPreparedAllocatesNothing counts the allocations of a submission.
func TestPreparedAllocatesNothing(t *testing.T) {
	d := openTest(t, Options{})
	h, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Prepare(increments(t, h, 100))
	if err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(100, func() {
		if err := p.Submit(); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations a submission, want none", n)
	}
}

// BenchmarkSubmit measures the time of the calls for a list of dispatches.
func BenchmarkSubmit(b *testing.B) {
	testgpu.BenchmarkSubmit(b, func(b *testing.B) gpu.Device { return openTest(b, Options{}) })
}
