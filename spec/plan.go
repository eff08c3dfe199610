package spec

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Target is what a plan needs to know of the device.
type Target struct {
	// CPU says that the driver runs kernels on a processor, as lavapipe and
	// SwiftShader do. There loads are expensive, arithmetic is cheap and a barrier is
	// a switch between coroutines.
	CPU bool
	// MaxBinding is the most bytes that a binding may span.
	MaxBinding int64
	// MaxTexels is the most texels, of 16 bytes each, that a texel buffer may span.
	MaxTexels int64
	// OffsetAlign is what the offset of a storage binding is a multiple of, in bytes.
	OffsetAlign int64
	// TexelAlign is what the offset of a texel buffer is a multiple of, in bytes.
	TexelAlign int64
	// MaxGroups is the most workgroups of a launch along x, y and z.
	MaxGroups [3]uint32
	// MaxInvocations is the most invocations of a workgroup.
	MaxInvocations uint32
	// MaxSharedBytes is the most memory that a workgroup may share, in bytes.
	MaxSharedBytes uint32
	// MaxParamBytes is the most bytes of push constants.
	MaxParamBytes uint32
	// MaxBindings is the most storage buffers of a launch.
	MaxBindings uint32
	// MaxIterations is the most loop iterations of an invocation. 0 means that no
	// limit is known.
	MaxIterations uint32
	// TexelBuffers says that kernels may read tensors as texel buffers.
	TexelBuffers bool
	// F16 says that kernels may load, store and compute with 16-bit floats.
	F16 bool
	// F64 says that kernels may compute with 64-bit floats.
	F64 bool
	// I64 says that kernels may compute with 64-bit integers.
	I64 bool
	// SubgroupSize is the number of invocations of a subgroup: a power of two of at
	// least 4. Workgroups of a multiple of it are then split into whole subgroups that
	// can shuffle. 0 means that plans cannot rely on that.
	SubgroupSize uint32
	// Matrix is m, n and k of cooperative matrices: a subgroup adds products of f16
	// matrices to an f32 matrix. Zeros mean that there are none, or that SubgroupSize
	// is 0.
	Matrix [3]uint32
	// Strategy is the strategy to use, one of those that Op.Strategies lists. Plans
	// choose by themselves where it is empty or does not suit the call.
	Strategy string
}

// Plan is the launches that carry out a call, in order.
type Plan struct {
	// Steps are the launches. Each sees what the ones before it wrote.
	Steps []Step
	// Scratch lists the sizes of temporary buffers, in bytes. Their contents are
	// undefined at first. A buffer is needed from the first step that binds it to the
	// last one, as Lifetimes says.
	Scratch []int64
	// Checks are what only the device can check of the inputs, such as that indices
	// are in range. Check i reports in the words that Status(i) names.
	Checks []DeviceCheck
}

// DeviceCheck is a check of inputs that the device makes. Some steps of the plan write
// what is wrong to the four status words of the check, which are zero at first. The
// steps after them do nothing if a word is not zero. Error turns words of which the
// first is not zero into the error of the next Sync or Read.
type DeviceCheck struct {
	Error func(words [4]uint32) error
}

// Step is one launch.
type Step struct {
	// Module is the shader. Lathe's own come from package spirv, those of a program of its
	// own from gpu.ParseModule.
	Module *spv.Module
	// Bind is what the step binds: Bind[i] at the i-th binding of the module.
	Bind []Bind
	// Params is the kernel's params struct, as Encode takes it. Nil means none.
	Params any
	// Groups is the number of workgroups along x, y and z.
	Groups [3]uint32
}

// Bind is a range of an operand or of a scratch buffer that a step binds.
type Bind struct {
	Buf Ref
	// Offset is where the range begins, in bytes from the start of the operand. It is
	// aligned as Target says.
	Offset int64
	// Size is the length of the range in bytes. It may reach to the next multiple of
	// 16 past the end of the tensor or scratch buffer. 0 means up to there.
	Size int64
}

// RefKind says what a Ref refers to.
type RefKind uint8

// The kinds of a Ref. The zero Ref refers to nothing.
const (
	RefNone RefKind = iota
	RefIn
	RefOut
	RefScratch
	RefStatus
)

// Ref refers to an operand of the call, a scratch buffer of the plan or the status
// words of a device check.
type Ref struct {
	Kind RefKind
	// Index counts from 0 among those of the kind.
	Index int
}

// In is input i.
func In(i int) Ref { return Ref{RefIn, i} }

// Out is output i.
func Out(i int) Ref { return Ref{RefOut, i} }

// Scratch is scratch buffer i.
func Scratch(i int) Ref { return Ref{RefScratch, i} }

// Status is the four status words, 16 bytes, of device check i.
func Status(i int) Ref { return Ref{RefStatus, i} }

// Lifetime is the steps of a plan that need a scratch buffer: from First to Last, both
// included.
type Lifetime struct{ First, Last int }

// Lifetimes returns how long each scratch buffer lives. A buffer that no step binds
// has First 0 and Last -1.
func (p *Plan) Lifetimes() []Lifetime {
	if p == nil {
		return nil
	}
	lives := make([]Lifetime, len(p.Scratch))
	for i := range lives {
		lives[i].Last = -1
	}
	for i, s := range p.Steps {
		for _, b := range s.Bind {
			if b.Buf.Kind != RefScratch || b.Buf.Index < 0 || b.Buf.Index >= len(lives) {
				continue
			}
			if l := &lives[b.Buf.Index]; l.Last < 0 {
				*l = Lifetime{i, i}
			} else {
				l.Last = i
			}
		}
	}
	return lives
}

// ErrStrides is what a Plan returns for operands whose strides it cannot work with,
// although its Arg.Strides allows them. The caller packs such operands and plans again.
var ErrStrides = fmt.Errorf("%w strides", errs.ErrUnsupported)

// Name is the name of the step's kernel.
func (s Step) Name() string {
	if s.Module == nil {
		return ""
	}
	return s.Module.Name
}

// Place says where an operand lies, as far as a plan depends on it: no buffer is in it.
type Place struct {
	Desc tensor.Desc
	// Misalignment is how many bytes the tensor begins after the last offset before it
	// that the device can bind. It is a multiple of the element size. Offsets in a
	// Bind count from that offset.
	Misalignment int64
}

// PlacesOf is where tensors lie that begin where the device can bind them.
func PlacesOf(ds []tensor.Desc) []Place {
	places := make([]Place, len(ds))
	for i, d := range ds {
		places[i].Desc = d
	}
	return places
}
