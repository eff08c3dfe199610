//go:build !novk && cgo

package vk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// traceAll traces a device and returns what it has reported so far.
func traceAll(t testing.TB, d *Device) func() []gpu.Span {
	t.Helper()
	var spans []gpu.Span
	start := time.Now()
	err := d.StartTrace(func() time.Duration { return time.Since(start) }, func(s gpu.Span) { spans = append(spans, s) })
	if err != nil {
		t.Fatal(err)
	}
	return func() []gpu.Span { return spans }
}

// TestTraceStaging traces transfers by way of staging memory: the copies and
// the first fill are commands of the device.
func TestTraceStaging(t *testing.T) {
	t.Setenv("LATHE_VK_STAGING", "1")
	d := openTest(t, Options{})
	if !d.Info().Features.Timestamps {
		withoutTimestamps(t, d)
	}
	spans := traceAll(t, d)
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	x, err := d.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(context.Background(), x, 0, testkit.Words(1, 2)); err != nil {
		t.Fatal(err)
	}
	if err := d.Submit(dispatches(testgpu.Affine(m, x, x, 2, 1, 1))); err != nil {
		t.Fatal(err)
	}
	testgpu.Read(t, d, x, 2)
	var got []string
	for _, s := range spans() {
		if s.Kind < gpu.Submission {
			got = append(got, fmt.Sprint(s.Kind, " ", s.Name, s.Bytes))
		}
	}
	want := []string{"fill 4088", "copy 8", "launch " + testgpu.AffineKernel + "0", "copy 8"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("commands: got %q, want %q", got, want)
	}
	compiled := 0
	for _, s := range spans() {
		if s.Kind == gpu.Compile && s.Name == testgpu.AffineKernel {
			compiled++
		}
	}
	if compiled != 1 {
		t.Errorf("%d compilations reported, want 1", compiled)
	}
}

// TestTraceNoTimestamps traces a queue whose timestamps have no valid bits: the
// host's times are all there is.
func TestTraceNoTimestamps(t *testing.T) {
	d := openTest(t, Options{})
	d.phys.info.Features.Timestamps = false
	spans := traceAll(t, d)
	x := alloc(t, d, 1)
	if err := d.Submit(dispatches(testgpu.Affine(testgpu.Kernel(t, testgpu.AffineKernel), x, x, 1, 1, 1))); err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	submissions := 0
	for _, s := range spans() {
		if s.Kind < gpu.Submission {
			t.Errorf("a command was timed: %+v", s)
		}
		if s.Kind == gpu.Submission {
			submissions++
		}
	}
	if submissions != 1 || d.batches[0].c.queryPool != 0 {
		t.Errorf("%d submissions reported, want 1, and no query pool", submissions)
	}
}

// TestTraceFails loses the memory for the queries, then the times: both are
// errors of the work, and the device goes on.
func TestTraceFails(t *testing.T) {
	for _, name := range []string{"vkCreateQueryPool", "vkGetQueryPoolResults"} {
		d := openTest(t, Options{})
		if !d.Info().Features.Timestamps {
			withoutTimestamps(t, d)
		}
		spans := traceAll(t, d)
		x := alloc(t, d, 1)
		m := testgpu.Kernel(t, testgpu.AffineKernel)
		f := func(call string) result {
			if call == name {
				return outOfDeviceMemory
			}
			return success
		}
		fault.Store(&f)
		t.Cleanup(func() { fault.Store(nil) })
		if err := d.Submit(dispatches(testgpu.Affine(m, x, x, 1, 1, 1))); err != nil {
			t.Fatal(err)
		}
		if err := d.Sync(context.Background()); !errors.Is(err, gpu.ErrOutOfMemory) {
			t.Errorf("%s: sync: got %v, want ErrOutOfMemory", name, err)
		}
		fault.Store(nil)
		before := len(spans())
		if err := d.Submit(dispatches(testgpu.Affine(m, x, x, 1, 1, 1))); err != nil {
			t.Fatal(err)
		}
		if err := d.Sync(context.Background()); err != nil {
			t.Errorf("%s: sync again: %v", name, err)
		}
		if n := len(spans()) - before; n != 2 {
			t.Errorf("%s: %d spans of a launch after the failure, want it and its submission", name, n)
		}
	}
}

// TestClock moves a device's clock onto the host's.
func TestClock(t *testing.T) {
	c := tracing{tick: ticks{mask: 1<<16 - 1, length: 10}}
	for i, b := range []struct {
		first, last     uint64
		submitted, seen time.Duration
		begin, end      time.Duration
	}{
		{1000, 1100, 50_000, 60_000, 50_000, 51_000},               // taken to begin at once
		{2000, 2100, 59_000, 70_000, 60_000, 61_000},               // by the device's clock
		{3000, 3100, 75_000, 90_000, 75_000, 76_000},               // cannot have begun before
		{65500, 100, 700_000, 800_000, 700_000, 701_360},           // the counter begins anew
		{1000, 1200, 706_000, 711_000, 709_000, 711_000},           // cannot have ended later
		{1150, 1300, 700_000, 800_000, 711_000, 712_000},           // commands never overlap
		{1400, 1400, 900_000, 900_000, 900_000, 900_000},           // nothing takes no time
		{1500, 3500, 910_000, 915_000, 910_000, 930_000},           // clocks at odds: it begins no earlier
		{3600, 3700, 920_000, 990_000, 931_000, 932_000},           // and goes on from there
		{20000, 20001, 1_000_000, 1_100_000, 1_095_000, 1_095_010}, // a pause by the device's clock
	} {
		c.place(b.first, b.last, b.submitted, b.seen)
		if begin, end := c.time(b.first), c.time(b.last); begin != b.begin || end != b.end {
			t.Errorf("batch %d: got %d to %d, want %d to %d", i, begin, end, b.begin, b.end)
		}
	}
}

// withoutTimestamps skips a test on a device that tells no times. Lavapipe does.
func withoutTimestamps(t *testing.T, d *Device) {
	t.Helper()
	if strings.Contains(d.Info().Name, "llvmpipe") {
		t.Fatal("lavapipe has timestamps, and they were not found")
	}
	testkit.Ability(t, false, d.Info().Name, "a queue with timestamps")
}
