// Package wgpu is gpu.Device over WebGPU: by wgpu-native, which stands on
// Vulkan, Metal, Direct3D 12 or OpenGL. It runs the same SPIR-V as package vk,
// rewritten by spv.Lower.
//
// The native library is linked into the program and adds some 40 MB to it. Built
// with the tag nowgpu, or without cgo, the package has no WebGPU in it and Open
// says so.
//
// # What WebGPU lacks
//
// Texel buffers, which therefore become storage buffers; and numbers of 8, 16 or
// 64 bits in shaders, f64, subgroups, and with this version of the library atomics
// in SPIR-V (WGSL has them). A kernel that needs one of these is refused with ErrUnsupported,
// and so is SPIR-V with a construct that the library cannot read; the text
// names it.
//
// # Memory
//
// Each buffer is a buffer of WebGPU. WebGPU does not say how much memory there
// is, so Info.Memory is 0. Writes are queued; reads copy by way of a mapped
// buffer.
//
// # Batches
//
// Submit records into a batch, which goes to the device when it is worth a
// submission, when a Read, Sync or Close needs it, or when it is full. The
// library orders dispatches that touch the same buffer.
package wgpu

import (
	"time"

	"github.com/lathe-gpu/lathe/gpu"
)

// LogEnv is the environment variable that lets the native library write to
// standard error: error, warn, info, debug or trace. Without it nothing is
// written.
const LogEnv = "LATHE_WGPU_LOG"

// APIEnv is the environment variable that restricts the graphics APIs that
// adapters are looked for on: vulkan, metal, dx12, gl, separated by commas.
// Without it all but gl are tried, and gl where those have no adapter.
const APIEnv = "LATHE_WGPU_API"

// Options are what Open may be told. The zero value is the usual choice.
type Options struct {
	// Device selects an adapter as gpu.Choose does: index, part of the name.
	// Empty means the environment variable LATHE_DEVICE, else the best.
	Device string
	// CloseTimeout is how long Close waits for work, which a shader without end
	// keeps it from for ever; 0 means gpu.DefaultCloseTimeout, less than 0 no bound.
	CloseTimeout time.Duration
	// Warn receives messages meant for the user, such as that only a CPU driver
	// was found; nil writes them to standard error. It must not call the device.
	Warn func(string)
}

// Report is what Probe found out about WebGPU on this machine.
type Report struct {
	Built   bool              // false where the program was built without WebGPU
	Version string            // of the binding that brings the native library, such as "v0.23.0"
	Env     map[string]string // environment variables in force
	Devices []gpu.Info        // adapters, as List gives them
	Error   error             // what List would return; nil if there is an adapter
}
