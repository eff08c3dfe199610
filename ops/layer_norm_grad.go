package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// LayerNormGrad is the gradient of LayerNorm: of its input, gamma and the gradient
// dy of its result, those of input, gamma and beta. With x̂ the normalised input
// and g = dy·gamma, dx = (g − mean g − x̂·mean(x̂·g))/√(variance + eps) for each row,
// and dgamma and dbeta sum dy·x̂ and dy over the rows. It needs scratch memory of
// the size of its inputs in the type of the arithmetic.
type LayerNormGrad struct {
	Eps float64 `attr:"eps,required" doc:"as in layer_norm, at least 0"`
}

// Spec returns the declaration.
func (LayerNormGrad) Spec() *spec.Op { return layerNormGradOp }

type (
	hatParams struct {
		Count, N, Base, States, Made, Total uint32
		Eps, EpsLow                         float32
	}
	scaleParams    struct{ Count, N, Base, Pairs, Made, Plain uint32 }
	normRowsParams struct {
		Count, Total uint32
		Eps, EpsLow  float32
	}
	columnsParams struct{ Count uint32 }
)

var layerNormGradOp = &spec.Op{
	Name: "layer_norm_grad", Group: "nn",
	Doc: "The gradient of layer norm: of its input, gamma and beta.",
	In: []spec.Arg{
		{Name: "in", Doc: "[..., n], the input of layer_norm"},
		{Name: "gamma", Doc: "[n], of the same dtype, or F32 if that has 16 bits"},
		{Name: "dy", Doc: "[..., n], the gradient of its result, of the dtype of in"},
	},
	Out: []spec.Arg{
		{Name: "dx", Doc: "[..., n], of the dtype of in"},
		{Name: "dgamma", Doc: "[n], of the dtype of gamma"},
		{Name: "dbeta", Doc: "[n], of the dtype of gamma"},
	},
	Defaults: LayerNormGrad{Eps: 1e-5},
	InPlace:  []int{-1, -1, -1},
}

func init() {
	op, wide := layerNormGradOp, []tensor.DType{tensor.F32, tensor.F64}
	for _, ks := range [][]spec.Kernel{
		applyKernels("nn/layer_norm_grad", wide...),
		dtypeVariants("nn/layer_norm_grad_hat", hatParams{}, floats, nil),
		dtypeVariants("nn/layer_norm_grad_scale", scaleParams{}, floats, nil),
		dtypeVariants("nn/layer_norm_grad_rows", normRowsParams{}, wide, nil),
		dtypeVariants("nn/layer_norm_grad_columns", columnsParams{}, wide, nil),
	} {
		op.Kernels = append(op.Kernels, ks...)
	}
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in, floats...); err != nil {
			return nil, err
		}
		if err := checkEps(op.Name, c.(LayerNormGrad).Eps); err != nil {
			return nil, err
		}
		if len(in[0].Shape) == 0 {
			return nil, invalid(op.Name, "a scalar has no last dimension")
		}
		if err := alike(op, 2, in[2], in[0]); err != nil {
			return nil, err
		}
		if err := checkAffine(op, in[:2], 1, len(in[0].Shape)-1); err != nil {
			return nil, err
		}
		n := in[0].Shape[len(in[0].Shape)-1]
		columns := tensor.Contiguous(in[1].DType, n)
		return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...), columns, columns}, nil
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		if err := planable(op, t, in, out); err != nil {
			return nil, err
		}
		g := normGrad{t: t, plan: &spec.Plan{}, eps: c.(LayerNormGrad).Eps, d: in[0].DType, columns: in[1].DType, v: lastDim(in[0].Shape)}
		return g.plan, g.add()
	}
	op.Reference = func(c spec.Call, in, out []*tensor.Host) {
		x, gamma, dy, v := in[0].Floats(), in[1].Floats(), in[2].Floats(), lastDim(in[0].Shape)
		dgamma, dbeta := make([]float64, v.n), make([]float64, v.n)
		for o := range min(v.outer, len(x)) {
			row, grad := x[o*v.n:(o+1)*v.n], dy[o*v.n:(o+1)*v.n]
			origin := row[0]
			for i := range row {
				row[i] -= origin
			}
			mean, variance := moments(row)
			scale := 1 / math.Sqrt(variance+c.(LayerNormGrad).Eps)
			var a, b float64
			for i := range row {
				row[i] = (row[i] - mean) * scale
				dgamma[i] += grad[i] * row[i]
				dbeta[i] += grad[i]
				grad[i] *= gamma[i]
				a += row[i] * grad[i] / float64(v.n)
				b += grad[i] / float64(v.n)
			}
			for i := range row {
				row[i] = (grad[i] - b - row[i]*a) * scale
			}
		}
		out[0].SetFloats(x)
		out[1].SetFloats(dgamma)
		out[2].SetFloats(dbeta)
	}
	op.Tolerance = func(c spec.Call, d tensor.DType, in []tensor.Desc) spec.Tolerance {
		v, e := lastDim(in[0].Shape), workEpsilon(d)
		rows, h := float64(max(v.outer, 1)), rowChain(v.n)
		return spec.Tolerance{
			Abs: e*(64+3*math.Sqrt(h)+32*math.Sqrt(rows)+rows+4/math.Sqrt(c.(LayerNormGrad).Eps)) + tiny(d), Rel: e*(32+math.Sqrt(foldChain(v.outer)/3)) + storeEpsilon(d),
			Law: "ε·(64 + 3·√h + 32·√r + r + 4/√eps) + ε·(32 + √(g/3)) of the value, for r rows of n elements, " + rowChainText + ", g = " + foldChainText + " of r",
			Why: "products of a few units cancel within rows, where elements are equal before a division by √eps, and round as the means of layer norm do; sums over rows are rounded at most g times, at their largest",
		}
	}
	op.Cost = func(_ spec.Call, in []tensor.Desc) spec.Cost {
		return spec.Cost{Flops: 16 * int64(in[0].Elems()), Bytes: 3*in[0].Bytes() + 3*in[1].Bytes()}
	}
	op.Cases = spec.Cases{
		DTypes: floats, Calls: []spec.Call{LayerNormGrad{1e-5}, LayerNormGrad{0.5}},
		Dims:  []spec.Dim{{Name: "rows"}, {Name: "n", Tiles: []int{16}}},
		Sizes: [][]int{{2, 65535}, {1, 65536}, {3, 100000}, {1, 1000000}, {65535, 5}, {65536, 8}, {100000, 7}},
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc {
			return []tensor.Desc{tensor.Contiguous(d, dims...), tensor.Contiguous(d, dims[1]), tensor.Contiguous(d, dims...)}
		},
		Bench: benchCasesOf(LayerNormGrad{1e-5}, func(d tensor.DType, rows, columns int) []tensor.Desc {
			return []tensor.Desc{tensor.Contiguous(d, rows, columns), tensor.Contiguous(d, columns), tensor.Contiguous(d, rows, columns)}
		}),
		Low: -2, High: 2, Specials: true,
		Invalid: []spec.Call{LayerNormGrad{-1e-5}, LayerNormGrad{math.NaN()}, LayerNormGrad{math.Inf(1)}},
		Refused: [][]tensor.Desc{
			{tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.F32)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 2), tensor.Contiguous(tensor.F32, 2, 3)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 3), tensor.Contiguous(tensor.F32, 3, 2)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F16, 3), tensor.Contiguous(tensor.F32, 2, 3)},
		},
	}
	spec.Register(op)
}

// normGrad plans one gradient.
type normGrad struct {
	t          *spec.Target
	plan       *spec.Plan
	eps        float64
	d, columns tensor.DType
	v          normal
}

func (g normGrad) add() error {
	w := work(g.d)
	low := float32(g.eps)
	rest := float32(g.eps - float64(low))
	if g.v.n == 0 {
		return nil
	}
	bytes := int64((g.v.outer * g.v.n) * w.Size())
	if g.v.outer == 0 { // sums over no rows
		return g.sums(scratch(g.plan, 0), scratch(g.plan, 0))
	}
	states, err := addFold(g.plan, g.t, momentsFold, g.d, g.v, spec.Ref{}, spec.In(0))
	if err != nil {
		return err
	}
	hat, dy, grad := scratch(g.plan, bytes), spec.In(2), spec.Ref{}
	if w == g.d && g.v.n%(16/w.Size()) == 0 {
		grad, err = g.whole(states, hat)
	} else {
		dy, grad, err = g.wider(states, hat)
	}
	if err != nil {
		return err
	}
	if err := g.sums(hat, dy); err != nil {
		return err
	}
	sums, err := addFold(g.plan, g.t, dotFold, w, g.v, spec.Ref{}, hat, grad)
	if err != nil {
		return err
	}
	err = addPerRow(g.plan, g.t, "nn/layer_norm_grad_rows", w, g.v.outer, func(count int) any {
		return normRowsParams{uint32(count), uint32(g.v.n), low, rest}
	}, false, rowOperand{sums, 2 * w.Size()}, rowOperand{states, momentsFold.stateBytes(g.d)})
	if err != nil {
		return err
	}
	dx := spec.Out(0)
	if w != g.d {
		dx = scratch(g.plan, bytes)
	}
	if err := addApply(g.plan, g.t, applier{name: "nn/layer_norm_grad", fold: momentsFold}, w, g.v, states, dx, hat, grad); err != nil || w == g.d {
		return err
	}
	return addNarrow(g.plan, g.t, (g.v.outer * g.v.n), dx, spec.Out(0), g.d)
}

// whole appends the steps that make x̂ and dy·gamma of rows of whole packs in the
// dtype of the arithmetic: layer norm without weights, and a product.
func (g normGrad) whole(states, hat spec.Ref) (grad spec.Ref, err error) {
	ones, err := addAffine(g.plan, g.t, g.columns, g.d, g.v.n, spec.Ref{}, spec.Ref{})
	if err != nil {
		return spec.Ref{}, err
	}
	a := applier{name: "nn/layer_norm_apply", fold: momentsFold, affine: ones, pair: 2 * g.d.Size(), total: g.v.n, eps: g.eps}
	if err := addApply(g.plan, g.t, a, g.d, g.v, states, hat, spec.In(0)); err != nil {
		return spec.Ref{}, err
	}
	rows := tensor.Contiguous(g.d, g.v.outer, g.v.n)
	grad = scratch(g.plan, rows.Bytes())
	return grad, elementwise.AddBinary(g.plan, g.t, "math/mul", []tensor.Desc{rows, tensor.Contiguous(g.d, g.v.n)}, rows, [3]spec.Ref{spec.In(2), spec.In(1), grad})
}

// wider appends the steps that make x̂, dy and dy·gamma in the type of the
// arithmetic.
func (g normGrad) wider(states, hat spec.Ref) (dy, grad spec.Ref, err error) {
	w := work(g.d)
	low := float32(g.eps)
	rest := float32(g.eps - float64(low))
	bytes := int64((g.v.outer * g.v.n) * w.Size())
	pairs, err := addAffine(g.plan, g.t, g.columns, w, g.v.n, spec.In(1), spec.Ref{})
	if err != nil {
		return spec.Ref{}, spec.Ref{}, err
	}
	state, pair := momentsFold.stateBytes(g.d), 2*w.Size()
	err = g.widen("nn/layer_norm_grad_hat", spec.In(0), hat, state, func(x piece, base, made uint32) (spec.Bind, any) {
		bind, word := bindWords(g.t, states, state, x.o, x.outer)
		return bind, hatParams{uint32(x.elems()), uint32(x.n), base, word, made, uint32(g.v.n), low, rest}
	})
	if err != nil {
		return spec.Ref{}, spec.Ref{}, err
	}
	scaled := func(plain uint32) (spec.Ref, error) {
		to := scratch(g.plan, bytes)
		return to, g.widen("nn/layer_norm_grad_scale", spec.In(2), to, pair, func(x piece, base, made uint32) (spec.Bind, any) {
			bind, word := bindWords(g.t, pairs, pair, x.row, x.n)
			return bind, scaleParams{uint32(x.elems()), uint32(x.n), base, word, made, plain}
		})
	}
	dy = spec.In(2)
	if w != g.d {
		if dy, err = scaled(1); err != nil {
			return spec.Ref{}, spec.Ref{}, err
		}
	}
	grad, err = scaled(0)
	return dy, grad, err
}

// sums appends the gradients of gamma and beta.
func (g normGrad) sums(hat, dy spec.Ref) error {
	w, n := work(g.d), g.v.n
	sums, err := addFold(g.plan, g.t, dotFold, w, normal{1, g.v.outer, n}, spec.Ref{}, hat, dy)
	if err != nil {
		return err
	}
	out := [2]spec.Ref{spec.Out(1), spec.Out(2)}
	if g.columns != w {
		out = [2]spec.Ref{scratch(g.plan, int64(n*w.Size())), scratch(g.plan, int64(n*w.Size()))}
	}
	err = addPerRow(g.plan, g.t, "nn/layer_norm_grad_columns", w, n, func(count int) any { return columnsParams{uint32(count)} }, false,
		rowOperand{sums, 2 * w.Size()}, rowOperand{out[0], w.Size()}, rowOperand{out[1], w.Size()})
	for i := 0; i < 2 && g.columns != w && err == nil; i++ {
		err = addNarrow(g.plan, g.t, n, out[i], spec.Out(1+i), g.columns)
	}
	return err
}

// widen appends the launches of a kernel from elements of a tensor to the type of
// the arithmetic, with something bound in between, of side bytes for each row or
// column.
func (g normGrad) widen(name string, from, to spec.Ref, side int, with func(x piece, base, made uint32) (spec.Bind, any)) error {
	size := work(g.d).Size()
	room := int(min((g.t.MaxBinding-windowAlign(g.t)-16)/int64(max(size, side)), 1<<30))
	return pieces(g.v, pieceRoom{elems: room, states: room, perOuter: 1, unit: 1, shared: true}, func(x piece) error {
		src, base := bindPart(g.t, from, g.d.Size(), x.start, x.elems())
		made, word := bindWords(g.t, to, size, x.start, x.elems())
		between, params := with(x, base, word)
		groups, err := grid(g.t, int64(ceilDiv(ceilDiv(int(base)+x.elems(), 16/g.d.Size()), smallGroup)))
		g.plan.Steps = append(g.plan.Steps, spec.Step{
			Kernel: name + "." + g.d.String(), Params: params, Bind: []spec.Bind{src, between, made}, Groups: groups,
		})
		return err
	})
}
