// Package gemm declares the operations that are products of matrices, or that consist of
// such products, as attention does.
package gemm

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// MatMul describes a matrix product of the last two dimensions over a broadcast batch.
// Its attributes have type A.
type MatMul[A spec.Call] struct {
	// Name, Doc, ONNX and Defaults are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// Bias says that a third input [n] is added to each row.
	Bias     bool
	Defaults A
	// Transposed returns whether the first input is [..., k,m] instead of [..., m,k], and
	// whether the second one is [..., n,k] instead of [..., k,n].
	Transposed func(a A) (ta, tb bool)
	// Calls are attributes to try besides Defaults.
	Calls []A
}

// DefineMatMul declares a matrix product. The inputs a and b may have any strides.
func DefineMatMul[A spec.Call](m MatMul[A]) *spec.Op {
	spirv.LinkBLAS()
	in := []spec.Arg{
		{Name: "a", Doc: "[..., m,k], or [..., k,m] with trans_a", DTypes: planner.Floats, Strides: spec.AnyStrides},
		{Name: "b", Doc: "[..., k,n], or [..., n,k] with trans_b; the leading dimensions are broadcast", DTypes: planner.Floats, Strides: spec.AnyStrides},
	}
	if m.Bias {
		in = append(in, spec.Arg{Name: "bias", Doc: "[n]", DTypes: planner.Floats})
	}
	view := func(a A) transposes {
		ta, tb := m.Transposed(a)
		return transposes{ta, tb}
	}
	return spec.Define(spec.Definition[A]{
		Name: m.Name, Group: "blas", Doc: m.Doc,
		Source:   "NumPy matmul; BLAS gemm with alpha 1 and beta 0 or 1",
		In:       in,
		Out:      []spec.Arg{{Name: "out", Doc: "[..., m,n]"}},
		Traits:   spec.Traits{Class: spec.MatrixProduct, ONNX: m.ONNX},
		Defaults: m.Defaults,
		Kernels:  kernels,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			out, err := view(a).shape(in)
			return []tensor.Desc{out}, err
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			if err := planner.CheckTarget(t, in[0]); err != nil {
				return nil, err
			}
			plan := &spec.Plan{}
			if out[0].Elems() == 0 {
				return plan, nil
			}
			g, to, bias := view(a).product(t, plan, in, out[0])
			return plan, g.addTo(to, bias)
		},
		Strategies: func(a A, t *spec.Target, in, out []tensor.Desc) []string {
			if out[0].Elems() == 0 {
				return nil
			}
			g, _, _ := view(a).product(t, &spec.Plan{}, in, out[0])
			return g.strategies()
		},
		SizeClass: func(a A, in []tensor.Desc) []int { return view(a).sizeClass(in) },
		Reference: func(a A, in, out []*tensor.Host) { view(a).reference(in, out) },
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			_, _, k := view(a).sizes(in)
			return DotTolerance(d, k, 1)
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			out, err := view(a).shape(in)
			if err != nil {
				return spec.Cost{}
			}
			_, _, k := view(a).sizes(in)
			bytes := out.Bytes()
			for _, d := range in {
				bytes += d.Bytes()
			}
			return spec.Cost{Flops: 2 * int64(out.Elems()) * int64(k), Bytes: bytes}
		},
		Cases: matmulCases(m, view),
	})
}

// transposes says which operands of a product are transposed.
type transposes struct{ a, b bool }

// sizes returns m, n and k. All inputs have two dimensions or more.
func (x transposes) sizes(in []tensor.Desc) (m, n, k int) {
	a, b := in[0].Shape[len(in[0].Shape)-2:], in[1].Shape[len(in[1].Shape)-2:]
	m, k, n = a[0], a[1], b[1]
	if x.a {
		m, k = k, m
	}
	if x.b {
		n = b[0]
	}
	return m, n, k
}

// shape checks the inputs and returns the description of the result.
func (x transposes) shape(in []tensor.Desc) (tensor.Desc, error) {
	a, b := in[0], in[1]
	var none tensor.Desc
	if a.DType != b.DType || len(in) > 2 && in[2].DType != a.DType {
		return none, planner.Invalid("dtypes differ: %v", in)
	}
	if len(a.Shape) < 2 || len(b.Shape) < 2 {
		return none, planner.Invalid("operands %v and %v (want two dimensions or more of each)", a, b)
	}
	m, n, k := x.sizes(in)
	kb := b.Shape[len(b.Shape)-2]
	if x.b {
		kb = b.Shape[len(b.Shape)-1]
	}
	if kb != k {
		return none, planner.Invalid("%v times %v: k is %d and %d", a, b, k, kb)
	}
	batch, ok := planner.BroadcastShape(a.Shape[:len(a.Shape)-2], b.Shape[:len(b.Shape)-2])
	if !ok {
		return none, planner.Invalid("%v times %v: the batches cannot be broadcast", a, b)
	}
	if len(in) > 2 && (len(in[2].Shape) != 1 || in[2].Shape[0] != n) {
		return none, planner.Invalid("bias (got %v, want [%d])", in[2], n)
	}
	return tensor.Contiguous(a.DType, append(batch, m, n)...), nil
}

// sizeClass is the spec.Definition.SizeClass. It returns the transposes, the number of
// matrices in the batch, m, n and k.
func (x transposes) sizeClass(in []tensor.Desc) []int {
	m, n, k := x.sizes(in)
	out, err := x.shape(in)
	if err != nil || m*n == 0 {
		return nil
	}
	turned := 0
	for i, yes := range []bool{x.a, x.b} {
		if yes {
			turned |= 1 << i
		}
	}
	return []int{turned, out.Elems() / (m * n), m, n, k}
}

// product describes a call as a product. The result of the call must not be empty. to is
// the operand of the result. bias is nil if there is no bias.
func (x transposes) product(t *spec.Target, plan *spec.Plan, in []tensor.Desc, out tensor.Desc) (g *product, to planner.Operand, bias *planner.Operand) {
	m, n, k := x.sizes(in)
	rows := out.Shape[:len(out.Shape)-1] // These are the batch dimensions and m.
	batch := rows[:len(rows)-1]
	as, am, ak := matrixStrides(in[0], batch, x.a)
	bs, bk, bn := matrixStrides(in[1], batch, x.b)
	os := out.ElementStrides()
	shape, operands := planner.Collapse(rows, []planner.Operand{
		{Ref: spec.In(0), DType: in[0].DType, Strides: append(as, am)},
		{Ref: spec.In(1), DType: in[1].DType, Strides: append(bs, 0)},
		{Ref: spec.Out(0), DType: out.DType, Strides: os[:len(os)-1]},
	})
	if last := len(shape) - 1; m == 1 && operands[1].Strides[last] != 0 {
		shape = append(shape, 1)
		for i := range operands {
			operands[i].Strides = append(operands[i].Strides, 0)
		}
	}
	for len(shape) < 3 {
		shape = append([]int{1}, shape...)
		for i := range operands {
			operands[i].Strides = append([]int{0}, operands[i].Strides...)
		}
	}
	shape = append(shape, n, k)
	for i, own := range [][2]int{{0, ak}, {bn, bk}, {1, 0}} { // These are the strides along n and k.
		operands[i].Strides = append(operands[i].Strides, own[0], own[1])
	}
	if len(in) > 2 {
		bias = &planner.Operand{Ref: spec.In(2), DType: in[2].DType, Strides: make([]int, len(shape))}
		bias.Strides[len(shape)-2] = 1
	}
	return newProduct(t, plan, shape, operands[0], operands[1]), operands[2], bias
}

// matrixStrides returns the strides of an operand [..., rows,columns]: along the batch,
// to which its first dimensions are broadcast, and along rows and columns. If the operand
// is transposed, rows and columns change places.
func matrixStrides(d tensor.Desc, batch []int, transposed bool) (batchStrides []int, row, column int) {
	own := d.ElementStrides()
	last := len(own) - 2
	lead := tensor.Desc{DType: d.DType, Shape: d.Shape[:last], Strides: own[:last]}
	row, column = own[last], own[last+1]
	if transposed {
		row, column = column, row
	}
	return planner.BroadcastStrides(lead, batch), row, column
}

// reference is the spec.Definition.Reference of a product.
func (x transposes) reference(in, out []*tensor.Host) {
	m, n, k := x.sizes([]tensor.Desc{in[0].Desc, in[1].Desc})
	a, b := in[0].Floats(), in[1].Floats()
	res := make([]float64, out[0].Elems())
	shape := out[0].Shape[:len(out[0].Shape)-2]
	as, bs := matrixNumbers(in[0].Desc, shape), matrixNumbers(in[1].Desc, shape)
	row := make([]float64, n)
	for at := range as {
		left, right, to := a[as[at]*m*k:], b[bs[at]*k*n:], res[at*m*n:]
		for i := range m {
			clear(row)
			for p := range k {
				f := 0.0
				if x.a {
					f = left[p*m+i]
				} else {
					f = left[i*k+p]
				}
				if x.b {
					for j := range row {
						row[j] += f * right[j*k+p]
					}
				} else {
					for j, v := range right[p*n : p*n+n] {
						row[j] += f * v
					}
				}
			}
			copy(to[i*n:], row)
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

// matrixNumbers returns the number of the matrix in d for each index of the batch shape.
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

// matmulCases returns the Cases of a matrix product.
func matmulCases[A spec.Call](m MatMul[A], view func(A) transposes) spec.CasesOf[A] {
	inputs := func(a A, d tensor.DType, dims []int) []tensor.Desc {
		m, n, k, bias := dims[1], dims[2], dims[3], m.Bias
		as, bs := []int{m, k}, []int{k, n}
		if view(a).a {
			as = []int{k, m}
		}
		if view(a).b {
			bs = []int{n, k}
		}
		var la, lb []int
		switch dims[0] {
		case 2: // b is one matrix for the whole batch
			la = []int{3}
		case 3:
			la, lb = []int{5}, []int{5}
		case 4: // both operands are broadcast
			la, lb = []int{3, 1}, []int{2}
		case 5:
			la, lb = []int{1, 2, 1, 2}, []int{2, 1, 3, 2}
		case 6:
			lb = []int{0, 2}
		}
		in := []tensor.Desc{tensor.Contiguous(d, append(la, as...)...), tensor.Contiguous(d, append(lb, bs...)...)}
		if bias {
			in = append(in, tensor.Contiguous(d, n))
		}
		return in
	}
	refused := [][]tensor.Desc{
		f32([]int{2, 3}, []int{4, 5}, []int{5}), f32([]int{3}, []int{3, 5}, []int{5}), f32([]int{2, 3}, []int{3}, []int{5}),
		f32([]int{2, 2, 3}, []int{3, 3, 5}, []int{5}), f32([]int{2, 3}, []int{3, 5}, []int{4}), f32([]int{2, 3}, []int{3, 5}, []int{1, 5}),
	}
	if !m.Bias {
		refused = refused[:4]
		for i := range refused {
			refused[i] = refused[i][:2]
		}
	}
	return spec.CasesOf[A]{
		DTypes: planner.Floats, Calls: slices.Concat([]A{m.Defaults}, m.Calls),
		Dims: []spec.Dim{
			{Name: "batch", Only: []int{1, 2, 3, 4, 5, 6}}, {Name: "m", Tiles: []int{8, 64}}, {Name: "n", Tiles: []int{4, 128}}, {Name: "k", Tiles: []int{8}},
		},
		Sizes: [][]int{
			{1, 2, 3, 65535}, {1, 3, 2, 65536}, {1, 2, 9, 100000}, {1, 1, 1, 1000000}, {1, 9, 5, 262147}, {1, 17, 12, 20000},
			{1, 65536, 2, 3}, {1, 2, 65535, 5}, {1, 1000000, 1, 1}, {1, 1, 1000000, 1}, {2, 100000, 3, 2},
			{1, 257, 261, 131}, {1, 256, 256, 128}, {3, 64, 128, 64}, {1, 203, 1, 1032}, {1, 1, 4096, 516},
		},
		Inputs: inputs,
		Bench: func(d tensor.DType) []spec.BenchCase {
			var cases []spec.BenchCase
			for _, s := range [][]int{{1, 128, 128, 128}, {1, 512, 512, 512}, {1, 1024, 1024, 1024}, {1, 64, 64, 4096}, {1, 2048, 1, 2048}, {1, 4096, 1, 4096}, {1, 1, 4096, 4096}} {
				cases = append(cases, spec.BenchCase{Call: m.Defaults, In: inputs(m.Defaults, d, s)})
			}
			for _, n := range gpuEdges(d) {
				cases = append(cases, spec.BenchCase{Call: m.Defaults, In: inputs(m.Defaults, d, []int{1, n, n, n}), GPU: true})
			}
			return cases
		},
		Low: -1, High: 1, Specials: true,
		Refused: refused,
	}
}

// f32 returns contiguous F32 tensors of the shapes.
func f32(shapes ...[]int) []tensor.Desc {
	var ds []tensor.Desc
	for _, s := range shapes {
		ds = append(ds, tensor.Contiguous(tensor.F32, s...))
	}
	return ds
}

// gpuFlops is what a call on a GPU has to compute so that its time is no longer that of its launches.
const gpuFlops = 16e9

// gpuEdges are the edges of the square matrices of dtype d whose products are measured on
// GPUs only. The longest keep a large GPU busy for about a millisecond.
func gpuEdges(d tensor.DType) []int {
	switch d {
	case tensor.F64:
		return []int{2048}
	case tensor.F16:
		return []int{2048, 4096, 8192}
	}
	return []int{2048, 4096}
}
