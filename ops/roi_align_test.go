package ops_test

import (
	"errors"
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestRoiAlignExamples compares the reference with numbers that ONNX publishes for RoiAlign. Those of the means are of images with
// more digits.
func TestRoiAlignExamples(t *testing.T) {
	x := host(tensor.F64, []int{1, 1, 10, 10},
		.2764, .7150, .1958, .3416, .4638, .0259, .2963, .6518, .4856, .7250, .9637, .0895, .2919, .6753, .0234, .6132, .8085, .5324, .8992, .4467,
		.3265, .8479, .9698, .2471, .9336, .1878, .4766, .4308, .3400, .2162, .0206, .1720, .2155, .4394, .0653, .3406, .7724, .3921, .2541, .5799,
		.4062, .2194, .4473, .4687, .7109, .9327, .9815, .6320, .1728, .6119, .3097, .1283, .4984, .5068, .4279, .0173, .4388, .0430, .4671, .7119,
		.1011, .8477, .4726, .1777, .9923, .4042, .1869, .7795, .9946, .9689, .1366, .3671, .7011, .6234, .9867, .5585, .6985, .5609, .8788, .9928,
		.5697, .8511, .6711, .9406, .8751, .7496, .1650, .1049, .1559, .2514, .7012, .4056, .7879, .3461, .0415, .2998, .5094, .3727, .5482, .0502)
	rois, indices := host(tensor.F64, []int{3, 4}, 0, 0, 9, 9, 0, 5, 4, 9, 5, 5, 9, 9), host(tensor.I64, []int{3}, 0, 0, 0)
	for _, c := range []struct {
		mode, coordinates string
		within            float64
		want              []float64
	}{
		{"avg", "half_pixel", 1e-4, []float64{
			.5178, .3434, .3229, .4474, .6344, .4031, .5366, .4428, .4861, .4023, .2512, .4002, .5155, .6954, .3465, .3350, .4601, .5881, .3439, .6849, .4932, .7141, .8217, .4719, .4039,
			.3070, .2187, .3337, .4880, .4870, .1871, .4914, .5561, .4192, .3686, .1433, .4608, .5971, .5310, .4982, .2788, .4386, .6022, .7000, .7524, .5774, .7024, .7251, .7338, .8163,
			.2393, .4075, .3379, .2525, .4743, .3671, .2702, .4105, .6419, .8308, .5556, .4543, .5564, .7502, .9300, .6626, .5617, .4813, .4954, .6663, .6636, .3721, .2056, .1928, .2478,
		}},
		{"avg", "output_half_pixel", 1e-4, []float64{
			.4664, .4466, .3405, .5688, .6068, .3714, .4296, .3835, .5562, .3510, .2768, .4883, .5222, .5528, .4171, .4713, .4844, .6904, .4920, .8774, .6239, .7125, .6289, .3355, .3495,
			.3022, .4305, .4696, .3978, .5423, .3656, .7050, .5165, .3172, .7015, .2912, .5059, .6476, .6235, .8299, .5916, .7389, .7048, .8372, .8893, .6227, .6153, .7097, .6154, .4585,
			.2384, .3379, .3717, .6100, .7601, .3767, .3785, .7147, .9243, .9727, .5749, .5826, .5709, .7619, .8770, .5355, .2566, .2141, .2796, .3600, .4365, .3504, .2887, .3661, .2349,
		}},
		{"max", "output_half_pixel", 1e-6, []float64{
			.3445228, .37310338, .37865096, .446696, .37991184, .4133513, .5455125, .6651902, .55805874, .27110294, .21223956, .40924096, .8417618, .792561, .37196714,
			.46835402, .39741728, .8012819, .4969306, .5495158, .3595896, .5196813, .5403741, .23814403, .19992709,
			.30517197, .5086199, .3189761, .4054401, .47630402, .50862, .8477, .37808004, .24936005, .79384017, .17620805, .29368007, .44870415, .4987201, .63148826,
			.51066005, .8511, .5368801, .9406, .70008016, .4487681, .51066035, .5042561, .5643603, .42004836,
			.21062402, .3510401, .37416005, .5967599, .46507207, .32336006, .31180006, .6236001, .9946, .7751202, .35744014, .5588001, .35897616, .7030401, .6353923,
			.5996801, .27940005, .17948808, .35152006, .31769615, .3598083, .40752012, .2385281, .43856013, .26313624,
		}},
	} {
		call := ops.RoiAlign{Mode: c.mode, OutputHeight: 5, OutputWidth: 5, SamplingRatio: 2, SpatialScale: 1, Coordinates: c.coordinates}
		out, err := call.Spec().Shape(call, []tensor.Desc{x.Desc, rois.Desc, indices.Desc})
		if err != nil {
			t.Fatal(err)
		}
		got := tensor.NewHost(out[0])
		call.Spec().Reference(call, []*tensor.Host{x, rois, indices}, []*tensor.Host{got})
		for i, y := range got.Floats() {
			if math.Abs(y-c.want[i]) > c.within {
				t.Errorf("%s, %s: element %d: got %g, want %g", c.mode, c.coordinates, i, y, c.want[i])
			}
		}
	}
}

// TestRoiAlignRules samples at and between pixels, at the edges that count and behind them, regions without samples, and
// NaN and infinities.
func TestRoiAlignRules(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	square, line := []int{1, 1, 2, 2}, []int{1, 1, 1, 3}
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			name      string
			call      ops.RoiAlign
			shape     []int
			x, roi    []float64
			avg, most []float64
		}{
			{"at pixels", ops.RoiAlign{OutputHeight: 2, OutputWidth: 2, SamplingRatio: 1}, square, []float64{1, 2, 3, 4}, []float64{0, 0, 2, 2},
				[]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}},
			{"between pixels", ops.RoiAlign{OutputHeight: 2, OutputWidth: 2, SamplingRatio: 1, Coordinates: "output_half_pixel"}, square,
				[]float64{1, 2, 3, 4}, []float64{0, 0, 2, 2}, []float64{2.5, 3, 3.5, 4}, []float64{1, 2, 2, 4}},
			{"negative pixels", ops.RoiAlign{OutputWidth: 2, SamplingRatio: 1}, line, []float64{-1, -2, -4}, []float64{0.5, 0, 2.5, 1}, []float64{-1.5, -3}, []float64{0, 0}},
			{"negative pixels around", ops.RoiAlign{SamplingRatio: 1}, square, []float64{-4, -8, -12, -16}, []float64{0.5, 0.5, 1.5, 1.5}, []float64{-10}, []float64{-1}},
			{"adaptive", ops.RoiAlign{}, []int{1, 1, 2, 4}, []float64{1, 2, 3, 4, 5, 6, 7, 16}, []float64{0, 0, 4, 2}, []float64{5.5}, []float64{16}},
			// At 0.75 and 1.25.
			{"scaled", ops.RoiAlign{SpatialScale: 0.5, SamplingRatio: 2}, line, []float64{2, 4, 8}, []float64{2, 0, 4, 2}, []float64{4.25}, []float64{3}},
			// Rows and columns at -2, which is outside, and at -1, 0 and 1, which are not.
			{"edges", ops.RoiAlign{SamplingRatio: 4}, []int{1, 1, 1, 1}, []float64{16}, []float64{-2, -2, 2, 2}, []float64{9}, []float64{16}},
			{"negative edges", ops.RoiAlign{SamplingRatio: 4}, []int{1, 1, 1, 1}, []float64{-16}, []float64{-2, -2, 2, 2}, []float64{-9}, []float64{0}},
			{"far away", ops.RoiAlign{SamplingRatio: 2}, square, []float64{1, 2, 3, 4}, []float64{100, 0, 102, 2}, []float64{0}, []float64{0}},
			{"empty", ops.RoiAlign{}, square, []float64{1, 2, 3, 4}, []float64{1, 1, 1, 2}, []float64{0}, []float64{0}},
			{"turned", ops.RoiAlign{}, square, []float64{1, 2, 3, 4}, []float64{2, 2, 0, 0}, []float64{0}, []float64{0}},
			{"turned with samples", ops.RoiAlign{OutputWidth: 2, SamplingRatio: 1}, line, []float64{1, 2, 4}, []float64{2, 0, 0, 1}, []float64{2, 1}, []float64{2, 1}},
			{"at least a pixel", ops.RoiAlign{Coordinates: "output_half_pixel"}, line, []float64{1, 2, 4}, []float64{1, 0, 0, 0}, []float64{3}, []float64{2}},
			{"NaN region", ops.RoiAlign{SamplingRatio: 2}, square, []float64{1, 2, 3, 4}, []float64{0, nan, 2, 2}, []float64{0}, []float64{0}},
			{"NaN size", ops.RoiAlign{}, square, []float64{1, 2, 3, 4}, []float64{0, 0, nan, 2}, []float64{0}, []float64{0}},
			{"infinite region", ops.RoiAlign{}, square, []float64{1, 2, 3, 4}, []float64{-inf, 0, inf, 2}, []float64{0}, []float64{0}},
			{"infinite end", ops.RoiAlign{}, square, []float64{1, 2, 3, 4}, []float64{0, 0, inf, 2}, []float64{0}, []float64{0}},
			{"infinite pixel", ops.RoiAlign{SamplingRatio: 1}, square, []float64{1, inf, 2, 3}, []float64{0.5, 0.5, 1.5, 1.5}, []float64{inf}, []float64{inf}},
			{"infinite pixel of no weight", ops.RoiAlign{SamplingRatio: 1}, line, []float64{1, 2, inf}, []float64{1, 0, 2, 1}, []float64{nan}, []float64{nan}},
			{"infinite pixel not beside", ops.RoiAlign{SamplingRatio: 1}, line, []float64{1, 2, inf}, []float64{0, 0, 1, 1}, []float64{1}, []float64{1}},
			{"NaN pixel", ops.RoiAlign{SamplingRatio: 2}, line, []float64{nan, 2, inf}, []float64{0, 0, 3, 1}, []float64{nan}, []float64{nan}},
			{"outside of NaN", ops.RoiAlign{SamplingRatio: 1}, line, []float64{nan, nan, nan}, []float64{9, 0, 10, 1}, []float64{0}, []float64{0}},
			// Columns are 8 apart, and only the first of 128, at -0.5, is inside.
			{"too many samples", ops.RoiAlign{}, []int{1, 1, 1, 1}, []float64{8}, []float64{-4, 0, 1020, 1}, []float64{0.0625}, []float64{8}},
		} {
			for mode, want := range map[string][]float64{"avg": c.avg, "max": c.most} {
				call := c.call
				call.Mode = mode
				call = spec.WithDefaults(call)
				t.Run(c.name+"/"+mode, func(t *testing.T) {
					expectCall(t, r, dev, call, []*tensor.Host{host(tensor.F32, c.shape, c.x...), host(tensor.F32, []int{1, 4}, c.roi...), host(tensor.I32, []int{1}, 0)},
						[]*tensor.Host{host(tensor.F32, []int{1, 1, call.OutputHeight, call.OutputWidth}, want...)})
				})
			}
		}
		// Two channels of three images, and indices of 64 bits.
		x := host(tensor.F16, []int{3, 2, 1, 2}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
		rois, indices := host(tensor.F16, []int{4, 4}, 0, 0, 1, 1, 1, 0, 2, 1, 0, 0, 2, 1, 0.5, 0, 1.5, 1), host(tensor.I64, []int{4}, 2, 0, 1, 2)
		expectCall(t, r, dev, spec.WithDefaults(ops.RoiAlign{}), []*tensor.Host{x, rois, indices}, []*tensor.Host{host(tensor.F16, []int{4, 2, 1, 1}, 9, 11, 2, 4, 5.5, 7.5, 9.5, 11.5)})
	})
}

// TestRoiAlignLimits asks for more than the operation has.
func TestRoiAlignLimits(t *testing.T) {
	f := tensor.Contiguous
	for _, c := range []struct {
		call ops.RoiAlign
		x    []int
	}{
		{ops.RoiAlign{SamplingRatio: 129}, []int{1, 1, 5, 5}}, {ops.RoiAlign{OutputHeight: 1<<24 + 1}, []int{1, 1, 5, 5}}, {ops.RoiAlign{}, []int{1, 1, 1, 1<<24 + 1}},
		{ops.RoiAlign{}, []int{1 << 16, 1 << 8, 1, 1 << 8}}, {ops.RoiAlign{OutputHeight: 1 << 15, OutputWidth: 1 << 15}, []int{1, 3, 1, 1}},
	} {
		call := spec.WithDefaults(c.call)
		if _, err := call.Spec().Shape(call, []tensor.Desc{f(tensor.F16, c.x...), f(tensor.F16, 3, 4), f(tensor.I32, 3)}); !errors.Is(err, errs.ErrUnsupported) {
			t.Errorf("%+v of %v: got error %v, want %v", c.call, c.x, err, errs.ErrUnsupported)
		}
	}
}

// TestRoiAlignNaNAndInfinity compares the reference and devices where NaN lies beside an infinity: NaN is the largest.
func TestRoiAlignNaNAndInfinity(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	call := spec.WithDefaults(ops.RoiAlign{Mode: "max", SamplingRatio: 2})
	in := []*tensor.Host{host(tensor.F32, []int{2, 1, 1, 2}, inf, nan, nan, inf), host(tensor.F32, []int{2, 4}, 0, 0, 2, 1, 0, 0, 2, 1), host(tensor.I32, []int{2}, 0, 1)}
	want := host(tensor.F32, []int{2, 1, 1, 1}, nan, nan)
	got := tensor.NewHost(want.Desc)
	call.Spec().Reference(call, in, []*tensor.Host{got})
	for i, v := range got.Floats() {
		if !math.IsNaN(v) {
			t.Errorf("reference: element %d: got %g, want NaN", i, v)
		}
	}
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		expectCall(t, r, dev, call, in, []*tensor.Host{want})
	})
}
