package logic

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// flatParams is the push-constant block of lib/raw.glsl. Splat says which operands are scalars. Words
// are the numbers of the call.
type flatParams struct {
	Count        uint32
	Splat, Words [3]uint32
}

// stridedParams is the push-constant block of lib/raw_strided.glsl for two operands.
type stridedParams struct {
	N, A, B     [planner.MaxRank]uint32
	Rank, Count uint32
	Base, Words [3]uint32
}

// threeRank is the largest number of dimensions that a kernel of three operands can walk.
const threeRank = 6

// stridedThreeParams is the push-constant block of lib/raw_strided.glsl for three operands.
type stridedThreeParams struct {
	N, A, B, C  [threeRank]uint32
	Rank, Count uint32
	Base        [4]uint32
}

// elements is how many elements an invocation makes.
const elements = 4

// add appends the launches of a kernel of lib/raw.glsl. The inputs may have any strides if there are
// two or three, and out is contiguous. refs says where the inputs and then out are.
// Errors: ErrUnsupported, ErrStrides, *LimitError.
func add(plan *spec.Plan, t *spec.Target, kernel string, words [3]uint32, in []tensor.Desc, out tensor.Desc, refs []spec.Ref) error {
	n := out.Elems()
	if n == 0 {
		return nil
	}
	var operands []planner.Operand
	for i, d := range append(slices.Clone(in), out) {
		operands = append(operands, planner.Operand{Ref: refs[i], DType: d.DType, Strides: planner.BroadcastStrides(d, out.Shape)})
	}
	dims, operands := planner.Collapse(out.Shape, operands)
	p, flat, widest := flatParams{Words: words}, true, 1
	for i, o := range operands {
		last := len(dims) - 1
		switch {
		case slices.Max(o.Strides) == 0 && n > 1:
			p.Splat[i] = 1
		case last > 0 || o.Strides[last] != 1 && n > 1:
			flat = false
		}
		widest = max(widest, o.DType.Size())
	}
	if !flat {
		return addStrided(plan, t, kernel, words, in, dims, operands)
	}
	k := planner.FlatKernel{Name: kernel, Local: planner.SmallGroup * widest * elements / planner.Pack, Packs: 1}
	k.Params = func(_, count int) any {
		p := p
		p.Count = uint32(count)
		return p
	}
	first := len(plan.Steps)
	var list []planner.Operand
	for _, o := range operands {
		list = append(list, planner.Flat(o.Ref, o.DType))
	}
	if err := planner.AddFlat(plan, t, k, n, list...); err != nil {
		return err
	}
	for _, s := range plan.Steps[first:] {
		for i := range in {
			if p.Splat[i] == 1 {
				s.Bind[i].Offset, s.Bind[i].Size = 0, planner.Pack
			}
		}
	}
	return nil
}

// addStrided appends launches of a strided kernel. Each covers a region of the index space that is
// contiguous in the output.
// Errors: ErrUnsupported, and ErrStrides where too many launches would be needed.
func addStrided(plan *spec.Plan, t *spec.Target, kernel string, words [3]uint32, in []tensor.Desc, dims []int, operands []planner.Operand) error {
	rank, most := planner.MaxRank, 256
	if len(in) == 3 {
		rank = threeRank
	}
	if len(dims) > rank {
		const why = "%v (at most %d dimensions that differ)"
		if !slices.ContainsFunc(in, func(d tensor.Desc) bool { return !d.IsContiguous() }) {
			return planner.Unsupported(why, in, rank)
		}
		return planner.Strides(why, in, rank)
	}
	room := min(t.MaxBinding, planner.MaxWindow) - planner.WindowAlign(t)
	all := planner.RegionOf(dims)
	// A transposed operand that is larger than a binding needs so many launches that a copy is faster.
	far := slices.ContainsFunc(in, func(d tensor.Desc) bool { return !d.IsContiguous() })
	first, pending := len(plan.Steps), []planner.Region{all}
	for len(pending) > 0 {
		r := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		fits, count := true, 1
		for _, o := range operands {
			fits = fits && o.Extent(r)*int64(o.DType.Size()) <= room
		}
		for _, n := range r.N {
			count *= n
		}
		binds, bases := make([]spec.Bind, len(operands)), make([]uint32, len(operands))
		groups, err := [3]uint32{}, error(nil)
		if fits {
			for i, o := range operands {
				binds[i], bases[i] = o.Window(t, r)
			}
			groups, err = planner.Grid(t, int64(planner.CeilDiv(planner.CeilDiv(int(bases[len(in)])+count, elements), planner.SmallGroup)))
		}
		if !fits || err != nil {
			at := slices.IndexFunc(r.N, func(n int) bool { return n > 1 })
			if at < 0 {
				return err
			}
			low, high := r.Halve(at, (r.N[at]+1)/2)
			pending = append(pending, high, low)
			continue
		}
		plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel(kernel + ".strided"), Params: regionParams(r, operands, bases, count, words), Bind: binds, Groups: groups})
		if far && len(plan.Steps)-first > most {
			return planner.Strides("operands that are this large need too many launches")
		}
	}
	return nil
}

// regionParams returns the params struct of a strided kernel for count elements in a region.
func regionParams(r planner.Region, operands []planner.Operand, bases []uint32, count int, words [3]uint32) any {
	rank := uint32(max(len(r.N)-1, 1))
	if len(operands) == 4 {
		p := stridedThreeParams{Rank: rank, Count: uint32(count), Base: [4]uint32(bases)}
		planner.Inward(r.N, p.N[:])
		planner.Inward(operands[0].Strides, p.A[:])
		planner.Inward(operands[1].Strides, p.B[:])
		planner.Inward(operands[2].Strides, p.C[:])
		return p
	}
	p := stridedParams{Rank: rank, Count: uint32(count), Base: [3]uint32(bases), Words: words}
	planner.Inward(r.N, p.N[:])
	planner.Inward(operands[0].Strides, p.A[:])
	planner.Inward(operands[1].Strides, p.B[:])
	return p
}
