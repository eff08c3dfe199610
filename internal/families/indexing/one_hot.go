package indexing

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const oneHotShader = "move/one_hot"

// oneHotParams is the push-constant block of move/one_hot.comp.
type oneHotParams struct{ Count, Base, Depth, Inner, At, First, IndexBase, Words uint32 }

// OneHotKernels lists the kernels of PlanOneHot.
func OneHotKernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, v := range []string{"u8", "u16", "u32", "u64"} {
		ks = append(ks, spec.Kernel{Name: oneHotShader + "." + v, Params: oneHotParams{}})
	}
	return ks
}

// PlanOneHot plans the output [outer, depth, inner], whose elements are the second of two values
// where the index along depth is that of the indices [outer, inner], and the first elsewhere.
// Input 0 holds the indices, input 1 the values.
// Errors: *LimitError.
func PlanOneHot(t *spec.Target, in []tensor.Desc, depth, inner int, out tensor.Desc) (*spec.Plan, error) {
	plan, size, index := &spec.Plan{}, out.DType.Size(), in[0].DType.Size()
	n, block := out.Elems(), depth*inner
	if n == 0 {
		return plan, nil
	}
	if int64(block) > math.MaxInt32/2 {
		return nil, &errs.LimitError{Name: "depth", Want: int64(block), Have: math.MaxInt32 / 2}
	}
	room := int(min(planner.MaxSpan(t, false), planner.MaxWindow)) - int(planner.WindowAlign(t)) - planner.Pack
	// A launch makes blocks whose indices fit a binding, or a part of one row of one block.
	most, row := room/size, 0
	if blocks := room / (index * inner); blocks >= 2 {
		most = min(most, (blocks-1)*block)
	} else {
		row, most = inner, min(most, room/index)
	}
	most = min(most, 1<<30)
	for at, count := 0, 0; at < n; at += count {
		count = min(most, n-at)
		if row > 0 {
			count = min(count, row-at%row)
		}
		first := at / block * inner
		last := (at+count-1)/block*inner + inner
		if row > 0 {
			first += at % inner
			last = first + count
		}
		p := oneHotParams{Count: uint32(count), Depth: uint32(depth), Inner: uint32(inner), At: uint32(at % block), Words: uint32(index / 4)}
		p.First = uint32(first - at/block*inner)
		step := spec.Step{Module: spirv.Kernel(oneHotShader + map[int]string{1: ".u8", 2: ".u16", 4: ".u32", 8: ".u64"}[size]), Bind: make([]spec.Bind, 3)}
		step.Bind[0], p.IndexBase = planner.WordWindow(t, spec.In(0), index, first, last-first)
		step.Bind[1].Buf = spec.In(1)
		step.Bind[2], p.Base = planner.Window(t, spec.Out(0), size, int64(at), int64(count))
		words := count * size / 4
		if size < 4 { // The first and the last word may belong to others too.
			words = planner.CeilDiv(count, 4/size) + 1
		}
		var err error
		if step.Groups, err = planner.Grid(t, int64(planner.CeilDiv(words, planner.SmallGroup))); err != nil {
			return nil, err
		}
		step.Params = p
		plan.Steps = append(plan.Steps, step)
	}
	return plan, nil
}
