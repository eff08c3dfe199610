package movement

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/tensor"
)

// Unroll returns copies that together are c, the copy of elements of d. If c has more
// dimensions than a kernel can walk, each index of the smallest ones has a copy of its own.
func Unroll(d tensor.DType, c Copy) []Copy {
	most := planner.MaxRank
	if d.Size() == 8 {
		most-- // pairs of words may be a dimension
	}
	if slices.Contains(c.Shape, 0) {
		return nil
	}
	n, both := planner.Collapse(c.Shape, []planner.Operand{c.Src, c.Dst})
	if len(n) <= most {
		return []Copy{c}
	}
	least := slices.Index(n, slices.Min(n))
	var list []Copy
	for i := range n[least] {
		src, dst := both[0], both[1]
		src.Base += i * src.Strides[least]
		dst.Base += i * dst.Strides[least]
		src.Strides = slices.Delete(slices.Clone(src.Strides), least, least+1)
		dst.Strides = slices.Delete(slices.Clone(dst.Strides), least, least+1)
		list = append(list, Unroll(d, Copy{Shape: slices.Delete(slices.Clone(n), least, least+1), Src: src, Dst: dst})...)
	}
	return list
}
