package picture

import "math"

// NewSpline returns the monotone cubic through points, which are x, y pairs with rising x: the
// PCHIP of F. N. Fritsch and J. Butland. Between two points it neither rises above nor falls below
// both. Two points make a straight line.
func NewSpline(points []float64) *Spline {
	n := len(points) / 2
	step, rise := make([]float64, n-1), make([]float64, n-1) // of x, and of y for each of x
	for i := range step {
		step[i] = points[2*i+2] - points[2*i]
		rise[i] = (points[2*i+3] - points[2*i+1]) / step[i]
	}
	s := &Spline{End: points[2*n-2]}
	for i := range step {
		from, to := tangentAt(i, step, rise), tangentAt(i+1, step, rise)
		// The cubic with these values and tangents at both ends.
		bend := rise[i] - from
		s.Segments = append(s.Segments, Segment{From: points[2*i], C: [4]float64{
			points[2*i+1], from,
			(float64(3*bend) - (to - from)) / step[i],
			((to - from) - float64(2*bend)) / (step[i] * step[i]),
		}})
	}
	return s
}

// tangentAt returns the tangent at point i.
func tangentAt(i int, step, rise []float64) float64 {
	last := len(rise) - 1
	switch {
	case last == 0:
		return rise[0]
	case i == 0:
		return tangentAtEnd(step[0], step[1], rise[0], rise[1])
	case i > last:
		return tangentAtEnd(step[last], step[last-1], rise[last], rise[last-1])
	case !(rise[i-1]*rise[i] > 0):
		return 0 // an extreme, or a level part
	}
	before, after := float64(2*step[i])+step[i-1], step[i]+float64(2*step[i-1])
	return (before + after) / (before/rise[i-1] + after/rise[i])
}

// tangentAtEnd returns the tangent at the first or the last point. next is what lies one further
// inside.
func tangentAtEnd(step, nextStep, rise, nextRise float64) float64 {
	tangent := (float64((float64(2*step)+nextStep)*rise) - float64(step*nextRise)) / (step + nextStep)
	switch {
	case !(tangent*rise > 0):
		return 0
	case rise*nextRise <= 0 && math.Abs(tangent) > 3*math.Abs(rise):
		return 3 * rise
	}
	return tangent
}
