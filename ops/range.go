package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Range makes the numbers Start, Start + Delta, Start + 2·Delta and so on, up to Limit, which is not one
// of them. Element i is Start + i·Delta, with Start and Delta rounded to the dtype, or to f32 for floats of 16
// bits. There are max(⌈(Limit − Start)/Delta⌉, 0) of them, computed in float64. For integers, all three must be whole, and the
// dtype must hold each element. It need not hold Limit, nor a Delta below 0.
type Range struct {
	Start float64      `attr:"start" doc:"the first number"`
	Limit float64      `attr:"limit,required" doc:"where the numbers end"`
	Delta float64      `attr:"delta" doc:"the distance of the numbers, not 0"`
	DType tensor.DType `attr:"dtype" doc:"the element type, not bool"`
}

// Spec returns the declaration.
func (Range) Spec() *spec.Op { return rangeOp.Op() }

// count checks the attributes and returns the number of elements.
// Errors: ErrInvalidArgument.
func (c Range) count() (int, error) {
	if !slices.Contains(movement.Ranged, c.DType) {
		return 0, planner.Invalid("dtype %v (want one of %v)", c.DType, movement.Ranged)
	}
	isFloat := slices.Contains(planner.Floats, c.DType)
	for _, v := range []float64{c.Start, c.Limit, c.Delta} {
		if math.IsNaN(v) || math.IsInf(v, 0) || isFloat && !holds(c.DType, v) || !isFloat && (v != math.Trunc(v) || math.Abs(v) > 0x1p64) {
			return 0, planner.Invalid("start %v, limit %v, delta %v (want numbers that %v can hold)", c.Start, c.Limit, c.Delta, c.DType)
		}
	}
	n := math.Ceil((c.Limit - c.Start) / c.Delta)
	if c.Delta == 0 || n >= math.MaxInt32 {
		return 0, planner.Invalid("from %v to %v by %v (want less than 2^31 numbers, delta not 0)", c.Start, c.Limit, c.Delta)
	}
	if n = max(n, 0); !isFloat && n > 0 {
		if last := c.Start + (n-1)*c.Delta; !holds(c.DType, c.Start) || !holds(c.DType, last) {
			return 0, planner.Invalid("elements from %v to %v (want numbers that %v can hold)", c.Start, last, c.DType)
		}
	}
	return int(n), nil
}

var rangeOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return spec.Define(spec.Definition[*Range]{
		Name: "range", Group: "move", Doc: "Makes numbers with a constant distance: start + i·delta, up to a limit that is not one of them.",
		Out:      []spec.Arg{{Name: "out", Doc: "the numbers, one dimension"}},
		Traits:   spec.Traits{Class: spec.Movement, ONNX: []string{"Range"}},
		Defaults: &Range{Limit: 10, Delta: 1, DType: tensor.F32},
		Kernels:  movement.RangeKernels(),
		Shape: func(c *Range, _ []tensor.Desc) ([]tensor.Desc, error) {
			n, err := c.count()
			return []tensor.Desc{tensor.Contiguous(c.DType, n)}, err
		},
		Plan: func(c *Range, t *spec.Target, _, out []tensor.Desc) (*spec.Plan, error) {
			return movement.PlanRange(t, c.Start, c.Delta, out[0])
		},
		Reference: func(c *Range, _, out []*tensor.Host) {
			start, delta := c.Start, c.Delta
			if d := out[0].DType; slices.Contains(planner.Floats, d) && d != tensor.F64 {
				start, delta = float64(float32(start)), float64(float32(delta))
			}
			out[0].Each(func(index []int, _ int) { out[0].Set(start+float64(index[0])*delta, index...) })
		},
		Tolerance: func(c *Range, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			if !slices.Contains(planner.Floats, d) {
				return spec.Tolerance{Why: "integers are exact"}
			}
			e := planner.AccumulatorEpsilon(d)
			return spec.Tolerance{
				Abs: e*3*(math.Abs(c.Start)+math.Abs(c.Limit)+math.Abs(c.Delta)) + planner.Tiny(d), Rel: planner.StoreEpsilon(d),
				Law: "3·ε·(|start| + |limit| + |delta|), and rounding to the dtype",
				Why: "the number of the element, the product and the sum are rounded",
			}
		},
		Cost: func(c *Range, _ []tensor.Desc) spec.Cost {
			n, _ := c.count()
			return spec.Cost{Flops: 2 * int64(n), Bytes: int64(n * c.DType.Size())}
		},
		Cases: spec.CasesOf[*Range]{
			DTypes: movement.Ranged,
			Calls: []*Range{
				{Limit: 10, Delta: 1, DType: tensor.F32}, {Start: -3.5, Limit: 4500, Delta: 0.3, DType: tensor.F32}, {Start: 5, Limit: -700, Delta: -1.5, DType: tensor.F16},
				{Start: 1, Limit: 90, Delta: 0.1, DType: tensor.BF16}, {Start: 0.1, Limit: 1, Delta: 1e-4, DType: tensor.F64}, {Start: -7, Limit: 45_000, Delta: 3, DType: tensor.I32},
				{Start: 0x1p40, Limit: -0x1p41, Delta: -0x1p31 + 7, DType: tensor.I64}, {Start: 3, Limit: 3, Delta: 1, DType: tensor.I64}, {Start: 3, Limit: 2, Delta: 1, DType: tensor.F32},
				{Limit: 16_001, Delta: 1, DType: tensor.I64}, {Start: math.MinInt32, Limit: math.MaxInt32, Delta: 1 << 20, DType: tensor.I32},
				{Start: 120, Limit: -128, Delta: -3, DType: tensor.I8}, {Start: 3, Limit: 255, Delta: 1, DType: tensor.U8}, {Start: -32768, Limit: 32767, Delta: 7, DType: tensor.I16}, {Start: 2, Limit: 65_535, Delta: 11, DType: tensor.U16},
				{Start: 0xf000_0000, Limit: math.MaxUint32, Delta: 20_011, DType: tensor.U32}, {Start: 0x1p63, Limit: 0x1p63 + 0x1p44, Delta: 0x1p32 + 2048, DType: tensor.U64}, {Limit: 9, Delta: 2, DType: tensor.U64},
				{Limit: 256, Delta: 1, DType: tensor.U8}, {Start: 65_535, Limit: -1, Delta: -5, DType: tensor.U16}, {Start: math.MaxUint32, Limit: 5, Delta: -1 << 22, DType: tensor.U32},
				{Start: 0x1p63 + 0x1p50, Limit: 0x1p62, Delta: -0x1p49, DType: tensor.U64}, {Start: math.MaxInt32 - 4, Limit: 1 << 31, Delta: 1, DType: tensor.I32},
				{Start: math.MinInt32, Limit: 1 << 31, Delta: math.MaxUint32, DType: tensor.I32}, {Start: -0x1p63, Limit: 0x1p63, Delta: 0x1p64 - 2048, DType: tensor.I64}, {Start: 7, Limit: 9, Delta: 1000, DType: tensor.I8},
			},
			Inputs: func(*Range, tensor.DType, []int) []tensor.Desc { return []tensor.Desc{} },
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				sizes := []float64{1 << 14, 1 << 19, 1 << 22}
				switch {
				case d.Size() == 1:
					sizes = []float64{31, 63, 127}
				case d == tensor.I16 || d == tensor.U16:
					sizes = []float64{1 << 10, 1 << 12, 1 << 14}
				}
				for _, n := range sizes {
					delta := 1.0
					if d == tensor.F16 {
						delta = 0x1p-10
					}
					cases = append(cases, spec.BenchCase{Call: Range{Limit: n * delta, Delta: delta, DType: d}})
				}
				return cases
			},
			Invalid: []*Range{
				{Limit: 10, Delta: 1, DType: tensor.Bool}, {Limit: 257, Delta: 1, DType: tensor.U8}, {Start: 5, Limit: -2, Delta: -1, DType: tensor.U16}, {Limit: math.NaN(), Delta: 1, DType: tensor.F32}, {Limit: 10, Delta: 0.5, DType: tensor.I32},
				{Limit: math.Inf(1), Delta: 1, DType: tensor.F32}, {Limit: 1e30, Delta: 1, DType: tensor.F32}, {Limit: 0x1p40, Delta: 1, DType: tensor.I32},
			},
		},
	})
}}
