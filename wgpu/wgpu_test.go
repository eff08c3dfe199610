package wgpu

import (
	"context"
	"os"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/gputest"
)

func openTest(t testing.TB, opts Options) *Device {
	t.Helper()
	if opts.Warn == nil {
		opts.Warn = func(s string) { t.Log(s) }
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
	gputest.Padding(t, func(t testing.TB) gpu.Device { return openTest(t, Options{}) })
}
