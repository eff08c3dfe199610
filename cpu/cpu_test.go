package cpu

import (
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/gputest"
)

// openTest opens a device that runs hand-written kernels. It is closed at the end of the
// test.
func openTest(t testing.TB, o Options) *Device {
	t.Helper()
	d := openUnclosed(t, o)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

func openUnclosed(t testing.TB, o Options) *Device {
	t.Helper()
	if o.translate == nil {
		o.translate = translate
	}
	if o.CacheDir == "" {
		o.NoCache = true
	}
	dev, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return dev.(*Device)
}

func TestSuite(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device { return openUnclosed(t, Options{}) })
}

// TestSuiteSmall runs the suite with little memory and many workers.
func TestSuiteSmall(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device { return openUnclosed(t, Options{MaxMemory: 8 << 20, Workers: 7}) })
}

// TestSuiteAlone runs the suite with one worker.
func TestSuiteAlone(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device { return openUnclosed(t, Options{MaxMemory: 64 << 20, Workers: 1}) })
}

func TestPadding(t *testing.T) {
	gputest.Padding(t, func(t testing.TB) gpu.Device { return openUnclosed(t, Options{}) })
}
