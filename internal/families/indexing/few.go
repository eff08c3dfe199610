package indexing

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const checkFew = "move/check_few"

// MostFew is how many indices a Few may have.
const MostFew = 1 << 16

// fewParams is the push-constant block of move/check_few.comp.
type fewParams struct{ Count, Base, Words, Limit uint32 }

// CheckFewKernels lists the kernels that Few.AddCheck launches.
func CheckFewKernels() []spec.Kernel { return []spec.Kernel{{Name: checkFew, Params: fewParams{}}} }

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

// FewOf returns the indices of an input, which are contiguous and have one of DTypes.
// Errors: *LimitError.
func FewOf(t *spec.Target, input int, at spec.Place) (Few, error) {
	n, words := at.Desc.Elems(), at.Desc.DType.Size()/4
	if have := min(MostFew, (planner.MaxSpan(t, false)-planner.WindowAlign(t)-planner.Pack)/int64(4*words)); int64(n) > have {
		return Few{}, &errs.LimitError{Name: "indices", Want: int64(n), Have: have}
	}
	f := Few{Words: uint32(words), Count: n}
	f.Bind, f.Base = planner.Window(t, spec.In(input), 4, at.Misalignment/4, int64(n*words))
	return f, nil
}

// Step is the number of words from an index to the next, or 0 if the only index is for all.
func (f Few) Step() uint32 {
	if f.Count == 1 {
		return 0
	}
	return f.Words
}

// AddCheck appends to a plan the launch that checks the indices, of which each must be in 0 to limit-1, and the device check whose
// error names the first one that is not. It returns the status words, as AddCheck of this package does.
func (f Few) AddCheck(plan *spec.Plan, limit int) spec.Ref {
	status := spec.Status(len(plan.Checks))
	plan.Checks = append(plan.Checks, faultOf([]int{limit}, false))
	plan.Steps = append(plan.Steps, spec.Step{
		Module: spirv.Kernel(checkFew), Params: fewParams{uint32(f.Count), f.Base, f.Words, uint32(limit)}, Groups: [3]uint32{1, 1, 1},
		Bind: []spec.Bind{f.Bind, {Buf: status}},
	})
	return status
}

// Aligned returns ErrStrides if the device cannot bind an operand where it is. It is for operands that are no Few.
func Aligned(places ...spec.Place) error {
	for _, p := range places {
		if p.Misalignment != 0 && p.Desc.Elems() > 0 {
			return planner.Strides("%v begins %d bytes off", p.Desc, p.Misalignment)
		}
	}
	return nil
}

// fewShape returns an error unless indices, the input of that name, are [batch] or [1].
func fewShape(name string, d tensor.Desc, batch int) error {
	if len(d.Shape) != 1 || d.Shape[0] != batch && d.Shape[0] != 1 {
		return planner.Invalid("input %s is %v (want [%d] or [1])", name, d, batch)
	}
	if d.Shape[0] > MostFew {
		return planner.Unsupported("input %s is %v (want at most %d)", name, d, MostFew)
	}
	return nil
}
