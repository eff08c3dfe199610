package imageops

import (
	"strings"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Pointwise is several pointwise operations in one pass over the image. The result is the
// same as with one operation after the other. Fuse makes such calls.
type Pointwise struct {
	// Calls are pointwise operations, in the order in which they are applied, such as Grayscale,
	// Gamma and Saturation.
	Calls []spec.Call
}

// Spec returns the declaration.
func (Pointwise) Spec() *spec.Op { return pointwiseOp.Op() }

// String returns the calls as the command line writes them.
func (p Pointwise) String() string {
	var text []string
	for _, c := range p.Calls {
		text = append(text, spec.FormatCall(c))
	}
	return strings.Join(text, " | ")
}

// stages returns the resolved calls and their stages.
// Errors: ErrInvalidArgument for a call that is not valid or not pointwise.
func (p Pointwise) stages() (calls []spec.Call, stages []picture.Stage, err error) {
	for _, c := range p.Calls {
		c, err := spec.Resolve(c)
		if err != nil {
			return nil, nil, err
		}
		if _, err := c.Spec().Shape(c, []tensor.Desc{tensor.Contiguous(tensor.F32, 1, 1, 4)}); err != nil {
			return nil, nil, err
		}
		s, ok := picture.StageOf(c)
		if !ok {
			return nil, nil, planner.Invalid("%T is not a pointwise operation", c)
		}
		calls, stages = append(calls, c), append(stages, s)
	}
	return calls, stages, nil
}

var pointwiseOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*Pointwise]{
		Name:     "pointwise",
		Internal: true,
		Doc:      "Several pointwise operations in one pass, in any order.",
		Kernels:  picture.PointwiseKernels(),
		InPlace:  true,
		Check: func(p *Pointwise) error {
			_, _, err := p.stages()
			return err
		},
		Plan: func(p *Pointwise, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			_, stages, err := p.stages()
			if err != nil {
				return nil, err
			}
			return picture.PlanStages(t, in, out, stages)
		},
		ForOpaque: func(p *Pointwise) *Pointwise { return p },
		Reference: func(p *Pointwise, in, out *tensor.Host) {
			cur := in
			for _, call := range p.Calls {
				next := tensor.NewHost(tensor.Contiguous(cur.DType, cur.Shape...))
				call.Spec().Reference(call, []*tensor.Host{cur}, []*tensor.Host{next})
				cur = next
			}
			out.SetFloats(cur.Floats())
		},
		Tolerance: func(p *Pointwise, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			tol := spec.Tolerance{Abs: 1e-6, Why: "the roundings of each stage, amplified by the later ones"}
			calls, stages, _ := p.stages() // Shape refuses invalid calls
			for i, call := range calls {
				one := call.Spec().Tolerance(call, d, nil)
				tol.Abs = tol.Abs*max(1, stages[i].Gain()) + one.Abs
				if stages[i].Step {
					tol.Abs, tol.Flips = 0, 0.01
				}
			}
			return tol
		},
		Flops: func(p *Pointwise) int64 { return int64(9 * len(p.Calls)) },
		Calls: []*Pointwise{
			{},
			{[]spec.Call{Grayscale{}, InvertColors{}}},
			{[]spec.Call{Contrast{1.5}, Brightness{Factor: 0.8}, InvertColors{}}},
			{[]spec.Call{InvertColors{}, Contrast{1.25}, Brightness{Factor: 1.1}, Grayscale{}, Brightness{Factor: 0.9}, Contrast{0.8}, InvertColors{}, Brightness{Factor: 1.3}}},
			{[]spec.Call{Grayscale{}, Threshold{0.5}}},
			{[]spec.Call{Saturation{1.4}, Levels{Black: 0.1, White: 0.9, Gamma: 1, OutWhite: 1}, InvertColors{}, Brightness{Factor: 1.1, Offset: -0.05}, Vibrance{0.3}}},
			{[]spec.Call{Exposure{-0.5}, Gamma{1.4}, Curves{Points: []float64{0, 0.1, 0.4, 0.5, 1, 0.9}, Red: []float64{0, 0, 1, 0.9}}, Sepia{0.5}, Grayscale{}}},
			{[]spec.Call{InvertColors{}, Gamma{1.2}, Vibrance{-0.4}}},
		},
		Invalid: []*Pointwise{{[]spec.Call{GaussianBlur{Sigma: 1}}}},
	})
}}
