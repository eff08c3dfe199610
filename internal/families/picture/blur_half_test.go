package picture

import (
	"math"
	"testing"
)

// halfError returns how far a blur by cells of 2×2 pixels is from the Gaussian that ends at ⌈3σ⌉, in
// levels of a byte, for the worst of all pictures, as gridError does.
func halfError(b Blur) float64 {
	r := b.Radius()
	weights := func(variance, end float64) []float64 {
		w, sum := make([]float64, 2*r+1), 0.0
		for i := range w {
			d := float64(i - r)
			if w[i] = math.Exp(-d * d / (2 * variance)); i == 0 || i == 2*r {
				w[i] *= end
			}
			sum += w[i]
		}
		for i := range w {
			w[i] /= sum
		}
		return w
	}
	exact, cell := weights(b.Sigma*b.Sigma, 1), weights(b.Sigma*b.Sigma-halfVariance, halfEnd)
	worst := 0.0
	// A pixel of a cell has it and both around it, and a pixel between two cells has these.
	for _, spline := range []map[int]float64{{-2: 1. / 8, 0: 6. / 8, 2: 1. / 8}, {-1: 1. / 2, 1: 1. / 2}} {
		far := make([]float64, 2*r+1+4)
		for place, w := range spline {
			for i, v := range cell {
				far[2+place+i] += w * v
			}
		}
		for i, w := range exact {
			far[2+i] -= w
		}
		off := 0.0
		for _, v := range far {
			off += math.Abs(v)
		}
		worst = max(worst, off)
	}
	return worst * 255
}

// TestHalfError wants the error that the tolerance of gaussian_blur states: 0.66 of a level for any
// picture. Two roundings between the passes add an eighth to that, and a fourth for blue. So no
// rounded result is more than a level off.
func TestHalfError(t *testing.T) {
	worst := 0.0
	for sigma := float64(halfRadius-1)/3 + 1e-9; sigma < gridSigma; sigma *= 1.0007 {
		b := Blur{Sigma: sigma, Grid: true}
		if !b.OnHalf() {
			t.Fatalf("σ = %v is not blurred by cells", sigma)
		}
		worst = max(worst, halfError(b))
	}
	if worst > 0.66 || worst < 0.6 {
		t.Errorf("the error is up to %.3f of a level, want at most 0.66 and not much less", worst)
	}
	for sigma, on := range map[float64]bool{3: false, 3.33: false, 3.34: true, 8.39: true, 8.4: false} {
		if got := (Blur{Sigma: sigma, Grid: true}).OnHalf(); got != on || (Blur{Sigma: sigma}).OnHalf() {
			t.Errorf("σ = %v by cells of 2×2 pixels: %t, want %t, and never without Grid", sigma, got, on)
		}
	}
}

// TestLanesWeights wants the weights of the kernels for halves of words: they add up to 1, and the
// kernels reach as far as the Gaussian.
func TestLanesWeights(t *testing.T) {
	for radius := 1; radius <= lanesMost; radius++ {
		b := Blur{Sigma: float64(radius) / 3}
		if b.Radius() != radius {
			t.Fatalf("σ = %v has radius %d", b.Sigma, b.Radius())
		}
		if reach := lanesReach(radius); reach < radius || radius <= lanesRadius && reach > lanesRadius {
			t.Errorf("kernels for radius %d reach %d pixels", radius, reach)
		}
		half := lanesWeights(b)
		sum := half[0]
		for d, w := range half[1:] {
			if sum += 2 * w; w < 0 || w > half[d] || d >= radius && w != 0 {
				t.Errorf("radius %d has weight %d at %d", radius, w, d+1)
			}
		}
		if sum != 1<<15 && half[0] != math.MaxInt16 {
			t.Errorf("the weights of radius %d add up to %d, want %d", radius, sum, 1<<15)
		}
	}
}
