// Package wgpu is a gpu.Device over WebGPU. It uses wgpu-native, which runs on Vulkan,
// Metal, Direct3D 12 or OpenGL. It runs the same SPIR-V as package vk, rewritten by
// spv.Lower.
//
// The package registers itself when it is imported. lathe.Open, backend.Open and the variable
// LATHE_BACKEND then know the backend "wgpu":
//
//	import _ "github.com/lathe-gpu/lathe/wgpu"
//
// The native library is linked into the program and adds some 8 MB to it. If the
// program is built with the tag nowgpu, or without cgo, the package contains no WebGPU,
// and Open returns an error that says so.
//
// # What WebGPU lacks
//
// WebGPU has no texel buffers; they become storage buffers. Shaders have no subgroups, no
// f64, and no numbers of 8, 16 or 64 bits. This version of the library reads no atomics
// from SPIR-V, although WGSL has them. A kernel that needs one of these is refused with
// ErrUnsupported. So is SPIR-V with a construct that the library cannot read; the text
// of the error names the construct.
//
// # Memory
//
// Each buffer is a buffer of WebGPU. WebGPU does not say how much memory the device has,
// so Info.Memory is 0. Writes are queued. Reads copy to a buffer that the host can map.
//
// # Batches
//
// Submit records into a batch. The batch goes to the device when it is large enough, or
// when a Read, Sync or Close needs its results. The library orders dispatches that use
// the same buffer.
package wgpu

import (
	"time"

	"github.com/lathe-gpu/lathe/gpu"
)

// LogEnv names an environment variable. It lets the native library write messages to
// standard error, from this level on: error, warn, info, debug or trace. If it is not
// set, the library writes nothing.
const LogEnv = "LATHE_WGPU_LOG"

// APIEnv names an environment variable. It lists the graphics APIs on which to look for
// adapters: vulkan, metal, dx12, gl, separated by commas. If it is not set, gl is tried
// only where the others have no adapter.
const APIEnv = "LATHE_WGPU_API"

// Options are the settings of Open. The zero value is the usual choice.
type Options struct {
	// Device selects an adapter as gpu.Choose does: index, part of the name.
	// Empty means the environment variable LATHE_DEVICE, else the best.
	Device string
	// CloseTimeout is how long Close waits for submitted work, which may never end. 0
	// means gpu.DefaultCloseTimeout. Below 0 there is no bound.
	CloseTimeout time.Duration
	// Warn receives messages meant for the user, such as that only a CPU driver
	// was found; nil writes them to slog.Default, each once in a process. It must not call the device.
	Warn func(string)
}

// Report is what Probe found out about WebGPU on this machine.
type Report struct {
	Built   bool              // whether the program was built with WebGPU
	Version string            // version of the Go binding that brings the native library, such as "v0.23.0"
	Env     map[string]string // the environment variables that are set and have an effect
	Devices []gpu.Info        // the adapters, as List returns them
	Error   error             // the error that List would return, nil if there is an adapter
}
