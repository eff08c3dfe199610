package gpu

import (
	"fmt"
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/spv"
)

// texelBytes is the size of a texel. Lathe uses one kind, of four 32-bit components.
const texelBytes = 16

// Check returns an error if the dispatch must not reach the driver of the device that
// info describes. size returns the bytes of a live buffer of that device, and
// ErrInvalidHandle for any other handle.
//
// Check is [CheckModule] followed by [Dispatch.CheckLaunch]. A Device that keeps the
// modules it has checked needs only the second. A check that passes allocates no memory.
//
// Errors: ErrInvalidArgument, ErrInvalidHandle, ErrInvalidShader,
// ErrUnsupported, *LimitError.
func (d *Dispatch) Check(info *Info, size func(Handle) (int64, error)) error {
	if d == nil {
		return fmt.Errorf("gpu: dispatch: %w: no dispatch", ErrInvalidArgument)
	}
	if err := CheckModule(info, d.Module); err != nil {
		return err
	}
	return d.CheckLaunch(info, size)
}

// CheckModule returns an error if the device that info describes cannot run m with any
// bindings and groups. That is so if its workgroup, shared memory, push constants or
// number of bindings exceed a limit, or if it needs a capability that the device lacks.
// The result depends only on the arguments, so it may be kept.
//
// Errors: ErrInvalidArgument (m is nil), ErrInvalidShader, ErrUnsupported,
// *LimitError.
func CheckModule(info *Info, m *spv.Module) error {
	if m == nil || info == nil {
		return fmt.Errorf("gpu: dispatch: %w: no module or no device", ErrInvalidArgument)
	}
	l := &info.Limits
	if len(m.Code) < 20 || len(m.Code)%4 != 0 {
		return fmt.Errorf("gpu: %s: %w: %d bytes of SPIR-V; make modules with gpu.ParseModule", Label(m), ErrInvalidShader, len(m.Code))
	}
	product := uint64(1)
	for i, n := range m.LocalSize {
		if n == 0 {
			return fmt.Errorf("gpu: %s: %w: local size %v has a zero; make modules with gpu.ParseModule", Label(m), ErrInvalidShader, m.LocalSize)
		}
		if n > l.MaxLocalSize[i] {
			return limit(m, localNames[i], int64(n), int64(l.MaxLocalSize[i]))
		}
		// Each factor is at most 2³² − 1, so the product of three may overflow;
		// past 2³² it is over any limit already.
		if product *= uint64(n); product > 1<<32 {
			product = 1 << 32
		}
	}
	if product > uint64(l.MaxInvocations) {
		return limit(m, "MaxInvocations", int64(product), int64(l.MaxInvocations))
	}
	if m.SharedBytes > l.MaxSharedBytes {
		return limit(m, "MaxSharedBytes", int64(m.SharedBytes), int64(l.MaxSharedBytes))
	}
	if m.Foreign {
		if err := checkAmounts(l, m); err != nil {
			return err
		}
	}
	if m.ParamSize > l.MaxParamBytes {
		return limit(m, "MaxParamBytes", int64(m.ParamSize), int64(l.MaxParamBytes))
	}
	if err := checkKinds(l, m); err != nil {
		return err
	}
	return checkNeeds(info, m)
}

// checkAmounts compares a foreign module with what the driver's compiler can handle.
func checkAmounts(l *Limits, m *spv.Module) error {
	for _, a := range [...]struct {
		name       string
		want, have uint64
	}{
		{"MaxPrivateBytes", m.PrivateBytes, l.MaxPrivateBytes},
		{"MaxRegisters", m.Registers, l.MaxRegisters},
		{"MaxValueScalars", m.ValueScalars, l.MaxValueScalars},
		{"MaxInstructions", m.Instructions, l.MaxInstructions},
	} {
		if a.have > 0 && a.want > a.have {
			return limit(m, a.name, int64(a.want), int64(a.have))
		}
	}
	return nil
}

// These are limits for drivers that run on the CPU. The drivers do not report them. Their
// compilers take seconds for large private arrays (lavapipe takes a second for each 16
// KiB), and larger arrays end the process (SwiftShader at 256 KiB). They count workgroups
// in 32 bits, and run a wrong number of them beyond that. SwiftShader compiles 1 000
// registers in 3 s. It compiles 17 000 instructions after inlining in 4 s, and 35 000 in
// 17 s. An array of 256 words that is copied as one value, or a table of 256 words, takes
// a second. A table of 512 words takes 20 s on lavapipe.
const (
	CPUPrivateBytes = 32 << 10
	CPURegisters    = 2048
	CPUValueScalars = 256
	CPUInstructions = 20_000
	CPUTotalGroups  = 1<<32 - 1
)

// These are limits for other drivers. Their compilers have not been measured. So these
// limits only refuse modules that are extremely large.
const (
	GPURegisters    = 1 << 16
	GPUValueScalars = 1 << 12
	GPUInstructions = 1 << 20
)

// BoundCompiling sets the limits of l on foreign shaders that exist because of the
// driver's compiler. k is the kind of the device. It does not change MaxPrivateBytes.
func (l *Limits) BoundCompiling(k Kind) {
	if l == nil {
		return
	}
	l.MaxRegisters, l.MaxValueScalars, l.MaxInstructions = GPURegisters, GPUValueScalars, GPUInstructions
	if k == CPU {
		l.MaxRegisters, l.MaxValueScalars, l.MaxInstructions = CPURegisters, CPUValueScalars, CPUInstructions
	}
}

// localNames and groupNames spell a limit of one dimension.
var (
	localNames = [3]string{"MaxLocalSize[0]", "MaxLocalSize[1]", "MaxLocalSize[2]"}
	groupNames = [3]string{"MaxGroups[0]", "MaxGroups[1]", "MaxGroups[2]"}
)

// checkKinds counts the bindings of each kind against the limits.
func checkKinds(l *Limits, m *spv.Module) error {
	var storage, uniformTexel, storageTexel uint32
	for i := range m.Bindings {
		b := &m.Bindings[i]
		switch b.Kind {
		case spv.StorageBuffer:
			storage++
		case spv.UniformTexel:
			uniformTexel++
		case spv.StorageTexel:
			storageTexel++
		case spv.UniformBuffer:
			if l.MaxUniform == 0 {
				return fmt.Errorf("gpu: %s: %w: %s is a uniform buffer; make it a readonly storage buffer", Label(m), ErrUnsupported, b.Where())
			}
		default:
			return fmt.Errorf("gpu: %s: %w: %s is of kind %d", Label(m), ErrUnsupported, b.Where(), b.Kind)
		}
	}
	switch texels := max(uniformTexel, storageTexel); {
	case storage > l.MaxBindings:
		return limit(m, "MaxBindings", int64(storage), int64(l.MaxBindings))
	case texels > 0 && l.MaxTexelBuffers == 0:
		return fmt.Errorf("gpu: %s: %w: this device has no texel buffers", Label(m), ErrUnsupported)
	case texels > l.MaxTexelBuffers:
		return limit(m, "MaxTexelBuffers", int64(texels), int64(l.MaxTexelBuffers))
	}
	return nil
}

// CheckLaunch is the part of [Dispatch.Check] that depends on more than the
// module: bindings, parameters and groups. The module must have passed
// [CheckModule] for the same info.
//
// A binding that the module does not declare may be the zero Binding. If it is not, its
// handle and range are checked like those of any other. An empty range is legal, and so
// is a texel range that ends inside a texel.
//
// Errors: ErrInvalidArgument, ErrInvalidHandle, *LimitError.
func (d *Dispatch) CheckLaunch(info *Info, size func(Handle) (int64, error)) error {
	if d == nil || d.Module == nil || info == nil || size == nil {
		return fmt.Errorf("gpu: dispatch: %w: no dispatch, no module, or no device", ErrInvalidArgument)
	}
	l, m := &info.Limits, d.Module
	if n := len(m.Bindings); n > 0 && uint64(m.Bindings[n-1].Slot) >= uint64(len(d.Bindings)) {
		return fmt.Errorf("gpu: %s: bindings: %w: shader declares %s, %d given",
			Label(m), ErrInvalidArgument, m.Bindings[n-1].Where(), len(d.Bindings))
	}
	// This is the index of the first declared binding that has not been seen. Declared
	// bindings ascend by slot.
	next := 0
	for i := range d.Bindings {
		b := &d.Bindings[i]
		declared := next < len(m.Bindings) && m.Bindings[next].Slot == uint32(i)
		if !declared && *b == (Binding{}) {
			continue
		}
		total, err := b.bufferBytes(m, i, size)
		if err != nil {
			return err
		}
		for ; next < len(m.Bindings) && m.Bindings[next].Slot == uint32(i); next++ {
			if err := checkRange(l, m, &m.Bindings[next], b.Offset, b.Span(&m.Bindings[next], total)); err != nil {
				return err
			}
		}
	}
	switch n := len(d.Params); {
	case uint64(n) < uint64(m.ParamSize):
		return fmt.Errorf("gpu: %s: params: %w (got %d bytes, want %d)", Label(m), ErrInvalidArgument, n, m.ParamSize)
	case n%4 != 0:
		return fmt.Errorf("gpu: %s: params: %w: %d bytes is not a multiple of 4", Label(m), ErrInvalidArgument, n)
	case int64(n) > int64(l.MaxParamBytes):
		return limit(m, "MaxParamBytes", int64(n), int64(l.MaxParamBytes))
	}
	for i, n := range d.Groups {
		if n > l.MaxGroups[i] {
			return limit(m, groupNames[i], int64(n), int64(l.MaxGroups[i]))
		}
	}
	if total := d.Count(); l.MaxTotalGroups > 0 && total > l.MaxTotalGroups {
		return limit(m, "MaxTotalGroups", int64(min(total, 1<<63-1)), int64(l.MaxTotalGroups))
	}
	return nil
}

// bufferBytes returns the size of the buffer of binding i in bytes. It checks that the
// handle is live and that the range is in the buffer.
func (b *Binding) bufferBytes(m *spv.Module, i int, size func(Handle) (int64, error)) (int64, error) {
	total, err := size(b.Buffer)
	if err != nil {
		return 0, fmt.Errorf("gpu: %s: binding %d: %w", Label(m), i, err)
	}
	if b.Offset < 0 || b.Size < 0 || b.Offset > total || b.Size > RoundUp(total)-b.Offset {
		return 0, fmt.Errorf("gpu: %s: binding %d: %w: range (got offset %d size %d, want within %d bytes)",
			Label(m), i, ErrInvalidArgument, b.Offset, b.Size, total)
	}
	return total, nil
}

// Span returns the length of the binding range in bytes, in a buffer of total bytes, for
// a shader that declares the binding as decl. The range must be in the buffer.
//
//   - A Size other than 0 counts as it is. Only the last texel of a texel buffer at the
//     end of its buffer is completed.
//   - With Size 0 a storage buffer spans the bytes that are left. If its block ends with
//     an array of elements of 2, 4, 8 or 16 bytes, they are rounded up to an element. So
//     the shader sees as many elements as there are, and can reach all bytes as words.
//   - With Size 0 other buffers span a multiple of [Unit].
//
// WebGPU has only words, so there the range is rounded up to 4 bytes. Without a range or a
// declaration the length is 0.
func (b *Binding) Span(decl *spv.Binding, total int64) int64 {
	if b == nil || decl == nil {
		return 0
	}
	rest, room := total-b.Offset, RoundUp(total)-b.Offset
	texel := decl.Kind == spv.UniformTexel || decl.Kind == spv.StorageTexel
	switch {
	case texel && b.Size == rest:
		return room
	case b.Size > 0:
		return b.Size
	// The range is empty, although a unit may begin before it.
	case rest == 0:
		return 0
	case decl.Kind != spv.StorageBuffer:
		return room
	}
	head, step := int64(decl.ArrayOffset), int64(decl.ArrayStride)
	if step == 0 || Unit%step != 0 || rest <= head {
		return rest
	}
	return min(head+(rest-head+step-1)/step*step, room)
}

// checkRange compares a range with the alignment and the size limit of its kind.
func checkRange(l *Limits, m *spv.Module, decl *spv.Binding, offset, span int64) error {
	align := l.OffsetAlign
	texel := decl.Kind == spv.UniformTexel || decl.Kind == spv.StorageTexel
	if texel {
		align = l.TexelAlign
	}
	if align > 1 && offset%align != 0 {
		return fmt.Errorf("gpu: %s: %s: %w: offset %d is not a multiple of %d", Label(m), decl.Where(), ErrInvalidArgument, offset, align)
	}
	switch {
	case texel:
		if n := span/texelBytes + min(span%texelBytes, 1); n > l.MaxTexels {
			return limit(m, "MaxTexels", n, l.MaxTexels)
		}
	case decl.Kind == spv.UniformBuffer:
		if span > l.MaxUniform {
			return limit(m, "MaxUniform", span, l.MaxUniform)
		}
	case span > l.MaxBinding:
		return limit(m, "MaxBinding", span, l.MaxBinding)
	}
	return nil
}

// Count returns the number of workgroups, or MaxUint64 if the number does not fit in 64
// bits.
func (d *Dispatch) Count() uint64 {
	if d == nil {
		return 0
	}
	n := uint64(d.Groups[0]) * uint64(d.Groups[1])
	hi, lo := bits.Mul64(n, uint64(d.Groups[2]))
	if hi != 0 {
		return 1<<64 - 1
	}
	return lo
}

// Label returns the name of a module in errors and traces. If the module has no name, it
// is the first digits of the hash.
func Label(m *spv.Module) string {
	switch {
	case m == nil:
		return "dispatch"
	case m.Name != "":
		return m.Name
	}
	return fmt.Sprintf("shader %x", m.Hash[:6])
}

// limit returns the error for a module that exceeds a limit.
func limit(m *spv.Module, name string, want, have int64) error {
	return fmt.Errorf("gpu: %s: %w", Label(m), &LimitError{Name: name, Want: want, Have: have})
}

// CheckSize makes the checks of [Device.Alloc] for a buffer of size bytes.
// Errors: ErrInvalidArgument, *LimitError.
func CheckSize(info *Info, size int64) error {
	switch {
	case info == nil:
		return fmt.Errorf("gpu: alloc: %w: no device", ErrInvalidArgument)
	case size < 0:
		return fmt.Errorf("gpu: alloc: %w: size %d", ErrInvalidArgument, size)
	case size > info.Limits.MaxBuffer:
		return fmt.Errorf("gpu: alloc: %w", &LimitError{Name: "MaxBuffer", Want: size, Have: info.Limits.MaxBuffer})
	}
	return nil
}

// CheckRange checks that n bytes from offset on are in a buffer of size bytes, as
// [Device.Write] and [Device.Read] do. op is the name of the method in the error.
// Errors: ErrInvalidArgument.
func CheckRange(op string, size, offset int64, n int) error {
	if offset < 0 || offset > size || int64(n) > size-offset {
		return fmt.Errorf("gpu: %s: %w: range (got offset %d length %d, want within %d bytes)", op, ErrInvalidArgument, offset, n, size)
	}
	return nil
}
