//go:build !novk && cgo

package vk

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// steadyList is a list with a chain, separate dispatches, texel views and
// parameters: what a program submits again and again.
func steadyList(t testing.TB, d *Device) []gpu.Dispatch {
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	x, y, z := alloc(t, d, make([]uint32, 64)...), alloc(t, d, make([]uint32, 64)...), alloc(t, d, make([]uint32, 64)...)
	list := dispatches(testgpu.Affine(m, x, x, 64, 1, 1), testgpu.Affine(m, y, y, 64, 1, 1), testgpu.Affine(m, z, z, 64, 1, 1), testgpu.Affine(m, x, y, 64, 1, 1))
	if d.Info().Limits.MaxTexelBuffers > 0 {
		list = append(list, gpu.Dispatch{Module: testgpu.Kernel(t, testgpu.TexelKernel), Params: testkit.Words(4), Groups: [3]uint32{1, 1, 1},
			Bindings: []gpu.Binding{{Buffer: y}, {Buffer: z}}})
	}
	return list
}

// TestNoAllocation wants no Go allocation of a Submit in steady state, and none
// of Write and Read of small ranges.
func TestNoAllocation(t *testing.T) {
	testkit.NoRace(t, "allocates")
	d := openTest(t, Options{})
	list := steadyList(t, d)
	ctx := context.Background()
	buf := make([]byte, 64)
	for range 2 * batchCount * batchFull / len(list) {
		if err := d.Submit(list); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(5000, func() { _ = d.Submit(list) }); n != 0 {
		t.Errorf("submit: %v allocations", n)
	}
	if err := d.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	h := list[0].Bindings[0].Buffer
	if n := testing.AllocsPerRun(1000, func() { _ = d.Write(ctx, h, 0, buf) }); n > 2 {
		t.Errorf("write: %v allocations", n)
	}
	if n := testing.AllocsPerRun(1000, func() { _ = d.Read(ctx, h, 0, buf) }); n > 2 {
		t.Errorf("read: %v allocations", n)
	}
}

// TestFlatMemory runs many dispatches and wants resident memory flat:
// 200 000 at the full level, a million at the soak level.
func TestFlatMemory(t *testing.T) {
	testlevel.Need(t, testlevel.Full)
	testkit.NoRace(t, "takes memory of its own")
	d := openTest(t, Options{})
	total := 200_000
	if testlevel.IsSoak() {
		total = 1_000_000
	}
	list := steadyList(t, d)
	run := func(n int) {
		for ; n > 0; n -= len(list) {
			if err := d.Submit(list); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Sync(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	run(total / 10) // fill every batch and pool
	testkit.Flat(t, 5, total/5, 4, 0, func() { run(total / 5) })
}

// TestFlatAllocFree does the same to Alloc, Write, Submit, Read and Free.
func TestFlatAllocFree(t *testing.T) {
	d := openTest(t, Options{})
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	buf := make([]byte, 4)
	turn := func() {
		x, y := alloc(t, d, 1), alloc(t, d, 2)
		err := d.Submit(dispatches(testgpu.Affine(m, x, y, 1, 3, 4)))
		if err == nil {
			err = d.Read(context.Background(), y, 0, buf)
		}
		if err != nil || buf[0] != 7 {
			t.Fatalf("got %v, %v", buf, err)
		}
		d.Free(x)
		d.Free(y)
	}
	for range 1000 {
		turn()
	}
	if !testkit.Race {
		testkit.Flat(t, 4, 1000, 64, 0, func() {
			for range 1000 {
				turn()
			}
		})
	}
	if n := d.table.Len(); n != 0 {
		t.Errorf("%d handles left", n)
	}
}

// TestStress works from many goroutines at once, each on buffers of its own and
// all reading one that they share. Results must be exact.
func TestStress(t *testing.T) {
	d := openTest(t, Options{})
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	shared := alloc(t, d, 100, 200, 300, 400)
	ctx := context.Background()
	turns := 150
	if testkit.Race {
		turns = 40
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range turns {
				n := 1 + (i*37+g)%3000
				x, err := d.Alloc(int64(4 * n))
				if err != nil {
					t.Error(err)
					return
				}
				y, err := d.Alloc(int64(4 * n))
				if err != nil {
					t.Error(err)
					return
				}
				seed := uint32(g*1000 + i)
				fill := bytes.Repeat(testkit.Words(seed), n)
				err = d.Write(ctx, x, 0, fill)
				if err == nil {
					err = d.Submit(dispatches(testgpu.Affine(m, x, y, n, 2, 1), testgpu.Affine(m, y, y, n, 3, 5), testgpu.Affine(m, shared, x, 1, 1, seed)))
				}
				out := make([]byte, 4*n)
				if err == nil {
					err = d.Read(ctx, y, 0, out)
				}
				if want := bytes.Repeat(testkit.Words((2*seed+1)*3+5), n); err == nil && !bytes.Equal(out, want) {
					t.Errorf("goroutine %d turn %d: wrong words", g, i)
				}
				if err == nil {
					err = d.Read(ctx, x, 0, out[:4])
				}
				if err == nil && !bytes.Equal(out[:4], testkit.Words(100+seed)) {
					t.Errorf("goroutine %d turn %d: shared input: got %v", g, i, out[:4])
				}
				for _, h := range []gpu.Handle{x, y} {
					if ferr := d.Free(h); err == nil {
						err = ferr
					}
				}
				if err != nil {
					t.Errorf("goroutine %d turn %d: %v", g, i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := d.table.Len(); n != 1 {
		t.Errorf("%d handles left, want 1", n)
	}
}

// TestStressLarge moves buffers larger than all staging memory, from more
// goroutines than there are pieces of it.
func TestStressLarge(t *testing.T) {
	t.Setenv("LATHE_VK_STAGING", "1")
	d := openTest(t, Options{})
	const size = 20<<20 + 4
	var wg sync.WaitGroup
	for g := range 2 * chunkCount {
		wg.Go(func() {
			ctx := context.Background()
			h, err := d.Alloc(size)
			if err != nil {
				t.Error(err)
				return
			}
			data, out := bytes.Repeat([]byte{byte(g + 1)}, size), make([]byte, size)
			for range 2 {
				err := d.Write(ctx, h, 0, data)
				if err == nil {
					err = d.Read(ctx, h, 0, out)
				}
				if err != nil || !bytes.Equal(out, data) {
					t.Errorf("goroutine %d: %v, or wrong bytes", g, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := len(d.staging.chunks); n > chunkCount {
		t.Errorf("%d staging chunks, at most %d", n, chunkCount)
	}
}

// TestReadCancelledStaging cancels while other goroutines have all staging
// memory: the device stays usable.
func TestReadCancelledStaging(t *testing.T) {
	t.Setenv("LATHE_VK_STAGING", "1")
	d := openTest(t, Options{})
	const size = 20 << 20
	h, err := d.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(context.Background(), h, 0, make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Millisecond)
			defer cancel()
			if err := d.Read(ctx, h, 0, make([]byte, size)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := d.Read(context.Background(), h, 0, make([]byte, size)); err != nil {
		t.Error(err)
	}
}

// TestLongListFree submits lists of several batches while another goroutine
// frees their buffers. A list runs as a whole or not at all.
func TestLongListFree(t *testing.T) {
	testlevel.Turn(t, 5)
	d := openTest(t, Options{})
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	const length = 3*batchFull + 7
	ran := 0
	for turn := range 20 {
		x, sum := alloc(t, d, 0), alloc(t, d, 0)
		list := make([]gpu.Dispatch, length)
		for i := range list {
			list[i] = testgpu.Affine(m, x, x, 1, 1, 1)
		}
		list[length-1] = testgpu.Affine(m, x, sum, 1, 1, 0)
		var wg sync.WaitGroup
		wg.Go(func() {
			time.Sleep(time.Duration(turn*turn) * 300 * time.Microsecond)
			if err := d.Free(x); err != nil {
				t.Error(err)
			}
		})
		err := d.Submit(list)
		wg.Wait()
		y := alloc(t, d, 12345) // takes the place of x if that is free too early
		want := uint32(length - 1)
		switch {
		case err == nil:
			ran++
		case errors.Is(err, gpu.ErrInvalidHandle):
			want = 0
		default:
			t.Fatal(err)
		}
		if got := testgpu.Read(t, d, sum, 1); got[0] != want {
			t.Fatalf("turn %d (%v): got %d, want %d", turn, err, got[0], want)
		}
		if got := testgpu.Read(t, d, y, 1); got[0] != 12345 {
			t.Fatalf("turn %d: a new buffer was overwritten with %d", turn, got[0])
		}
		d.Free(y)
		d.Free(sum)
	}
	if ran == 0 {
		t.Error("no list ran")
	}
	if n := d.table.Len(); n != 0 {
		t.Errorf("%d handles left", n)
	}
}
