package picture

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// gridError returns how far a blur on a grid is from the Gaussian that ends at ⌈3σ⌉, in levels of a
// byte, for the worst of all pictures. It is the sum of the absolute differences of their weights, for
// the pixel of a cell for which it is largest: 255/2 of that along each axis.
func gridError(b Blur) float64 {
	k, n, half := b.cells()
	convolve := func(a, b []float64) []float64 {
		sum := make([]float64, len(a)+len(b)-1)
		for i, x := range a {
			for j, y := range b {
				sum[i+j] += x * y
			}
		}
		return sum
	}
	even := make([]float64, k)
	for i := range even {
		even[i] = 1 / float64(k)
	}
	apart := make([]float64, 2*n*k+1)
	for j := -n; j <= n; j++ {
		apart[(n+j)*k] = half[max(j, -j)]
	}
	cell := convolve(apart, convolve(even, convolve(even, even))) // from pixel −k·n − (k−1) of a cell on
	r := b.Radius()
	exact, sum := make([]float64, 2*r+1), 0.0
	for i := range exact {
		exact[i] = math.Exp(-math.Pow(float64(i-r)/b.Sigma, 2) / 2)
		sum += exact[i]
	}
	worst := 0.0
	for x := range k {
		place := (float64(x) - float64(k-1)/2) / float64(k)
		first := int(math.Floor(place)) - 1
		t := place - math.Floor(place)
		u := 1 - t
		spline := []float64{u * u * u / 6, (3*t*t*t - 6*t*t + 4) / 6, (3*u*u*u - 6*u*u + 4) / 6, t * t * t / 6}
		middle := k*(n+4) + r
		far := make([]float64, 2*middle+1)
		for i, w := range spline {
			for j, v := range cell {
				far[middle+k*(first+i)-k*n-(k-1)-x+j] += w * v
			}
		}
		for i, w := range exact {
			far[middle-r+i] -= w / sum
		}
		off := 0.0
		for _, v := range far {
			off += math.Abs(v)
		}
		worst = max(worst, off)
	}
	return worst * 255
}

// TestGridError wants the error that the tolerance of gaussian_blur states: 0.95 of a level for any
// picture, so that no rounded result is more than a level off.
func TestGridError(t *testing.T) {
	worst := 0.0
	for sigma := gridSigma; sigma <= 1024; sigma *= 1.0123 {
		b := Blur{Sigma: sigma, Grid: true}
		_, n, half := b.cells()
		if n >= gridWeights {
			t.Fatalf("σ = %v has %d cells on each side, want fewer than %d", sigma, n, gridWeights)
		}
		sum := half[0]
		for _, w := range half[1:] {
			sum += 2 * w
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("the weights of σ = %v add up to %v", sigma, sum)
		}
		if sigma < 70 || sigma > 1000 { // From one doubling to the next nothing but the size of a cell changes.
			worst = max(worst, gridError(b))
		}
	}
	if worst > 0.95 || worst < 0.8 {
		t.Errorf("the error is up to %.3f of a level, want at most 0.95 and not much less", worst)
	}
	for sigma, on := range map[float64]bool{8.39: false, 8.4: true, 256: true, 1024: true} {
		if got := (Blur{Sigma: sigma, Grid: true}).OnGrid(); got != on || (Blur{Sigma: sigma}).OnGrid() {
			t.Errorf("σ = %v on a grid: %t, want %t, and never without Grid", sigma, got, on)
		}
	}
}

// TestGridInLaunches checks that reducing a picture to cells takes as many launches as the rows that a binding has
// make needed, so that large cells fit: pictures of 24 megapixels and σ = 1000 with bindings of 128 MiB.
func TestGridInLaunches(t *testing.T) {
	for _, texel := range []bool{false, true} {
		target := &spec.Target{
			MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 256, MaxBinding: 128 << 20, MaxTexels: 128 << 20 / 16, OffsetAlign: 16, TexelAlign: 16,
			TexelBuffers: texel,
		}
		l := layout{dtype: tensor.U8, h: 4000, w: 6000, c: 4, pitch: 6000}
		for sigma, launches := range map[float64]int{250: 1, 1000: 3} {
			g := newGridPlan(target, l, l, Blur{Sigma: sigma, Grid: true})
			if g == nil {
				t.Fatalf("σ = %v does not fit", sigma)
			}
			n := 0
			for _, s := range g.plan(false).Steps {
				if p, ok := s.Params.(blurGridParams); ok && p.Height > 0 {
					n++
					if s.Bind[0].Size > target.MaxBinding {
						t.Errorf("σ = %v: a binding of %d bytes", sigma, s.Bind[0].Size)
					}
				}
			}
			if n < launches {
				t.Errorf("σ = %v: %d launches, want at least %d", sigma, n, launches)
			}
		}
	}
}
