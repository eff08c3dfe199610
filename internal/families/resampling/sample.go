package resampling

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Sampling are the attributes of an operation that reads a tensor at places that a grid names.
type Sampling struct {
	Mode, Padding string
	AlignCorners  bool
}

// paddings are in the order of the numbers of shaders/nn/grid_sample_points.comp.
var paddings = []string{"zeros", "border", "reflection"}

// maxSampled is the largest size of an axis. Coordinates are up to 4.5 times as large, and have 31 bits.
const maxSampled = 1 << 28

// sampled is a call with its sizes.
type sampled struct {
	mode    mode
	padding int
	corners bool
	// size are the spatial sizes of the tensor, outermost first. plane is their product.
	size  []int
	plane int
	// images, channels and points are the sizes of the result.
	images, channels, points int
}

// of checks the attributes, a tensor and a grid, and returns the call and the shape of the result. Errors call the tensor
// by the name.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (a Sampling) of(name string, in []tensor.Desc) (sampled, []int, error) {
	kind, padding := slices.Index(modes, a.Mode), slices.Index(paddings, a.Padding)
	switch {
	case kind < 0:
		return sampled{}, nil, planner.Invalid("mode %q (want one of %v)", a.Mode, modes)
	case padding < 0:
		return sampled{}, nil, planner.Invalid("padding_mode %q (want one of %v)", a.Padding, paddings)
	}
	x, grid := in[0].Shape, in[1].Shape
	rank := len(x)
	if rank < 3 || rank > 5 {
		return sampled{}, nil, planner.Invalid("%s has shape %v (want [N, C] and 1 to 3 spatial sizes)", name, x)
	}
	if len(grid) != rank || grid[0] != x[0] || grid[rank-1] != rank-2 {
		return sampled{}, nil, planner.Invalid("input grid has shape %v, %s %v (want %d in the first and %d in the last of %d dimensions)", grid, name, x, x[0], rank-2, rank)
	}
	if d := in[1].DType; d != in[0].DType && d != tensor.F32 {
		return sampled{}, nil, planner.Unsupported("input grid is %v, %s %v (want the same dtype, or a grid of f32)", in[1], name, in[0])
	}
	shape := slices.Concat(x[:2], grid[1:rank-1])
	out := tensor.Contiguous(in[0].DType, shape...)
	if err := out.Check(); err != nil {
		return sampled{}, nil, err
	}
	s := sampled{mode: mode(kind), padding: padding, corners: a.AlignCorners, size: x[2:], plane: 1, images: x[0], channels: x[1], points: 1}
	for _, n := range grid[1 : rank-1] {
		s.points *= n
	}
	for _, n := range s.size {
		if n == 0 && out.Elems() > 0 {
			return s, nil, planner.Invalid("%s has shape %v (want no empty dimension)", name, x)
		}
		if n > maxSampled || int64(s.plane)*int64(n) > math.MaxInt32 {
			return s, nil, planner.Unsupported("%s has shape %v (spatial sizes up to %d are supported, and products below 2^31)", name, x, maxSampled)
		}
		s.plane *= n
	}
	return s, shape, nil
}

// taps is how many elements along an axis have a weight.
func (s sampled) taps() int { return 1 << s.mode }

// elems is the number of elements of the result.
func (s sampled) elems() int { return s.images * s.channels * s.points }

// DefineSampling declares such an operation: d has its name, docs, attributes and calls.
func DefineSampling[A spec.Call](d spec.Definition[A], attributes func(A) Sampling) *spec.Op {
	spirv.LinkNN()
	sampledOf := func(a A, in []tensor.Desc) sampled {
		if len(in) < 2 {
			return sampled{}
		}
		s, _, err := attributes(a).of("input x", in)
		if err != nil {
			return sampled{}
		}
		return s
	}
	d.Group = "nn"
	d.In = []spec.Arg{
		{Name: "x", Doc: "[N, C, size...], one to three spatial sizes", DTypes: planner.Floats},
		{Name: "grid", Doc: "[N, outputs..., axes], the last axis first; of the dtype of x, or f32", DTypes: planner.Floats},
	}
	d.Out = []spec.Arg{{Name: "y", Doc: "[N, C, outputs...], of the dtype of x"}}
	narrow := func(d tensor.DType) bool { return d.Size() < 8 }
	d.Kernels = slices.Concat(planner.DTypeVariants(pointsShader, pointsParams{}, planner.Floats, narrow), planner.DTypeVariants(sampleShader, sampleParams{}, planner.Floats, narrow))
	d.Shape = func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
		_, shape, err := attributes(a).of("input x", in)
		return []tensor.Desc{tensor.Contiguous(in[0].DType, shape...)}, err
	}
	d.Plan = func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		plan := &spec.Plan{}
		if err := planner.CheckTarget(t, in...); err != nil || out[0].Elems() == 0 {
			return plan, err
		}
		return plan, addSample(plan, t, sampledOf(a, in), in[0].DType, in[1].DType)
	}
	d.Strategies, d.SizeClass = planner.FlatStrategies[A], planner.ElementCounts[A]
	d.Reference = func(a A, in, out []*tensor.Host) {
		if out[0].Elems() > 0 {
			out[0].SetFloats(attributes(a).reference(in[0], in[1], out[0].Shape))
		}
	}
	d.Tolerance = func(a A, dt tensor.DType, in []tensor.Desc) spec.Tolerance {
		return sampledOf(a, in).tolerance(dt)
	}
	d.Cost = func(a A, in []tensor.Desc) spec.Cost {
		s := sampledOf(a, in)
		taps := math.Pow(float64(s.taps()), float64(len(s.size)))
		bytes := in[0].Bytes() + in[1].Bytes() + int64(s.elems()*in[0].DType.Size())
		return spec.Cost{Flops: 2 * int64(float64(s.elems())*taps), Bytes: bytes}
	}
	return spec.Define(d)
}

// tolerance is the tolerance for elements from -2 to 2.
func (s sampled) tolerance(d tensor.DType) spec.Tolerance {
	if s.mode == nearest {
		return spec.Tolerance{Why: "the result is one of the elements", Rel: planner.StoreEpsilon(d), Abs: planner.Tiny(d)}
	}
	e, r := planner.AccumulatorEpsilon(d), float64(len(s.size))
	most, h := 2.0, 3.0
	if s.mode == cubic {
		most, h = 2*math.Pow(1.375, r), 11
	}
	h = h*r + math.Sqrt(math.Pow(float64(s.taps()), r))
	return spec.Tolerance{
		Abs: most*h*e + planner.Tiny(d), Rel: planner.StoreEpsilon(d),
		Law: "ε·h, times the largest element and, for each axis of a cubic filter, 1.375; " +
			"h is 3 for each axis, or 11 for a cubic filter, and the root of the number of elements with a weight",
		Why: "coordinates are exact and so are the weights of a linear filter, those of a cubic one have 6 roundings; a product and a sum for each axis; sums of parts of planes",
	}
}
