package resampling

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Regions are the attributes of RoiAlign in ONNX.
type Regions struct {
	Mode, Coordinates    string
	Height, Width, Ratio int
	// Scale is that from coordinates of regions to pixels.
	Scale float64
}

const (
	meanMode    = "avg"
	maxMode     = "max"
	shifted     = "half_pixel"
	unshifted   = "output_half_pixel"
	maxSamples  = 128     // along an axis of a cell: an invocation that makes two elements has 2·128² iterations, and 65 535 are the limit
	maxPixels   = 1 << 24 // of an axis: F32 has no larger odd numbers
	maxElements = 1 << 31 // of a region of the result
)

// check checks the attributes.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (r Regions) check() error {
	switch {
	case r.Mode != meanMode && r.Mode != maxMode:
		return planner.Invalid("mode %q (want %s or %s)", r.Mode, meanMode, maxMode)
	case r.Coordinates != shifted && r.Coordinates != unshifted:
		return planner.Invalid("coordinate_transformation_mode %q (want %s or %s)", r.Coordinates, shifted, unshifted)
	case r.Height < 1 || r.Width < 1:
		return planner.Invalid("output_height %d, output_width %d (want at least 1)", r.Height, r.Width)
	case r.Ratio < 0:
		return planner.Invalid("sampling_ratio %d (want 0 or more)", r.Ratio)
	case !finite(r.Scale) || r.Scale <= 0:
		return planner.Invalid("spatial_scale %v (want a positive number)", r.Scale)
	case max(r.Height, r.Width) > maxPixels:
		return planner.Unsupported("output_height %d, output_width %d (at most %d)", r.Height, r.Width, maxPixels)
	case r.Ratio > maxSamples:
		return planner.Unsupported("sampling_ratio %d (at most %d)", r.Ratio, maxSamples)
	}
	return nil
}

// shape returns the shape of the result.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (r Regions) shape(in []tensor.Desc) ([]int, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	x, rois, indices := in[0], in[1], in[2]
	switch {
	case len(x.Shape) != 4:
		return nil, planner.Invalid("input x is %v (want [N,C,H,W])", x)
	case x.Shape[2] == 0 || x.Shape[3] == 0:
		return nil, planner.Invalid("input x is %v (want images with pixels)", x)
	case rois.DType != x.DType || len(rois.Shape) != 2 || rois.Shape[1] != 4:
		return nil, planner.Invalid("input rois is %v (want [R,4] of the dtype of x, %v)", rois, x.DType)
	case !slices.Equal(indices.Shape, rois.Shape[:1]):
		return nil, planner.Invalid("input batch_indices is %v (want [%d])", indices, rois.Shape[0])
	case max(x.Shape[2], x.Shape[3]) > maxPixels:
		return nil, planner.Unsupported("input x is %v (at most %d pixels along an axis)", x, maxPixels)
	case int64(x.Elems()) > math.MaxUint32:
		return nil, planner.Unsupported("input x is %v (less than 2^32 elements)", x)
	}
	if n := float64(x.Shape[1]) * float64(r.Height) * float64(r.Width); n > maxElements {
		return nil, planner.Unsupported("a region of %d channels of %d by %d (at most 2^31 elements)", x.Shape[1], r.Height, r.Width)
	}
	return []int{rois.Shape[0], x.Shape[1], r.Height, r.Width}, nil
}

// offset is what is subtracted from coordinates.
func (r Regions) offset() float64 {
	if r.Coordinates == shifted {
		return 0.5
	}
	return 0
}

// samples bounds the number of samples of a cell along an axis of n cells, for regions of that many pixels.
func (r Regions) samples(pixels, n int) int {
	if r.Ratio > 0 {
		return r.Ratio
	}
	return min(planner.CeilDiv(pixels, n), maxSamples)
}

// Samples bounds the number of samples of a cell, for regions that are not larger than an image of that size.
func (r Regions) Samples(height, width int) int64 {
	size := max(height, width)
	return int64(r.samples(size, r.Height)) * int64(r.samples(size, r.Width))
}

// DefineRegions declares the operation that samples regions of images. d has its name, docs, attributes and
// calls, and of returns the attributes as the family takes them.
func DefineRegions[A spec.Call](d spec.Definition[A], of func(A) Regions) *spec.Op {
	spirv.LinkNN()
	spirv.LinkMove()
	d.Group = "nn"
	d.In = []spec.Arg{
		{Name: "x", Doc: "[N,C,H,W], images", DTypes: planner.Floats},
		{Name: "rois", Doc: "[R,4], the regions as x1, y1, x2, y2, of the dtype of x", DTypes: planner.Floats},
		{Name: "batch_indices", Doc: "[R], i32 or i64: the image of each region, from 0 to N−1", DTypes: indexing.DTypes},
	}
	d.Out = []spec.Arg{{Name: "out", Doc: "[R,C,output_height,output_width], of the dtype of x"}}
	d.Traits.Class = spec.Other
	d.Kernels = slices.Concat(indexing.CheckKernels(), regionKernels())
	d.Shape = func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
		shape, err := of(a).shape(in)
		if err != nil {
			return nil, err
		}
		return []tensor.Desc{tensor.Contiguous(in[0].DType, shape...)}, nil
	}
	d.Plan = func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		plan := &spec.Plan{}
		if err := planner.CheckTarget(t, in...); err != nil || out[0].Elems() == 0 {
			return plan, err
		}
		return plan, of(a).add(plan, t, in)
	}
	d.Strategies, d.SizeClass = planner.FlatStrategies[A], planner.ElementCounts[A]
	d.Reference = func(a A, in, out []*tensor.Host) { of(a).set(in, out[0]) }
	d.Tolerance = func(a A, dt tensor.DType, in []tensor.Desc) spec.Tolerance {
		r := of(a)
		if len(in) < 3 || len(in[0].Shape) != 4 || r.check() != nil {
			return spec.Tolerance{}
		}
		return r.tolerance(dt, in[0].Shape)
	}
	d.Cost = func(a A, in []tensor.Desc) spec.Cost {
		r := of(a)
		shape, err := r.shape(in)
		if err != nil {
			return spec.Cost{}
		}
		out, cost := tensor.Contiguous(in[0].DType, shape...), spec.Cost{}
		// At least one sample of four pixels, each with a product and a sum.
		cost.Flops = 8 * int64(out.Elems()) * int64(max(r.Ratio*r.Ratio, 1))
		for _, d := range append(in[:len(in):len(in)], out) {
			cost.Bytes += d.Bytes()
		}
		return cost
	}
	return spec.Define(d)
}

// tolerance is the tolerance for images from -2 to 2, and regions of RegionRange and SettleRegion.
func (r Regions) tolerance(d tensor.DType, shape []int) spec.Tolerance {
	e, size := planner.AccumulatorEpsilon(d), max(shape[2], shape[3])
	h := 8 + float64(r.samples(size, r.Height)+r.samples(size, r.Width))
	abs := 2 * e * h
	if !r.exact(shape) {
		abs += 64 * e * float64(size+1)
	}
	return spec.Tolerance{
		Abs: abs + planner.Tiny(d), Rel: planner.StoreEpsilon(d),
		Law: "2·ε·h, h = 8 + the numbers of samples along both axes; and ε·64·(1 + the larger size of an image), " +
			"unless scale, output sizes and number of samples are powers of 2",
		Why: "elements are at most 2. A product with a weight and the sum of four are rounded 8 times at most, and a sum once for each row " +
			"and column of samples; equal ones in the same direction. A position is a sum of two products, wrong by ε·8 of the size of the " +
			"image; neighbours differ by 4 at most, along two axes. Quotients by powers of 2 are exact, and so are positions then",
	}
}
