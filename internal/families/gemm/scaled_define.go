package gemm

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Scaling is what the attributes of a scaled product say.
type Scaling struct {
	// TransA and TransB say that a is [..., k,m], and that b is [..., n,k].
	TransA, TransB bool
	// Alpha and Beta are the factors of the product and of c.
	Alpha, Beta float64
	// triangle is the part of the result to compute.
	triangle triangle
}

// DefineScaled declares a scaled product y = α·A·B + β·C of the last two dimensions over a broadcast batch. The operands may have any
// strides. Where α is 0 or k is 0, a and b are not read. Where β is 0, c is not read.
func DefineScaled[A spec.Call](m Operation[A, Scaling]) *spec.Op {
	d := definition(m, "BLAS xGEMM; ONNX Gemm", planner.Floats, 2, [][]int{{1, 128, 128, 128}, {1, 512, 512, 512}, {1, 1024, 1024, 1024}, {1, 2048, 1, 2048}})
	d.In = []spec.Arg{
		{Name: "a", Doc: "[..., m,k], or [..., k,m] with trans_a", DTypes: planner.Floats, Strides: spec.AnyStrides},
		{Name: "b", Doc: "[..., k,n], or [..., n,k] with trans_b; the leading dimensions are broadcast", DTypes: planner.Floats, Strides: spec.AnyStrides},
		{Name: "c", Doc: "broadcast to [..., m,n]; with a and b of 16 bits it may be F32, and so is the result then", Optional: true, DTypes: planner.Floats, Strides: spec.AnyStrides},
	}
	d.Out[0].Doc = "[..., m,n], of the dtype of c"
	d.Kernels = scaledKernels
	d.Strategies = func(a A, t *spec.Target, in, out []tensor.Desc) []string {
		if out[0].Elems() == 0 || m.Of(a).Alpha == 0 {
			return nil
		}
		s, err := m.Of(a).scaled(t, &spec.Plan{}, spec.PlacesOf(in), spec.PlacesOf(out)[0])
		if err != nil {
			return nil
		}
		return s.strategies()
	}
	d.SizeClass = func(a A, in []tensor.Desc) []int { return m.Of(a).transposes().sizeClass(in[:2]) }
	d.Cases.Dims = []spec.Dim{
		{Name: "form", Only: []int{1, 2, 3, 4, 5, 6}}, {Name: "m", Tiles: []int{8, 64}}, {Name: "n", Tiles: []int{4, 128}}, {Name: "k", Tiles: []int{8}},
	}
	d.Cases.Sizes = [][]int{
		{1, 2, 3, 65535}, {1, 3, 2, 65536}, {2, 2, 9, 100000}, {6, 1, 1, 1000000}, {1, 9, 5, 262147}, {2, 17, 12, 20000},
		{1, 65536, 2, 3}, {1, 2, 65535, 5}, {3, 100000, 3, 2}, {1, 257, 261, 131}, {1, 256, 256, 128}, {2, 64, 128, 64}, {1, 203, 1, 1032}, {1, 1, 4096, 516},
	}
	d.Cases.Specials = true
	d.Cases.Refused = [][]tensor.Desc{
		f32([]int{2, 3}, []int{4, 5}, []int{5}), f32([]int{3}, []int{3, 5}, []int{5}), f32([]int{2, 3}, []int{3}, []int{5}),
		f32([]int{2, 2, 3}, []int{3, 3, 5}, []int{5}), f32([]int{2, 3}, []int{3, 5}, []int{4}), f32([]int{2, 3}, []int{3, 5}, []int{3, 2, 5}),
		{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 3, 5), tensor.Contiguous(tensor.F16, 2, 5)},
		{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 3, 5), tensor.Contiguous(tensor.F64, 2, 5)},
	}
	return spec.Define(d)
}

// add implements form.
func (f Scaling) add(t *spec.Target, plan *spec.Plan, in []spec.Place, out spec.Place) error {
	s, err := f.scaled(t, plan, in, out)
	if err != nil {
		return err
	}
	return s.add()
}

// cost implements form.
func (f Scaling) cost(in []tensor.Desc, out tensor.Desc) spec.Cost {
	_, _, k := f.transposes().sizes(in)
	cost := spec.Cost{Bytes: out.Bytes()}
	if f.Alpha != 0 {
		cost.Flops += int64(out.Elems()) * int64(2*k+1)
		cost.Bytes += in[0].Bytes() + in[1].Bytes()
	}
	if len(in) > 2 && f.Beta != 0 {
		cost.Flops += 2 * int64(out.Elems())
		cost.Bytes += in[2].Bytes()
	}
	return cost
}

func (f Scaling) transposes() transposes { return transposes{f.TransA, f.TransB} }

// shape implements form.
func (f Scaling) shape(in []tensor.Desc) (tensor.Desc, error) {
	for _, x := range []float64{f.Alpha, f.Beta} {
		if math.IsNaN(x) || math.IsInf(x, 0) || in[0].DType != tensor.F64 && math.Abs(x) > math.MaxFloat32 {
			return tensor.Desc{}, planner.Invalid("alpha %v, beta %v (want finite numbers of the dtype)", f.Alpha, f.Beta)
		}
	}
	out, err := f.transposes().shape(in[:2])
	if err != nil || len(in) < 3 {
		return out, err
	}
	c := in[2]
	if c.DType != out.DType && (c.DType != tensor.F32 || out.DType.Size() != 2) {
		return tensor.Desc{}, planner.Invalid("c is %v (want the dtype of a, or F32 if that has 16 bits)", c)
	}
	all, ok := planner.BroadcastShape(out.Shape, c.Shape)
	if !ok || !slices.Equal(all, out.Shape) {
		return tensor.Desc{}, planner.Invalid("c %v cannot be broadcast to %v", c, out.Shape)
	}
	out.DType = c.DType
	return out, nil
}

// scaled describes a call, whose result is not empty. The kernels write rows of elements that lie side by side. If
// the result has its columns so, rows and columns change places: yᵀ = α·Bᵀ·Aᵀ + β·Cᵀ.
// Errors: ErrStrides if neither lie so.
func (f Scaling) scaled(t *spec.Target, plan *spec.Plan, in []spec.Place, to spec.Place) (*scaled, error) {
	out := to.Desc
	m, n, k := f.transposes().sizes([]tensor.Desc{in[0].Desc, in[1].Desc})
	last := len(out.Shape) - 2
	batch := out.Shape[:last]
	as, am, ak := matrixStrides(in[0].Desc, batch, f.TransA)
	bs, bk, bn := matrixStrides(in[1].Desc, batch, f.TransB)
	ys := out.ElementStrides()
	// operand has strides along the batch, m, n and k.
	operand := func(ref spec.Ref, p spec.Place, strides ...int) planner.Operand {
		return planner.Operand{Ref: ref, DType: p.Desc.DType, Strides: strides, Base: int(p.Misalignment) / p.Desc.DType.Size()}
	}
	operands := []planner.Operand{
		operand(spec.In(0), in[0], append(as, am, 0, ak)...), operand(spec.In(1), in[1], append(bs, 0, bn, bk)...),
		operand(spec.Out(0), to, append(ys, 0)...),
	}
	s := &scaled{alpha: f.Alpha, beta: f.Beta, triangle: f.triangle}
	if len(in) > 2 && (f.Beta != 0 || f.triangle != wholeMatrix) {
		operands = append(operands, operand(spec.In(2), in[2], append(planner.BroadcastStrides(in[2].Desc, out.Shape), 0)...))
	}
	switch side := func(n, stride int) bool { return n == 1 || stride == 1 }; {
	case side(n, ys[last+1]):
	case side(m, ys[last]):
		m, n = n, m
		if s.triangle != wholeMatrix {
			s.triangle = lowerTriangle + upperTriangle - s.triangle
		}
		operands[0], operands[1] = operands[1], operands[0]
		for _, o := range operands {
			o.Strides[last], o.Strides[last+1] = o.Strides[last+1], o.Strides[last]
		}
	default:
		return nil, planner.Strides("output %v: neither rows nor columns lie side by side", out)
	}
	rows := append(slices.Clone(batch), m)
	own, leading, rowStrides := make([][]int, len(operands)), make([][]int, len(operands)), make([]int, len(operands))
	for i := range operands {
		o := &operands[i]
		leading[i], rowStrides[i], own[i] = o.Strides[:last], o.Strides[last], o.Strides[last+1:]
		o.Strides = o.Strides[:last+1]
	}
	shape, operands := planner.Collapse(rows, operands)
	if s.triangle != wholeMatrix || m == 1 && operands[1].Strides[len(shape)-1] != 0 {
		// The second operand does not vary along m, and a triangle has the rows of one matrix.
		for i := range operands {
			own[i] = append([]int{rowStrides[i]}, own[i]...)
			operands[i].Strides = leading[i]
		}
		shape, operands = planner.Collapse(batch, operands)
		shape = append(shape, m)
	}
	for len(shape) < 3 {
		shape = append([]int{1}, shape...)
		for i := range operands {
			operands[i].Strides = append([]int{0}, operands[i].Strides...)
		}
	}
	for i := range operands {
		operands[i].Strides = append(operands[i].Strides, own[i]...)
	}
	operands[2].Strides[len(shape)] = 1 // This is another number only if n is 1.
	s.product = newProduct(t, plan, append(shape, n, k), operands[0], operands[1])
	if s.y = operands[2]; len(operands) > 3 {
		s.c = &operands[3]
	}
	return s, nil
}

// reference implements form.
func (f Scaling) reference(in, out []*tensor.Host) {
	res := make([]float64, out[0].Elems())
	if f.Alpha != 0 {
		wide := tensor.NewHost(tensor.Contiguous(tensor.F64, out[0].Shape...))
		f.transposes().reference(in[:2], []*tensor.Host{wide})
		for i, v := range wide.Floats() {
			res[i] = f.Alpha * v
		}
	}
	if len(in) > 2 && f.Beta != 0 {
		c, strides := in[2].Floats(), planner.BroadcastStrides(tensor.Contiguous(in[2].DType, in[2].Shape...), out[0].Shape)
		i := 0
		out[0].Each(func(index []int, _ int) {
			at := 0
			for d, x := range index {
				at += x * strides[d]
			}
			res[i] += f.Beta * c[at]
			i++
		})
	}
	out[0].SetFloats(res)
}

// tolerance implements form.
func (f Scaling) tolerance(d tensor.DType, in []tensor.Desc) spec.Tolerance {
	_, _, k := f.transposes().sizes(in)
	e, alpha, beta := planner.AccumulatorEpsilon(d), math.Abs(f.Alpha), math.Abs(f.Beta)
	if len(in) < 3 {
		beta = 0
	}
	dot := DotTolerance(d, k, 1)
	own := dot.Rel - planner.StoreEpsilon(d) // of the sum alone
	return spec.Tolerance{
		Abs: alpha*(dot.Abs-planner.Tiny(d)) + (own+4*e)*beta + planner.Tiny(d), Rel: dot.Rel + 4*e,
		Law: "|α|·x + (y + 4ε)·|β| + (y + 4ε) of the value, where a product of matmul errs by x + y of its value",
		Any: planner.Rounded(dotChain(k)+4, e), AnyLaw: "((1 + ε)^(h + 4) − 1)·(|α|·Σ|a·b| + |β·c|)",
		Why: "the product is that of matmul; it is α times as large, and as |c| is at most 1, |α·a·b| is at most the value + |β|; α, β, the products with them and their sum are rounded, each once",
	}
}

// inputs implements form.
func (f Scaling) inputs(d tensor.DType, dims []int) []tensor.Desc {
	form, m, n, k := dims[0], dims[1], dims[2], dims[3]
	as, bs, cs := []int{m, k}, []int{k, n}, []int{m, n}
	if f.TransA {
		as = []int{k, m}
	}
	if f.TransB {
		bs = []int{n, k}
	}
	var la, lb, lc []int
	dc := d
	switch form {
	case 2: // a batch that shares b, in mixed precision
		if la, lc = []int{3}, []int{3}; d.Size() == 2 {
			dc = tensor.F32
		}
	case 3: // a row for all rows of a batch, as a bias
		la, lb, cs = []int{5}, []int{5}, []int{n}
	case 4: // both operands are broadcast, and a column of c too
		la, lb, lc, cs = []int{3, 1}, []int{2}, []int{3, 2}, []int{m, 1}
	case 5:
		lb, cs = []int{0, 2}, nil
	}
	in := []tensor.Desc{tensor.Contiguous(d, append(la, as...)...), tensor.Contiguous(d, append(lb, bs...)...)}
	if form != 6 {
		in = append(in, tensor.Contiguous(dc, append(lc, cs...)...))
	}
	return in
}
