package spec

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Target describes a device as far as plans depend on it.
type Target struct {
	// CPU says that the driver runs kernels on a processor, as lavapipe and SwiftShader
	// do. Loads are slow there, arithmetic is fast, and a barrier switches between
	// coroutines.
	CPU bool
	// MaxBinding is the largest size of a binding in bytes.
	MaxBinding int64
	// MaxTexels is the largest number of texels, of 16 bytes each, in a texel buffer.
	MaxTexels int64
	// OffsetAlign is the alignment of the offset of a storage buffer binding, in bytes.
	OffsetAlign int64
	// TexelAlign is the alignment of the offset of a texel buffer binding, in bytes.
	TexelAlign int64
	// MaxGroups is the largest number of workgroups of a launch in x, y and z.
	MaxGroups [3]uint32
	// MaxInvocations is the largest number of invocations in a workgroup.
	MaxInvocations uint32
	// MaxSharedBytes is the largest amount of memory that a workgroup may share, in bytes.
	MaxSharedBytes uint32
	// MaxParamBytes is the largest size of the push constants in bytes.
	MaxParamBytes uint32
	// MaxBindings is the largest number of storage buffers in a launch.
	MaxBindings uint32
	// MaxIterations is the largest number of loop iterations that an invocation may run, all
	// loops together. The test that ends a loop counts as one, so n iterations of a loop with m
	// iterations inside count n·(m + 2) + 1. 0 means that no limit is known.
	MaxIterations uint32
	// TexelBuffers says that kernels may read tensors as texel buffers.
	TexelBuffers bool
	// HostVectors says that the device runs four neighbouring invocations as one vector of
	// the processor, as the device of Lathe does. What CPU says of other drivers does not hold
	// then: words that lie side by side are loaded and stored together, which is cheap, and
	// launches cost next to nothing. Loads from addresses apart are dear.
	HostVectors bool
	// F16 says that kernels may load, store and compute with 16-bit floats.
	F16 bool
	// F64 says that kernels may compute with 64-bit floats.
	F64 bool
	// I64 says that kernels may compute with 64-bit integers.
	I64 bool
	// SubgroupSize is the number of invocations in a subgroup. It is a power of two and at
	// least 4. A workgroup whose size is a multiple of it consists of full subgroups that
	// can shuffle. 0 means that plans cannot rely on that.
	SubgroupSize uint32
	// Matrix is m, n and k of cooperative matrices. A subgroup multiplies F16 matrices and
	// adds the product to an F32 matrix. Zeros mean that there are none, or that
	// SubgroupSize is 0.
	Matrix [3]uint32
	// Strategy is one of the strategies that Op.Strategies lists. If it is empty or does
	// not suit the call, the plan chooses.
	Strategy string
}

// Plan lists the launches that carry out a call, in order.
type Plan struct {
	// Steps are the launches. Each sees what the launches before it wrote.
	Steps []Step
	// Scratch lists the sizes of temporary buffers in bytes. Their contents are undefined
	// at the start. Lifetimes returns the steps during which each is needed.
	Scratch []int64
	// Checks are the checks of the inputs that only the device can make, such as that
	// indices are in range. Check i reports its findings in the status words that
	// Status(i) names.
	Checks []DeviceCheck
}

// DeviceCheck is a check of inputs that the device makes. It has four status words, which
// are zero at the start. Some steps of the plan write to them what is wrong. Later steps
// do nothing if one of the words is not zero.
type DeviceCheck struct {
	// Error turns the status words into the error of the next Sync or Read. It is called
	// only if word 0 is not zero.
	Error func(words [4]uint32) error
	// Of is the input that is checked. The error names it then. The zero Ref stands for a check of several.
	Of Ref
}

// Step is one launch.
type Step struct {
	// Module is the shader. Lathe's own modules come from package spirv. Modules of a
	// program come from gpu.ParseModule.
	Module *spv.Module
	// Bind lists what the step binds. Bind[i] belongs to binding i of the module.
	Bind []Bind
	// Params is the params struct of the kernel, as Encode accepts it. Nil means that
	// there is none.
	Params any
	// Groups is the number of workgroups in x, y and z.
	Groups [3]uint32
	// Copies says, if it is an input, that the step does nothing but copy elements of that input to the same
	// elements of an output that may overwrite it (Arg.InPlace). The step is left out where both are the same tensor.
	Copies Ref
}

// Bind is a range of an operand or of a scratch buffer that a step binds.
type Bind struct {
	// Buf says which operand or buffer it is.
	Buf Ref
	// Offset is the start of the range, in bytes from the start of the operand. It is
	// aligned as Target requires.
	Offset int64
	// Size is the length of the range in bytes. The range may end at the next multiple of
	// 16 after the end of the tensor or scratch buffer. 0 means that it does.
	Size int64
}

// RefKind says what a Ref refers to.
type RefKind uint8

// These are the kinds of a Ref. The zero Ref refers to nothing.
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
	// Kind says what the Ref refers to.
	Kind RefKind
	// Index is the number of the operand, buffer or check among those of its kind. It
	// counts from 0.
	Index int
}

// In returns a Ref to input i.
func In(i int) Ref { return Ref{RefIn, i} }

// Out returns a Ref to output i.
func Out(i int) Ref { return Ref{RefOut, i} }

// Scratch returns a Ref to scratch buffer i.
func Scratch(i int) Ref { return Ref{RefScratch, i} }

// Status returns a Ref to the four status words, 16 bytes, of device check i.
func Status(i int) Ref { return Ref{RefStatus, i} }

// Lifetime says which steps of a plan need a scratch buffer.
type Lifetime struct {
	// First and Last are the numbers of the first and the last step that bind the buffer.
	First, Last int
}

// Lifetimes returns the lifetime of each scratch buffer. If no step binds a buffer, its
// First is 0 and its Last is -1.
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

// ErrStrides is returned by a Plan that cannot work with the strides of its operands,
// although Arg.Strides allows them, or by a PlanAt that cannot work with a Misalignment. The
// caller then packs such operands and plans again.
var ErrStrides = fmt.Errorf("%w strides", errs.ErrUnsupported)

// Name returns the name of the step's kernel, or "" if the step has no module.
func (s Step) Name() string {
	if s.Module == nil {
		return ""
	}
	return s.Module.Name
}

// Place describes an operand as far as a plan depends on it. It has no buffer.
type Place struct {
	// Desc is the type, shape and strides.
	Desc tensor.Desc
	// Misalignment is the distance in bytes from the last offset that the device can bind
	// to the first byte of the tensor. It is a multiple of the element size. Offsets in a
	// Bind count from that last offset. A PlanAt that needs another one returns ErrStrides.
	Misalignment int64
}

// PlacesOf returns the places of tensors that begin at offsets that the device can bind.
func PlacesOf(ds []tensor.Desc) []Place {
	places := make([]Place, len(ds))
	for i, d := range ds {
		places[i].Desc = d
	}
	return places
}
