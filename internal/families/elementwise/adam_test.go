package elementwise

import (
	"math"
	"math/big"
	"testing"
)

// TestPowerRest compares 1 - bⁿ with the same in many digits.
func TestPowerRest(t *testing.T) {
	for _, b := range []float64{0, 0x1p-1074, 1e-9, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999999, 1 - 0x1p-53} {
		for _, n := range []int{1, 2, 3, 7, 10, 999, 1_000_000, math.MaxInt32} {
			x, want := big.NewFloat(b).SetPrec(400), big.NewFloat(1).SetPrec(400)
			for k := n; k > 0; k >>= 1 {
				if k&1 == 1 {
					want.Mul(want, x)
				}
				x.Mul(x, x)
			}
			want.Sub(big.NewFloat(1).SetPrec(400), want)
			got := powerRest(b, n)
			off, _ := new(big.Float).Quo(new(big.Float).Sub(big.NewFloat(got).SetPrec(400), want), want).Float64()
			if math.Abs(off) > 0x1p-52 {
				t.Errorf("1 - %g^%d: got %g, which is off by %g", b, n, got, off)
			}
		}
	}
}
