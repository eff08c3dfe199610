//go:build !novk && cgo

package vk

import (
	"context"
	"os"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/gputest"
)

// openTest opens a device for a test and closes it at the end. Without any
// device the test is skipped, or fails if LATHE_REQUIRE_DEVICE=1.
func openTest(t testing.TB, opts Options) *Device {
	t.Helper()
	if opts.Warn == nil {
		opts.Warn = func(s string) { t.Log(s) }
	}
	if opts.CacheDir == "" {
		opts.NoCache = true
	}
	d, err := Open(context.Background(), opts)
	if err != nil {
		if os.Getenv("LATHE_REQUIRE_DEVICE") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

func TestDevice(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device { return openTest(t, Options{}) })
}

func TestPadding(t *testing.T) {
	for _, staging := range []string{"0", "1"} {
		t.Setenv("LATHE_VK_STAGING", staging)
		gputest.Padding(t, func(t testing.TB) gpu.Device { return openTest(t, Options{}) })
	}
}
