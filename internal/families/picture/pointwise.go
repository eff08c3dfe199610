package picture

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// maxStages is the largest number of stages in one launch of image/pointwise.
const maxStages = 6

// Stage is the normal form of a pointwise operation on colour components in 0..1. It
// replaces each component v by Scale·v + Offset. Alpha does not change.
type Stage struct {
	// Luma says that v is the luma of the pixel instead.
	Luma bool
	// Step says that the result is 1 if v is at least Threshold, and 0 otherwise. Scale and
	// Offset are then ignored.
	Step bool
	// Clamp says that the result is clamped to 0..1.
	Clamp                    bool
	Scale, Offset, Threshold float64
}

// Pointwise describes an operation that computes each pixel from itself, and that is a
// single stage. Its attributes have type A.
type Pointwise[A spec.Call] struct {
	Name, Doc, Source string
	Aliases           []string
	Defaults          A
	// Check checks the attributes. Nil means that all are valid.
	// Errors: ErrInvalidArgument.
	Check func(a A) error
	// Stage returns the normal form of the operation.
	Stage func(a A) Stage
	// Pixel computes the new colour of a pixel in place. px has 1 or 3 components in 0..1.
	Pixel func(a A, px []float64)
	// Tolerance returns how far a result of the dtype may be from that of Pixel.
	Tolerance func(a A, d tensor.DType) spec.Tolerance
	// Flops is the number of arithmetic operations for a pixel.
	Flops int64
	// Calls are attributes to try, the defaults first. Invalid are attributes that must be
	// refused.
	Calls, Invalid []A
}

// stages says how calls of pointwise operations become stages. DefinePointwise writes it
// while packages are initialised.
var stages = map[*spec.Op]func(spec.Call) (Stage, bool){}

// DefinePointwise declares a pointwise operation. Several such calls can be fused into
// one.
func DefinePointwise[A spec.Call](p Pointwise[A]) *spec.Op {
	op := Define(Filter[A]{
		Name: p.Name, Aliases: p.Aliases, Doc: p.Doc, Source: p.Source, Defaults: p.Defaults,
		Kernels: PointwiseKernels(),
		InPlace: true, Check: p.Check,
		Plan: func(a A, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return PlanStages(t, in, out, []Stage{p.Stage(a)})
		},
		ForOpaque: func(a A) A { return a },
		Reference: func(a A, in, out *tensor.Host) {
			EachPixel(in, out, func(px []float64) { p.Pixel(a, px) })
		},
		Tolerance: func(a A, d tensor.DType, _ []tensor.Desc) spec.Tolerance { return p.Tolerance(a, d) },
		Flops:     func(A) int64 { return p.Flops },
		Calls:     p.Calls, Invalid: p.Invalid,
	})
	stages[op] = func(c spec.Call) (Stage, bool) {
		if c, err := spec.Resolve(c); err == nil {
			if a, ok := c.(A); ok {
				return p.Stage(a), true
			}
		}
		return Stage{}, false
	}
	return op
}

// StageOf returns the stage of a resolved call, or false if its operation is not
// pointwise.
func StageOf(c spec.Call) (Stage, bool) {
	if f := stages[c.Spec()]; f != nil {
		return f(c)
	}
	return Stage{}, false
}

// PointwiseKernels lists the kernels that PlanStages launches.
func PointwiseKernels() []spec.Kernel {
	var list []spec.Kernel
	for _, d := range dtypes {
		for _, texel := range []bool{false, true} {
			list = append(list, spec.Kernel{Name: kernelName("pointwise", d, "", texel), Params: pointwiseParams{}})
		}
	}
	for _, shape := range []string{"invert", "affine", "luma", "step"} {
		for _, suffix := range []string{"", ".word"} {
			list = append(list, spec.Kernel{Name: "image/pointwise_byte." + shape + suffix, Params: pointwiseByteParams{}})
		}
	}
	return list
}

// pointwiseStage is a Stage in the push-constant block of pointwise.comp.
type pointwiseStage struct {
	Flags     uint32
	Scale     float32
	Offset    float32
	Threshold float32
}

// pointwiseParams is the push-constant block of pointwise.comp.
type pointwiseParams struct {
	Columns  uint32
	SrcBase  uint32
	SrcPitch uint32
	DstBase  uint32
	DstPitch uint32
	Channels uint32
	Stages   uint32
	Stage    [maxStages]pointwiseStage
}

// pointwiseByteParams is the push-constant block of pointwise_byte.comp.
type pointwiseByteParams struct {
	Columns  uint32
	SrcBase  uint32
	SrcPitch uint32
	DstBase  uint32
	DstPitch uint32
	Invert   uint32
	Scale    float32
	Offset   float32
	Low      uint32
	Either   uint32
}
