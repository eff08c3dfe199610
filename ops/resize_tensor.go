package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/resampling"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ResizeTensor changes the sizes of a tensor of any rank by interpolation along its axes, as Resize of ONNX does.
// Scales or Sizes say how large the result is: not both. Without both it is as large as the tensor, which suits a
// region of tf_crop_and_resize. A size is the product with the scale, rounded down. With a policy, all axes have one
// scale, and sizes are rounded to the nearest number, halves up. A product that is a whole number but for the rounding
// of an F32 is that number, and then the scale is the ratio of the sizes.
//
// Element i of the result along an axis is at coordinate x of the tensor, where s is the scale, n the size, and m the
// size of the result as a product with the scale, which need not be whole:
//
//	half_pixel            (i + ½)/s − ½
//	half_pixel_symmetric  the same + n/2·(1 − size of the result/m)
//	pytorch_half_pixel    as half_pixel, or 0 if m is at most 1
//	align_corners         i·(n − 1)/(m − 1), or 0 if m is 1
//	asymmetric            i/s
//	tf_crop_and_resize    start·(n − 1) + i·(end − start)·(n − 1)/(m − 1), or (start + end)/2·(n − 1) if m is 1
//
// Coordinates that differ from a multiple of ½ by rounding only, which is 2^-50 for each element of the axis, are that
// multiple. All others are as exact as float64 is, whatever the dtype. Weights add up to 1. Where a filter reaches over
// an edge, the element at the edge repeats. With ExcludeOutside it does not, and a result that only has elements
// outside is NaN. An element of weight 0 does not count, even if it is infinite or NaN.
//
// Outside of the region, tf_crop_and_resize gives ExtrapolationValue. Where another axis is interpolated after that, the
// value has the rounding errors of its weights.
//
// Antialias makes the filter 1/s times as wide where s is less than 1. Antialias and ExcludeOutside are errors in mode nearest.
// No axis may become empty. An axis of more than 2^29 elements is unsupported. The weights of an element of the result
// must fit a binding: 16 million of them do on every device.
//
// It differs from ONNX in that scales, sizes and roi are attributes, tensors have a dtype of floating-point numbers,
// and without scales and sizes there is no error.
type ResizeTensor struct {
	Mode               string    `attr:"mode" onnx:"mode" doc:"nearest, linear or cubic"`
	Coordinates        string    `attr:"coordinate_transformation_mode" onnx:"coordinate_transformation_mode" doc:"half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric or tf_crop_and_resize"`
	NearestMode        string    `attr:"nearest_mode" onnx:"nearest_mode" doc:"round_prefer_floor, round_prefer_ceil, floor or ceil"`
	CubicCoeffA        float64   `attr:"cubic_coeff_a" onnx:"cubic_coeff_a" doc:"the coefficient of the cubic filter"`
	ExcludeOutside     bool      `attr:"exclude_outside" onnx:"exclude_outside" doc:"elements outside of the tensor have no weight, instead of repeating those at its edges"`
	ExtrapolationValue float64   `attr:"extrapolation_value" onnx:"extrapolation_value" doc:"the result at coordinates outside of the tensor, with tf_crop_and_resize"`
	Antialias          bool      `attr:"antialias" onnx:"antialias" doc:"a linear or cubic filter is made wider where an axis becomes shorter"`
	Axes               []int     `attr:"axes" onnx:"axes" doc:"the dimensions to which the lists below belong; empty means all; negative numbers count from the end"`
	Policy             string    `attr:"keep_aspect_ratio_policy" onnx:"keep_aspect_ratio_policy" doc:"stretch; not_larger, not_smaller: sizes are bounds, and all axes have one scale"`
	Scales             []float64 `attr:"scales" doc:"the size of the result divided by that of the tensor, for each axis"`
	Sizes              []int     `attr:"sizes" doc:"the size of the result, for each axis, in place of scales"`
	Roi                []float64 `attr:"roi" doc:"the starts of the region of tf_crop_and_resize, for each axis, and then its ends; 0 is the first element and 1 the last one"`
}

// Spec returns the declaration.
func (ResizeTensor) Spec() *spec.Op { return resizeTensorOp.Op() }

// Gradient declares the gradient, by ResizeTensorGrad.
func (c ResizeTensor) Gradient(t *spec.Tape) {
	x := t.Shape(t.In(0))
	size := x
	if len(c.Axes) > 0 {
		size = nil
		for _, d := range c.Axes {
			if d = from(d, len(x)); d >= 0 && d < len(x) {
				size = append(size, x[d])
			}
		}
	}
	linear(t, 0, ResizeTensorGrad{
		Size: size, Mode: c.Mode, Coordinates: c.Coordinates, NearestMode: c.NearestMode, CubicCoeffA: c.CubicCoeffA, ExcludeOutside: c.ExcludeOutside,
		ExtrapolationValue: c.ExtrapolationValue, Antialias: c.Antialias, Axes: c.Axes, Policy: c.Policy, Scales: c.Scales, Sizes: c.Sizes, Roi: c.Roi,
	})
}

var resizeTensorOp = spec.Declaration{Define: func() *spec.Op {
	return resampling.Define(resampling.Resize[*ResizeTensor]{
		Name: "resize_tensor", ONNX: []string{"Resize"},
		Doc:      "Changes the sizes of a tensor by nearest, linear or cubic interpolation along its axes.",
		Defaults: resizeDefaults(),
		Of:       (*ResizeTensor).attributes,
		Cases:    resizeCases(),
	})
}}

func resizeDefaults() *ResizeTensor {
	return &ResizeTensor{Mode: "nearest", Coordinates: "half_pixel", NearestMode: "round_prefer_floor", CubicCoeffA: -0.75, Policy: "stretch"}
}

// attributes returns the attributes as the family takes them.
func (a *ResizeTensor) attributes() resampling.Attributes {
	var sizes []float64
	for _, n := range a.Sizes {
		sizes = append(sizes, float64(n))
	}
	return resampling.Attributes{
		Mode: a.Mode, Coordinates: a.Coordinates, NearestMode: a.NearestMode, CubicCoeffA: a.CubicCoeffA, ExcludeOutside: a.ExcludeOutside,
		Antialias: a.Antialias, ExtrapolationValue: a.ExtrapolationValue, Axes: a.Axes, Policy: a.Policy, Scales: a.Scales, Sizes: sizes, Roi: a.Roi,
	}
}

// resizeOf returns the default call with the changes that f makes.
func resizeOf(mode string, f func(*ResizeTensor)) *ResizeTensor {
	a := resizeDefaults()
	a.Mode = mode
	f(a)
	return a
}

func resizeCases() spec.CasesOf[*ResizeTensor] {
	image := []int{-2, -1}
	c := spec.CasesOf[*ResizeTensor]{
		Calls: []*ResizeTensor{
			resizeOf("linear", func(a *ResizeTensor) { a.Axes, a.Scales = image, []float64{2, 2} }),
			resizeOf("nearest", func(a *ResizeTensor) { a.Axes, a.Scales = image, []float64{2, 3} }),
			resizeOf("nearest", func(a *ResizeTensor) {
				a.Coordinates, a.NearestMode, a.Scales = "asymmetric", "floor", []float64{1, 0.7, 1.3}
			}),
			resizeOf("nearest", func(a *ResizeTensor) {
				a.Coordinates, a.NearestMode, a.Axes, a.Sizes = "align_corners", "round_prefer_ceil", image, []int{5, 9}
			}),
			resizeOf("nearest", func(a *ResizeTensor) {
				a.NearestMode, a.Axes, a.Sizes, a.Policy = "ceil", []int{1, 2}, []int{40, 30}, "not_larger"
			}),
			resizeOf("linear", func(a *ResizeTensor) { a.Coordinates, a.Axes, a.Sizes = "align_corners", []int{2}, []int{301} }),
			resizeOf("linear", func(a *ResizeTensor) {
				a.Coordinates, a.Scales = "half_pixel_symmetric", []float64{0.6, 2.5, 0.35}
			}),
			resizeOf("linear", func(a *ResizeTensor) {
				a.Coordinates, a.Antialias, a.Axes, a.Scales = "pytorch_half_pixel", true, image, []float64{0.4, 0.25}
			}),
			resizeOf("linear", func(a *ResizeTensor) {
				a.Coordinates, a.Axes, a.Sizes, a.Roi = "tf_crop_and_resize", []int{2, 1}, []int{17, 6}, []float64{-0.3, 0.9, 0.7, 0.1}
				a.ExtrapolationValue = 1.25
			}),
			resizeOf("cubic", func(a *ResizeTensor) { a.Axes, a.Scales = image, []float64{1.5, 0.75} }),
			resizeOf("cubic", func(a *ResizeTensor) {
				a.ExcludeOutside, a.CubicCoeffA, a.Coordinates, a.Axes, a.Scales = true, -0.5, "asymmetric", []int{1}, []float64{2.2}
			}),
			resizeOf("cubic", func(a *ResizeTensor) {
				a.Antialias, a.Axes, a.Sizes, a.Policy = true, image, []int{6, 7}, "not_smaller"
			}),
			resizeOf("linear", func(a *ResizeTensor) { // Some rows have only elements outside.
				a.Coordinates, a.ExcludeOutside, a.Axes, a.Sizes, a.Policy = "align_corners", true, image, []int{5, 3}, "not_larger"
			}),
			resizeOf("linear", func(a *ResizeTensor) { a.Antialias, a.Axes, a.Sizes = true, []int{1}, []int{2} }),
			resizeDefaults(),
		},
		Invalid: []*ResizeTensor{
			resizeOf("area", func(*ResizeTensor) {}),
			resizeOf("linear", func(a *ResizeTensor) { a.Coordinates = "half" }),
			resizeOf("linear", func(a *ResizeTensor) { a.NearestMode = "round" }),
			resizeOf("linear", func(a *ResizeTensor) { a.Policy = "keep" }),
			resizeOf("nearest", func(a *ResizeTensor) { a.Antialias = true }),
			resizeOf("nearest", func(a *ResizeTensor) { a.ExcludeOutside = true }),
			resizeOf("linear", func(a *ResizeTensor) { a.Axes, a.Scales, a.Sizes = []int{0}, []float64{2}, []int{2} }),
			resizeOf("linear", func(a *ResizeTensor) { a.Scales = []float64{2} }),
			resizeOf("linear", func(a *ResizeTensor) { a.Axes, a.Scales = []int{0}, []float64{-2} }),
			resizeOf("linear", func(a *ResizeTensor) { a.Axes, a.Sizes = []int{0}, []int{-2} }),
			resizeOf("linear", func(a *ResizeTensor) { a.Axes, a.Sizes = []int{1, -2}, []int{2, 2} }),
			resizeOf("linear", func(a *ResizeTensor) { a.Axes, a.Sizes = []int{3}, []int{2} }),
			resizeOf("linear", func(a *ResizeTensor) { a.Coordinates, a.Axes, a.Sizes = "tf_crop_and_resize", []int{0}, []int{2} }),
		},
		// A table longer than a binding, a filter longer than a loop, and many rows of one element.
		Sizes: [][]int{{1, 1, 400_000}, {1, 70_001, 3}, {1, longestFilter, 3}, {3, 300_000, 1}},
		Dims:  []spec.Dim{{Name: "planes"}, {Name: "height"}, {Name: "width"}},
	}
	c.Inputs = func(a *ResizeTensor, d tensor.DType, dims []int) []tensor.Desc {
		return resizeInputs(a, tensor.Contiguous(d, dims...))
	}
	return c
}

// longestFilter is how many weights of F64 fit the smallest binding that the suite has.
const longestFilter = 40_001

// resizeInputs returns an input, or nil if the call has no result for it or one that takes long.
func resizeInputs(a *ResizeTensor, in tensor.Desc) []tensor.Desc {
	shape, err := a.attributes().Shape(in.Shape)
	for _, n := range in.Shape {
		if a.Antialias && n > longestFilter {
			return nil
		}
	}
	if err != nil || in.Elems() > 1<<20 || tensor.Contiguous(in.DType, shape...).Elems() > 1<<20 {
		return nil
	}
	return []tensor.Desc{in}
}
