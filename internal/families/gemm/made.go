package gemm

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Kernels lists the kernels of AddMade and Regions.
func Kernels() []spec.Kernel {
	spirv.LinkBLAS()
	return kernels
}

// AddMade appends to a plan the launches for out = x·wᵀ, where x is F32 [m,k] and out is [m,n] of dtype d, both
// contiguous. out is no temporary buffer. The matrix w is [n,k]. It is made part by part: build appends the launches that write rows from
// to from+rows-1 of it to a temporary buffer, in F32 and contiguous.
// Errors: those of build, *LimitError.
func AddMade(plan *spec.Plan, t *spec.Target, m, n, k int, x, out spec.Ref, d tensor.DType, build func(to spec.Ref, from, rows int) error) error {
	if m == 0 || n == 0 {
		return nil
	}
	a := planner.Operand{Ref: x, DType: tensor.F32, Strides: []int{0, 0, k, 0, 1}}
	b := planner.Operand{DType: tensor.F32, Strides: []int{0, 0, 0, k, 1}}
	to := planner.Operand{Ref: out, DType: d, Strides: []int{0, 0, n, 1, 0}}
	// The first column of a part is that of a whole tile.
	most := min(max(int(planner.ScratchBudget(t, packBudget))/4/max(k, 1)/128*128, 8), n)
	b.Ref = planner.AddScratch(plan, int64(most)*int64(k)*4)
	g := newProduct(t, plan, []int{1, 1, m, n, k}, a, b)
	for from := 0; from < n; from += most {
		rows := min(most, n-from)
		if err := build(b.Ref, from, rows); err != nil {
			return err
		}
		all := planner.RegionOf(g.shape)
		all.From[g.dimN()], all.N[g.dimN()] = from, rows
		g.b.Base = -from * k
		if err := g.addPart(all, to, nil); err != nil {
			return err
		}
	}
	return nil
}

// AddRuns appends to a plan the launches for a product a·b whose k is divided into runs of at most run indices. in are the
// operands [..., m,k] and [..., k,n], F32 and contiguous, whose batches are broadcast, and refs says where
// they are. The product of a run goes to the buffer to, as F32 and contiguous, and after appends the
// launches that take it from there. first says that it is the first one.
// Errors: those of after, *LimitError.
func AddRuns(plan *spec.Plan, t *spec.Target, in [2]tensor.Desc, refs [2]spec.Ref, out tensor.Desc, to spec.Ref, run int, after func(first bool) error) error {
	_, n, k := transposes{}.sizes(in[:])
	if out.Elems() == 0 {
		return nil
	}
	// part describes the operands of a run.
	part := func(length int) (*product, planner.Operand) {
		own := [2]tensor.Desc{}
		for i, d := range in {
			own[i] = tensor.Desc{DType: d.DType, Shape: append([]int{}, d.Shape...), Strides: d.ElementStrides()}
			own[i].Shape[len(d.Shape)-1-i] = length
		}
		g, c, _ := transposes{}.product(t, plan, own[:], out)
		g.a.Ref, g.b.Ref, c.Ref, g.far = refs[0], refs[1], to, true
		return g, c
	}
	g, c := part(min(run, k))
	for from := 0; from < k; from += run {
		if k-from < run && from > 0 {
			g, c = part(k - from)
		}
		g.a.Base, g.b.Base = from, from*n
		if err := g.addTo(c, nil); err != nil {
			return err
		}
		if err := after(from == 0); err != nil {
			return err
		}
	}
	return nil
}
