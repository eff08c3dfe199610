package axiswise

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	normGradShader    = "nn/layer_norm_grad"
	normHatShader     = "nn/layer_norm_grad_hat"
	normScaleShader   = "nn/layer_norm_grad_scale"
	normRowsShader    = "nn/layer_norm_grad_rows"
	normColumnsShader = "nn/layer_norm_grad_columns"
	mulShader         = "math/mul"
)

// These are the push-constant blocks of the shaders above.
type (
	hatParams struct {
		Count, N, Base, States, Made, Total uint32
		Eps, EpsLow                         float32
	}
	scaleParams     struct{ Count, N, Base, Pairs, Made, Plain uint32 }
	gradStatsParams struct {
		Count, Total uint32
		Eps, EpsLow  float32
	}
	columnsParams struct{ Count uint32 }
)

// wideFloats are the dtypes of accumulators.
var wideFloats = []tensor.DType{tensor.F32, tensor.F64}

// LayerNormGradientKernels lists the kernels that LayerNormGradient launches.
func LayerNormGradientKernels() []spec.Kernel {
	var all []spec.Kernel
	for _, ks := range [][]spec.Kernel{
		momentsReducer.Kernels(planner.Floats...), dotReducer.Kernels(wideFloats...),
		mapKernels(layerNorm+"_apply", wideFloats...), mapKernels(normGradShader, wideFloats...), affineKernels(),
		planner.DTypeVariants(normHatShader, hatParams{}, planner.Floats, nil),
		planner.DTypeVariants(normScaleShader, scaleParams{}, planner.Floats, nil),
		planner.DTypeVariants(normRowsShader, gradStatsParams{}, wideFloats, nil),
		planner.DTypeVariants(normColumnsShader, columnsParams{}, wideFloats, nil),
		elementwise.BinaryKernels(mulShader, wideFloats), reduction.NarrowKernels(),
	} {
		all = append(all, ks...)
	}
	return all
}

// LayerNormGradientShape checks the inputs of the gradient of layer norm: the input,
// gamma, and the gradient of the result. args names them. It returns the shapes of the
// gradients of input, gamma and beta.
// Errors: ErrInvalidArgument.
func LayerNormGradientShape(args []spec.Arg, eps float64, in []tensor.Desc) ([]tensor.Desc, error) {
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	last, err := planner.Axis(-1, len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	if err := checkSame(args[2].Name, in[2], args[0].Name, in[0]); err != nil {
		return nil, err
	}
	if err := checkAffine(args, in[:2], 1, last); err != nil {
		return nil, err
	}
	columns := tensor.Contiguous(in[1].DType, in[0].Shape[last])
	return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...), columns, columns}, nil
}

// LayerNormGradient plans the gradients of layer norm, for inputs that
// LayerNormGradientShape has accepted.
// Errors: ErrUnsupported, *LimitError.
func LayerNormGradient(t *spec.Target, eps float64, in []tensor.Desc) (*spec.Plan, error) {
	if err := planner.CheckTarget(t, in...); err != nil {
		return nil, err
	}
	g := normGrad{
		t: t, plan: &spec.Plan{}, eps: eps, d: in[0].DType, wide: planner.Accumulator(in[0].DType), columns: in[1].DType, v: lastDim(in[0].Shape),
	}
	if !isLeftOut(in[1]) {
		g.gamma = spec.In(1)
	}
	return g.plan, g.addSteps()
}

// normGrad appends the steps of one gradient of layer norm to a plan. In formulas, x̂ is
// the input minus its mean, divided by its standard deviation.
type normGrad struct {
	t    *spec.Target
	plan *spec.Plan
	eps  float64
	// d is the dtype of the rows, wide that of their accumulators, and columns that of
	// gamma.
	d, wide, columns tensor.DType
	// v is the view of the input along its last dimension.
	v planner.AxisView
	// gamma is nothing if a call leaves it out.
	gamma spec.Ref
}

// addSteps appends all steps.
func (g normGrad) addSteps() error {
	if g.v.N == 0 {
		return nil
	}
	bytes := int64(g.v.Outer * g.v.N * g.wide.Size())
	if g.v.Outer == 0 { // The gradients of gamma and beta are sums over no rows.
		return g.addColumnSums(planner.AddScratch(g.plan, 0), planner.AddScratch(g.plan, 0))
	}
	moments, err := reduction.Add(g.plan, g.t, momentsReducer, g.d, g.v, spec.Ref{}, spec.In(0))
	if err != nil {
		return err
	}
	hat, dy := planner.AddScratch(g.plan, bytes), spec.In(2)
	var grad spec.Ref
	if g.wide == g.d && g.v.N%(planner.Pack/g.wide.Size()) == 0 {
		grad, err = g.addPacked(moments, hat)
	} else {
		dy, grad, err = g.addConverted(moments, hat)
	}
	if err != nil {
		return err
	}
	if err := g.addColumnSums(hat, dy); err != nil {
		return err
	}
	sums, err := reduction.Add(g.plan, g.t, dotReducer, g.wide, g.v, spec.Ref{}, hat, grad)
	if err != nil {
		return err
	}
	high, low := split(g.eps)
	err = reduction.AddPerRow(g.plan, g.t, normRowsShader, g.wide, g.v.Outer, func(count int) any {
		return gradStatsParams{uint32(count), uint32(g.v.N), high, low}
	}, spec.Ref{}, reduction.RowOperand{Ref: sums, Size: 2 * g.wide.Size()}, reduction.RowOperand{Ref: moments, Size: momentsReducer.AccumulatorBytes(g.d)})
	if err != nil {
		return err
	}
	dx := spec.Out(0)
	if g.wide != g.d {
		dx = planner.AddScratch(g.plan, bytes)
	}
	if err := (rowMap{shader: normGradShader, reducer: momentsReducer}).add(g.plan, g.t, g.wide, g.v, moments, dx, hat, grad); err != nil || g.wide == g.d {
		return err
	}
	return reduction.AddNarrow(g.plan, g.t, g.v.Outer*g.v.N, dx, spec.Out(0), g.d)
}

// addPacked appends the steps that compute x̂ and dy·gamma. It is for rows of whole packs
// whose dtype is that of the accumulators. These steps are a layer norm without weights,
// and a product.
func (g normGrad) addPacked(moments, hat spec.Ref) (grad spec.Ref, err error) {
	ones, err := addAffine(g.plan, g.t, g.columns, g.d, g.v.N, spec.Ref{}, spec.Ref{})
	if err != nil {
		return spec.Ref{}, err
	}
	a := rowMap{shader: layerNorm + "_apply", reducer: momentsReducer, affine: ones, pair: 2 * g.d.Size(), total: g.v.N, eps: g.eps}
	if err := a.add(g.plan, g.t, g.d, g.v, moments, hat, spec.In(0)); err != nil {
		return spec.Ref{}, err
	}
	if g.gamma.Kind == spec.RefNone {
		return spec.In(2), nil
	}
	rows := tensor.Contiguous(g.d, g.v.Outer, g.v.N)
	grad = planner.AddScratch(g.plan, rows.Bytes())
	return grad, elementwise.AddBinary(g.plan, g.t, mulShader, []tensor.Desc{rows, tensor.Contiguous(g.d, g.v.N)}, rows, [3]spec.Ref{spec.In(2), g.gamma, grad})
}

// addConverted appends the steps that compute x̂, dy and dy·gamma in the dtype of the
// accumulators.
func (g normGrad) addConverted(moments, hat spec.Ref) (dy, grad spec.Ref, err error) {
	bytes := int64(g.v.Outer * g.v.N * g.wide.Size())
	pairs, err := addAffine(g.plan, g.t, g.columns, g.wide, g.v.N, g.gamma, spec.Ref{})
	if err != nil {
		return spec.Ref{}, spec.Ref{}, err
	}
	high, low := split(g.eps)
	size, pair := momentsReducer.AccumulatorBytes(g.d), 2*g.wide.Size()
	err = g.addConversion(normHatShader, spec.In(0), hat, size, func(x planner.Chunk, base, made uint32) (spec.Bind, any) {
		bind, word := planner.WordWindow(g.t, moments, size, x.Block, x.Outer)
		return bind, hatParams{uint32(x.Elems()), uint32(x.N), base, word, made, uint32(g.v.N), high, low}
	})
	if err != nil {
		return spec.Ref{}, spec.Ref{}, err
	}
	scaled := func(plain uint32) (spec.Ref, error) {
		to := planner.AddScratch(g.plan, bytes)
		return to, g.addConversion(normScaleShader, spec.In(2), to, pair, func(x planner.Chunk, base, made uint32) (spec.Bind, any) {
			bind, word := planner.WordWindow(g.t, pairs, pair, x.Row, x.N)
			return bind, scaleParams{uint32(x.Elems()), uint32(x.N), base, word, made, plain}
		})
	}
	dy = spec.In(2)
	if g.wide != g.d {
		if dy, err = scaled(1); err != nil {
			return spec.Ref{}, spec.Ref{}, err
		}
	}
	if g.gamma.Kind == spec.RefNone {
		return dy, dy, nil
	}
	grad, err = scaled(0)
	return dy, grad, err
}

// addColumnSums appends the steps that compute the gradients of gamma and beta.
func (g normGrad) addColumnSums(hat, dy spec.Ref) error {
	size, n := g.wide.Size(), g.v.N
	sums, err := reduction.Add(g.plan, g.t, dotReducer, g.wide, planner.AxisView{Outer: 1, N: g.v.Outer, Inner: n}, spec.Ref{}, hat, dy)
	if err != nil {
		return err
	}
	out := [2]spec.Ref{spec.Out(1), spec.Out(2)}
	if g.columns != g.wide {
		out = [2]spec.Ref{planner.AddScratch(g.plan, int64(n*size)), planner.AddScratch(g.plan, int64(n*size))}
	}
	err = reduction.AddPerRow(g.plan, g.t, normColumnsShader, g.wide, n, func(count int) any { return columnsParams{uint32(count)} }, spec.Ref{},
		reduction.RowOperand{Ref: sums, Size: 2 * size}, reduction.RowOperand{Ref: out[0], Size: size}, reduction.RowOperand{Ref: out[1], Size: size})
	for i := 0; i < 2 && g.columns != g.wide && err == nil; i++ {
		err = reduction.AddNarrow(g.plan, g.t, n, out[i], spec.Out(1+i), g.columns)
	}
	return err
}

// addConversion appends the launches of a kernel that reads the elements of from and
// writes to in the dtype of the accumulators. The kernel also binds a buffer that has
// side bytes for each row or column. extra returns its binding and the parameters.
func (g normGrad) addConversion(shader string, from, to spec.Ref, side int, extra func(x planner.Chunk, base, made uint32) (spec.Bind, any)) error {
	size := g.wide.Size()
	room := int(min((g.t.MaxBinding-planner.WindowAlign(g.t)-planner.Pack)/int64(max(size, side)), 1<<30))
	return planner.Chunks(g.v, planner.ChunkRoom{Elems: room, Accumulators: room, PerBlock: 1, Unit: 1, Shared: true}, func(x planner.Chunk) error {
		src, base := planner.Window(g.t, from, g.d.Size(), int64(x.Start), int64(x.Elems()))
		made, word := planner.WordWindow(g.t, to, size, x.Start, x.Elems())
		between, params := extra(x, base, word)
		groups, err := planner.Grid(g.t, int64(planner.CeilDiv(planner.CeilDiv(int(base)+x.Elems(), planner.Pack/g.d.Size()), planner.SmallGroup)))
		g.plan.Steps = append(g.plan.Steps, spec.Step{
			Module: spirv.Kernel(shader + "." + g.d.String()), Params: params, Bind: []spec.Bind{src, between, made}, Groups: groups,
		})
		return err
	})
}

// LayerNormGradientReference computes the gradients in float64.
func LayerNormGradientReference(eps float64, in, out []*tensor.Host) {
	x, dy, v := in[0].Floats(), in[2].Floats(), lastDim(in[0].Shape)
	gamma := columnsOf(in, 1, v.N, 1)
	dgamma, dbeta := make([]float64, v.N), make([]float64, v.N)
	for o := range min(v.Outer, len(x)) {
		row, grad := x[o*v.N:(o+1)*v.N], dy[o*v.N:(o+1)*v.N]
		mean, variance := center(row)
		scale := 1 / math.Sqrt(variance+eps)
		// Weighted gradients are relative to the first one, as center does it: otherwise the
		// mean of equal ones is not exactly that number, and F64 is as exact as this.
		var a, b float64
		origin := grad[0] * gamma[0]
		if math.IsInf(origin, 0) || math.IsNaN(origin) {
			origin = 0
		}
		for i := range row {
			row[i] = (row[i] - mean) * scale
			dgamma[i] += grad[i] * row[i]
			dbeta[i] += grad[i]
			grad[i] = grad[i]*gamma[i] - origin
			a += row[i] * grad[i] / float64(v.N)
			b += grad[i] / float64(v.N)
		}
		for i := range row {
			row[i] = (grad[i] - b - row[i]*a) * scale
		}
	}
	out[0].SetFloats(x)
	out[1].SetFloats(dgamma)
	out[2].SetFloats(dbeta)
}

// LayerNormGradientTolerance returns the tolerance for inputs of a shape.
func LayerNormGradientTolerance(eps float64, d tensor.DType, shape []int) spec.Tolerance {
	v, e := lastDim(shape), planner.AccumulatorEpsilon(d)
	rows, h := float64(max(v.Outer, 1)), rowChain(v.N)
	return spec.Tolerance{
		Abs: e*(64+3*math.Sqrt(h)+32*math.Sqrt(rows)+rows+4/math.Sqrt(eps)) + planner.Tiny(d), Rel: e*(32+math.Sqrt(reduction.Chain(v.Outer)/3)) + planner.StoreEpsilon(d),
		Law: "ε·(64 + 3·√h + 32·√r + r + 4/√eps) + ε·(32 + √(g/3)) of the value, for r rows of n elements, " + rowChainText + ", g = " + reduction.ChainText + " of r",
		Why: "products of a few units cancel within rows whose elements are equal, before a division by √eps, and are rounded as the means of layer norm are; each term of a sum over rows is rounded at most g times, at its largest",
	}
}
