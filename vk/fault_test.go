//go:build !novk && cgo

package vk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// inject makes Vulkan calls fail until the test ends: those for which fail,
// told the number of the call, returns less than zero. It returns how many
// calls there have been.
func inject(t testing.TB, fail func(n int) result) (calls func() int) {
	var mu sync.Mutex
	n := 0
	f := func(string) result {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fail(n)
	}
	fault.Store(&f)
	t.Cleanup(func() { fault.Store(nil) })
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// work uses every part of a device: storage and texel bindings, hazards, free
// while pending, a buffer that fills half a block, and the trace of all that.
func work(t testing.TB, d *Device) error {
	ctx := context.Background()
	if err := d.StartTrace(func() time.Duration { return 0 }, func(gpu.Span) {}); err != nil {
		return err
	}
	var handles [4]gpu.Handle
	for i, size := range []int64{256, 256, 256, blockSize/2 + 1} {
		h, err := d.Alloc(size)
		if err != nil {
			return err
		}
		handles[i] = h
	}
	defer func() {
		for _, h := range handles[:3] {
			_ = d.Free(h)
		}
	}()
	x, y, z, big := handles[0], handles[1], handles[2], handles[3]
	if err := d.Write(ctx, x, 0, testkit.Words(1, 2, 3, 4)); err != nil {
		return err
	}
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	list := dispatches(testgpu.Affine(m, x, y, 4, 2, 1), testgpu.Affine(m, y, z, 4, 1, 1), testgpu.Affine(m, big, y, 4, 1, 1))
	if err := d.Submit(list); err != nil {
		return err
	}
	if d.Info().Limits.MaxTexelBuffers > 0 {
		err := d.Submit(dispatches(gpu.Dispatch{Module: testgpu.Kernel(t, testgpu.TexelKernel), Params: testkit.Words(1), Groups: [3]uint32{1, 1, 1},
			Bindings: []gpu.Binding{{Buffer: z}, {Buffer: x}}}))
		if err != nil {
			return err
		}
	}
	if err := d.Free(big); err != nil {
		return err
	}
	buf := make([]byte, 16)
	if err := d.Read(ctx, z, 0, buf); err != nil {
		return err
	}
	if want := testkit.Words(4, 6, 8, 10); string(buf) != string(want) {
		return fmt.Errorf("read %v, want %v", buf, want)
	}
	if err := d.Sync(ctx); err != nil {
		return err
	}
	return nil
}

// session is the life of a device: open, work, close.
func session(t testing.TB, dir string) error {
	d, err := Open(context.Background(), Options{CacheDir: dir, Warn: func(string) {}})
	if err != nil {
		return err
	}
	err = work(t, d)
	if err != nil && !errors.Is(err, gpu.ErrDeviceLost) {
		fault.Store(nil)
		_ = d.Sync(context.Background()) // takes what else failed
		if again := work(t, d); again != nil {
			t.Errorf("the device is not usable after %q: %v", err, again)
		}
	}
	if errors.Is(err, gpu.ErrDeviceLost) {
		if _, err := d.Alloc(4); !errors.Is(err, gpu.ErrDeviceLost) {
			t.Errorf("alloc on a lost device: got %v", err)
		}
	}
	return errors.Join(err, d.Close())
}

// sentinel reports whether err is of a kind that callers can tell.
func sentinel(err error) bool {
	for _, s := range []error{gpu.ErrNoDevice, gpu.ErrUnsupported, gpu.ErrOutOfMemory, gpu.ErrDeviceLost, errs.ErrInvalidShader} {
		if errors.Is(err, s) {
			return true
		}
	}
	return false
}

// TestFaults lets every Vulkan call of a session fail in turn, alone and with
// all that follow it. No object may stay behind, nothing may panic, and errors
// must be of a known kind.
func TestFaults(t *testing.T) {
	openTest(t, Options{}).Close()
	for _, staging := range []string{"0", "1"} {
		t.Run("staging="+staging, func(t *testing.T) {
			t.Setenv("LATHE_VK_STAGING", staging)
			calls := inject(t, func(int) result { return success })
			if err := session(t, t.TempDir()); err != nil {
				t.Fatal(err)
			}
			total := calls()
			if total < 20 {
				t.Fatalf("a session makes %d calls, too few to be true", total)
			}
			codes := []result{outOfDeviceMemory, deviceLost}
			if testlevel.IsSoak() {
				codes = append(codes, outOfHostMemory, initFailed, -13)
			}
			for _, code := range codes {
				for at := 1; at <= total+2; at++ {
					if !testlevel.Sampled(at, 5) {
						continue
					}
					for _, rest := range []bool{false, true} {
						inject(t, func(n int) result {
							if n == at || rest && n > at {
								return code
							}
							return success
						})
						err := session(t, t.TempDir())
						fault.Store(nil)
						if err != nil && !sentinel(err) {
							t.Errorf("call %d, result %d, rest %v: an error of no known kind: %v", at, code, rest, err)
						}
						if c := counts(); len(c) > 0 {
							t.Fatalf("call %d, result %d, rest %v (%v): left behind: %v", at, code, rest, err, c)
						}
					}
				}
			}
			t.Logf("%d calls, each made to fail", total)
		})
	}
}

// TestSubmitFails loses a batch: the error comes out of the next Sync, once,
// and the device goes on.
func TestSubmitFails(t *testing.T) {
	d := openTest(t, Options{})
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	x, y := alloc(t, d, 1), alloc(t, d, 9)
	if err := d.CompileModule(m); err != nil {
		t.Fatal(err)
	}
	f := func(name string) result {
		if name == "vkQueueSubmit" {
			return outOfHostMemory
		}
		return success
	}
	fault.Store(&f)
	err := d.Submit(dispatches(testgpu.Affine(m, x, y, 1, 1, 1)))
	if err != nil {
		t.Errorf("submit: %v", err)
	}
	if err := d.Sync(context.Background()); !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Errorf("sync: got %v, want ErrOutOfMemory", err)
	}
	fault.Store(nil)
	if err := d.Sync(context.Background()); err != nil {
		t.Errorf("sync again: %v", err)
	}
	if err := d.Submit(dispatches(testgpu.Affine(m, x, y, 1, 2, 1))); err != nil {
		t.Fatal(err)
	}
	if got := testgpu.Read(t, d, y, 1); got[0] != 3 {
		t.Errorf("after the failure: got %d, want 3", got[0])
	}
}

// TestDeviceLost checks that every call on a lost device says so at once.
func TestDeviceLost(t *testing.T) {
	d := openTest(t, Options{})
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	x, y := alloc(t, d, 1), alloc(t, d, 2)
	inject(t, func(int) result { return deviceLost })
	_ = d.Submit(dispatches(testgpu.Affine(m, x, y, 1, 1, 1)))
	buf := make([]byte, 4)
	_ = d.Sync(context.Background())
	ctx := context.Background()
	_, allocErr := d.Alloc(4)
	for name, err := range map[string]error{
		"alloc": allocErr, "free": d.Free(x), "write": d.Write(ctx, x, 0, buf), "read": d.Read(ctx, x, 0, buf),
		"submit": d.Submit(dispatches(testgpu.Affine(m, x, y, 1, 1, 1))), "sync": d.Sync(ctx), "compile": d.CompileModule(m),
	} {
		if !errors.Is(err, gpu.ErrDeviceLost) {
			t.Errorf("%s: got %v, want ErrDeviceLost", name, err)
		}
	}
	fault.Store(nil)
	if err := d.Close(); err != nil && !errors.Is(err, gpu.ErrDeviceLost) {
		t.Errorf("close: %v", err)
	}
	if err := d.Sync(ctx); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("sync after close: got %v, want ErrClosed", err)
	}
	noObjects(t)
}
