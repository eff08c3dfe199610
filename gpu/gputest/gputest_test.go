package gputest_test

import (
	"io"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/gputest"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/gpu/trace"
)

// open returns a null device that runs the suite's kernels in Go.
func open(t testing.TB, info *gpu.Info) *null.Device {
	kernels, err := gputest.Kernels()
	if err != nil {
		t.Fatal(err)
	}
	dev := null.New(info)
	dev.Kernels = kernels
	return dev
}

func TestNull(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device { return open(t, nil) })
}

// smallest are the smallest limits with which the suite's kernels can run.
var smallest = gpu.Limits{
	MaxBuffer: 1 << 20, MaxBinding: 1 << 14, MaxTexels: 256, OffsetAlign: 256, TexelAlign: 256,
	MaxGroups: [3]uint32{64, 16, 8}, MaxLocalSize: [3]uint32{64, 8, 8}, MaxInvocations: 64,
	MaxSharedBytes: 256, MaxParamBytes: 128, MaxBindings: 3, MaxTexelBuffers: 1,
}

func TestNullSmall(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device { return open(t, small()) })
}

// small describes a device with the smallest limits. Its tests are quick, too.
func small() *gpu.Info {
	info := null.DefaultInfo()
	info.Memory = 1 << 22
	info.Limits = smallest
	return &info
}

// TestNullWithoutTexels runs the suite on a device without texel buffers.
func TestNullWithoutTexels(t *testing.T) {
	info := small()
	info.Limits.MaxTexelBuffers = 0
	gputest.Run(t, func(t testing.TB) gpu.Device { return open(t, info) })
}

// The wrappers must pass the suite too.

func TestGuard(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device { return guard.New(open(t, small())) })
}

func TestRestrict(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device { return guard.Restrict(open(t, nil), smallest) })
}

func TestTrace(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device { return trace.New(open(t, small()), io.Discard) })
}

func TestFaulty(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device { return faulty.New(open(t, small())) })
}

// TestStack combines all wrappers, as a test of a plan may do.
func TestStack(t *testing.T) {
	gputest.Run(t, func(t testing.TB) gpu.Device {
		return guard.Restrict(guard.New(faulty.New(trace.New(open(t, nil), io.Discard))), smallest)
	})
}
