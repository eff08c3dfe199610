package picture

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestOnePixelOfWidePictures plans the mean of pictures that are wider than what a cache holds between the passes.
func TestOnePixelOfWidePictures(t *testing.T) {
	target := &spec.Target{
		MaxBinding: 128 << 20, MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024, OffsetAlign: 16, CPU: true, MaxIterations: math.MaxUint16,
	}
	for _, w := range []int{10_900, 12_000, 30_000} {
		r := Resample{Down: Axis{In: 1000, Out: 1, Length: 1000}, Across: Axis{In: w, Out: 1, Length: float64(w)}, Filter: area}
		_, err := PlanResample(target, tensor.Contiguous(tensor.U8, 1000, w, 4), tensor.Contiguous(tensor.U8, 1, 1, 4), r, 0, spec.RowRange{To: 1})
		if err != nil {
			t.Errorf("%d columns: %v", w, err)
		}
	}
}
