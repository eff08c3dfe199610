package quantisation

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// DefineDynamic declares quantisation with a scale that follows from the numbers, with attributes of type
// A.
func DefineDynamic[A spec.Call](name, doc, onnx string) *spec.Op {
	spirv.LinkQuant()
	spirv.LinkReduce()
	spirv.LinkMove()
	var call A
	largest := reduction.Reducer{Shader: "reduce/reduce_max", Values: 1}
	kernels := slices.Concat(largest.Kernels(tensor.F32), movement.FillKernels(), []spec.Kernel{
		{Name: "quant/dynamic_scale.f32"}, {Name: "quant/quantize_linear.f32.one", Params: scaledParams{}},
	})
	return spec.Define(spec.Definition[A]{
		Name: name, Group: "quant", Doc: doc, Source: "ONNX " + onnx,
		In: []spec.Arg{{Name: "x", Doc: "a tensor of any shape", DTypes: []tensor.DType{tensor.F32}}},
		Out: []spec.Arg{
			{Name: "out", Doc: "the integers, u8, of the shape of x"}, {Name: "scale", Doc: "one number, f32"}, {Name: "zero_point", Doc: "one number, u8"},
		},
		Traits:   spec.Traits{Class: spec.Other, ONNX: []string{onnx}},
		Defaults: call,
		Kernels:  kernels,
		Shape: func(_ A, in []tensor.Desc) ([]tensor.Desc, error) {
			return []tensor.Desc{tensor.Contiguous(tensor.U8, in[0].Shape...), tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.U8)}, nil
		},
		Plan: func(_ A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			plan, n := &spec.Plan{}, in[0].Elems()
			var bounds [2]spec.Ref
			for i, sign := range []float32{-1, 1} {
				if n == 0 {
					bounds[i] = planner.AddScratch(plan, 4)
					if err := movement.AddFill(plan, t, 0, tensor.F32, bounds[i], 1); err != nil {
						return nil, err
					}
					continue
				}
				f := largest
				f.Sign = sign
				var err error
				if bounds[i], err = reduction.Add(plan, t, f, tensor.F32, planner.AxisView{Outer: 1, N: n, Inner: 1}, spec.Ref{}, spec.In(0)); err != nil {
					return nil, err
				}
			}
			plan.Steps = append(plan.Steps, spec.Step{
				Module: spirv.Kernel("quant/dynamic_scale.f32"), Groups: [3]uint32{1, 1, 1},
				Bind: []spec.Bind{{Buf: bounds[0], Size: planner.Pack}, {Buf: bounds[1], Size: planner.Pack}, {Buf: spec.Out(1)}, {Buf: spec.Out(2)}},
			})
			if n == 0 {
				return plan, nil
			}
			s := scales{view: planner.AxisView{Outer: 1, N: 1, Inner: n}, block: 1, count: 1}
			return plan, s.addScaled(plan, t, true, operands{x: spec.In(0), scale: spec.Out(1), zero: spec.Out(2), out: spec.Out(0), integer: tensor.U8, number: tensor.F32})
		},
		Reference: func(_ A, in, out []*tensor.Host) {
			x := in[0].Floats()
			low, high, bad := float32(0), float32(0), false
			for _, v := range x {
				bad = bad || math.IsNaN(v)
				low, high = min(low, float32(v)), max(high, float32(v))
			}
			scale := (high - low) / 255
			switch {
			case bad:
				scale = float32(math.NaN())
			case scale < 0x1p-126: // It is 0 or a subnormal number.
				scale = 1
			}
			zero := saturated(float64(-low/scale), 0, tensor.U8)
			for i, v := range x {
				x[i] = saturated(float64(float32(v)/scale), zero, tensor.U8)
			}
			out[0].SetFloats(x)
			out[1].SetFloats([]float64{float64(scale)})
			out[2].SetFloats([]float64{zero})
		},
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "quotients are rounded as IEEE 754 says"}
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			n := int64(in[0].Elems())
			return spec.Cost{Flops: 4 * n, Bytes: 5 * n}
		},
		Cases: spec.CasesOf[A]{
			DTypes: []tensor.DType{tensor.F32}, Calls: []A{call},
			Dims:   []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 256}}},
			Sizes:  [][]int{{1, 700_000}},
			Inputs: planner.SameInputs[A](1),
			Bench:  planner.BenchCases(call, 1),
			Low:    -300, High: 200, Specials: true,
		},
	})
}
