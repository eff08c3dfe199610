package ops

import (
	"github.com/lathe-gpu/lathe/spec"
)

// Sign is −1, 0 or 1 as each element is below, at or above 0.
type Sign struct{}

// Spec returns the declaration.
func (Sign) Spec() *spec.Op { return signOp }

var signOp = newUnary(unary{
	name: "sign", shader: "math/sign", call: Sign{},
	doc: "−1, 0 or 1 as each element is below, at or above 0; NaN of NaN.",
	f: func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	},
	why: "it rounds nothing", low: -4, high: 4, flops: 1,
})
