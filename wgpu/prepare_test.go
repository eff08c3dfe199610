//go:build !nowgpu && cgo

package wgpu

import (
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
)

// BenchmarkSubmit measures the time of the calls for a list of dispatches.
func BenchmarkSubmit(b *testing.B) {
	testgpu.BenchmarkSubmit(b, func(b *testing.B) gpu.Device { return openTest(b, Options{}) })
}
