//go:build !novk && cgo

package vk

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
)

// TestSpin waits with and without polling, for work that is shorter and longer than the polls. A
// CPU driver is polled only here.
func TestSpin(t *testing.T) {
	d, m := openTest(t, Options{}), testgpu.Kernel(t, testgpu.AffineKernel)
	if want := d.Info().Kind != gpu.CPU; (d.spin > 0) != want {
		t.Errorf("%v: polls for %v", d.Info().Kind, d.spin)
	}
	for _, spin := range []time.Duration{0, time.Nanosecond, 100 * time.Microsecond, time.Minute} {
		d.spin = spin
		const n = 1 << 20
		x := alloc(t, d, make([]uint32, n)...)
		want := uint32(0)
		for range 20 {
			list := make([]gpu.Dispatch, 3)
			for i := range list {
				list[i] = testgpu.Affine(m, x, x, n, 3, 1)
				want = 3*want + 1
			}
			if err := d.Submit(list); err != nil {
				t.Fatal(err)
			}
			if err := d.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := testgpu.Read(t, d, x, n); got[0] != want || got[n-1] != want {
			t.Errorf("polls of %v: got %d and %d, want %d", spin, got[0], got[n-1], want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.Submit(dispatches(testgpu.Affine(m, x, x, n, 3, 1))); err != nil {
			t.Fatal(err)
		}
		if err := d.Sync(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("polls of %v, cancelled: %v", spin, err)
		}
	}
}
