//go:build !nowgpu && cgo

package wgpu

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// rss is the resident memory of the process in bytes, or 0 where unknown.
func rss() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(string(bytes.Fields(data)[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// flat calls work some rounds of n units each, and fails the test if resident
// memory grows by more than most bytes a unit in every one of them.
func flat(t *testing.T, rounds, n, most int, work func()) {
	t.Helper()
	if rss() == 0 {
		t.Skip("resident memory is not known on " + runtime.GOOS)
	}
	var grown []int64
	for range rounds {
		debug.FreeOSMemory()
		before := rss()
		work()
		debug.FreeOSMemory()
		grown = append(grown, rss()-before)
	}
	t.Logf("resident memory: %d MiB; change in each round of %d: %d bytes", rss()>>20, n, grown)
	if least := slices.Min(grown); least > int64(n*most)+1<<20 { // what caches of the C library keep
		t.Errorf("each of %d units leaves %d bytes or more behind", n, least/int64(n))
	}
}

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
	if raceEnabled {
		t.Skip("the race detector takes memory of its own")
	}
	d := openTest(t, Options{})
	m := kernel(t, affineKernel)
	var hs [3]gpu.Handle
	for i := range hs {
		h, err := d.Alloc(256)
		if err != nil {
			t.Fatal(err)
		}
		hs[i] = h
	}
	list := []gpu.Dispatch{affine(m, hs[0], hs[0], 64, 1, 1), affine(m, hs[0], hs[1], 64, 1, 1), affine(m, hs[1], hs[2], 64, 1, 1), affine(m, hs[2], hs[2], 64, 3, 1)}
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
	flat(t, 4, total/4, 8, func() { run(total / 4) })
}

// TestFlatOpen opens, uses and closes devices: 40 at the full level,
// 10 000 at the soak level.
func TestFlatOpen(t *testing.T) {
	testlevel.Need(t, testlevel.Full)
	if raceEnabled {
		t.Skip("the race detector takes memory of its own")
	}
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
	flat(t, 4, total/4, 64<<10, func() { run(total / 4) })
	clean(t)
}

// TestNoAllocation wants no Go allocation of a Submit in steady state.
func TestNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	d := openTest(t, Options{})
	h, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	list := []gpu.Dispatch{affine(kernel(t, affineKernel), h, h, 64, 1, 1)}
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
