//go:build !nowgpu && cgo

package wgpu

import (
	"context"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// cached is how much caches of the C library may keep in each round of testkit.Flat.
const cached = 1 << 20

// long is a at the soak level, else b.
func long(a, b int) int {
	if testlevel.IsSoak() {
		return a
	}
	return b
}

// TestFlatMemory runs many dispatches: 200 000 at the full level, a
// million at the soak level.
func TestFlatMemory(t *testing.T) {
	testlevel.Need(t, testlevel.Full)
	testkit.NoRace(t, "takes memory of its own")
	d := openTest(t, Options{})
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	var hs [3]gpu.Handle
	for i := range hs {
		h, err := d.Alloc(256)
		if err != nil {
			t.Fatal(err)
		}
		hs[i] = h
	}
	list := []gpu.Dispatch{testgpu.Affine(m, hs[0], hs[0], 64, 1, 1), testgpu.Affine(m, hs[0], hs[1], 64, 1, 1), testgpu.Affine(m, hs[1], hs[2], 64, 1, 1), testgpu.Affine(m, hs[2], hs[2], 64, 3, 1)}
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
	total := long(1_000_000, 200_000)
	run(total / 10)
	testkit.Flat(t, 4, total/4, 8, cached, func() { run(total / 4) })
}

// TestFlatOpen opens, uses and closes devices: 40 at the full level,
// 10 000 at the soak level.
func TestFlatOpen(t *testing.T) {
	testlevel.Need(t, testlevel.Full)
	testkit.NoRace(t, "takes memory of its own")
	_ = openTest(t, Options{}).Close()
	total := long(10_000, 40)
	run := func(n int) {
		for range n {
			if err := session(t); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(10)
	testkit.Flat(t, 4, total/4, 64<<10, cached, func() { run(total / 4) })
	clean(t)
}

// TestNoAllocation wants no Go allocation of a Submit in steady state.
func TestNoAllocation(t *testing.T) {
	testkit.NoRace(t, "allocates")
	d := openTest(t, Options{})
	h, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	list := []gpu.Dispatch{testgpu.Affine(testgpu.Kernel(t, testgpu.AffineKernel), h, h, 64, 1, 1)}
	submit := func() {
		if err := d.Submit(list); err != nil {
			t.Fatal(err)
		}
	}
	for range 3000 {
		submit()
	}
	if n := testing.AllocsPerRun(3000, submit); n != 0 {
		t.Errorf("submit: %v allocations", n)
	}
}
