// Package resampling declares the operations that read tensors between their elements: those that change sizes along the
// axes, those that read at the places of a grid, and those that sample regions of images; and their gradients.
package resampling

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
)

// Attributes are those of Resize in ONNX.
type Attributes struct {
	Mode, Coordinates, NearestMode string
	// CubicCoeffA is the coefficient of the cubic filter.
	CubicCoeffA               float64
	ExcludeOutside, Antialias bool
	ExtrapolationValue        float64
	// Axes are the axes to which the lists belong. Empty means all, in their order.
	Axes []int
	// Policy is keep_aspect_ratio_policy.
	Policy string
	// Scales or Sizes say how large the result is. Without both it is as large as the tensor.
	Scales, Sizes []float64
	// Roi has the starts and then the ends of the region along each of Axes, where 1 is the last element.
	Roi []float64
}

// mode is a mode of interpolation, with the numbers of shaders/nn/resample_table.comp.
type mode uint32

const (
	nearest mode = iota
	linear
	cubic
)

// roundDown and roundUp are two of nearestModes.
const (
	roundDown = "floor"
	roundUp   = "ceil"
)

var (
	modes         = []string{"nearest", "linear", "cubic"}
	nearestModes  = []string{"round_prefer_floor", "round_prefer_ceil", roundDown, roundUp}
	coordinates   = []string{"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"}
	policies      = []string{"stretch", "not_larger", "not_smaller"}
	cropAndResize = "tf_crop_and_resize"
)

// maxSize is the largest size of an axis and the largest coordinate. Kernels have 31 bits for them.
const maxSize = 1 << 29

// axis says how an axis is resampled. The coordinate of row i of the result is start + i·step.
type axis struct {
	in, out     int
	start, step float64
	mode        mode
	rounding    uint32
	// wide is how many rows of the source the linear filter reaches on each side of a coordinate.
	wide          float64
	coefficient   float64
	exclude, crop bool
}

// same says that the axis does not change.
func (x axis) same() bool {
	return x.in == x.out && x.start == 0 && (x.step == 1 || x.out == 1) && x.wide == 1
}

// axes checks the attributes for a tensor of that shape, and returns how each axis is resampled.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (a Attributes) axes(shape []int) ([]axis, error) {
	kind, rounding := slices.Index(modes, a.Mode), slices.Index(nearestModes, a.NearestMode)
	for _, c := range []struct {
		name, value string
		all         []string
	}{
		{"mode", a.Mode, modes}, {"coordinate_transformation_mode", a.Coordinates, coordinates},
		{"nearest_mode", a.NearestMode, nearestModes}, {"keep_aspect_ratio_policy", a.Policy, policies},
	} {
		if !slices.Contains(c.all, c.value) {
			return nil, planner.Invalid("%s %q (want one of %v)", c.name, c.value, c.all)
		}
	}
	switch {
	case mode(kind) == nearest && (a.ExcludeOutside || a.Antialias):
		return nil, planner.Invalid("exclude_outside or antialias in mode nearest (want linear or cubic)")
	case !finite(a.CubicCoeffA) || !finite(a.ExtrapolationValue):
		return nil, planner.Invalid("cubic_coeff_a %v, extrapolation_value %v (want finite numbers)", a.CubicCoeffA, a.ExtrapolationValue)
	case math.Abs(a.CubicCoeffA) > 1000:
		return nil, planner.Unsupported("cubic_coeff_a %v (from -1000 to 1000)", a.CubicCoeffA)
	}
	list, err := a.listed(len(shape))
	if err != nil {
		return nil, err
	}
	made := make([]axis, len(shape))
	for k, n := range shape {
		if n > maxSize {
			return nil, planner.Unsupported("dimension %d of %v (at most %d)", k, shape, maxSize)
		}
		made[k] = axis{in: n, out: n, step: 1, mode: mode(kind), rounding: uint32(rounding), wide: 1, coefficient: a.CubicCoeffA, exclude: a.ExcludeOutside}
	}
	scales, err := a.scales(shape, list)
	if err != nil {
		return nil, err
	}
	for i, k := range list {
		x := &made[k]
		start, end := 0.0, 1.0
		if a.Coordinates == cropAndResize {
			start, end, x.crop = a.Roi[i], a.Roi[len(list)+i], true
		}
		if scales[i].out == 0 && x.in > 0 {
			return nil, planner.Invalid("dimension %d of %v would be empty (want at least 1)", k, shape)
		}
		if x.out, err = x.resize(a.Coordinates, scales[i], start, end); err != nil {
			return nil, err
		}
		if a.Antialias && x.out > 0 {
			x.wide = max(1, 1/scales[i].of(x.in))
		}
	}
	return made, nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// listed returns the axes to which the lists belong, and checks how long the lists are.
func (a Attributes) listed(rank int) ([]int, error) {
	var list []int
	for _, k := range a.Axes {
		k, err := planner.Axis(k, rank)
		if err != nil {
			return nil, err
		}
		if slices.Contains(list, k) {
			return nil, planner.Invalid("axes %v (want each only once)", a.Axes)
		}
		list = append(list, k)
	}
	if len(a.Axes) == 0 {
		for k := range rank {
			list = append(list, k)
		}
	}
	if len(a.Scales) > 0 && len(a.Sizes) > 0 {
		return nil, planner.Invalid("scales %v and sizes %v (want one of them)", a.Scales, a.Sizes)
	}
	for _, l := range []struct {
		name    string
		numbers []float64
		want    int
		needed  bool
	}{
		{"scales", a.Scales, len(list), false}, {"sizes", a.Sizes, len(list), false},
		{"roi", a.Roi, 2 * len(list), a.Coordinates == cropAndResize},
	} {
		if len(l.numbers) != l.want && (len(l.numbers) > 0 || l.needed) {
			return nil, planner.Invalid("%s %v for a tensor of rank %d and axes %v (want %d numbers)", l.name, l.numbers, rank, a.Axes, l.want)
		}
		for _, x := range l.numbers {
			switch {
			case l.name == "scales" && !(x > 0 && finite(x)):
				return nil, planner.Invalid("scales %v (want finite numbers above 0)", l.numbers)
			case l.name == "sizes" && x < 0:
				return nil, planner.Invalid("sizes %.0f (want at least 0)", l.numbers)
			case !finite(x):
				return nil, planner.Invalid("%s %v (want finite numbers)", l.name, l.numbers)
			}
		}
	}
	return list, nil
}

// scale is how much longer an axis becomes, as a number or as the ratio of the sizes of the result and of the
// source. out is the size of the result, and length is the one that scale would make, which may be no whole number.
type scale struct {
	number, length float64
	out            int
}

// of returns the scale of an axis of n rows.
func (s scale) of(n int) float64 {
	if s.number > 0 {
		return s.number
	}
	return s.length / float64(n)
}

// scales returns the scale of each of the listed axes.
func (a Attributes) scales(shape, list []int) ([]scale, error) {
	var made []scale
	common := math.NaN()
	for i, k := range list {
		n := float64(shape[k])
		switch {
		case len(a.Sizes) > 0:
			if n == 0 && a.Sizes[i] > 0 {
				return nil, planner.Invalid("size %v for dimension %d of %v, which is empty", a.Sizes[i], k, shape)
			}
			if a.Sizes[i] > maxSize {
				return nil, planner.Unsupported("sizes %.0f (at most %d)", a.Sizes, maxSize)
			}
			made = append(made, scale{length: a.Sizes[i], out: int(a.Sizes[i])})
			if s := a.Sizes[i] / n; n > 0 && (math.IsNaN(common) || a.Policy == "not_larger" && s < common || a.Policy == "not_smaller" && s > common) {
				common = s
			}
		case len(a.Scales) > 0:
			length := n * a.Scales[i]
			if length > maxSize {
				return nil, planner.Unsupported("dimension %d of %v with scale %v (at most %d)", k, shape, a.Scales[i], maxSize)
			}
			s := scale{number: a.Scales[i], length: length}
			// F32 has no 0.7. So a length that is a whole number but for the rounding of the scale is that number.
			if whole := math.Round(length); math.Abs(length-whole) <= whole*0x1p-24*(1+0x1p-20) {
				s = scale{length: whole}
			}
			s.out = int(s.length)
			made = append(made, s)
		default:
			made = append(made, scale{length: n, out: int(n)})
		}
	}
	if len(a.Sizes) == 0 || a.Policy == "stretch" || math.IsNaN(common) {
		return made, nil
	}
	for i, k := range list {
		length := float64(shape[k]) * common
		if length > maxSize {
			return nil, planner.Unsupported("dimension %d of %v with scale %v (at most %d)", k, shape, common, maxSize)
		}
		made[i] = scale{number: common, length: length, out: int(length + 0.5)}
		if whole := math.Round(length); common > 0 && math.Abs(length-whole) <= whole*0x1p-50 {
			made[i] = scale{length: whole, out: int(whole)}
		}
	}
	return made, nil
}

// resize sets the coordinates, and returns the size of the result.
func (x *axis) resize(mode string, s scale, start, end float64) (int, error) {
	if s.out == 0 || x.in == 0 {
		return s.out, nil
	}
	n, length := float64(x.in), s.length
	// one is a step of the result in rows of the source.
	one := n / length
	if s.number > 0 {
		one = 1 / s.number
	}
	switch mode {
	case "asymmetric":
		x.start, x.step = 0, one
	case "align_corners":
		x.start, x.step = 0, 0
		if length != 1 {
			x.step = (n - 1) / (length - 1)
		}
	case cropAndResize:
		x.start, x.step = start*(n-1), 0
		if length != 1 {
			x.step = (end - start) * (n - 1) / (length - 1)
		} else {
			x.start = (start + end) / 2 * (n - 1)
		}
	default:
		x.start, x.step = one/2-0.5, one
		if mode == "half_pixel_symmetric" {
			x.start += n / 2 * (1 - float64(s.out)/length)
		}
		if mode == "pytorch_half_pixel" && length <= 1 {
			x.start, x.step = 0, 0
		}
	}
	if s.out == 1 {
		x.step = 0
	}
	if far := max(math.Abs(x.start), math.Abs(x.start+float64(s.out-1)*x.step)); !(far <= maxSize) || math.Abs(x.step) > maxSize {
		return 0, planner.Unsupported("coordinates up to %g, by the scales, sizes or roi (at most %d)", far, maxSize)
	}
	return s.out, nil
}

// terms is how many rows on each side of a coordinate may have a weight.
func (x axis) terms() int {
	switch x.mode {
	case linear:
		return int(math.Ceil(x.wide))
	case cubic:
		return int(math.Ceil(2 * x.wide))
	}
	return 1
}

// slots is how many weights an entry of the table has.
func (x axis) slots() int {
	if x.mode == nearest {
		return 1
	}
	return min(2*x.terms(), x.in)
}

// tau is the distance within which a coordinate is at a multiple of a half, as a power of two. Coordinates in
// float64 are not more exact than that.
func (x axis) tau() int { return 50 - int(math.Ceil(math.Log2(float64(max(x.in, 1))))) }

// inside returns the rows of the result, or some more, whose coordinate is inside. There is at least one.
func (x axis) inside() (first, end int) {
	if !x.crop || x.step == 0 {
		return 0, x.out
	}
	a, b := -x.start/x.step, (float64(x.in-1)-x.start)/x.step
	low, high := math.Floor(min(a, b))-1, math.Ceil(max(a, b))+2
	first = int(min(max(low, 0), float64(x.out-1)))
	return first, int(min(max(high, float64(first+1)), float64(x.out)))
}

// touches is how many rows of the result have a weight for one row of the source at most.
func (x axis) touches() int {
	begin, end := x.inside()
	n := end - begin
	if x.step == 0 {
		return max(n, 1)
	}
	low, high := x.start+float64(begin)*x.step, x.start+float64(end-1)*x.step
	over := max(-min(low, high), max(low, high)-float64(x.in-1), 0)
	wide := 1.0
	if x.mode != nearest {
		wide = 2 * float64(x.terms())
	}
	return int(max(min(math.Ceil((wide+over)/math.Abs(x.step))+2, float64(n)), 1))
}

// Shape returns the shape of the result for a tensor of that shape.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (a Attributes) Shape(shape []int) ([]int, error) {
	axes, err := a.axes(shape)
	if err != nil {
		return nil, err
	}
	made := make([]int, len(axes))
	for k, x := range axes {
		made[k] = x.out
	}
	return made, nil
}
