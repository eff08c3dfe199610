// Package testgpu launches the device suite's kernels for the tests of devices and of
// what runs on them. Only tests import it.
package testgpu

import (
	"context"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// The names of kernels.
const (
	AffineKernel = "test/gputest_affine.u32" // dst[i] = src[i]·scale + shift for i < count
	TexelKernel  = "test/gputest_texel.u32"  // dst[n-1-i] = src[i] + (i, 0, 0, 0)
	AddKernel    = "test/gputest_add.f32"    // dst[i] = a[i] + b[i] for i < count
)

// Kernel returns a kernel of the package internal/extra.
func Kernel(t testing.TB, name string) *spv.Module {
	t.Helper()
	m, err := extra.Module(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Affine returns a dispatch of AffineKernel, which m is, over n words.
func Affine(m *spv.Module, src, dst gpu.Handle, n int, scale, shift uint32) gpu.Dispatch {
	return gpu.Dispatch{
		Module: m, Bindings: []gpu.Binding{{Buffer: src}, {Buffer: dst}},
		Params: testkit.Words(uint32(n), scale, shift), Groups: [3]uint32{uint32(n+63) / 64, 1, 1},
	}
}

// Load returns a new buffer that holds the data. The caller frees it.
func Load(t testing.TB, dev gpu.Device, data []byte) gpu.Handle {
	t.Helper()
	h, err := dev.Alloc(int64(len(data)))
	if err == nil {
		err = dev.Write(context.Background(), h, 0, data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Read returns the first n words of a buffer.
func Read(t testing.TB, dev gpu.Device, h gpu.Handle, n int) []uint32 {
	t.Helper()
	b := make([]byte, 4*n)
	if err := dev.Read(context.Background(), h, 0, b); err != nil {
		t.Fatal(err)
	}
	return testkit.Uint32s(b)
}
