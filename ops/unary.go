package ops

import (
	"path"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// unaryParams is the push-constant block of lib/unary.glsl.
type unaryParams struct{ Count uint32 }

// unary is what one elementwise function adds to the family.
type unary struct {
	name, doc, source string
	aliases           []string
	call              spec.Call
	shader            string // group/name, without dtype
	f                 func(float64) float64
	// ulps is how far the device's result in its arithmetic may be from f, in
	// units of the last place; abs an error that does not shrink with f.
	ulps, abs float64
	why       string
	low, high float64 // of the inputs tried
	flops     int64
}

// newUnary declares an elementwise function of contiguous tensors; views are
// copied before. It may work in place.
func newUnary(u unary) *spec.Op {
	op := &spec.Op{
		Name: u.name, Group: path.Dir(u.shader), Doc: u.doc, Source: u.source, Aliases: u.aliases,
		In:       []spec.Arg{{Name: "in", Doc: "a tensor of any shape"}},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the same dtype and shape"}},
		Defaults: u.call,
		InPlace:  []int{0},
		Kernels:  dtypeVariants(u.shader, unaryParams{}, floats, func(d tensor.DType) bool { return d != tensor.F64 }),
	}
	op.Shape = func(_ spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in, floats...); err != nil {
			return nil, err
		}
		return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
	}
	op.Plan = func(_ spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		d := in[0].DType
		if err := checkTarget(op.Name, t, in[0]); err != nil {
			return nil, err
		}
		if !in[0].IsContiguous() || !out[0].IsContiguous() {
			return nil, unsupported(op.Name, "strides")
		}
		k := flatVariant(t, u.shader, d)
		k.params = func(_, count int) any { return unaryParams{uint32(count)} }
		return planFlat(t, k, in[0].Elems(), flatOperand{spec.In(0), d}, flatOperand{spec.Out(0), d})
	}
	op.Strategies, op.SizeClass = byFirst, byElements
	op.Reference = func(_ spec.Call, in, out []*tensor.Host) {
		v := in[0].Floats()
		for i := range v {
			v[i] = u.f(v[i])
		}
		out[0].SetFloats(v)
	}
	op.Tolerance = func(_ spec.Call, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
		tol := spec.Tolerance{Abs: u.abs * workEpsilon(d), Rel: u.ulps * workEpsilon(d), Why: u.why}
		if u.ulps > 0 || u.abs > 0 {
			tol.Abs += tiny(d)
		}
		if d.Size() == 2 && tol.Rel > 0 {
			tol.Rel += epsilon(d) // the double rounding may fall to the other side
		}
		return tol
	}
	op.Cost = func(_ spec.Call, in []tensor.Desc) spec.Cost {
		n := int64(in[0].Elems())
		return spec.Cost{Flops: n * max(u.flops, 1), Bytes: 2 * n * int64(in[0].DType.Size())}
	}
	op.Cases = spec.Cases{
		DTypes: floats, Calls: []spec.Call{u.call},
		Dims: []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 256}}},
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc {
			return []tensor.Desc{tensor.Contiguous(d, dims...)}
		},
		Bench: benchCases(u.call, 1),
		Low:   u.low, High: u.high, Specials: true,
	}
	return spec.Register(op)
}
