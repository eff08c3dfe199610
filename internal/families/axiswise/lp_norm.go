package axiswise

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const lpNormShader = "nn/lp_normalization"

// leastSquare is the least normal number of F32. A device may take smaller squares for 0. Those of
// normal numbers of 16 bits or of F64 that cases have are either larger, or 0 in F64 too.
const leastSquare = 0x1p-126

// lpReducer computes the sum that the norm for p comes from.
func lpReducer(p int) reduction.Reducer {
	if p == 1 {
		return reduction.Reducer{Shader: "reduce/reduce_l1", Values: 1}
	}
	return reduction.Reducer{Shader: "reduce/reduce_sum_square", Values: 1}
}

// DefineLpNorm declares the division of each element by the Lp norm of its row. power returns p, which
// is 1 or 2.
func DefineLpNorm[A spec.Call](a AxisOp[A], power func(A) int) *spec.Op {
	spirv.LinkReduce()
	a.Kernels = append(append(lpReducer(1).Kernels(planner.Floats...), lpReducer(2).Kernels(planner.Floats...)...), mapKernels(lpNormShader, planner.Floats...)...)
	a.Check = func(c A) error {
		if p := power(c); p != 1 && p != 2 {
			return planner.Invalid("p %d (want 1 or 2)", p)
		}
		return nil
	}
	a.PlanCall = func(c A, plan *spec.Plan, t *spec.Target, d tensor.DType, v planner.AxisView) error {
		f := lpReducer(power(c))
		sums, err := reduction.Add(plan, t, f, d, v, spec.Ref{}, spec.In(0))
		if err != nil {
			return err
		}
		return rowMap{shader: lpNormShader, reducer: f, total: power(c)}.add(plan, t, d, v, sums, spec.Out(0), spec.In(0))
	}
	a.ReferenceCall = func(c A, v planner.AxisView, in [][]float64) []float64 {
		x, p := in[0], float64(power(c))
		reduction.EachColumn(v, func(at func(int) int) {
			norm := math.Pow(reduction.Sum(v.N, func(r int) float64 {
				power := math.Pow(math.Abs(x[at(r)]), p)
				if p == 2 && power < leastSquare {
					return 0
				}
				return power
			}), 1/p)
			for r := range v.N {
				if norm == 0 {
					x[at(r)] = 0
				} else {
					x[at(r)] /= norm
				}
			}
		})
		return x
	}
	a.Tolerance = func(d tensor.DType, n int) spec.Tolerance {
		e, h := planner.AccumulatorEpsilon(d), reduction.Chain(n)
		return spec.Tolerance{
			Abs: e + planner.Tiny(d), Rel: e*(8+math.Sqrt(h/3)) + planner.StoreEpsilon(d), Repeated: e * h,
			Law: "ε + ε·(8 + √(h/3)) of the value, h = " + reduction.ChainText, RepeatedLaw: "ε·h",
			Why: "nothing cancels; terms are rounded at most h times",
		}
	}
	return Define(a)
}
