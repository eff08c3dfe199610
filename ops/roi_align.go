package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/resampling"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// RoiAlign samples regions of images, as RoiAlign of ONNX does. x is [N,C,H,W]. A row of rois, which has the dtype of x, is a
// region: x1, y1, x2, y2. batch_indices has the number of its image. The result is [R,C,OutputHeight,OutputWidth].
//
// A coordinate of a region times SpatialScale is a position, less ½ with half_pixel. The first pixel is at position 0 and the next one
// at 1. With output_half_pixel nothing is subtracted, and a region is at least a pixel high and wide. A region
// is divided into OutputHeight by OutputWidth cells. Each cell has SamplingRatio rows and columns of samples. If that is 0, it
// has as many rows as the cell is pixels high, rounded up, and columns as it is wide. A sample is in the middle of
// its part of the cell, and consists of the four pixels around it, weighed by their distances:
//
//	avg  the mean of the samples, each the sum of four weighed pixels
//	max  the largest weighed pixel of all samples, as in the reference of ONNX, which has no sum there
//
// A sample below −1, or above H or W, is outside: it counts 0, for avg and for max. One between that and the first or last pixel
// is moved to that pixel. Positions that are NaN or infinite are outside. A cell without samples is 0: with
// SamplingRatio 0, regions whose size is 0, negative or NaN have none. A pixel of weight 0 counts as IEEE 754 has it: it makes a
// negative max 0, and if it is infinite or NaN, the result is NaN. For max, NaN is larger than all numbers.
//
// An index below 0, or of N or more, is an error of the next Sync or Read, and the result stays as it was. Images without
// pixels are ErrInvalidArgument. Axes of images and of the result have at most 2^24 elements, x has less than 2^32, and a
// region of the result has at most 2^31.
//
// It differs from ONNX in that a cell has at most 128 rows and 128 columns of samples. A larger SamplingRatio is
// ErrUnsupported. Where the size of a region asks for more, there are 128. SamplingRatio must not be negative.
type RoiAlign struct {
	Mode          string  `attr:"mode" onnx:"mode" doc:"avg or max"`
	OutputHeight  int     `attr:"output_height" onnx:"output_height" doc:"the height of the result"`
	OutputWidth   int     `attr:"output_width" onnx:"output_width" doc:"the width of the result"`
	SamplingRatio int     `attr:"sampling_ratio" onnx:"sampling_ratio" doc:"rows and columns of samples in a cell, 1 to 128; 0: as many as a cell has pixels"`
	SpatialScale  float64 `attr:"spatial_scale" onnx:"spatial_scale" doc:"from coordinates of regions to pixels of x, as 1/16 where x is 16 times smaller than what regions are for; positive"`
	Coordinates   string  `attr:"coordinate_transformation_mode" onnx:"coordinate_transformation_mode" doc:"half_pixel or output_half_pixel"`
}

// Spec returns the declaration.
func (RoiAlign) Spec() *spec.Op { return roiAlignOp.Op() }

func (a *RoiAlign) regions() resampling.Regions {
	return resampling.Regions{
		Mode: a.Mode, Coordinates: a.Coordinates, Height: a.OutputHeight, Width: a.OutputWidth, Ratio: a.SamplingRatio, Scale: a.SpatialScale,
	}
}

var roiAlignOp = spec.Declaration{Define: func() *spec.Op {
	return resampling.DefineRegions(spec.Definition[*RoiAlign]{
		Name: "roi_align", Source: "ONNX RoiAlign", Traits: spec.Traits{ONNX: []string{"RoiAlign"}},
		Doc:      "Samples regions of images between pixels, to results of one size. An image index out of range is an error.",
		Defaults: roiAlignOf("avg", 1, 1, 0, 1),
		Cases:    roiAlignCases(),
	}, (*RoiAlign).regions)
}}

func roiAlignOf(mode string, height, width, ratio int, scale float64) *RoiAlign {
	return &RoiAlign{Mode: mode, OutputHeight: height, OutputWidth: width, SamplingRatio: ratio, SpatialScale: scale, Coordinates: "half_pixel"}
}

// unshifted returns the call with the other coordinates.
func (a *RoiAlign) unshifted() *RoiAlign {
	a.Coordinates = "output_half_pixel"
	return a
}

func roiAlignCases() spec.CasesOf[*RoiAlign] {
	f := tensor.Contiguous
	inputs := func(d tensor.DType, index tensor.DType, regions int, x ...int) []tensor.Desc {
		return []tensor.Desc{f(d, x...), f(d, regions, 4), f(index, regions)}
	}
	return spec.CasesOf[*RoiAlign]{
		DTypes: planner.Floats, Low: -2, High: 2,
		Calls: []*RoiAlign{
			roiAlignOf("avg", 2, 3, 2, 0.25), roiAlignOf("avg", 1, 1, 0, 1), roiAlignOf("avg", 7, 7, 2, 0.0625).unshifted(),
			roiAlignOf("avg", 4, 2, 2, 0.5).unshifted(), roiAlignOf("max", 2, 4, 4, 1), roiAlignOf("max", 3, 5, 0, 0.125).unshifted(),
			roiAlignOf("max", 1, 1, 1, 2), roiAlignOf("avg", 1, 2, 128, 1), roiAlignOf("avg", 2, 1, 3, 2), roiAlignOf("max", 1, 3, 0, 1),
		},
		Invalid: []*RoiAlign{
			roiAlignOf("sum", 1, 1, 0, 1), roiAlignOf("avg", -1, 1, 0, 1), roiAlignOf("avg", 1, -2, 0, 1), roiAlignOf("avg", 1, 1, -1, 1),
			roiAlignOf("avg", 1, 1, 0, -1), roiAlignOf("avg", 1, 1, 0, math.Inf(1)), roiAlignOf("avg", 1, 1, 0, math.NaN()),
			{Mode: "avg", OutputHeight: 1, OutputWidth: 1, SpatialScale: 1, Coordinates: "asymmetric"},
		},
		Refused: [][]tensor.Desc{
			{f(tensor.F32, 2, 5, 7), f(tensor.F32, 3, 4), f(tensor.I32, 3)}, {f(tensor.F32, 1, 2, 5, 7), f(tensor.F32, 3, 5), f(tensor.I32, 3)},
			{f(tensor.F32, 1, 2, 5, 7), f(tensor.F32, 12), f(tensor.I32, 3)}, {f(tensor.F32, 1, 2, 5, 7), f(tensor.F16, 3, 4), f(tensor.I32, 3)},
			{f(tensor.F32, 1, 2, 5, 7), f(tensor.F32, 3, 4), f(tensor.I32, 4)}, {f(tensor.F32, 1, 2, 5, 7), f(tensor.F32, 3, 4), f(tensor.F32, 3)},
			{f(tensor.I32, 1, 2, 5, 7), f(tensor.I32, 3, 4), f(tensor.I32, 3)}, {f(tensor.F32, 1, 2, 0, 7), f(tensor.F32, 3, 4), f(tensor.I32, 3)},
		},
		Dims: []spec.Dim{
			{Name: "regions"}, {Name: "images"}, {Name: "height"}, {Name: "width"}, {Name: "channels", Only: []int{1, 3, 0}}, {Name: "bits", Only: []int{32, 64}},
		},
		// Images larger than forced limits, also where a plane is, and tables and results that are.
		Sizes: [][]int{{67, 5, 300, 400, 3, 32}, {70, 3, 700, 600, 1, 64}, {50_000, 3, 300, 320, 1, 32}, {9, 200_000, 3, 2, 1, 64}},
		Inputs: func(a *RoiAlign, d tensor.DType, dims []int) []tensor.Desc {
			regions, images, height, width, channels := dims[0], dims[1], dims[2], dims[3], dims[4]
			if images == 0 && regions > 0 || height == 0 || width == 0 || max(height, width) > 1<<24 {
				return nil
			}
			if total := int64(images) * int64(channels) * int64(height) * int64(width); total >= 1<<32 {
				return nil
			}
			elems := int64(regions) * int64(channels) * int64(a.OutputHeight*a.OutputWidth)
			ratio := int64(max(a.SamplingRatio, 1))
			// The reference takes long where there are many samples. Much larger results are only planned.
			if samples := elems * a.regions().Samples(height, width); samples > 1<<21 && elems*ratio*ratio < 1<<30 {
				return nil
			}
			index := tensor.I32
			if dims[5] == 64 {
				index = tensor.I64
			}
			return inputs(d, index, regions, images, channels, height, width)
		},
		Range: func(a *RoiAlign, i int, in []tensor.Desc) (low, high float64) {
			switch i {
			case 0:
				return -2, 2
			case 1:
				return resampling.RegionRange(a.regions(), in[0].Shape)
			}
			return 0, float64(max(in[0].Shape[0]-1, 0))
		},
		Settle: func(a *RoiAlign, i int, _ tensor.Desc, values []float64) {
			if i == 1 {
				resampling.SettleRegion(a.regions(), values)
			}
		},
		Bench: func(d tensor.DType) []spec.BenchCase {
			var list []spec.BenchCase
			for _, n := range [][]int{{8, 1, 4, 64, 64}, {64, 1, 32, 128, 128}, {256, 4, 64, 128, 128}} {
				list = append(list, spec.BenchCase{Call: *roiAlignOf("avg", 7, 7, 2, 0.0625), In: inputs(d, tensor.I64, n[0], n[1:]...)})
			}
			return list
		},
		Faults: func(d tensor.DType) [][]*tensor.Host {
			const images = 3
			var sets [][]*tensor.Host
			for _, bad := range []struct {
				index tensor.DType
				value float64
			}{
				{tensor.I32, -1}, {tensor.I32, images}, {tensor.I32, math.MinInt32}, {tensor.I64, -1}, {tensor.I64, images}, {tensor.I64, 1 << 32}, {tensor.I64, 1<<40 + 1},
			} {
				var set []*tensor.Host
				for _, desc := range inputs(d, bad.index, 5, images, 2, 4, 6) {
					set = append(set, tensor.NewHost(desc))
				}
				set[2].SetFloats([]float64{0, images - 1, 1, bad.value, 2})
				sets = append(sets, set)
			}
			return sets
		},
	}
}
