package picture

import (
	"testing"

	"github.com/lathe-gpu/lathe/tensor"
)

// TestStepBits repeats in Go what image/pointwise_byte.step does with the bits of each
// colour, for every threshold that separates two levels.
func TestStepBits(t *testing.T) {
	for half := -2; half <= 520; half++ { // thresholds at levels and between them
		threshold := float32(half) / 2
		low, either := stepBits(threshold)
		for level := range uint32(256) {
			v := level * 0x010101
			sum := v&0x7f7f7f + low
			on := ((sum & v) | ((sum | v) & either)) & 0x808080
			got, want := on<<1-on>>7, uint32(0)
			if float32(level) >= threshold {
				want = 0xffffff
			}
			if got != want {
				t.Fatalf("level %d, threshold %v: got %06x, want %06x", level, threshold, got, want)
			}
		}
	}
}

// TestNoSubnormalThreshold checks that a threshold on bytes above zero stays above zero where a
// driver takes subnormal numbers for zero.
func TestNoSubnormalThreshold(t *testing.T) {
	for _, c := range []struct{ value, want float64 }{{4.6e-41, 0x1p-126}, {0, 0}, {0.5, 127.5}, {1e-300, 0}} {
		got := encodeStages(tensor.U8, []Stage{{Step: true, Threshold: c.value}})[0].Threshold
		if float64(got) != c.want {
			t.Errorf("threshold %g: got %g, want %g", c.value, got, c.want)
		}
	}
}
