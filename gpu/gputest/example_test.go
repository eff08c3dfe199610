package gputest_test

import (
	"testing"

	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/gputest"
)

// The test of a device opens it, and closes it at the end.
func ExampleRun() {
	TestDevice := func(t *testing.T) {
		gputest.Run(t, func(t testing.TB) gpu.Device {
			dev, err := cpu.Open(cpu.Options{NoCache: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { dev.Close() })
			return dev
		})
	}
	_ = TestDevice
}
