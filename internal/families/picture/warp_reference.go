package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// warpReference computes a Warp in float64. point is Warping.Point.
func warpReference(filter string, colour [4]float64, in, out *tensor.Host, point func(x, y float64) (u, v float64, ok bool)) {
	h, w, channels, full := in.Shape[0], in.Shape[1], in.Shape[2], Full(in.DType)
	if channels < 4 {
		colour[3] = 1
	}
	// source returns a pixel whose colours are multiplied by alpha.
	source := func(x, y int) (px [4]float64) {
		x, y = ClampIndex(x, w), ClampIndex(y, h)
		px[3] = 1
		if channels == 4 {
			px[3] = in.At(y, x, 3) / full
		}
		for c := range min(channels, 3) {
			px[c] = in.At(y, x, c) / full * px[3]
		}
		return px
	}
	// around adds the pixels around a point.
	around := func(u, v, wide, high float64) (sum [4]float64) {
		radius, total := 1.0, 0.0
		if filter == "catmull-rom" {
			radius = 2
		}
		for y := int(math.Floor(v - radius*high)); float64(y) <= v+radius*high; y++ {
			for x := int(math.Floor(u - radius*wide)); float64(x) <= u+radius*wide; x++ {
				k := warpWeight(filter, (float64(x)+0.5-u)/wide) * warpWeight(filter, (float64(y)+0.5-v)/high)
				for c, p := range source(x, y) {
					sum[c] += k * p
				}
				total += k
			}
		}
		for c := range sum {
			sum[c] /= total
		}
		return sum
	}
	for y := range out.Shape[0] {
		for x := range out.Shape[1] {
			px, covered := [4]float64{}, 0.0
			if u, v, ok := point(float64(x)+0.5, float64(y)+0.5); ok && u > -1e6 && v > -1e6 && u < 1e6 && v < 1e6 {
				// The distances to the points of the neighbours.
				const step = 1e-3
				far := func(dx, dy float64) (float64, float64) {
					u1, v1, _ := point(float64(x)+0.5+dx, float64(y)+0.5+dy)
					u0, v0, _ := point(float64(x)+0.5-dx, float64(y)+0.5-dy)
					return (u1 - u0) / (2 * step), (v1 - v0) / (2 * step)
				}
				ux, vx := far(step, 0)
				uy, vy := far(0, step)
				wide, high := math.Hypot(ux, uy), math.Hypot(vx, vy)
				covered = overlap(u, wide, w) * overlap(v, high, h)
				if filter == "nearest" {
					u, v, covered = u+1./8192, v+1./8192, 0 // A point between two pixels is in the second one.
					if u >= 0 && v >= 0 && u < float64(w) && v < float64(h) {
						covered = 1
					}
				}
				if covered > 0 && filter == "nearest" {
					for c := range channels {
						out.Set(in.At(int(math.Floor(v)), int(math.Floor(u)), c), y, x, c)
					}
					continue
				}
				if covered > 0 {
					px = around(u, v, min(max(wide, 1), 32), min(max(high, 1), 32))
				}
			}
			if filter == "nearest" {
				for c := range channels {
					Store(out, colour[c], y, x, c)
				}
				continue
			}
			storeWarped(out, px, covered, colour, y, x)
		}
	}
}

// storeWarped stores a pixel, whose colours are multiplied by alpha, over a background.
func storeWarped(out *tensor.Host, px [4]float64, covered float64, colour [4]float64, y, x int) {
	own := covered * Clamp01(px[3])
	alpha := own + (1-covered)*colour[3]
	for c := range out.Shape[2] {
		v := alpha
		if c < 3 {
			v = 0
			if px[3] > 1e-6 {
				v = own * Clamp01(px[c]/px[3])
			}
			if v += (1 - covered) * colour[3] * colour[c]; Hidden(out.DType, alpha) || alpha <= 1e-6 {
				v = 0
			} else {
				v /= alpha
			}
		}
		Store(out, v, y, x, c)
	}
}

// overlap returns how much of a range of some size around a point is within 0..n.
func overlap(at, size float64, n int) float64 {
	return max(min(at+size/2, float64(n))-max(at-size/2, 0), 0) / size
}

// warpWeight is the weight of a pixel at a distance.
func warpWeight(filter string, d float64) float64 {
	d = math.Abs(d)
	switch {
	case filter == "bilinear":
		return max(1-d, 0)
	case d < 1:
		return 1.5*d*d*d - 2.5*d*d + 1
	case d < 2:
		return -0.5*d*d*d + 2.5*d*d - 4*d + 2
	}
	return 0
}
