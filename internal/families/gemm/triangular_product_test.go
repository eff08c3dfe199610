package gemm

import (
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestTriangularProductLaunches plans products with a triangular matrix. The number of launches grows with the logarithm of its order, and the products
// have all elements beside the diagonal blocks once.
func TestTriangularProductLaunches(t *testing.T) {
	target := &spec.Target{MaxBinding: 1 << 30, OffsetAlign: 16, MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024, MaxSharedBytes: 48 << 10, Strategy: byShared}
	for _, upper := range []bool{false, true} {
		for n, launches := range map[int]int{20: 2, 32: 2, 33: 3, 64: 3, 100: 5, 128: 4, 1024: 7, 1000: 11} {
			in := []tensor.Desc{tensor.Contiguous(tensor.F32, n, n), tensor.Contiguous(tensor.F32, n, 65)}
			plan := &spec.Plan{}
			if err := (TriangularProduct{Triangle{Alpha: 0.7, Upper: upper}}).add(target, plan, spec.PlacesOf(in), spec.PlacesOf(in)[1]); err != nil {
				t.Fatal(err)
			}
			if len(plan.Steps) != launches {
				t.Errorf("order %d, upper %v: %d launches (want %d)", n, upper, len(plan.Steps), launches)
			}
			elements := 0
			for _, s := range plan.Steps {
				if p, ok := s.Params.(productParams); ok {
					elements += int(p.M*p.K) * int(s.Groups[2])
				}
			}
			whole, rest := n/triangleBlock, n%triangleBlock
			if want := (n*n - whole*triangleBlock*triangleBlock - rest*rest) / 2; elements != want {
				t.Errorf("order %d, upper %v: products with %d elements of the triangle (want %d)", n, upper, elements, want)
			}
		}
	}
}
