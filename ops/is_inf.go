package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// IsInf is true where an element is infinite. Each sign can be left out.
type IsInf struct {
	DetectNegative int `attr:"detect_negative,zero" onnx:"detect_negative" doc:"1 if −∞ counts, or 0"`
	DetectPositive int `attr:"detect_positive,zero" onnx:"detect_positive" doc:"1 if +∞ counts, or 0"`
}

// Spec returns the declaration.
func (IsInf) Spec() *spec.Op { return isInfOp }

var isInfOp = logic.Define(logic.Classify(logic.Function[*IsInf]{
	Name: "is_inf", Doc: "True where the element is infinite.", ONNX: []string{"IsInf"},
	Defaults: &IsInf{DetectNegative: 1, DetectPositive: 1},
	Calls:    []*IsInf{{DetectNegative: 1}, {DetectPositive: 1}, {}},
	Invalid:  []*IsInf{{DetectNegative: 2}, {DetectPositive: -1}},
	Check: func(c *IsInf, _ tensor.DType) error {
		if c.DetectNegative&^1 != 0 || c.DetectPositive&^1 != 0 {
			return planner.Invalid("detect_negative and detect_positive (got %d and %d, want 0 or 1)", c.DetectNegative, c.DetectPositive)
		}
		return nil
	},
}, func(c *IsInf) uint32 {
	return uint32(c.DetectPositive*logic.IsInfinity | c.DetectNegative*logic.IsMinusInfinity)
}))
