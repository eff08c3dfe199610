package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// addNarrow is reduction.AddNarrow.
func addNarrow(plan *spec.Plan, t *spec.Target, n int, from, out spec.Ref, d tensor.DType) error {
	return reduction.AddNarrow(plan, t, n, from, out, d)
}

// rounding is what sum lacks of a + b.
func rounding(a, b, sum float64) float64 {
	if math.Abs(a) < math.Abs(b) {
		a, b = b, a
	}
	return a - sum + b
}
