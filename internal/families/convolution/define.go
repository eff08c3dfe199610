package convolution

import (
	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Kind says which of the operations of a convolution y = x ⋆ w an operation computes.
type Kind uint8

const (
	// Forward computes y from x and w.
	Forward Kind = iota
	// InputGrad computes the gradient of x from that of y, and w.
	InputGrad
	// FilterGrad computes the gradient of w from x, and the gradient of y.
	FilterGrad
	// Transposed is InputGrad for a tensor that is no gradient, with a bias.
	Transposed
)

// Convolution describes an operation whose attributes have type A.
type Convolution[A spec.Call] struct {
	Name, Doc, Source string
	ONNX              []string
	Kind              Kind
	In                []spec.Arg
	Out               string
	Defaults          A
	// Attributes returns the attributes of the convolution.
	Attributes func(a A) Attributes
	// Sizes returns the sizes that the inputs do not say: the spatial sizes of x, those of w, or
	// output_shape and output_padding.
	Sizes func(a A) (sizes, padding []int)
	Cases spec.CasesOf[A]
}

// problem is a call with its sizes.
type problem struct {
	window
	channels
	kind Kind
	rank int
	out  tensor.Desc
}

// problem checks a call.
func (v Convolution[A]) problem(a A, in []tensor.Desc) (problem, error) {
	var sizes, padding []int
	if v.Sizes != nil {
		sizes, padding = v.Sizes(a)
	}
	for _, d := range in {
		if d.DType != in[0].DType {
			return problem{}, planner.Invalid("dtypes differ: %v", in)
		}
	}
	return newProblem(v.Kind, v.Attributes(a), sizes, padding, v.In, in)
}

// newProblem checks a call with inputs in, which args names. It does not compare their dtypes.
func newProblem(kind Kind, attr Attributes, own, padding []int, args []spec.Arg, in []tensor.Desc) (p problem, err error) {
	first, second := in[0], in[1]
	p.kind, p.rank = kind, len(first.Shape)-2
	for i, d := range in {
		if want := p.rank + 2; i < 2 && (p.rank < 1 || p.rank > 3 || len(d.Shape) != want) {
			return p, planner.Invalid("inputs %v and %v (want three to five dimensions of both)", first, second)
		}
	}
	if attr.Group < 1 || first.Shape[1]%attr.Group != 0 {
		return p, planner.Invalid("group %d of %v (want a divisor of the channels)", attr.Group, first)
	}
	var sizes extent
	if kind == InputGrad || kind == FilterGrad {
		if sizes, err = axes("sizes", own, p.rank, 1, 1, mostSize); err != nil {
			return p, err
		}
		if len(own) == 0 {
			return p, planner.Invalid("no sizes (want %d numbers)", p.rank)
		}
		for i := range 3 - p.rank {
			sizes[i] = 1
		}
	}
	p.n = first.Shape[0]
	outputs := 0 // channels of y, of all groups
	switch kind {
	case Forward:
		outputs, p.c = second.Shape[0], second.Shape[1]
		p.window, err = attr.over(spatial(first.Shape), spatial(second.Shape), p.rank)
	case FilterGrad:
		outputs, p.c = second.Shape[1], first.Shape[1]/attr.Group
		p.window, err = attr.over(spatial(first.Shape), sizes, p.rank)
	case InputGrad:
		outputs, p.c = second.Shape[0], second.Shape[1]
		p.window, err = attr.over(sizes, spatial(second.Shape), p.rank)
	case Transposed:
		outputs, p.c = second.Shape[0], second.Shape[1]
		p.window, err = attr.transposed(spatial(first.Shape), spatial(second.Shape), p.rank, padding, own)
	}
	if err != nil {
		return p, err
	}
	if outputs%attr.Group != 0 {
		return p, planner.Invalid("group %d of %v (want a divisor of the channels)", attr.Group, second)
	}
	p.k = outputs / attr.Group
	x, w, y := p.shapes(first.DType)
	var want []tensor.Desc
	switch kind {
	case Forward:
		want, p.out = []tensor.Desc{x, w, tensor.Contiguous(first.DType, p.k*p.group)}, y
	case FilterGrad:
		want, p.out = []tensor.Desc{x, y}, w
	default:
		want, p.out = []tensor.Desc{y, w, tensor.Contiguous(first.DType, p.c*p.group)}, x
	}
	for i, d := range in {
		if !sameShape(d.Shape, want[i].Shape) {
			return p, planner.Invalid("input %s is %v (want %v)", args[i].Name, d, tensor.Contiguous(d.DType, want[i].Shape...))
		}
	}
	return p, nil
}

func sameShape(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// shapes returns the descriptions of x, w and y.
func (p problem) shapes(d tensor.DType) (x, w, y tensor.Desc) {
	return shapeOf(d, p.n, p.group*p.c, p.window.in, p.rank), shapeOf(d, p.group*p.k, p.c, p.taps, p.rank), shapeOf(d, p.n, p.group*p.k, p.window.out, p.rank)
}

// geometry returns the geometry of a call.
func (p problem) geometry(in []tensor.Desc) geometry {
	of := func(r spec.Ref) plane { return plane{ref: r, dtype: in[0].DType} }
	var bias *plane
	if len(in) > 2 {
		b := of(spec.In(2))
		bias = &b
	}
	switch p.kind {
	case Forward:
		return forward(p.window, p.channels, of(spec.In(0)), of(spec.In(1)), of(spec.Out(0)), bias)
	case FilterGrad:
		return backwardFilter(p.window, p.channels, of(spec.In(0)), of(spec.In(1)), of(spec.Out(0)))
	}
	return backwardData(p.window, p.channels, of(spec.In(0)), of(spec.In(1)), of(spec.Out(0)), bias)
}

// terms returns the number of products of an element of the result.
func (p problem) terms() int {
	switch p.kind {
	case Forward:
		return p.c * p.taps.elems()
	case FilterGrad:
		return p.n * p.window.out.elems()
	}
	return p.k * p.taps.elems()
}

// Define declares an operation.
func Define[A spec.Call](v Convolution[A]) *spec.Op {
	spirv.LinkMove()
	spirv.LinkNN()
	spirv.LinkReduce()
	v.Cases.DTypes = planner.Floats
	v.Cases.Low, v.Cases.High, v.Cases.Specials = -1, 1, true
	return spec.Define(spec.Definition[A]{
		Name: v.Name, Group: "nn", Doc: v.Doc, Source: v.Source, In: v.In, Out: []spec.Arg{{Name: "out", Doc: v.Out}},
		Traits:   spec.Traits{Class: spec.MatrixProduct, ONNX: v.ONNX},
		Defaults: v.Defaults, Kernels: kernels(), Cases: v.Cases,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			p, err := v.problem(a, in)
			return []tensor.Desc{p.out}, err
		},
		Plan: func(a A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			p, err := v.problem(a, in)
			if err != nil {
				return nil, err
			}
			return planOf(t, p.geometry(in))
		},
		Strategies: func(a A, t *spec.Target, in, _ []tensor.Desc) []string {
			p, err := v.problem(a, in)
			if err != nil {
				return nil
			}
			x := p.geometry(in)
			return x.strategies(t)
		},
		SizeClass: func(a A, in []tensor.Desc) []int {
			p, err := v.problem(a, in)
			if err != nil {
				return nil
			}
			x := p.geometry(in)
			return x.sizeClass()
		},
		Reference: func(a A, in, out []*tensor.Host) {
			ds := make([]tensor.Desc, len(in))
			for i, h := range in {
				ds[i] = h.Desc
			}
			if p, err := v.problem(a, ds); err == nil {
				p.reference(in, out[0])
			}
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			p, err := v.problem(a, in)
			if err != nil {
				return tolerance(d, 1)
			}
			tol := tolerance(d, p.terms())
			if x := p.geometry(in); v.Kind != FilterGrad {
				tol = tilesTolerance(tol, d, x.isThree())
			}
			if v.Kind == FilterGrad {
				tol.Abs += planner.AccumulatorEpsilon(d) * float64(p.terms()) * float64(min(p.n, run)) / 4
				tol.Law += "; and ε·k·min(N, 4096)/4 more"
				tol.Why += "; the products of equal images are equal, so that their rounding errors add up"
			}
			return tol
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			p, err := v.problem(a, in)
			if err != nil {
				return spec.Cost{}
			}
			bytes := p.out.Bytes()
			for _, d := range in {
				bytes += d.Bytes()
			}
			return spec.Cost{Flops: 2 * int64(p.out.Elems()) * int64(p.terms()), Bytes: bytes}
		},
	})
}

// tolerance is the tolerance of a sum of n products.
func tolerance(d tensor.DType, n int) spec.Tolerance {
	tol := gemm.DotTolerance(d, n, 1)
	terms, r := float64(max(n, 1)), float64(max(min(n, run), 1))
	tol.Repeated = planner.AccumulatorEpsilon(d) * terms * (r + terms/r) / 4
	tol.RepeatedLaw = "ε·k·(r + k/r)/4, because equal products are rounded in the same direction"
	return tol
}
