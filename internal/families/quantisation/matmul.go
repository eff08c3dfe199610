package quantisation

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Strategies of products with blocks, for spec.Target.Strategy.
const (
	byRows    = "rows"    // an invocation for each row of the matrix; rows are whole texels
	byGroups  = "groups"  // a workgroup for some rows of the matrix
	byNumbers = "numbers" // parts of the matrix are dequantised, for a product of numbers
)

// fewVectors is the largest number of vectors for which the matrix is read as blocks, without a choice
// of a strategy.
const fewVectors = 8

// groupsParams is the push-constant block of matmul_blocks.comp.
type groupsParams struct{ Rows, Quads, Base, Row, XBase, XStep, CBase, CStep, Accumulate uint32 }

// rowsParams is the push-constant block of matmul_rows.comp.
type rowsParams struct{ Rows, Columns, Steps, Base, Row, XBase, XStep, CBase, CStep, Accumulate uint32 }

func matmulKernels() []spec.Kernel {
	return slices.Concat(
		kernelsOf("quant/matmul_blocks", groupsParams{}, []string{""}, nil),
		kernelsOf("quant/matmul_rows", rowsParams{}, []string{"", ".one"}, nil),
		kernelsOf("quant/matmul_rows", rowsParams{}, []string{".across"}, func(f format) bool { return f.across }),
		kernelsOf("quant/dequantize", dequantizeParams{}, []string{".f32"}, nil),
		gemm.Kernels(), elementwise.NarrowCastKernels(),
	)
}

// DefineMatMulBlocks declares the product with a matrix of blocks, with attributes of type A. view returns
// the name of the format, and call makes a call of it.
func DefineMatMulBlocks[A spec.Call](name, doc string, view func(A) string, call func(string) A) *spec.Op {
	spirv.LinkQuant()
	spirv.LinkBLAS()
	spirv.LinkMove()
	shape := func(a A, in []tensor.Desc) (tensor.Desc, error) {
		_, err := blockProductOf(view(a), in)
		if err != nil {
			return tensor.Desc{}, err
		}
		s := slices.Clone(in[0].Shape)
		s[len(s)-1] = in[1].Shape[0]
		out := tensor.Contiguous(in[0].DType, s...)
		return out, out.Check()
	}
	var calls []A
	for _, f := range formats {
		calls = append(calls, call(f.name))
	}
	inputs := func(a A, d tensor.DType, x []int, n, blocks int) []tensor.Desc {
		f, err := formatOf(view(a))
		if err != nil {
			return nil
		}
		return []tensor.Desc{tensor.Contiguous(d, append(x, blocks*f.weights)...), tensor.Contiguous(tensor.U8, n, blocks*f.bytes)}
	}
	return spec.Define(spec.Definition[A]{
		Name: name, Group: "quant", Doc: doc, Source: "GGUF",
		In: []spec.Arg{
			{Name: "x", Doc: "[..., k]", DTypes: Narrow},
			{Name: "blocks", Doc: "[n, bytes]: rows of whole blocks, of k weights each", DTypes: []tensor.DType{tensor.U8}},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "[..., n], of the dtype of x"}},
		Traits:   spec.Traits{Class: spec.MatrixProduct},
		Defaults: calls[0],
		Kernels:  matmulKernels(),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			out, err := shape(a, in)
			return []tensor.Desc{out}, err
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			p, err := blockProductOf(view(a), in)
			if err != nil {
				return nil, err
			}
			plan := &spec.Plan{}
			return plan, p.add(plan, t, in[0].DType)
		},
		Strategies: func(a A, t *spec.Target, in, _ []tensor.Desc) []string {
			p, err := blockProductOf(view(a), in)
			if err != nil {
				return nil
			}
			return p.strategies(t)
		},
		SizeClass: func(a A, in []tensor.Desc) []int {
			p, err := blockProductOf(view(a), in)
			if err != nil {
				return nil
			}
			return []int{slices.IndexFunc(formats, func(f format) bool { return f.name == p.name }), p.m, p.n, p.k}
		},
		Reference: func(a A, in, out []*tensor.Host) {
			x, w := in[0].Floats(), weightsOf(view(a), in[1])
			n, k := in[1].Shape[0], in[0].Shape[len(in[0].Shape)-1]
			sums := make([]float64, out[0].Elems())
			for i := range sums {
				for j, v := range w[i%n*k : (i%n+1)*k] {
					sums[i] += v * x[i/n*k+j]
				}
			}
			out[0].SetFloats(sums)
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			p, err := blockProductOf(view(a), in)
			if err != nil {
				return spec.Tolerance{}
			}
			tol := gemm.DotTolerance(d, p.k, p.most)
			tol.Any, tol.AnyLaw = 0, ""
			tol.Repeated, tol.RepeatedLaw = gemm.RepeatedDot(d, p.k, p.most), "w·"+gemm.RepeatedDotLaw+", because equal products are rounded in the same direction"
			tol.Law = "w·" + tol.Law + "; w is the largest weight: 8, 128, 1008 or 4096 by format, for scales within ±1"
			return tol
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			p, err := blockProductOf(view(a), in)
			if err != nil {
				return spec.Cost{}
			}
			return spec.Cost{Flops: 2 * int64(p.m) * int64(p.n) * int64(p.k), Bytes: in[0].Bytes() + in[1].Bytes() + int64(p.m)*int64(p.n)*int64(in[0].DType.Size())}
		},
		Cases: spec.CasesOf[A]{
			DTypes: Narrow, Calls: calls,
			Dims:  []spec.Dim{{Name: "m", Tiles: []int{4}}, {Name: "n", Tiles: []int{4, 64}}, {Name: "blocks", Tiles: []int{8}}},
			Sizes: [][]int{{1, 3, 2056}, {2, 5, 16385}, {1, 65537, 1}, {9, 130, 8}, {3, 100, 16}, {1, 200, 24}, {1, 77, 80}, {33, 65, 9}},
			Inputs: func(a A, d tensor.DType, dims []int) []tensor.Desc {
				m, n, blocks := dims[0], dims[1], dims[2]
				if f, err := formatOf(view(a)); err != nil || f.weights > 32 && blocks > 2056 {
					return nil
				}
				x := []int{m}
				switch {
				case m == 1:
					x = nil
				case m%2 == 0:
					x = []int{m / 2, 2}
				}
				return inputs(a, d, x, n, blocks)
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, c := range calls {
					f, _ := formatOf(view(c))
					for _, s := range [][]int{{1, 512, 512}, {1, 4096, 4096}, {8, 4096, 4096}, {64, 1024, 4096}} {
						cases = append(cases, spec.BenchCase{Call: c, In: inputs(c, d, []int{s[0]}, s[1], s[2]/f.weights)})
					}
				}
				return cases
			},
			Low: -1, High: 1, Specials: true,
			Settle: func(a A, i int, _ tensor.Desc, values []float64) {
				if f, err := formatOf(view(a)); err == nil && i == 1 {
					f.settle(values)
				}
			},
			Invalid: []A{call("q4_1"), call("")},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.U8, 3, 18)}, {tensor.Contiguous(tensor.F32, 2, 32), tensor.Contiguous(tensor.U8, 18)},
				{tensor.Contiguous(tensor.F32, 2, 64), tensor.Contiguous(tensor.U8, 3, 18)}, {tensor.Contiguous(tensor.F32, 2, 32), tensor.Contiguous(tensor.U8, 3, 17)},
				{tensor.Contiguous(tensor.F32, 2, 32), tensor.Contiguous(tensor.U8, 1, 3, 18)},
			},
		},
	})
}

// blockProduct is a product of m vectors of k numbers with a matrix of n rows of blocks.
type blockProduct struct {
	format
	m, n, k int
}

// blockProductOf checks the inputs of a product.
// Errors: ErrInvalidArgument.
func blockProductOf(name string, in []tensor.Desc) (blockProduct, error) {
	f, err := formatOf(name)
	if err != nil {
		return blockProduct{}, err
	}
	x, w := in[0].Shape, in[1].Shape
	if len(x) == 0 || len(w) != 2 {
		return blockProduct{}, planner.Invalid("x %v, blocks %v (want [..., k] and [n, bytes])", in[0], in[1])
	}
	k, err := f.rowOf(in[1])
	if err == nil && k != x[len(x)-1] {
		err = planner.Invalid("x %v, blocks %v of %s: k is %d and %d", in[0], in[1], f.name, x[len(x)-1], k)
	}
	m := 1
	for _, n := range x[:len(x)-1] {
		m *= n
	}
	return blockProduct{f, m, w[0], k}, err
}

// pitch returns the number of bytes of a row.
func (p blockProduct) pitch() int { return p.k / p.weights * p.bytes }

// strategies lists the strategies of the product. The first one is the plan's own choice.
func (p blockProduct) strategies(t *spec.Target) []string {
	if p.m*p.n*p.k == 0 {
		return nil
	}
	var list []string
	if p.m <= 2*fewVectors && p.pitch()%p.rowUnit == 0 && planner.HasTexels(t, planner.SmallGroup) {
		if list = append(list, byRows); !t.CPU {
			list = []string{}
		}
	}
	if p.m <= 2*fewVectors {
		list = append(list, byGroups)
	}
	switch list = append(list, byNumbers); {
	case p.m > fewVectors, t.CPU && list[0] == byGroups:
		slices.Reverse(list)
	}
	return list
}

// add appends the launches of the product. Both x and the result have dtype d.
func (p blockProduct) add(plan *spec.Plan, t *spec.Target, d tensor.DType) error {
	if p.m*p.n == 0 {
		return nil
	}
	x := spec.In(0)
	if d != tensor.F32 {
		x = planner.AddScratch(plan, 4*int64(p.m)*int64(p.k))
		if err := elementwise.AddCast(plan, t, d, tensor.F32, p.m*p.k, spec.In(0), x); err != nil {
			return err
		}
	}
	list := p.strategies(t)
	strategy := byNumbers
	if len(list) > 0 {
		strategy = list[0]
	}
	if slices.Contains(list, t.Strategy) {
		strategy = t.Strategy
	}
	out := spec.Out(0)
	if strategy != byNumbers && d != tensor.F32 {
		out = planner.AddScratch(plan, 4*int64(p.m)*int64(p.n))
	}
	if strategy == byNumbers || !p.addVectors(plan, t, strategy == byRows, x, out) {
		return gemm.AddMade(plan, t, p.m, p.n, p.k, x, spec.Out(0), d, func(to spec.Ref, from, rows int) error {
			each := p.k / p.weights
			return p.addDequantize(plan, t, spec.In(1), from*each, rows*each, to, tensor.F32)
		})
	}
	if d == tensor.F32 {
		return nil
	}
	return elementwise.AddCast(plan, t, tensor.F32, d, p.m*p.n, out, spec.Out(0))
}

// blockTile is a kernel that reads blocks, without the name of the format, and the rows and the vectors of a
// workgroup.
type blockTile struct {
	shader, variant string
	rows, columns   int
}

var (
	groupTile  = blockTile{"quant/matmul_blocks.", "", 4, 1}
	oneTile    = blockTile{"quant/matmul_rows.", ".one", 64, 1}
	acrossTile = blockTile{"quant/matmul_rows.", ".across", 8, 1}
	fewTile    = blockTile{"quant/matmul_rows.", "", 16, 4}
)

const (
	rowStep      = 64      // weights
	acrossFrom   = 2048    // weights of a row for which a workgroup shares it: four steps for each of its invocations
	mostOfRows   = 1 << 14 // weights that an invocation adds one after the other, in four sums
	mostOfGroups = 1 << 16 // weights of all invocations of a group
)

// addVectors appends the launches that read the matrix as blocks. It reports false, and appends none, if
// the smallest part of an operand does not fit a binding.
func (p blockProduct) addVectors(plan *spec.Plan, t *spec.Target, rows bool, x, out spec.Ref) bool {
	texel, unit, longest := rows, max(p.weights, 256), mostOfRows
	if !rows {
		longest = mostOfGroups
	}
	span := min(planner.MaxSpan(t, texel), planner.MaxWindow) - planner.WindowAlign(t) - planner.Pack
	m, n, k := p.m, p.n, min(p.k, longest)
	tile := groupTile
	switch {
	case rows && p.m == 1 && p.across && p.k >= acrossFrom:
		tile = acrossTile
	case rows && p.m == 1:
		tile = oneTile
	case rows:
		tile = fewTile
	}
	half := func(n, unit int) int { return planner.CeilDiv(planner.CeilDiv(n, 2), unit) * unit }
	for {
		weights := int64(n-1)*int64(p.pitch()) + int64(k/p.weights*p.bytes)
		vectors := 4 * (int64(m-1)*int64(p.k) + int64(k))
		results := 4 * (int64(m-1)*int64(p.n) + int64(n))
		switch {
		case m > 1 && (vectors > span || results > span || planner.CeilDiv(m, tile.columns) > int(t.MaxGroups[1])):
			m = half(m, 1)
		case n > 1 && (weights > span || results > span || planner.CeilDiv(n, tile.rows) > int(t.MaxGroups[0])):
			n = half(n, 1)
		case weights > span || vectors > span:
			if half(k, unit) >= k {
				return false
			}
			k = half(k, unit)
		default:
			p.addParts(plan, t, rows, x, out, [3]int{m, n, k}, tile)
			return true
		}
	}
}

// addParts appends the launches for parts of at most size vectors, rows and weights.
func (p blockProduct) addParts(plan *spec.Plan, t *spec.Target, rows bool, x, out spec.Ref, size [3]int, tile blockTile) {
	u := func(n int) uint32 { return uint32(n) }
	// The tiles of a region cannot fail.
	_ = planner.Tiles(planner.RegionOf([]int{p.m, p.n, p.k}), size[:], func(r planner.Region) error {
		m, n, k := r.N[0], r.N[1], r.N[2]
		blocks, base := planner.Window(t, spec.In(1), 1, int64(r.From[1])*int64(p.pitch())+int64(r.From[2]/p.weights*p.bytes), int64(n-1)*int64(p.pitch())+int64(k/p.weights*p.bytes))
		vectors, xBase := planner.Window(t, x, 4, int64(r.From[0])*int64(p.k)+int64(r.From[2]), int64(m-1)*int64(p.k)+int64(k))
		to, cBase := planner.Window(t, out, 4, int64(r.From[0])*int64(p.n)+int64(r.From[1]), int64(m-1)*int64(p.n)+int64(n))
		again := uint32(0)
		if r.From[2] > 0 {
			again = 1
		}
		step := spec.Step{Bind: []spec.Bind{blocks, vectors, to}, Groups: [3]uint32{u(planner.CeilDiv(n, tile.rows)), u(planner.CeilDiv(m, tile.columns)), 1}}
		step.Module = spirv.Kernel(tile.shader + p.name + tile.variant)
		step.Params = groupsParams{Rows: u(n), Quads: u(k / 4), Base: base, Row: u(p.pitch()), XBase: xBase / 4, XStep: u(p.k / 4), CBase: cBase, CStep: u(p.n), Accumulate: again}
		if rows {
			step.Params = rowsParams{
				Rows: u(n), Columns: u(m), Steps: u(k / rowStep), Base: base / u(p.rowUnit), Row: u(p.pitch() / p.rowUnit),
				XBase: xBase / 4, XStep: u(p.k / 4), CBase: cBase, CStep: u(p.n), Accumulate: again,
			}
		}
		plan.Steps = append(plan.Steps, step)
		return nil
	})
}
