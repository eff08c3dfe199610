package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/quantisation"
	"github.com/lathe-gpu/lathe/spec"
)

// DynamicQuantizeLinear turns numbers into integers of 8 bits, U8, with a scale and a zero point that follow from the
// numbers: they and 0 are spread over 0 to 255. The results are the integers, scale = (max − min)/255 and
// zero_point = −min/scale rounded half to even, where max and min count 0 too. If all numbers are 0, or so small that the scale
// would be subnormal, it is 1. If one of the numbers is NaN, the scale is NaN, and all integers are 0.
type DynamicQuantizeLinear struct{}

// Spec returns the declaration.
func (DynamicQuantizeLinear) Spec() *spec.Op { return dynamicQuantizeLinearOp.Op() }

var dynamicQuantizeLinearOp = spec.Declaration{Define: func() *spec.Op {
	return quantisation.DefineDynamic[*DynamicQuantizeLinear]("dynamic_quantize_linear",
		"Numbers as integers of 8 bits, with the scale and the zero point that spread them and 0 over 0 to 255.", "DynamicQuantizeLinear")
}}
