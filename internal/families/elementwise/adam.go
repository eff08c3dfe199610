package elementwise

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

const adamShader = "nn/adam_update"

// Adam is the attributes of a step of the optimiser Adam, as ops.AdamUpdate says.
type Adam struct {
	LR, Beta1, Beta2, Eps float64
	Step                  int
}

// adamParams is the push-constant block of nn/adam_update.comp. Pairs are numbers as the
// sum of two floats.
type adamParams struct {
	Count        uint32
	Rate, Root   [2]float32
	Eps          [2]float32
	Beta1, Beta2 [2]float32
	Rest1, Rest2 [2]float32
}

// pair is a number as the sum of two floats.
func pair(x float64) [2]float32 {
	high := float32(x)
	if math.IsInf(float64(high), 0) {
		return [2]float32{high, 0}
	}
	return [2]float32{high, float32(x - float64(high))}
}

func (a Adam) params(count int) adamParams {
	t := float64(a.Step)
	return adamParams{
		Count: uint32(count),
		Rate:  pair(a.LR / -math.Expm1(t*math.Log(a.Beta1))),
		Root:  pair(1 / math.Sqrt(-math.Expm1(t*math.Log(a.Beta2)))),
		Eps:   pair(a.Eps), Beta1: pair(a.Beta1), Beta2: pair(a.Beta2),
		Rest1: pair(1 - a.Beta1), Rest2: pair(1 - a.Beta2),
	}
}

// AdamKernels names the kernels that PlanAdam launches.
func AdamKernels() []spec.Kernel {
	ks := planner.DTypeVariants(adamShader, adamParams{}, planner.Floats, hasTexels)
	for _, d := range planner.Floats {
		ks = append(ks, spec.Kernel{Name: adamShader + "." + d.String() + ".separate", Params: adamParams{}})
	}
	return ks
}

// PlanAdam plans a step of the optimiser. The inputs are the parameters, their gradient
// and both moments, the outputs are the new parameters and moments. All are of the dtype
// and shape of x, and contiguous.
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
		// The kernel binds four buffers and works in place. The inputs are copied to
		// the outputs before, even where both are one tensor.
		for i, s := range sources {
			if err := movement.AddFlatCopy(plan, t, x.Bytes(), s.Ref, 0, operands[1+i].Ref, 0); err != nil {
				return nil, err
			}
		}
	}
	return plan, planner.AddFlat(plan, t, k, x.Elems(), operands...)
}
