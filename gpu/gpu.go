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

// Unit is the largest number of bytes that a shader reads at once: a texel, or a vector
// of four words. Every buffer has memory up to the next multiple of Unit.
const Unit = 16

// RoundUp returns n bytes, rounded up to a multiple of Unit.
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
	// is wrong. It keeps nothing of list when it returns. A device that keeps a list
	// and submits it many times is a Preparer.
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

// Throttle is a Device that can wait for room with a context. Submit and Alloc have none: they wait
// for earlier work if the program is far ahead of the device, until there is room again.
type Throttle interface {
	// WaitForRoom returns when a Submit, and an Alloc of memory that the device has, need not
	// wait for earlier work. Another goroutine may take the room before the caller does.
	// Errors: ctx.Err(), ErrClosed, ErrDeviceLost.
	WaitForRoom(ctx context.Context) error
}

// Compiler is a Device that can compile a module ahead of its first dispatch.
type Compiler interface {
	// CompileModule compiles a module without running it. A driver may still put work off
	// to the first dispatch. Many goroutines may compile at the same time.
	// Errors: those of Submit that concern the module alone.
	CompileModule(m *Module) error
}

// Dispatch is one launch of a compute shader. It is plain data, which can be kept, printed,
// traced and submitted again.
type Dispatch struct {
	// Module is the shader.
	Module *Module
	// Bindings are the ranges to bind. Element i is binding i of descriptor set 0.
	Bindings []Binding
	// Params are the push constants. There are at least Module.ParamSize bytes. The shader does
	// not see what is beyond them, so that one block may serve several shaders.
	Params []byte
	// Groups is the number of workgroups in x, y and z. If one of them is 0, nothing runs.
	Groups [3]uint32
	// Tag is any number of the caller. A Timer returns it in the Span.
	Tag uint64
}

// Binding is a binding range: the part of a buffer that a shader sees. It may reach as
// far as the end of the buffer, rounded up to a multiple of [Unit].
type Binding struct {
	// Buffer is the buffer.
	Buffer Handle
	// Offset is the start of the range in bytes. It is a multiple of Limits.OffsetAlign, or
	// of Limits.TexelAlign for a texel buffer.
	Offset int64
	// Size is the length of the range in bytes. 0 means up to the end of the buffer, in
	// whole elements, as Span says.
	Size int64
	// Discard is a promise for a list of dispatches. Nothing in the list reads what the
	// range held before, and the list writes every byte of the range that anyone reads
	// later. A Device need not fill such a range of a new buffer with zeros. If the promise
	// is broken, the range may show bytes of buffers that were freed.
	Discard bool
}

// Kind is the class of the hardware.
type Kind uint8

// These are the kinds of device, the best first.
const (
	Discrete Kind = iota
	Integrated
	Virtual
	Other
	CPU
)

// String returns the kind in words, such as "discrete GPU".
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
	// Backend is the package that drives the device: "vk", "wgpu", "cpu" or "null".
	Backend string
	// Name is the name of the device, as the driver gives it.
	Name string
	// Driver is the name and version of the driver.
	Driver string
	// UUID identifies the physical device. It is part of the key of the pipeline cache.
	UUID uuid.UUID
	// Kind is the class of the hardware.
	Kind Kind
	// Vendor is the PCI number of the vendor, or what the driver gives in its place.
	Vendor uint32
	// Memory is the size of the largest device-local heap in bytes. 0 means unknown.
	Memory   int64
	Limits   Limits
	Features Features
}

// Limits are the numbers by which work is planned. A zero means that the device has
// nothing of the kind, unless the field says that 0 means no known limit.
type Limits struct {
	// MaxBuffer is the largest size of a buffer in bytes.
	MaxBuffer int64
	// MaxBinding is the largest size of a binding range in bytes.
	MaxBinding int64
	// MaxTexels is the largest number of texels, of 16 bytes each, in a range of a texel
	// buffer.
	MaxTexels int64
	// OffsetAlign is the alignment in bytes of the offset of a storage buffer. It is a power
	// of two.
	OffsetAlign int64
	// TexelAlign is the alignment in bytes of the offset of a texel buffer. It is a power of
	// two.
	TexelAlign int64
	// MaxGroups is the largest number of workgroups of a dispatch in x, y and z.
	MaxGroups [3]uint32
	// MaxTotalGroups is the largest number of all workgroups of a dispatch. 0 means no known
	// limit.
	MaxTotalGroups uint64
	// MaxLocalSize is the largest number of invocations of a workgroup in x, y and z.
	MaxLocalSize [3]uint32
	// MaxInvocations is the largest number of all invocations of a workgroup.
	MaxInvocations uint32
	// MaxSharedBytes is the largest size of workgroup memory in bytes.
	MaxSharedBytes uint32
	// MaxPrivateBytes, MaxRegisters, MaxValueScalars and MaxInstructions bound the fields
	// PrivateBytes, Registers, ValueScalars and Instructions of a Module from ParseModule. 0
	// means no known limit.
	MaxPrivateBytes uint64
	MaxRegisters    uint64
	MaxValueScalars uint64
	MaxInstructions uint64
	// MaxParamBytes is the largest size of the push constants in bytes.
	MaxParamBytes uint32
	// MaxBindings is the largest number of storage buffers of a shader.
	MaxBindings uint32
	// MaxTexelBuffers is the largest number of uniform texel buffers of a shader. It may have
	// the same number of storage texel buffers.
	MaxTexelBuffers uint32
	// MaxUniform is the largest size of a range of a uniform buffer in bytes.
	MaxUniform int64
	// MaxIterations is how many loop iterations an invocation may run, all loops together. The
	// test that ends a loop counts as one. 0 means no known limit. lavapipe stops an invocation that exceeds it, without an
	// error. What the invocation has not stored then stays as it was.
	MaxIterations uint32
}

// Features are the optional abilities of a device. The capability checks of foreign
// shaders read them too.
type Features struct {
	// F16, F64, I8, I16 and I64 say that shaders can compute with these types.
	F16, F64, I8, I16, I64 bool
	// Storage8 and Storage16 say that storage buffers may have elements of 8 and 16 bits.
	Storage8, Storage16 bool
	// Subgroups says that compute shaders have the subgroup operations basic, vote, ballot,
	// shuffle and arithmetic.
	Subgroups bool
	// SubgroupSize is the number of invocations in a subgroup.
	SubgroupSize uint32
	// FullSubgroups says that a workgroup whose size in x is a multiple of SubgroupSize
	// consists of full subgroups.
	FullSubgroups bool
	// SubgroupOps has a bit for each kind of subgroup operation, from SubgroupBasic on. The
	// kinds that Subgroups names need no bit.
	SubgroupOps uint32
	// Matrix is m, n and k of cooperative matrices. A subgroup multiplies F16 matrices and
	// adds the product to an F32 matrix. Zeros mean that there are none.
	Matrix [3]uint32
	// Atomics64 says that there are atomic operations on 64 bits.
	Atomics64 bool
	// Timestamps says that a Timer reports when each command ran.
	Timestamps bool
	// HostVectors says that the device runs four neighbouring invocations as one vector of
	// the processor. They load and store words that lie side by side together, which is
	// cheap. Loads from addresses apart are dear, and so are branches that not all of them
	// take. A launch costs next to nothing.
	HostVectors bool
	// VulkanMemoryModel says that shaders may use the Vulkan memory model.
	VulkanMemoryModel bool
	// Abilities are all other abilities that shaders may ask for.
	Abilities spv.Ability
	// SPIRV is the newest version of SPIR-V that the device accepts, as in the header of a
	// module. 0 means no known limit.
	SPIRV uint32
}

// These are the bits of Features.SubgroupOps. Vulkan uses the same numbers.
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
