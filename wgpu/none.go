//go:build nowgpu || !cgo

package wgpu

import (
	"context"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/spv"
)

var errBuilt = device.NotBuilt("wgpu", "WebGPU", "nowgpu")

// Built reports whether this program was built with WebGPU.
const Built = false

// Device is a WebGPU device. This build has none, so its methods return ErrNoDevice.
type Device struct{}

// Info describes nothing.
func (*Device) Info() *gpu.Info { return &gpu.Info{} }

// Alloc returns ErrNoDevice.
func (*Device) Alloc(size int64) (gpu.Handle, error) { return 0, errBuilt }

// Free returns ErrNoDevice.
func (*Device) Free(h gpu.Handle) error { return errBuilt }

// Write returns ErrNoDevice.
func (*Device) Write(ctx context.Context, h gpu.Handle, offset int64, data []byte) error {
	return errBuilt
}

// Read returns ErrNoDevice.
func (*Device) Read(ctx context.Context, h gpu.Handle, offset int64, dst []byte) error {
	return errBuilt
}

// Submit returns ErrNoDevice.
func (*Device) Submit(list []gpu.Dispatch) error { return errBuilt }

// Prepare returns ErrNoDevice.
func (*Device) Prepare(list []gpu.Dispatch) (gpu.Prepared, error) { return nil, errBuilt }

// Sync returns ErrNoDevice.
func (*Device) Sync(ctx context.Context) error { return errBuilt }

// WaitForRoom returns ErrNoDevice.
func (*Device) WaitForRoom(ctx context.Context) error { return errBuilt }

// CompileModule returns ErrNoDevice.
func (*Device) CompileModule(m *spv.Module) error { return errBuilt }

// Close returns ErrNoDevice.
func (*Device) Close() error { return errBuilt }

// Enumeration is a list of the adapters of a machine. In this build it is empty.
type Enumeration struct{}

// Enumerate returns ErrNoDevice: this build has no WebGPU in it.
func Enumerate(ctx context.Context, opts Options) (*Enumeration, error) { return nil, errBuilt }

// Infos returns nothing.
func (*Enumeration) Infos() []gpu.Info { return nil }

// Open returns ErrNoDevice: this build has no WebGPU in it.
func (*Enumeration) Open(ctx context.Context, i int) (*Device, error) { return nil, errBuilt }

// Close does nothing.
func (*Enumeration) Close() {}

// Open returns ErrNoDevice: this build has no WebGPU in it.
func Open(ctx context.Context, opts Options) (*Device, error) { return nil, errBuilt }

// List returns ErrNoDevice: this build has no WebGPU in it.
func List(ctx context.Context) ([]gpu.Info, error) { return nil, errBuilt }

// Probe reports that this build has no WebGPU in it.
func Probe(ctx context.Context) Report { return Report{Error: errBuilt} }
