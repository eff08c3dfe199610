package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MatMul is the matrix product of the last two dimensions: [..., m,k] by
// [..., k,n] gives [..., m,n]. The dimensions before them are a batch and are
// broadcast by NumPy's rule; vectors of one dimension are refused. Products of
// f16 and bf16 are summed in f32 and rounded once; k = 0 gives zeros.
type MatMul struct {
	TransA bool `attr:"trans_a" doc:"a is [..., k,m]"`
	TransB bool `attr:"trans_b" doc:"b is [..., n,k]"`
}

// Spec returns the declaration.
func (MatMul) Spec() *spec.Op { return matmulOp }

// MatMulBias is MatMul with a bias [n] added to each row of the result before it
// is rounded.
type MatMulBias struct {
	TransA bool `attr:"trans_a" doc:"a is [..., k,m]"`
	TransB bool `attr:"trans_b" doc:"b is [..., n,k]"`
}

// Spec returns the declaration.
func (MatMulBias) Spec() *spec.Op { return matmulBiasOp }

var (
	matmulOp = newMatMul("matmul", "The matrix product of the last two dimensions, over a broadcast batch.", false, MatMul{},
		[]spec.Call{MatMul{}, MatMul{TransB: true}, MatMul{TransA: true}, MatMul{TransA: true, TransB: true}})
	matmulBiasOp = newMatMul("matmul_bias", "The matrix product of the last two dimensions, with a bias added to each row.", true, MatMulBias{},
		[]spec.Call{MatMulBias{}, MatMulBias{TransB: true}})
)

// transposes are the attributes of either operation.
func transposes(c spec.Call) (a, b bool) {
	if c, ok := c.(MatMulBias); ok {
		return c.TransA, c.TransB
	}
	m := c.(MatMul)
	return m.TransA, m.TransB
}

func newMatMul(name, doc string, biased bool, call spec.Call, calls []spec.Call) *spec.Op {
	op := &spec.Op{
		Name: name, Group: "blas", Doc: doc,
		Source: "NumPy matmul; BLAS gemm with alpha 1 and beta 0 or 1",
		In: []spec.Arg{
			{Name: "a", Doc: "[..., m,k], or [..., k,m] with trans_a"},
			{Name: "b", Doc: "[..., k,n], or [..., n,k] with trans_b; the dimensions before are broadcast"},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "[..., m,n]"}},
		Defaults: call,
	}
	if biased {
		op.In = append(op.In, spec.Arg{Name: "bias", Doc: "[n]"})
	} else {
		op.Kernels = gemmKernels
	}
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in, floats...); err != nil {
			return nil, err
		}
		return matmulShape(name, c, in)
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		if err := checkTarget(name, t, in[0]); err != nil {
			return nil, err
		}
		if !out[0].IsContiguous() {
			return nil, unsupported(name, "a result with strides")
		}
		plan := &spec.Plan{}
		return plan, planMatMul(c, t, plan, in, out[0])
	}
	op.Strategies = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) []string {
		p, err := newProduct(c, t, &spec.Plan{}, in, out[0])
		if err != nil || out[0].Elems() == 0 {
			return nil
		}
		return gemmWays(p.gemm)
	}
	op.SizeClass = func(c spec.Call, in []tensor.Desc) []int {
		m, n, k := matmulSizes(c, in)
		ta, tb := transposes(c)
		turned := 0
		for i, yes := range []bool{ta, tb} {
			if yes {
				turned |= 1 << i
			}
		}
		out, err := matmulShape(name, c, in)
		if err != nil || m*n == 0 {
			return nil
		}
		return []int{turned, out[0].Elems() / (m * n), m, n, k}
	}
	op.Reference = matmulReference
	op.Tolerance = func(c spec.Call, d tensor.DType, in []tensor.Desc) spec.Tolerance {
		_, _, k := matmulSizes(c, in)
		return dotTolerance(d, k, 1)
	}
	op.Cost = func(c spec.Call, in []tensor.Desc) spec.Cost {
		out, err := matmulShape(name, c, in)
		if err != nil {
			return spec.Cost{}
		}
		_, _, k := matmulSizes(c, in)
		bytes := out[0].Bytes()
		for _, d := range in {
			bytes += d.Bytes()
		}
		return spec.Cost{Flops: 2 * int64(out[0].Elems()) * int64(k), Bytes: bytes}
	}
	op.Cases = matmulCases(biased, calls)
	return spec.Register(op)
}

// matmulSizes are m, n and k of checked inputs.
func matmulSizes(c spec.Call, in []tensor.Desc) (m, n, k int) {
	ta, tb := transposes(c)
	a, b := in[0].Shape[len(in[0].Shape)-2:], in[1].Shape[len(in[1].Shape)-2:]
	m, k, n = a[0], a[1], b[1]
	if ta {
		m, k = k, m
	}
	if tb {
		n = b[0]
	}
	return m, n, k
}

func matmulShape(name string, c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
	a, b := in[0], in[1]
	if a.DType != b.DType || len(in) > 2 && in[2].DType != a.DType {
		return nil, invalid(name, "dtypes differ: %v", in)
	}
	if len(a.Shape) < 2 || len(b.Shape) < 2 {
		return nil, invalid(name, "operands %v and %v (want two dimensions or more of each)", a, b)
	}
	m, n, k := matmulSizes(c, in)
	_, tb := transposes(c)
	kb := b.Shape[len(b.Shape)-2]
	if tb {
		kb = b.Shape[len(b.Shape)-1]
	}
	if kb != k {
		return nil, invalid(name, "%v times %v: k is %d and %d", a, b, k, kb)
	}
	batch, ok := broadcastBatch(a.Shape[:len(a.Shape)-2], b.Shape[:len(b.Shape)-2])
	if !ok {
		return nil, invalid(name, "%v times %v: the batches cannot be broadcast", a, b)
	}
	if len(in) > 2 && (len(in[2].Shape) != 1 || in[2].Shape[0] != n) {
		return nil, invalid(name, "bias (got %v, want [%d])", in[2], n)
	}
	out := tensor.Contiguous(a.DType, append(batch, m, n)...)
	if err := out.Check(); err != nil {
		return nil, invalid(name, "the result %v: %v", out, err)
	}
	return []tensor.Desc{out}, nil
}

// broadcastBatch is the shape both can be broadcast to.
func broadcastBatch(a, b []int) ([]int, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i, n := range b {
		at := &out[len(a)-len(b)+i]
		if *at == 1 {
			*at = n
		} else if n != 1 && n != *at {
			return nil, false
		}
	}
	return out, true
}

func planMatMul(c spec.Call, t *spec.Target, plan *spec.Plan, in []tensor.Desc, out tensor.Desc) error {
	if out.Elems() == 0 {
		return nil
	}
	p, err := newProduct(c, t, plan, in, out)
	if err != nil {
		return err
	}
	return p.into(p.out, p.bias)
}

// product is a gemm with where its result goes.
type product struct {
	*gemm
	out  gemmMatrix
	bias *gemmMatrix
}

// newProduct sees a call of either operation, whose result is not empty, as a gemm.
func newProduct(c spec.Call, t *spec.Target, plan *spec.Plan, in []tensor.Desc, out tensor.Desc) (*product, error) {
	ta, tb := transposes(c)
	m, n, k := matmulSizes(c, in)
	rows := out.Shape[:len(out.Shape)-1] // the batch and m
	batch := rows[:len(rows)-1]
	// split takes the steps of an operand apart: batch, and the last two.
	split := func(d tensor.Desc, turned bool) (steps []int, row, col int) {
		own := d.ElementStrides()
		last := len(own) - 2
		lead := tensor.Desc{DType: d.DType, Shape: d.Shape[:last], Strides: own[:last]}
		row, col = own[last], own[last+1]
		if turned {
			row, col = col, row
		}
		return broadcastSteps(lead, batch), row, col
	}
	as, am, ak := split(in[0], ta)
	bs, bk, bn := split(in[1], tb)
	os := out.ElementStrides()
	operands := []strided{
		{spec.In(0), in[0].DType, append(as, am)},
		{spec.In(1), in[1].DType, append(bs, 0)},
		{spec.Out(0), out.DType, os[:len(os)-1]},
	}
	shape, operands := collapse(rows, operands)
	if last := len(shape) - 1; m == 1 && operands[1].steps[last] != 0 {
		shape = append(shape, 1)
		for i := range operands {
			operands[i].steps = append(operands[i].steps, 0)
		}
	}
	for len(shape) < 3 {
		shape = append([]int{1}, shape...)
		for i := range operands {
			operands[i].steps = append([]int{0}, operands[i].steps...)
		}
	}
	shape = append(shape, n, k)
	a, b, o := gemmMatrix{strided: operands[0]}, gemmMatrix{strided: operands[1]}, gemmMatrix{strided: operands[2]}
	a.steps, b.steps, o.steps = append(a.steps, 0, ak), append(b.steps, bn, bk), append(o.steps, 1, 0)
	var bias *gemmMatrix
	if len(in) > 2 {
		bias = &gemmMatrix{strided: strided{spec.In(2), in[2].DType, make([]int, len(shape))}}
		bias.steps[len(shape)-2] = 1
		if in[2].ElementStrides()[0] != 1 && n > 1 {
			return nil, unsupported("matmul_bias", "a bias with strides")
		}
	}
	return &product{newGemm(t, plan, shape, a, b), o, bias}, nil
}

func matmulReference(c spec.Call, in, out []*tensor.Host) {
	ta, tb := transposes(c)
	m, n, k := matmulSizes(c, []tensor.Desc{in[0].Desc, in[1].Desc})
	a, b := in[0].Floats(), in[1].Floats()
	res := make([]float64, out[0].Elems())
	shape := out[0].Shape[:len(out[0].Shape)-2]
	as, bs := matrixNumbers(in[0].Desc, shape), matrixNumbers(in[1].Desc, shape)
	row := make([]float64, n)
	for at := range as {
		x, y, z := a[as[at]*m*k:], b[bs[at]*k*n:], res[at*m*n:]
		for i := range m {
			clear(row)
			for p := range k {
				f := 0.0
				if ta {
					f = x[p*m+i]
				} else {
					f = x[i*k+p]
				}
				if tb {
					for j := range row {
						row[j] += f * y[j*k+p]
					}
				} else {
					for j, v := range y[p*n : p*n+n] {
						row[j] += f * v
					}
				}
			}
			copy(z[i*n:], row)
		}
	}
	if len(in) > 2 {
		bias := in[2].Floats()
		for i := range res {
			res[i] += bias[i%n]
		}
	}
	out[0].SetFloats(res)
}

// matrixNumbers says which matrix of d each index of the batch shape means.
func matrixNumbers(d tensor.Desc, shape []int) []int {
	lead := tensor.Contiguous(d.DType, d.Shape[:len(d.Shape)-2]...)
	numbers := []int{0}
	for i, n := range shape {
		next := make([]int, 0, len(numbers)*n)
		for _, v := range numbers {
			for j := range n {
				if own := i - (len(shape) - len(lead.Shape)); own >= 0 && lead.Shape[own] != 1 {
					next = append(next, v*lead.Shape[own]+j)
				} else {
					next = append(next, v)
				}
			}
		}
		numbers = next
	}
	return numbers
}

func matmulCases(biased bool, calls []spec.Call) spec.Cases {
	inputs := func(turnA, turnB bool, d tensor.DType, dims []int) []tensor.Desc {
		m, n, k := dims[1], dims[2], dims[3]
		as, bs := []int{m, k}, []int{k, n}
		if turnA {
			as = []int{k, m}
		}
		if turnB {
			bs = []int{n, k}
		}
		var la, lb []int
		switch dims[0] {
		case 2: // b is one matrix for all
			la = []int{3}
		case 3:
			la, lb = []int{5}, []int{5}
		case 4: // broadcast both ways
			la, lb = []int{3, 1}, []int{2}
		case 5:
			la, lb = []int{1, 2, 1, 2}, []int{2, 1, 3, 2}
		case 6:
			lb = []int{0, 2}
		}
		in := []tensor.Desc{tensor.Contiguous(d, append(la, as...)...), tensor.Contiguous(d, append(lb, bs...)...)}
		if biased {
			in = append(in, tensor.Contiguous(d, n))
		}
		return in
	}
	f32 := func(shapes ...[]int) []tensor.Desc {
		var ds []tensor.Desc
		for _, s := range shapes {
			ds = append(ds, tensor.Contiguous(tensor.F32, s...))
		}
		return ds
	}
	cases := spec.Cases{
		DTypes: floats, Calls: calls,
		Dims: []spec.Dim{
			{Name: "batch", Only: []int{1, 2, 3, 4, 5, 6}}, {Name: "m", Tiles: []int{8, 64}}, {Name: "n", Tiles: []int{4, 128}}, {Name: "k", Tiles: []int{8}},
		},
		Sizes: [][]int{
			{1, 2, 3, 65535}, {1, 3, 2, 65536}, {1, 2, 9, 100000}, {1, 1, 1, 1000000}, {1, 9, 5, 262147}, {1, 17, 12, 20000},
			{1, 65536, 2, 3}, {1, 2, 65535, 5}, {1, 1000000, 1, 1}, {1, 1, 1000000, 1}, {2, 100000, 3, 2},
			{1, 257, 261, 131}, {1, 256, 256, 128}, {3, 64, 128, 64}, {1, 203, 1, 1032}, {1, 1, 4096, 516},
		},
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc { return inputs(false, false, d, dims) },
		InputsOf: func(c spec.Call, d tensor.DType, dims []int) []tensor.Desc {
			ta, tb := transposes(c)
			return inputs(ta, tb, d, dims)
		},
		Bench: func(d tensor.DType) []spec.BenchCase {
			var ws []spec.BenchCase
			for _, s := range [][]int{{1, 128, 128, 128}, {1, 512, 512, 512}, {1, 1024, 1024, 1024}, {1, 64, 64, 4096}, {1, 2048, 1, 2048}, {1, 4096, 1, 4096}, {1, 1, 4096, 4096}} {
				ws = append(ws, spec.BenchCase{Call: calls[0], In: inputs(false, false, d, s)})
			}
			return ws
		},
		Low: -1, High: 1, Specials: true,
		Refused: [][]tensor.Desc{
			f32([]int{2, 3}, []int{4, 5}, []int{5}), f32([]int{3}, []int{3, 5}, []int{5}), f32([]int{2, 3}, []int{3}, []int{5}),
			f32([]int{2, 2, 3}, []int{3, 3, 5}, []int{5}), f32([]int{2, 3}, []int{3, 5}, []int{4}), f32([]int{2, 3}, []int{3, 5}, []int{1, 5}),
		},
	}
	if !biased {
		cases.Refused = cases.Refused[:4]
		for i := range cases.Refused {
			cases.Refused[i] = cases.Refused[i][:2]
		}
	}
	return cases
}
