// Package gpu is the contract between Lathe and a device. A Device knows
// nothing of any operation: it holds buffers and runs dispatches.
//
// # Who checks what
//
// Every Device checks each Dispatch with [Dispatch.Check] before its driver
// sees it: handles live, ranges inside their buffers and aligned, every binding
// the shader declares given, parameter bytes, groups and local size within the
// limits of Info, capabilities present. Drivers check little of this (some
// crash, some ignore it), so a Device never relies on its driver to refuse.
//
// # Padding
//
// Shaders read memory in units of up to 16 bytes, so every buffer has memory up
// to the next multiple of [Unit] past its end, and a binding may span it. This
// padding is zero at first, and zero again after a Write that reaches the end of
// the buffer; nothing reads it back. Lathe's own kernels may read it, do not depend
// on it and leave zeros in it. What a foreign shader writes there stays until such a
// Write.
//
// A Dispatch may read a buffer beyond a bound range only if the shader indexes
// out of its bindings; devices ask for robust access where there is such a
// thing, but a kernel that relies on it is wrong.
//
// # Order
//
// Calls take effect in the order they are made, as if each had finished before
// the next one began, from whatever goroutine they come. A Device is free to
// batch and overlap them as long as no one can tell; in particular Submit
// returns before the work is done, and errors of that work come out of a later
// Read or Sync. All methods may be called concurrently.
//
// # Failure
//
// A failed call changes nothing the caller can see. After ErrDeviceLost every
// call but Close returns ErrDeviceLost at once. After Close every call but
// Close returns ErrClosed.
package gpu

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lathe-gpu/lathe/handles"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// Handle names a buffer of one Device.
type Handle = handles.Handle

// Unit is the most bytes a shader reads at once: a texel, or a vector of four
// words.
const Unit = 16

// RoundUp is n bytes rounded up to whole units.
func RoundUp(n int64) int64 { return (n + Unit - 1) &^ (Unit - 1) }

// Device is a GPU, or something that behaves like one.
type Device interface {
	// Info describes the device. It never changes and costs nothing.
	Info() *Info

	// Alloc makes a zero-filled buffer of size bytes. Size 0 is legal.
	// Errors: ErrInvalidArgument (negative), *LimitError (larger than
	// Limits.MaxBuffer), ErrOutOfMemory.
	Alloc(size int64) (Handle, error)

	// Free ends the life of a buffer. Work already submitted still finishes.
	// Errors: ErrInvalidHandle.
	Free(h Handle) error

	// Write copies data into the buffer from offset on. It has taken its copy
	// when it returns.
	// Errors: ErrInvalidHandle, ErrInvalidArgument (range), ctx.Err().
	Write(ctx context.Context, h Handle, offset int64, data []byte) error

	// Read waits for the work submitted so far that writes the buffer, then
	// copies len(dst) bytes from offset on into dst.
	// Errors: as Write, and any error of the work waited for.
	Read(ctx context.Context, h Handle, offset int64, dst []byte) error

	// Submit runs the dispatches one after the other: each sees all that the
	// ones before it wrote. It checks all of them first and runs none if one
	// is wrong. It keeps nothing of list when it returns.
	// Errors: ErrInvalidHandle, ErrInvalidArgument, ErrInvalidShader,
	// *LimitError, ErrUnsupported (a capability), ErrOutOfMemory.
	Submit(list []Dispatch) error

	// Sync waits until all submitted work is done and returns its first error.
	// A cancelled wait returns ctx.Err() and leaves the device usable.
	Sync(ctx context.Context) error

	// Close waits for submitted work and gives back everything. Closing twice
	// is harmless. Where work does not end within a time that the Device was
	// opened with, Close returns an error that wraps context.DeadlineExceeded
	// and says what is left behind.
	Close() error
}

// DefaultCloseTimeout is how long Close waits for work where nothing else is asked for.
const DefaultCloseTimeout = 10 * time.Second

// CloseTimeout is the time to wait that an option means: 0 the default, less than 0 no
// bound, which it returns as less than 0.
func CloseTimeout(option time.Duration) time.Duration {
	if option == 0 {
		return DefaultCloseTimeout
	}
	return option
}

// Importer is a Device that can work in memory of the host, as CPU drivers can.
type Importer interface {
	// Import makes a buffer of data itself, without a copy: dispatches read and
	// write it in place. The caller keeps its hands off data until it has freed
	// the buffer and a Sync, or a Read of the buffer, has returned.
	// Errors: ErrUnsupported where this memory will not do (copy it then),
	// ErrOutOfMemory.
	Import(data []byte) (Handle, error)
}

// Dispatch is one launch of a compute shader: plain data, which can be kept,
// printed, traced and submitted again.
type Dispatch struct {
	Module   *Module
	Bindings []Binding // element i is binding i of set 0
	Params   []byte    // push constants, at least Module.ParamSize bytes
	Groups   [3]uint32 // workgroups; any 0 means there is nothing to do
	Tag      uint64    // the caller's own; it comes back in the Span of a Timer
}

// Binding is a range of a buffer. Size 0 means up to the buffer's end, in whole
// elements: see [Binding.Span]. A range may reach as far as the end rounded up to a
// multiple of [Unit].
// Offset must be a multiple of Limits.OffsetAlign (TexelAlign for a texel buffer).
type Binding struct {
	Buffer Handle
	Offset int64 // bytes
	Size   int64 // bytes
}

// Kind is the class of hardware, best first.
type Kind uint8

// The kinds of device in order of preference.
const (
	Discrete Kind = iota
	Integrated
	Virtual
	Other
	CPU
)

func (k Kind) String() string {
	switch k {
	case Discrete:
		return "discrete GPU"
	case Integrated:
		return "integrated GPU"
	case Virtual:
		return "virtual GPU"
	case CPU:
		return "CPU"
	}
	return "other"
}

// Info is what is known of a device.
type Info struct {
	Backend  string    // "vk", "wgpu", "null"
	Name     string    // as the driver gives it
	Driver   string    // driver name and version
	UUID     uuid.UUID // of the physical device; part of the pipeline cache's key
	Kind     Kind
	Vendor   uint32 // PCI vendor, or as the driver gives it
	Memory   int64  // bytes of the largest device-local heap; 0 = unknown
	Limits   Limits
	Features Features
}

// Limits are the numbers work is planned by. A zero means "none of it" except
// where stated.
type Limits struct {
	MaxBuffer       int64     // bytes of one buffer
	MaxBinding      int64     // bytes one binding may span
	MaxTexels       int64     // texels (of 16 bytes) one texel-buffer binding may span
	OffsetAlign     int64     // a storage binding's offset is a multiple of this; a power of two
	TexelAlign      int64     // likewise for texel buffers
	MaxGroups       [3]uint32 // workgroups in each dimension
	MaxTotalGroups  uint64    // workgroups of a dispatch in all; 0 = no limit known
	MaxLocalSize    [3]uint32 // invocations of a workgroup in each dimension
	MaxInvocations  uint32    // invocations of a workgroup
	MaxSharedBytes  uint32    // workgroup memory
	MaxPrivateBytes uint64    // Module.PrivateBytes of a shader from ParseModule; 0 = no limit known
	MaxRegisters    uint64    // Module.Registers, likewise
	MaxValueScalars uint64    // Module.ValueScalars, likewise
	MaxInstructions uint64    // Module.Instructions, likewise
	MaxParamBytes   uint32    // push constants
	MaxBindings     uint32    // storage buffers a shader may have
	MaxTexelBuffers uint32    // texel buffers a shader may have, uniform and storage each; 0 = unsupported
	MaxUniform      int64     // bytes one uniform-buffer binding may span; 0 = unsupported
	// MaxIterations is how many loop iterations an invocation may run, all loops
	// together; 0 = no limit known. Past it the invocation stops without an
	// error, and what it has not stored stays as it was: lavapipe does so.
	MaxIterations uint32
}

// Features are the optional abilities of a device. Capability checks of
// foreign shaders read it too.
type Features struct {
	F16, F64, I8, I16, I64 bool // arithmetic
	Storage8, Storage16    bool // 8 and 16-bit storage buffers
	Subgroups              bool // basic, vote, ballot, shuffle and arithmetic in compute
	SubgroupSize           uint32
	FullSubgroups          bool      // workgroups of a multiple of SubgroupSize along x are cut into whole subgroups of that size
	SubgroupOps            uint32    // bits SubgroupBasic and on: which operations there are if not all that Subgroups names, and any more
	Matrix                 [3]uint32 // m, n, k of cooperative matrices: f16 times f16 added to f32 by a subgroup; zeros if there are none
	Atomics64              bool
	Timestamps             bool // a Timer says when each command ran
	VulkanMemoryModel      bool
	Abilities              spv.Ability // what else shaders may ask for
	SPIRV                  uint32      // newest version of SPIR-V taken, as in a module's header; 0 = no limit known
}

// The bits of Features.SubgroupOps, numbered as Vulkan numbers them.
const (
	SubgroupBasic uint32 = 1 << iota
	SubgroupVote
	SubgroupArithmetic
	SubgroupBallot
	SubgroupShuffle
	SubgroupShuffleRelative
	SubgroupClustered
	SubgroupQuad
)
