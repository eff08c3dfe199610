package resampling

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

var nan = math.NaN()

// place is where a number of a grid lies along an axis: a row and the rest after it, which is less than 1. The rest
// is NaN if the place is nowhere.
type place struct {
	row  int
	rest float64
}

// placeOf returns where g lies along an axis of n rows. The rest has that many bits.
func (a Sampling) placeOf(g float64, n, bits int) place {
	mirrored, between := a.Padding == "reflection", a.Mode != "nearest"
	if math.IsNaN(g) || mirrored && math.IsInf(g, 0) {
		return place{rest: nan}
	}
	const one = 1 << 56
	if mirrored {
		g = math.Mod(g, 4)
	} else {
		g = min(max(g, -8), 8)
	}
	u := int64(math.Ldexp(g, 56)) + one // The distance from -1.
	if mirrored {
		u = ((u % (4 * one)) + 4*one) % (4 * one)
		if between && u > 2*one {
			u = 4*one - u
		}
	}
	if a.Padding == "border" && between {
		if u < 0 {
			return place{}
		}
		if u > 2*one {
			return place{row: n - 1}
		}
	}
	// u·n/2^57, or (u·n − 2^56)/2^57, as t/2^29 + low/2^57.
	m, half := int64(n), int64(1<<28)
	if a.AlignCorners {
		m, half = m-1, 0
	}
	low := u & (1<<28 - 1) * m
	t := u>>28*m - half + low>>28
	low &= 1<<28 - 1
	row, rest := t>>29, (t&(1<<29-1))<<28|low
	// The nearest multiple of 2^-bits.
	rest = (rest + 1<<(56-bits)) >> (57 - bits)
	row, rest = row+rest>>bits, rest&(1<<bits-1)
	p := place{int(row), math.Ldexp(float64(rest), -bits)}
	if !between {
		p = place{row: int(math.RoundToEven(float64(p.row) + p.rest))}
	}
	return p
}

// weighed returns the rows and weights of an axis. A row of −1 is outside.
func (a Sampling) weighed(p place, n int) row {
	var r row
	first, end := 0, 1
	switch a.Mode {
	case "linear":
		end = 2
	case "cubic":
		first, end = -1, 3
	}
	for k := first; k < end; k++ {
		d, w := math.Abs(float64(k)-p.rest), 1.0
		switch {
		case a.Mode == "linear":
			w = 1 - d
		case a.Mode == "cubic" && d < 1:
			w = (1 - d) * (1 + d - 1.25*d*d)
		case a.Mode == "cubic":
			w = -0.75 * (d - 1) * (2 - d) * (2 - d)
		}
		i := p.row + k
		switch a.Padding {
		case "zeros":
			if i < 0 || i >= n {
				i = -1
			}
		case "border":
			i = min(max(i, 0), n-1)
		default:
			for n > 1 && (i < 0 || i >= n) {
				switch {
				case i < 0 && a.AlignCorners:
					i = -i
				case i < 0:
					i = -1 - i
				case a.AlignCorners:
					i = 2*(n-1) - i
				default:
					i = 2*n - 1 - i
				}
			}
			if n == 1 {
				i = 0
			}
		}
		if w != 0 && i >= 0 {
			r.from, r.weights = append(r.from, i), append(r.weights, w)
		}
	}
	return r
}

// each calls f with each point of a grid: with all elements of a plane of that size that have a weight there, and
// their weights. nowhere says that the point is at no place.
func (a Sampling) each(grid *tensor.Host, size []int, f func(image, point int, at []int, weights []float64, nowhere bool)) {
	places, images, axes, bits := grid.Floats(), grid.Shape[0], len(size), 24
	points := len(places) / max(images*axes, 1)
	if grid.DType == tensor.F64 {
		bits = 52
	}
	for image := range images {
		for point := range points {
			at, weights, nowhere := []int{0}, []float64{1}, false
			for k, n := range size {
				p := a.placeOf(places[(image*points+point)*axes+axes-1-k], n, bits)
				nowhere = nowhere || math.IsNaN(p.rest)
				r := a.weighed(p, n)
				var nextAt []int
				var next []float64
				for i := range at {
					for j, row := range r.from {
						nextAt, next = append(nextAt, at[i]*n+row), append(next, weights[i]*r.weights[j])
					}
				}
				at, weights = nextAt, next
			}
			f(image, point, at, weights, nowhere)
		}
	}
}

// planeOf returns the channels of a tensor and the elements of its planes.
func planeOf(shape []int) (channels, plane int) {
	plane = 1
	for _, n := range shape[2:] {
		plane *= n
	}
	return shape[1], plane
}

// reference samples x at the places of grid.
func (a Sampling) reference(x, grid *tensor.Host, shape []int) []float64 {
	values := x.Floats()
	channels, plane := planeOf(x.Shape)
	_, points := planeOf(shape)
	made := make([]float64, shape[0]*channels*points)
	a.each(grid, x.Shape[2:], func(image, point int, at []int, weights []float64, nowhere bool) {
		for c := image * channels; c < (image+1)*channels; c++ {
			sum := 0.0
			for i := range at {
				sum += weights[i] * values[c*plane+at[i]]
			}
			if nowhere {
				sum = nan
			}
			made[c*points+point] = sum
		}
	})
	return made
}

// gradient returns the gradient of a tensor of that shape, where dy is that of what was sampled.
func (a Sampling) gradient(dy, grid *tensor.Host, shape []int) []float64 {
	values := dy.Floats()
	channels, plane := planeOf(shape)
	_, points := planeOf(dy.Shape)
	made := make([]float64, shape[0]*channels*plane)
	a.each(grid, shape[2:], func(image, point int, at []int, weights []float64, nowhere bool) {
		for c := image * channels; c < (image+1)*channels && !nowhere; c++ {
			for i := range at {
				made[c*plane+at[i]] += weights[i] * values[c*points+point]
			}
		}
	})
	return made
}
