// Package gpu is the contract between Lathe and a device. A Device knows
// nothing of any operation: it holds buffers and runs dispatches.
//
// # Who checks what
//
// Every Device checks each Dispatch with [Dispatch.Check] before its driver sees it.
// The handles must be live, and the ranges must be aligned and lie in their buffers.
// Every binding that the shader declares must be given. Parameter bytes, groups and
// local size must be within the limits of Info, and the device must have the
// capabilities. Drivers check little of this: some crash, some ignore it. So a Device
// never relies on its driver to refuse.
//
// # Padding
//
// Shaders read memory in units of up to 16 bytes, so every buffer has memory up
// to the next multiple of [Unit] past its end, and a binding may span it. This
// padding is zero at first. It is zero again after a Write that reaches the end of
// the buffer. No Read returns it. Lathe's own kernels may read the padding, but their
// results do not depend on it, and they leave zeros in it. What a foreign shader
// writes there stays until a Write reaches the end of the buffer.
//
// A Dispatch reads a buffer beyond a bound range only if the shader indexes out of its
// bindings. Devices ask their driver for robust access where it has that, but a kernel
// that relies on robust access is wrong.
//
// # Order
//
// Calls take effect in the order in which they are made, as if each had finished
// before the next one began. The goroutines that make them do not matter. A Device may
// batch and overlap its work as long as no caller can tell. Submit returns before the
// work is done, and a later Read or Sync returns the errors of that work. All methods
// may be called concurrently.
//
// # Failure
//
// A failed call changes nothing that the caller can see. After ErrDeviceLost every
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

// RoundUp is n bytes, rounded up to a multiple of Unit.
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

	// Write copies data into the buffer from offset on, in bytes. The caller may
	// change data as soon as Write has returned.
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

	// Close waits for submitted work and releases everything. Closing twice is
	// harmless. The Device is opened with a time limit for Close. If the work does
	// not end within it, Close returns an error that wraps context.DeadlineExceeded
	// and says what is left behind.
	Close() error
}

// DefaultCloseTimeout is how long Close waits for work unless the options say otherwise.
const DefaultCloseTimeout = 10 * time.Second

// CloseTimeout returns the time that an option tells Close to wait. An option of 0
// means DefaultCloseTimeout. A negative option means no bound, and is returned as it is.
func CloseTimeout(option time.Duration) time.Duration {
	if option == 0 {
		return DefaultCloseTimeout
	}
	return option
}

// Importer is a Device that can work in memory of the host, as CPU drivers can.
type Importer interface {
	// Import makes a buffer of data itself, without a copy. Dispatches read and
	// write data in place. The caller must not touch data until it has freed the
	// buffer and a Sync, or a Read of the buffer, has returned.
	// Errors: ErrUnsupported if the device cannot use this memory (copy it then),
	// ErrOutOfMemory.
	Import(data []byte) (Handle, error)
}

// Dispatch is one launch of a compute shader: plain data, which can be kept,
// printed, traced and submitted again.
type Dispatch struct {
	Module   *Module
	Bindings []Binding // element i is binding i of descriptor set 0
	Params   []byte    // the push constants, at least Module.ParamSize bytes
	Groups   [3]uint32 // the number of workgroups in x, y and z; a 0 means that nothing runs
	Tag      uint64    // any number of the caller's; a Timer returns it in the Span
}

// Binding is a binding range: the part of a buffer that a shader sees. It may reach as
// far as the end of the buffer, rounded up to a multiple of [Unit].
type Binding struct {
	Buffer Handle
	Offset int64 // in bytes, a multiple of Limits.OffsetAlign, or of TexelAlign for a texel buffer
	Size   int64 // in bytes; 0 means up to the buffer's end, in whole elements: see Span
	// Discard is a promise for a list of dispatches. Nothing in the list reads what the
	// range held before, and the list writes every byte of the range that anyone reads
	// later. A Device need not fill such a range of a new buffer with zeros. If the promise
	// is broken, the range may show bytes of buffers that were freed.
	Discard bool
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

// Info describes a device.
type Info struct {
	Backend  string    // the package that drives it: "vk", "wgpu" or "null"
	Name     string    // the name of the device, as the driver gives it
	Driver   string    // the name and version of the driver
	UUID     uuid.UUID // identifies the physical device; it is part of the key of the pipeline cache
	Kind     Kind
	Vendor   uint32 // the PCI number of the vendor, or what the driver gives in its place
	Memory   int64  // the bytes of the largest device-local heap; 0 if unknown
	Limits   Limits
	Features Features
}

// Limits are the numbers by which work is planned. A zero means that the device has
// nothing of the kind, unless the field says that 0 means no known limit.
type Limits struct {
	MaxBuffer       int64     // the bytes of one buffer
	MaxBinding      int64     // the bytes of one binding range
	MaxTexels       int64     // the texels of 16 bytes in one range of a texel buffer
	OffsetAlign     int64     // the offset of a storage buffer is a multiple of this many bytes, a power of two
	TexelAlign      int64     // the offset of a texel buffer is a multiple of this many bytes, a power of two
	MaxGroups       [3]uint32 // the workgroups of a dispatch in x, y and z
	MaxTotalGroups  uint64    // all workgroups of a dispatch; 0 means no known limit
	MaxLocalSize    [3]uint32 // the invocations of a workgroup in x, y and z
	MaxInvocations  uint32    // all invocations of a workgroup
	MaxSharedBytes  uint32    // the bytes of workgroup memory
	MaxPrivateBytes uint64    // Module.PrivateBytes of a shader from ParseModule; 0 means no known limit
	MaxRegisters    uint64    // Module.Registers of such a shader; 0 means no known limit
	MaxValueScalars uint64    // Module.ValueScalars of such a shader; 0 means no known limit
	MaxInstructions uint64    // Module.Instructions of such a shader; 0 means no known limit
	MaxParamBytes   uint32    // the bytes of push constants
	MaxBindings     uint32    // the storage buffers of a shader
	MaxTexelBuffers uint32    // the uniform texel buffers of a shader, and the same number of storage texel buffers
	MaxUniform      int64     // the bytes of one range of a uniform buffer
	// MaxIterations is how many loop iterations an invocation may run, all loops
	// together; 0 means no known limit. lavapipe stops an invocation that exceeds it,
	// without an error, and what the invocation has not stored stays as it was.
	MaxIterations uint32
}

// Features are the optional abilities of a device. The capability checks of foreign
// shaders read them too.
type Features struct {
	F16, F64, I8, I16, I64 bool      // shaders compute with these types
	Storage8, Storage16    bool      // storage buffers may have elements of 8 and of 16 bits
	Subgroups              bool      // compute shaders have the subgroup operations basic, vote, ballot, shuffle and arithmetic
	SubgroupSize           uint32    // the invocations of a subgroup
	FullSubgroups          bool      // workgroups whose size in x is a multiple of SubgroupSize are split into full subgroups
	SubgroupOps            uint32    // the subgroup operations by the bits SubgroupBasic and on; those that Subgroups names need no bit
	Matrix                 [3]uint32 // m, n and k of cooperative matrices (a subgroup adds f16 times f16 to f32); zeros if there are none
	Atomics64              bool      // atomics of 64 bits
	Timestamps             bool      // a Timer says when each command ran
	VulkanMemoryModel      bool
	Abilities              spv.Ability // what else shaders may ask for
	SPIRV                  uint32      // the newest version of SPIR-V that the device takes, as in a module's header; 0 means no known limit
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
