package picture

import "testing"

// TestStepBits does in Go what image/pointwise_byte.step does with the bits of
// each colour, at every threshold that parts two levels.
func TestStepBits(t *testing.T) {
	for half := -2; half <= 520; half++ { // thresholds of whole and half levels
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
