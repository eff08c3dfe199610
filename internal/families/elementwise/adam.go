package elementwise

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

const adamShader = "nn/adam_update"

// Adam holds the attributes of one step of the optimiser Adam. ops.AdamUpdate documents
// the formula.
type Adam struct {
	// LR is the learning rate.
	LR float64
	// Beta1 and Beta2 are the decay rates of the first and the second moment.
	Beta1, Beta2 float64
	// Eps is added to the root of the second moment.
	Eps float64
	// Step is the number of this step. The first one is 1.
	Step int
}

// adamParams is the push-constant block of nn/adam_update.comp. Each [2]float32 is a
// number as pair returns it. Count is the number of elements.
type adamParams struct {
	Count        uint32
	Rate, Root   [2]float32
	Eps          [2]float32
	Beta1, Beta2 [2]float32
	Rest1, Rest2 [2]float32
}

// pair returns two floats whose sum is x. Kernels for F64 get numbers in this form,
// because a push constant has 32 bits.
func pair(x float64) [2]float32 {
	high := float32(x)
	if math.IsInf(float64(high), 0) {
		return [2]float32{high, 0}
	}
	return [2]float32{high, float32(x - float64(high))}
}

func (a Adam) params(count int) adamParams {
	return adamParams{
		Count: uint32(count),
		Rate:  pair(a.LR / powerRest(a.Beta1, a.Step)),
		Root:  pair(1 / math.Sqrt(powerRest(a.Beta2, a.Step))),
		Eps:   pair(a.Eps), Beta1: pair(a.Beta1), Beta2: pair(a.Beta2),
		Rest1: pair(1 - a.Beta1), Rest2: pair(1 - a.Beta2),
	}
}

// powerRest returns 1 - bⁿ for b from 0 up to 1, without 1, and n of at least 1. It uses
// only operations that IEEE 754 defines. So the result is the same on every machine, which
// that of math.Log is not.
func powerRest(b float64, n int) float64 {
	high, low := 1.0, 0.0
	square, rest := b, 0.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			high, low = product(high, low, square, rest)
		}
		square, rest = product(square, rest, square, rest)
	}
	return (1 - high) - low
}

// product multiplies two numbers. Each of them, and the result, is a sum of two floats, of
// which the second one is small. Go adds to a product without rounding it on some
// processors, unless the product is converted.
func product(a, aLow, b, bLow float64) (high, low float64) {
	p := float64(a * b)
	rest := math.FMA(a, b, -p) + (float64(a*bLow) + float64(aLow*b))
	high = p + rest
	return high, rest - (high - p)
}

// AdamKernels names the kernels that PlanAdam launches.
func AdamKernels() []spec.Kernel {
	ks := planner.DTypeVariants(adamShader, adamParams{}, planner.Floats, hasTexels)
	for _, d := range planner.Floats {
		ks = append(ks, spec.Kernel{Name: adamShader + "." + d.String() + ".separate", Params: adamParams{}})
	}
	return ks
}

// PlanAdam plans a step of the optimiser. The inputs are the parameters, their gradient,
// and the first and second moment. The outputs are the new parameters and the new
// moments. All are contiguous, with the dtype and shape of x.
// Errors: ErrUnsupported, *LimitError.
func PlanAdam(a Adam, t *spec.Target, x tensor.Desc) (*spec.Plan, error) {
	if err := planner.CheckTarget(t, x); err != nil {
		return nil, err
	}
	plan, d := &spec.Plan{}, x.DType
	k := planner.FlatVariant(t, adamShader, d)
	k.Params = func(_, count int) any { return a.params(count) }
	operands := []planner.Operand{planner.Flat(spec.In(1), d), planner.Flat(spec.Out(0), d), planner.Flat(spec.Out(1), d), planner.Flat(spec.Out(2), d)}
	sources := []planner.Operand{planner.Flat(spec.In(0), d), planner.Flat(spec.In(2), d), planner.Flat(spec.In(3), d)}
	switch {
	case k.Texel:
		k.Packs = 2
		operands = append(operands, sources...)
	case t.MaxBindings >= 7:
		k.Name += ".separate"
		operands = append(operands, sources...)
	default:
		// The kernel binds four buffers and works in place. So the inputs are copied to the
		// outputs first, even if both are the same tensor.
		for i, s := range sources {
			if err := movement.AddFlatCopy(plan, t, x.Bytes(), s.Ref, 0, operands[1+i].Ref, 0); err != nil {
				return nil, err
			}
		}
	}
	return plan, planner.AddFlat(plan, t, k, x.Elems(), operands...)
}
