package picture

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// maxStages is how many operations one launch of image/pointwise takes.
const maxStages = 6

// Stage is the normal form of a pointwise operation, on components in 0..1:
// v ↦ Scale·v + Offset, of the pixel's luma if Luma is set, clamped to 0..1 if Clamp is
// set; or, if Step is set, v ≥ Threshold ? 1 : 0. Alpha stays as it is.
type Stage struct {
	Luma, Step, Clamp        bool
	Scale, Offset, Threshold float64
}

// Pointwise is an operation that computes each pixel from itself, and that is a single
// stage.
type Pointwise[A spec.Call] struct {
	Name, Doc, Source string
	Aliases           []string
	Defaults          A
	// Check approves the attributes. Nil approves all.
	// Errors: ErrInvalidArgument.
	Check func(a A) error
	// Stage is the operation's normal form.
	Stage func(a A) Stage
	// Pixel computes the new colour in place, given as 1 or 3 components in 0..1.
	Pixel func(a A, px []float64)
	// Tolerance is how far a result of the dtype may be from Pixel.
	Tolerance func(a A, d tensor.DType) spec.Tolerance
	// Flops is the arithmetic of a pixel.
	Flops int64
	// Calls are attributes to try, the defaults first. Invalid must be refused.
	Calls, Invalid []A
}

// stages holds how calls of the pointwise operations become stages. Declarations write
// it, while packages are initialised.
var stages = map[*spec.Op]func(spec.Call) (Stage, bool){}

// DefinePointwise declares a pointwise operation. A run of such calls can be fused.
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

// StageOf is the stage of a resolved call, if its operation is one.
func StageOf(c spec.Call) (Stage, bool) {
	if f := stages[c.Spec()]; f != nil {
		return f(c)
	}
	return Stage{}, false
}

// PointwiseKernels are the kernels that plans of stages launch.
func PointwiseKernels() []spec.Kernel {
	var list []spec.Kernel
	for _, d := range dtypes {
		for _, texel := range []bool{false, true} {
			list = append(list, spec.Kernel{Name: kernelName("pointwise", d, "", texel), Params: pointwiseParams{}})
		}
	}
	for _, shape := range []string{"invert", "affine", "luma", "step"} {
		list = append(list, spec.Kernel{Name: "image/pointwise_byte." + shape, Params: pointwiseByteParams{}})
	}
	return list
}

type pointwiseStage struct {
	Flags     uint32
	Scale     float32
	Offset    float32
	Threshold float32
}

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
