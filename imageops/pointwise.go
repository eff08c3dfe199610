package imageops

import (
	"fmt"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// maxStages is how many operations one launch of image/pointwise takes.
const maxStages = 6

// stage is the normal form of a pointwise operation, on components in 0..1:
// v ↦ scale·v + offset, of the pixel's luma if luma is set, clamped to 0..1 if
// clamp is set; or, if step is set, v ≥ threshold ? 1 : 0.
type stage struct {
	luma, step, clamp        bool
	scale, offset, threshold float64
}

// pointwise is what the calls of pointwise operations implement.
type pointwise interface {
	spec.Call
	stage() stage
}

// Pointwise is several pointwise operations in one pass over the image, with
// the same result as one after the other. Fuse makes it.
type Pointwise struct {
	// Calls are pointwise operations: Grayscale, Threshold, Brightness,
	// Contrast, InvertColors.
	Calls []spec.Call
}

// Spec returns the declaration.
func (Pointwise) Spec() *spec.Op { return pointwiseOp }

// String is the calls as the command line writes them.
func (p Pointwise) String() string {
	var text []string
	for _, c := range p.Calls {
		text = append(text, spec.FormatCall(c))
	}
	return strings.Join(text, " | ")
}

// stages resolves the calls.
// Errors: ErrInvalidArgument, of a call that is none or not pointwise.
func (p Pointwise) stages() ([]pointwise, error) {
	list := make([]pointwise, len(p.Calls))
	for i, c := range p.Calls {
		c, err := spec.Resolve(c)
		if err != nil {
			return nil, err
		}
		s, ok := c.(pointwise)
		if !ok {
			return nil, fmt.Errorf("imageops: pointwise: %w: %T is not a pointwise operation", errs.ErrInvalidArgument, c)
		}
		list[i] = s
	}
	return list, nil
}

// Fuse returns calls with every run of two or more pointwise operations made
// one Pointwise, so that it costs one pass. The result of the calls is the same.
// What is no call stays as it is.
func Fuse(calls []spec.Call) []spec.Call {
	var out, run []spec.Call
	flush := func() {
		if len(run) == 1 {
			out = append(out, run[0])
		} else if len(run) > 1 {
			out = append(out, Pointwise{Calls: run})
		}
		run = nil
	}
	for _, c := range calls {
		if good, err := spec.Resolve(c); err == nil {
			if _, ok := good.(pointwise); ok {
				run = append(run, good)
				continue
			}
		}
		flush()
		out = append(out, c)
	}
	flush()
	return out
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

var pointwiseOp = spec.Register(&spec.Op{
	Name:     "pointwise",
	Group:    "image",
	Internal: true,
	Doc:      "Several pointwise operations in one pass: grayscale, threshold, brightness, contrast and invert in any order.",
	In:       imageIn, Out: imageOut,
	Defaults: Pointwise{},
	Kernels: []spec.Kernel{
		{Name: "image/pointwise.u8", Params: pointwiseParams{}},
		{Name: "image/pointwise.u8.texel", Params: pointwiseParams{}},
		{Name: "image/pointwise.f32", Params: pointwiseParams{}},
		{Name: "image/pointwise.f32.texel", Params: pointwiseParams{}},
		{Name: "image/pointwise_byte.invert", Params: pointwiseByteParams{}},
		{Name: "image/pointwise_byte.affine", Params: pointwiseByteParams{}},
		{Name: "image/pointwise_byte.luma", Params: pointwiseByteParams{}},
		{Name: "image/pointwise_byte.step", Params: pointwiseByteParams{}},
	},
	InPlace: []int{0},
	Shape: sameImage("pointwise", func(c spec.Call) error {
		calls, err := c.(Pointwise).stages()
		if err != nil {
			return err
		}
		for _, call := range calls {
			if _, err := call.Spec().Shape(call, []tensor.Desc{tensor.Contiguous(tensor.F32, 1, 1, 4)}); err != nil {
				return err
			}
		}
		return nil
	}),
	Plan: func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		calls, err := c.(Pointwise).stages()
		if err != nil {
			return nil, err
		}
		var stages []stage
		for _, call := range calls {
			stages = append(stages, call.stage())
		}
		return planPointwise(t, in[0], out[0], stages)
	},
	Reference: func(c spec.Call, in, out []*tensor.Host) {
		cur := in[0]
		for _, call := range c.(Pointwise).Calls {
			next := tensor.NewHost(tensor.Contiguous(cur.DType, cur.Shape...))
			call.Spec().Reference(call, []*tensor.Host{cur}, []*tensor.Host{next})
			cur = next
		}
		out[0].SetFloats(cur.Floats())
	},
	Tolerance: func(c spec.Call, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
		tol := spec.Tolerance{Abs: 1e-6, Why: "the roundings of each stage, amplified by the later ones"}
		calls, _ := c.(Pointwise).stages() // Shape refuses what is wrong
		for _, call := range calls {
			s := call.stage()
			one := call.Spec().Tolerance(call, d, nil)
			tol.Abs = tol.Abs*max(1, s.scale) + one.Abs
			if s.step {
				tol.Abs, tol.Flips = 0, 0.01
			}
		}
		return tol
	},
	Cost: func(c spec.Call, in []tensor.Desc) spec.Cost {
		return cost(int64(9*len(c.(Pointwise).Calls)))(c, in)
	},
	Cases: cases([]spec.Call{
		Pointwise{},
		Pointwise{[]spec.Call{Grayscale{}, InvertColors{}}},
		Pointwise{[]spec.Call{Contrast{1.5}, Brightness{0.8}, InvertColors{}}},
		Pointwise{[]spec.Call{InvertColors{}, Contrast{1.25}, Brightness{1.1}, Grayscale{}, Brightness{0.9}, Contrast{0.8}, InvertColors{}, Brightness{1.3}}},
		Pointwise{[]spec.Call{Grayscale{}, Threshold{0.5}}},
	}, Pointwise{[]spec.Call{GaussianBlur{Sigma: 1}}}),
})

// newPointwise declares an operation that is a single stage.
func newPointwise[C pointwise](op spec.Op, check func(C) error, flops int64, tolerance func(C, tensor.DType) spec.Tolerance, reference func(c C, px []float64)) *spec.Op {
	op.Group, op.In, op.Out, op.InPlace = "image", imageIn, imageOut, []int{0}
	op.Shape = sameImage(op.Name, func(c spec.Call) error {
		if check == nil {
			return nil
		}
		return check(c.(C))
	})
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		return planPointwise(t, in[0], out[0], []stage{c.(C).stage()})
	}
	op.Reference = func(c spec.Call, in, out []*tensor.Host) {
		eachPixel(in[0], out[0], func(px []float64) { reference(c.(C), px) })
	}
	op.Tolerance = func(c spec.Call, d tensor.DType, _ []tensor.Desc) spec.Tolerance { return tolerance(c.(C), d) }
	op.Cost = cost(flops)
	return spec.Register(&op)
}

// level is the tolerance of operations that round to a level of u8.
func level(f32 float64, why string) func(tensor.DType) spec.Tolerance {
	return func(d tensor.DType) spec.Tolerance {
		if d == tensor.U8 {
			return spec.Tolerance{Abs: 1, Why: "a result within rounding of a half may become either level"}
		}
		return spec.Tolerance{Abs: f32, Why: why}
	}
}
