//go:build novk || !cgo

package vk

import (
	"context"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/spv"
)

var errBuilt = device.NotBuilt("vk", "Vulkan", "novk")

// Built reports whether this build has Vulkan in it.
const Built = false

// Device is a Vulkan device; there are none in this build.
type Device struct{ gpu.Device }

// CompileModule returns ErrNoDevice: this build has no Vulkan in it.
func (*Device) CompileModule(*spv.Module) error { return errBuilt }

// Enumeration is the Vulkan devices of a machine; there are none in this build.
type Enumeration struct{}

// Enumerate returns ErrNoDevice: this build has no Vulkan in it.
func Enumerate(ctx context.Context, opts Options) (*Enumeration, error) { return nil, errBuilt }

// Infos returns nothing.
func (*Enumeration) Infos() []gpu.Info { return nil }

// Unusable returns nothing.
func (*Enumeration) Unusable() error { return nil }

// Open returns ErrNoDevice: this build has no Vulkan in it.
func (*Enumeration) Open(ctx context.Context, i int) (*Device, error) { return nil, errBuilt }

// Close does nothing.
func (*Enumeration) Close() {}

// Open returns ErrNoDevice: this build has no Vulkan in it.
func Open(ctx context.Context, opts Options) (*Device, error) { return nil, errBuilt }

// List returns ErrNoDevice: this build has no Vulkan in it.
func List(ctx context.Context) ([]gpu.Info, error) { return nil, errBuilt }

// Probe reports that this build has no Vulkan in it.
func Probe(ctx context.Context) Report { return Report{Error: errBuilt} }
