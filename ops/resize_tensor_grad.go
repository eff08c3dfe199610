package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/resampling"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ResizeTensorGrad is the gradient of ResizeTensor with respect to its input, in each mode: the product with the
// transpose of the weights. Each element adds the gradients of all results that it has a weight in, in a fixed order.
// Results outside of the tensor, of tf_crop_and_resize, have no part in it, nor have results that ExcludeOutside makes NaN.
// The weights of an element must fit a binding. Where all results are at one coordinate, which a region of equal start and end
// makes, that limits the size of the tensor times that of the result. Size has the sizes of the tensor along
// Axes, or all of them. The other attributes are those of the call whose gradient it is.
type ResizeTensorGrad struct {
	Size               []int     `attr:"size,required" doc:"the sizes of the tensor that was resized, for each of axes"`
	Mode               string    `attr:"mode" doc:"nearest, linear or cubic"`
	Coordinates        string    `attr:"coordinate_transformation_mode" doc:"half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric or tf_crop_and_resize"`
	NearestMode        string    `attr:"nearest_mode" doc:"round_prefer_floor, round_prefer_ceil, floor or ceil"`
	CubicCoeffA        float64   `attr:"cubic_coeff_a" doc:"the coefficient of the cubic filter"`
	ExcludeOutside     bool      `attr:"exclude_outside" doc:"elements outside of the tensor have no weight, instead of repeating those at its edges"`
	ExtrapolationValue float64   `attr:"extrapolation_value" doc:"the result at coordinates outside of the tensor, with tf_crop_and_resize"`
	Antialias          bool      `attr:"antialias" doc:"a linear or cubic filter is made wider where an axis becomes shorter"`
	Axes               []int     `attr:"axes" doc:"the dimensions to which the lists below belong; empty means all; negative numbers count from the end"`
	Policy             string    `attr:"keep_aspect_ratio_policy" doc:"stretch; not_larger, not_smaller: sizes are bounds, and all axes have one scale"`
	Scales             []float64 `attr:"scales" doc:"the size of the result divided by that of the tensor, for each axis"`
	Sizes              []int     `attr:"sizes" doc:"the size of the result, for each axis, in place of scales"`
	Roi                []float64 `attr:"roi" doc:"the starts of the region of tf_crop_and_resize, for each axis, and then its ends; 0 is the first element and 1 the last one"`
}

// Spec returns the declaration.
func (ResizeTensorGrad) Spec() *spec.Op { return resizeTensorGradOp.Op() }

// Gradient declares the gradient, by ResizeTensor. There is none with tf_crop_and_resize and ExcludeOutside.
func (c ResizeTensorGrad) Gradient(t *spec.Tape) {
	if c.Coordinates == "tf_crop_and_resize" || c.ExcludeOutside {
		if t.Gradient(0) != spec.NoValue {
			t.Refuse("tf_crop_and_resize and exclude_outside, whose results outside of the tensor are no sums")
		}
		return
	}
	linear(t, 0, ResizeTensor{
		Mode: c.Mode, Coordinates: c.Coordinates, NearestMode: c.NearestMode, CubicCoeffA: c.CubicCoeffA, ExcludeOutside: c.ExcludeOutside,
		ExtrapolationValue: c.ExtrapolationValue, Antialias: c.Antialias, Axes: c.Axes, Policy: c.Policy, Scales: c.Scales, Sizes: c.Sizes, Roi: c.Roi,
	})
}

var resizeTensorGradOp = spec.Declaration{Define: func() *spec.Op {
	return resampling.Define(resampling.Resize[*ResizeTensorGrad]{
		Name:     "resize_tensor_grad",
		Doc:      "The gradient of resize_tensor with respect to its input.",
		Defaults: resizeGradOf(resizeDefaults(), 64, 64),
		Of:       func(a *ResizeTensorGrad) resampling.Attributes { return a.call().attributes() },
		Size:     func(a *ResizeTensorGrad) []int { return a.Size },
		Cases:    resizeGradCases(),
	})
}}

// call returns the call whose gradient it is.
func (a *ResizeTensorGrad) call() *ResizeTensor {
	return &ResizeTensor{a.Mode, a.Coordinates, a.NearestMode, a.CubicCoeffA, a.ExcludeOutside, a.ExtrapolationValue, a.Antialias, a.Axes, a.Policy, a.Scales, a.Sizes, a.Roi}
}

// resizeGradOf returns the gradient of a call.
func resizeGradOf(a *ResizeTensor, size ...int) *ResizeTensorGrad {
	return &ResizeTensorGrad{size, a.Mode, a.Coordinates, a.NearestMode, a.CubicCoeffA, a.ExcludeOutside, a.ExtrapolationValue, a.Antialias, a.Axes, a.Policy, a.Scales, a.Sizes, a.Roi}
}

func resizeGradCases() spec.CasesOf[*ResizeTensorGrad] {
	of := func(size []int, mode string, f func(*ResizeTensor)) *ResizeTensorGrad {
		return resizeGradOf(resizeOf(mode, f), size...)
	}
	image := []int{-2, -1}
	c := spec.CasesOf[*ResizeTensorGrad]{
		Calls: []*ResizeTensorGrad{
			of([]int{13}, "linear", func(a *ResizeTensor) { a.Axes, a.Scales = []int{1}, []float64{2.4} }),
			of([]int{64, 64}, "linear", func(a *ResizeTensor) { a.Axes, a.Scales = image, []float64{2, 2} }),
			of([]int{33}, "nearest", func(a *ResizeTensor) { a.Axes, a.Scales = []int{1}, []float64{0.7} }),
			of([]int{7}, "nearest", func(a *ResizeTensor) {
				a.Coordinates, a.NearestMode, a.Axes, a.Sizes = "align_corners", "ceil", []int{1}, []int{40}
			}),
			of([]int{31, 18}, "linear", func(a *ResizeTensor) {
				a.Coordinates, a.Antialias, a.Axes, a.Scales = "pytorch_half_pixel", true, image, []float64{0.4, 0.25}
			}),
			of([]int{9, 11}, "linear", func(a *ResizeTensor) {
				a.Coordinates, a.Axes, a.Sizes, a.Roi = "tf_crop_and_resize", image, []int{17, 6}, []float64{-0.3, 0.9, 0.7, 0.1}
				a.ExtrapolationValue = 1.25
			}),
			of([]int{19}, "cubic", func(a *ResizeTensor) { a.Axes, a.Scales = []int{1}, []float64{1.5} }),
			of([]int{12}, "cubic", func(a *ResizeTensor) {
				a.ExcludeOutside, a.CubicCoeffA, a.Coordinates, a.Axes, a.Scales = true, -0.5, "asymmetric", []int{1}, []float64{2.2}
			}),
			of([]int{10, 5}, "linear", func(a *ResizeTensor) { // Some results have only elements outside.
				a.Coordinates, a.ExcludeOutside, a.Axes, a.Sizes, a.Policy = "align_corners", true, image, []int{5, 3}, "not_larger"
			}),
			of([]int{29, 23}, "cubic", func(a *ResizeTensor) {
				a.Antialias, a.Axes, a.Sizes, a.Policy = true, image, []int{6, 7}, "not_smaller"
			}),
			of([]int{1}, "linear", func(a *ResizeTensor) { a.Axes, a.Sizes = []int{1}, []int{longestFilter} }),
			of([]int{longestFilter}, "linear", func(a *ResizeTensor) { a.Antialias, a.Axes, a.Sizes = true, []int{1}, []int{2} }),
			of([]int{300_000}, "linear", func(a *ResizeTensor) { a.Axes, a.Sizes = []int{1}, []int{400_000} }),
			of([]int{5, 8}, "linear", func(a *ResizeTensor) {
				a.Coordinates, a.Axes, a.Sizes, a.Roi = "tf_crop_and_resize", image, []int{9, 9}, []float64{0.5, 3, 0.5, 4}
			}),
			of([]int{5}, "linear", func(a *ResizeTensor) { a.Axes = []int{1} }),
		},
		Invalid: []*ResizeTensorGrad{
			of([]int{64}, "linear", func(a *ResizeTensor) { a.Axes, a.Scales = image, []float64{2, 2} }),
			of([]int{64, -1}, "linear", func(a *ResizeTensor) { a.Axes, a.Scales = image, []float64{2, 2} }),
			of([]int{64, 63}, "linear", func(a *ResizeTensor) { a.Axes, a.Scales = image, []float64{2, 2} }),
			of([]int{64, 64}, "area", func(a *ResizeTensor) { a.Axes = image }),
			of([]int{64, 64}, "linear", func(a *ResizeTensor) { a.Axes, a.Scales = []int{1, 1}, []float64{2, 2} }),
		},
		Sizes: [][]int{{3, 1000}, {70_001, 3}},
		Dims:  []spec.Dim{{Name: "planes"}, {Name: "columns"}},
	}
	// Axes are the second dimension, which comes before the columns, or the last two.
	c.Inputs = func(a *ResizeTensorGrad, d tensor.DType, dims []int) []tensor.Desc {
		shape := []int{dims[0], 1, dims[1]}
		switch {
		case len(a.Size) == 1 && len(a.Axes) == 1:
			shape[1] = a.Size[0]
		case len(a.Axes) == 2 && dims[1] <= 3:
			shape = append([]int{dims[0] * dims[1]}, a.Size...)
		case len(a.Axes) == 0 && dims[0] == dims[1]:
			shape = a.Size
		default:
			return nil
		}
		result, err := a.call().attributes().Shape(shape)
		dy := tensor.Contiguous(d, result...)
		if err != nil || dy.Elems() > 1<<20 || tensor.Contiguous(d, shape...).Elems() > 1<<20 {
			return nil
		}
		return []tensor.Desc{dy}
	}
	c.Bench = func(d tensor.DType) []spec.BenchCase {
		var list []spec.BenchCase
		for _, shape := range [][]int{{1, 4, 64, 64}, {1, 32, 128, 128}, {4, 64, 128, 128}} {
			call := resizeGradOf(c.Calls[1].call(), shape[2]/2, shape[3]/2)
			list = append(list, spec.BenchCase{Call: call, In: []tensor.Desc{tensor.Contiguous(d, shape...)}})
		}
		return list
	}
	return c
}
