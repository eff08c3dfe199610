package ops

import (
	"path"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// slope is what the gradient of one elementwise function adds to the family.
type slope struct {
	name, doc, source string
	call              spec.Call
	shader            string // group/name, without dtype
	// f is dx for an element x and the gradient dy of its result.
	f         func(x, dy float64) float64
	ulps, abs float64 // as in unary
	why       string
	flops     int64
}

// newSlope declares the gradient of an elementwise function of contiguous
// tensors; views are copied before. dx may be x's own tensor.
func newSlope(s slope) *spec.Op {
	op := &spec.Op{
		Name: s.name, Group: path.Dir(s.shader), Doc: s.doc, Source: s.source,
		In: []spec.Arg{
			{Name: "x", Doc: "what the function was applied to, of any shape"},
			{Name: "dy", Doc: "the gradient of its result, of x's dtype and shape"},
		},
		Out:      []spec.Arg{{Name: "dx", Doc: "the gradient of x, of the same dtype and shape"}},
		Defaults: s.call,
		InPlace:  []int{0},
		Kernels:  dtypeVariants(s.shader, unaryParams{}, floats, func(d tensor.DType) bool { return d != tensor.F64 }),
	}
	op.Shape = func(_ spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in, floats...); err != nil {
			return nil, err
		}
		if in[1].DType != in[0].DType || !slices.Equal(in[1].Shape, in[0].Shape) {
			return nil, invalid(op.Name, "dy (got %v, want x's %v)", in[1], in[0])
		}
		return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
	}
	op.Plan = func(_ spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		d := in[0].DType
		if err := checkTarget(op.Name, t, in[0]); err != nil {
			return nil, err
		}
		if !in[0].IsContiguous() || !in[1].IsContiguous() || !out[0].IsContiguous() {
			return nil, unsupported(op.Name, "strides")
		}
		k := flatVariant(t, s.shader, d)
		k.params = func(_, count int) any { return unaryParams{uint32(count)} }
		return planFlat(t, k, in[0].Elems(), flatOperand{spec.In(0), d}, flatOperand{spec.In(1), d}, flatOperand{spec.Out(0), d})
	}
	op.Strategies, op.SizeClass = byFirst, byElements
	op.Reference = func(_ spec.Call, in, out []*tensor.Host) {
		v, dy := in[0].Floats(), in[1].Floats()
		for i := range v {
			v[i] = s.f(v[i], dy[i])
		}
		out[0].SetFloats(v)
	}
	op.Tolerance = func(_ spec.Call, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
		tol := spec.Tolerance{Abs: s.abs * workEpsilon(d), Rel: s.ulps * workEpsilon(d), Why: s.why}
		if s.ulps > 0 || s.abs > 0 {
			tol.Abs += tiny(d)
			if d.Size() == 2 {
				tol.Rel += epsilon(d)
			}
		}
		return tol
	}
	op.Cost = func(_ spec.Call, in []tensor.Desc) spec.Cost {
		n := int64(in[0].Elems())
		return spec.Cost{Flops: n * s.flops, Bytes: 3 * n * int64(in[0].DType.Size())}
	}
	op.Cases = spec.Cases{
		DTypes: floats, Calls: []spec.Call{s.call},
		Dims: []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 256}}},
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc {
			return []tensor.Desc{tensor.Contiguous(d, dims...), tensor.Contiguous(d, dims...)}
		},
		Bench: benchCases(s.call, 2),
		Low:   -6, High: 6, Specials: true,
		Refused: [][]tensor.Desc{
			{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F32, 4, 3)},
			{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F16, 3, 4)},
		},
	}
	return spec.Register(op)
}
