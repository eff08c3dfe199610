package picture

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// maxStages is the largest number of stages in one launch of image/pointwise.
const maxStages = 6

// Stage is the normal form of a pointwise operation on colour components in 0..1. It
// replaces each component v by Scale·v + Offset, unless Step, Matrix, Curves or Vibrance is set.
// Alpha does not change.
type Stage struct {
	// Luma says that v is the luma of the pixel instead.
	Luma bool
	// Step says that the result is 1 if v is at least Threshold, and 0 otherwise. Scale and
	// Offset are then ignored.
	Step bool
	// Clamp says that the result is clamped to 0..1.
	Clamp                    bool
	Scale, Offset, Threshold float64
	// Matrix says that the result is the product of this matrix with the colours and 1,
	// clamped to 0..1. A row makes a colour of the result. The result of a picture of one
	// channel is the luma of that for a grey pixel, clamped afterwards.
	Matrix *[12]float64
	// Curves are applied one after the other, each to the components of its channels. The
	// result is clamped to 0..1.
	Curves []Curve
	// Vibrance says that each colour is Y + (v − Y)·(1 + Vibrance·(1 − s)), clamped to 0..1. Y is
	// the luma of the pixel, and s its largest colour less its smallest.
	Vibrance *float64
}

// plain reports whether the stage is one of image/pointwise.
func (s Stage) plain() bool { return s.Matrix == nil && s.Curves == nil && s.Vibrance == nil }

// inverts reports whether the stage makes each v into 1 − v.
func (s Stage) inverts() bool {
	return s.plain() && !s.Luma && !s.Step && s.Scale == -1 && s.Offset == 1
}

// Gain returns how far a difference of a colour may grow at most. For curves, it is that between
// neighbouring levels of bytes.
func (s Stage) Gain() float64 {
	switch {
	case s.Vibrance != nil:
		return 2 + 2*math.Abs(*s.Vibrance)
	case s.Matrix != nil:
		most := 0.0
		for row := range 3 {
			most = max(most, math.Abs(s.Matrix[4*row])+math.Abs(s.Matrix[4*row+1])+math.Abs(s.Matrix[4*row+2]))
		}
		return most
	case s.Curves != nil:
		table, _ := tableOf(s)
		most := 0.0
		for _, levels := range table {
			for i := 1; i < len(levels); i++ {
				most = max(most, math.Abs(float64(levels[i])-float64(levels[i-1])))
			}
		}
		return most
	}
	return math.Abs(s.Scale)
}

// forOneChannel returns the stages that do the same as the given ones in a picture of one
// channel.
func forOneChannel(stages []Stage) []Stage {
	var out []Stage
	for _, s := range stages {
		switch {
		case s.Vibrance != nil:
			continue // A grey pixel is its luma.
		case s.Matrix != nil:
			m, luma := s.Matrix, [3]float64{0.299, 0.587, 0.114}
			s = Stage{Clamp: true}
			for row, w := range luma {
				s.Scale += float64(w * (m[4*row] + m[4*row+1] + m[4*row+2]))
				s.Offset += float64(w * m[4*row+3])
			}
		case s.Curves != nil:
			s.Curves = slices.DeleteFunc(slices.Clone(s.Curves), func(c Curve) bool { return c.Channels != AllColours })
			if len(s.Curves) == 0 {
				s = Stage{Clamp: true, Scale: 1}
			}
		}
		out = append(out, s)
	}
	return out
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
	// Stage returns the normal form of the operation. It is called with valid attributes only.
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
		a, err := spec.As[A](c)
		if err != nil || p.Check != nil && p.Check(a) != nil {
			return Stage{}, false
		}
		return p.Stage(a), true
	}
	return op
}

// StageOf returns the stage of a resolved call, or false if it is not valid or its operation is
// not pointwise.
func StageOf(c spec.Call) (Stage, bool) {
	if f := stages[c.Spec()]; f != nil {
		return f(c)
	}
	return Stage{}, false
}

// PointwiseKernels lists the kernels that PlanStages launches.
func PointwiseKernels() []spec.Kernel {
	list := []spec.Kernel{{Name: stageWords, Params: stageWordsParams{}}}
	for _, d := range dtypes {
		for _, texel := range []bool{false, true} {
			list = append(list, spec.Kernel{Name: kernelName("pointwise", d, "", texel), Params: pointwiseParams{}})
			for _, curves := range []bool{false, true} {
				list = append(list, spec.Kernel{Name: listKernel(d, curves, texel), Params: pointwiseListParams{}})
			}
		}
	}
	for _, suffix := range []string{"", ".word"} {
		for _, shape := range []string{"invert", "affine", "luma", "step"} {
			list = append(list, spec.Kernel{Name: "image/pointwise_byte." + shape + suffix, Params: pointwiseByteParams{}})
		}
		list = append(list,
			spec.Kernel{Name: "image/pointwise_affine.two" + suffix, Params: pointwiseAffineParams{}},
			spec.Kernel{Name: "image/pointwise_affine.four" + suffix, Params: pointwiseAffineParams{}},
			spec.Kernel{Name: "image/pointwise_byte.matrix" + suffix, Params: pointwiseMatrixParams{}},
			spec.Kernel{Name: "image/pointwise_byte.table" + suffix, Params: pointwiseGrid{}})
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

// pointwiseGrid begins the push-constant blocks of the pointwise kernels: the pixels of a launch.
type pointwiseGrid struct {
	Columns  uint32
	SrcBase  uint32
	SrcPitch uint32
	DstBase  uint32
	DstPitch uint32
}

// pointwiseParams is the push-constant block of pointwise.comp.
type pointwiseParams struct {
	pointwiseGrid
	Channels uint32
	Stages   uint32
	Stage    [maxStages]pointwiseStage
}

// pointwiseListParams is the push-constant block of pointwise_list.comp.
type pointwiseListParams struct {
	pointwiseGrid
	Channels uint32
	First    uint32
	Stages   uint32
}

// pointwiseByteParams is the push-constant block of pointwise_byte.comp.
type pointwiseByteParams struct {
	pointwiseGrid
	Invert uint32
	Scale  float32
	Offset float32
	Low    uint32
	Either uint32
}

// pointwiseAffineParams is the push-constant block of pointwise_affine.comp. A stage with scale 1 and offset 0.5 keeps a level.
type pointwiseAffineParams struct {
	pointwiseGrid
	Scale0, Offset0, Scale1, Offset1, Scale2, Offset2, Scale3, Offset3 float32
}

// pointwiseMatrixParams is the push-constant block of the variants "matrix" of
// pointwise_byte.comp.
type pointwiseMatrixParams struct {
	pointwiseGrid
	matrixRows
}

// matrixRows is a Stage.Matrix for bytes: the factors of red, green and blue, and what is added,
// with the half that rounds to nearest.
type matrixRows struct {
	RedR, RedG, RedB, RedOne         float32
	GreenR, GreenG, GreenB, GreenOne float32
	BlueR, BlueG, BlueB, BlueOne     float32
}
