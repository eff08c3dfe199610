package wgpu

import (
	"context"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/gputest"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// openTest opens a device for a test. What it warns of is logged.
func openTest(t testing.TB, opts Options) *Device {
	t.Helper()
	if opts.Warn == nil {
		opts.Warn = func(s string) { t.Log(s) }
	}
	d, err := Open(context.Background(), opts)
	return testkit.Device(t, d, err)
}

func TestDevice(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device { return openTest(t, Options{}) })
}

func TestPadding(t *testing.T) {
	gputest.Padding(t, func(t testing.TB) gpu.Device { return openTest(t, Options{}) })
}
