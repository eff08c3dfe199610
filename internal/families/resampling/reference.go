package resampling

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// row is what a row of the result is made of in the reference: rows of the source and their weights, or the
// fill value.
type row struct {
	from    []int
	weights []float64
	outside bool
}

// axisReference returns the rows of an axis of n rows whose result has out rows. i is its number in the lists, or −1 if they
// do not have it.
func (a Attributes) axisReference(shape, list []int, i, n, out int) []row {
	made := make([]row, out)
	// As in ONNX: output_width is a number that need not be whole.
	width, scale := float64(out), float64(out)/float64(n)
	switch {
	case i < 0:
		for r := range made {
			made[r] = row{from: []int{r}, weights: []float64{1}}
		}
		return made
	case len(a.Sizes) > 0 && a.Policy != "stretch":
		for j, k := range list {
			s := a.Sizes[j] / float64(shape[k])
			if j == 0 || a.Policy == "not_larger" && s < scale || a.Policy == "not_smaller" && s > scale {
				scale = s
			}
		}
		width = scale * float64(n)
	case len(a.Scales) > 0:
		scale = a.Scales[i]
		width = scale * float64(n)
		if w := math.Round(width); math.Abs(width-w) <= w/(1<<24)*(1+0x1p-20) {
			width, scale = w, w/float64(n)
		}
	}
	power := 1
	for power < n {
		power *= 2
	}
	near := float64(power) * 0x1p-50
	for r := range made {
		at, last := 0.0, float64(n-1)
		switch x := float64(r); a.Coordinates {
		case "half_pixel":
			at = (x+0.5)/scale - 0.5
		case "half_pixel_symmetric":
			at = float64(n)/2*(1-float64(out)/width) + (x+0.5)/scale - 0.5
		case "pytorch_half_pixel":
			if width > 1 {
				at = (x+0.5)/scale - 0.5
			}
		case "asymmetric":
			at = x / scale
		case "align_corners":
			if width != 1 {
				at = x * last / (width - 1)
			}
		default:
			start, end := a.Roi[i], a.Roi[len(a.Roi)/2+i]
			if width == 1 {
				at = (start + end) * last / 2
			} else {
				at = start*last + x*(end-start)*last/(width-1)
			}
		}
		if half := math.Round(2*at) / 2; math.Abs(at-half) < near {
			at = half
		}
		made[r] = a.weighed(at, n, scale, near)
		made[r].outside = a.Coordinates == "tf_crop_and_resize" && (at < 0 || at > last)
	}
	return made
}

// weighed returns the row of coordinate at.
func (a Attributes) weighed(at float64, n int, scale, near float64) row {
	add := func(r *row, j int, w float64) {
		j = min(max(j, 0), n-1)
		if k := len(r.from) - 1; k >= 0 && r.from[k] == j {
			r.weights[k] += w
			return
		}
		r.from, r.weights = append(r.from, j), append(r.weights, w)
	}
	var r row
	if a.Mode == "nearest" {
		switch a.NearestMode {
		case roundDown:
			at = math.Floor(at)
		case roundUp:
			at = math.Ceil(at)
		case "round_prefer_floor":
			at = math.Ceil(at - 0.5)
		default:
			at = math.Floor(at + 0.5)
		}
		add(&r, int(at), 1)
		return r
	}
	wide := 1.0
	if a.Antialias && scale < 1 {
		wide = 1 / scale
	}
	reach := wide
	if a.Mode == "cubic" {
		reach = 2 * wide
	}
	// Far outside, all weights are those of one row.
	if !a.ExcludeOutside {
		at = min(max(at, -2*reach), float64(n-1)+2*reach)
	}
	sum := 0.0
	c := a.CubicCoeffA
	for j := int(math.Ceil(at - reach)); float64(j) <= at+reach; j++ {
		d, w := math.Abs(float64(j)-at), 0.0
		x := d / wide
		switch {
		case reach-d < near || a.ExcludeOutside && (j < 0 || j >= n):
		case a.Mode == "linear":
			w = 1 - x
		case math.Abs(wide-d) < near:
		case d < wide:
			w = (c+2)*x*x*x - (c+3)*x*x + 1
		default:
			w = c*x*x*x - 5*c*x*x + 8*c*x - 4*c
		}
		if w != 0 {
			add(&r, j, w)
			sum += w
		}
	}
	for k := range r.weights {
		r.weights[k] /= sum
	}
	return r
}

// reference resamples x, of that shape, axis by axis. With gradient, x is the gradient of the result and the reference
// returns that of the source.
func (a Attributes) reference(x []float64, source, result []int, gradient bool) []float64 {
	list := a.Axes
	if len(list) == 0 {
		for k := range source {
			list = append(list, k)
		}
	}
	at := make([]int, len(source))
	for k := range at {
		at[k] = -1
	}
	var all []int
	for i, k := range list {
		k = (k + len(source)) % len(source)
		at[k], all = i, append(all, k)
	}
	from, to := source, result
	if gradient {
		from, to = result, source
	}
	shape := append([]int(nil), from...)
	for k := len(shape) - 1; k >= 0; k-- {
		rows := a.axisReference(source, all, at[k], source[k], result[k])
		outer, inner := 1, 1
		for j, n := range shape {
			if j < k {
				outer *= n
			} else if j > k {
				inner *= n
			}
		}
		made := make([]float64, outer*to[k]*inner)
		for o := range outer {
			for i, r := range rows {
				for c := range inner {
					y := (o*to[k]+i)*inner + c
					if gradient {
						y = (o*shape[k]+i)*inner + c
					} else if r.outside {
						made[y] = a.ExtrapolationValue
						continue
					} else if len(r.from) == 0 { // All elements are outside, and excluded.
						made[y] = math.NaN()
					}
					for t, j := range r.from {
						switch {
						case r.outside:
						case gradient:
							made[(o*to[k]+j)*inner+c] += r.weights[t] * x[y]
						default:
							made[y] += r.weights[t] * x[(o*shape[k]+j)*inner+c]
						}
					}
				}
			}
		}
		shape[k], x = to[k], made
	}
	return x
}

// set computes the reference of a call.
func (a Attributes) set(in, out *tensor.Host, gradient bool) {
	source, result := in.Shape, out.Shape
	if gradient {
		source, result = result, source
	}
	if out.Elems() > 0 {
		out.SetFloats(a.reference(in.Floats(), source, result, gradient))
	}
}
