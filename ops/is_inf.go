package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// IsInf is true where an element is infinite. spec.Given(0.0) leaves out the infinity of one sign.
type IsInf struct {
	DetectNegative float64 `attr:"detect_negative" onnx:"detect_negative" doc:"1 if −∞ counts, or 0"`
	DetectPositive float64 `attr:"detect_positive" onnx:"detect_positive" doc:"1 if +∞ counts, or 0"`
}

// Spec returns the declaration.
func (IsInf) Spec() *spec.Op { return isInfOp.Op() }

var isInfOp = spec.Declaration{Define: func() *spec.Op {
	return logic.Define(logic.Classify(logic.Function[*IsInf]{
		Name: "is_inf", Doc: "True where the element is infinite.", ONNX: []string{"IsInf"},
		Defaults: &IsInf{DetectNegative: 1, DetectPositive: 1},
		Calls:    []*IsInf{{DetectNegative: 1, DetectPositive: spec.Given(0.0)}, {DetectNegative: spec.Given(0.0), DetectPositive: 1}, {DetectNegative: spec.Given(0.0), DetectPositive: spec.Given(0.0)}},
		Invalid:  []*IsInf{{DetectNegative: 2, DetectPositive: 1}, {DetectNegative: 1, DetectPositive: -1}, {DetectNegative: 0.5, DetectPositive: 1}},
		Check: func(c *IsInf, _ tensor.DType) error {
			for _, x := range []float64{c.DetectNegative, c.DetectPositive} {
				if x != 0 && x != 1 {
					return planner.Invalid("detect_negative and detect_positive (got %v and %v, want 0 or 1)", c.DetectNegative, c.DetectPositive)
				}
			}
			return nil
		},
	}, func(c *IsInf) uint32 {
		return uint32(c.DetectPositive)*logic.IsInfinity | uint32(c.DetectNegative)*logic.IsMinusInfinity
	}))
}}
