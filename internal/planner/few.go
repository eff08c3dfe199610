package planner

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MostFew is how many indices a Few may have.
const MostFew = 1 << 16

// Few is a list of not many indices on the device, such as one for each batch. It may begin at any word of memory, so a part of a
// larger tensor is read where it is.
type Few struct {
	// Bind binds the words, and Base is the word of the first index.
	Bind spec.Bind
	Base uint32
	// Words is the number of words of an index, the low one first.
	Words uint32
	// Count is the number of indices.
	Count int
}

// FewOf returns the indices of an input, which are contiguous I32 or I64.
// Errors: *LimitError.
func FewOf(t *spec.Target, input int, at spec.Place) (Few, error) {
	n, words := at.Desc.Elems(), at.Desc.DType.Size()/4
	if have := min(MostFew, (MaxSpan(t, false)-WindowAlign(t)-Pack)/int64(4*words)); int64(n) > have {
		return Few{}, &errs.LimitError{Name: "indices", Want: int64(n), Have: have}
	}
	f := Few{Words: uint32(words), Count: n}
	f.Bind, f.Base = Window(t, spec.In(input), 4, at.Misalignment/4, int64(n*words))
	return f, nil
}

// Step is the number of words from an index to the next, or 0 if the only index is for all.
func (f Few) Step() uint32 {
	if f.Count == 1 {
		return 0
	}
	return f.Words
}

// Aligned returns ErrStrides if the device cannot bind an operand where it is. It is for the operands of a PlanAt that are no Few.
func Aligned(first spec.Place, more ...spec.Place) error {
	for _, p := range append([]spec.Place{first}, more...) {
		if p.Misalignment != 0 && p.Desc.Elems() > 0 {
			return Strides("%v begins %d bytes off", p.Desc, p.Misalignment)
		}
	}
	return nil
}

// CheckFew returns an error unless indices, the input of that name, are [batch] or [1].
func CheckFew(name string, d tensor.Desc, batch int) error {
	if len(d.Shape) != 1 || d.Shape[0] != batch && d.Shape[0] != 1 {
		return Invalid("input %s is %v (want [%d] or [1])", name, d, batch)
	}
	if d.Shape[0] > MostFew {
		return Unsupported("input %s is %v (want at most %d)", name, d, MostFew)
	}
	return nil
}
