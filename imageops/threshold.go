package imageops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Threshold makes each colour 1 where it is at least Value and 0 elsewhere.
type Threshold struct {
	Value float64 `attr:"value" doc:"level in 0..1 from which on a colour becomes 1"`
}

// Spec returns the declaration.
func (Threshold) Spec() *spec.Op { return thresholdOp }

func (c Threshold) stage() stage { return stage{step: true, threshold: c.Value} }

var thresholdOp = newPointwise(spec.Op{
	Name:     "threshold",
	Doc:      "Makes each colour full where it is at least a value, and zero elsewhere.",
	Defaults: Threshold{Value: 0.5},
	Cases:    cases([]spec.Call{Threshold{0.5}, Threshold{spec.Given(0.0)}, Threshold{0.2}, Threshold{0.9}, Threshold{2}, Threshold{-1}}, Threshold{}, Threshold{nan}, Threshold{inf}),
},
	func(c Threshold) error { return finite("threshold", "value", c.Value, maxFactor) }, 3,
	func(_ Threshold, d tensor.DType) spec.Tolerance {
		if d == tensor.U8 {
			return spec.Tolerance{Why: "a comparison of exact numbers"}
		}
		return spec.Tolerance{Flips: 1e-6, Why: "the threshold is rounded to f32"}
	},
	func(c Threshold, px []float64) {
		for i, v := range px {
			px[i] = 0
			if v >= c.Value {
				px[i] = 1
			}
		}
	})
