package indexing

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const numbersKernel = "move/numbers.u32"

// placeRank is the number of dimensions that a launch of the kernel walks.
const placeRank = 7

// numbersParams is the push-constant block of move/numbers.comp.
type numbersParams struct {
	Count, Inner, Pitch, Base, IndexBase, Words, First, Below, Size, Factor, Adds, Rank uint32
	N, Place                                                                            [placeRank]uint32
}

// places says which elements or rows of a table indices mean. An index has one component or
// more. It means the row whose number is the sum of the components, each multiplied by its
// factor, and of what the place of the index adds.
type places struct {
	// rows is the number of rows of the table.
	rows int
	// run is the number of indices. The same indices are used blocks times.
	blocks, run int
	// sizes and factors are those of the components.
	sizes, factors []int
	// n are the sizes of the blocks·run places, outermost first. A step along dimension d adds
	// steps[d].
	n, steps []int
	// block and tableBlock are those of a lookup.
	block, tableBlock int
}

// total returns the number of row numbers.
func (p places) total() int { return p.blocks * p.run }

// addNumbers appends to a plan the launches that check indices of dtype d, contiguous, and
// that compute the numbers of the rows that they mean. The numbers are words. If the status
// words are not zero, the numbers may be any.
// Errors: *LimitError.
func addNumbers(plan *spec.Plan, t *spec.Target, indices spec.Ref, d tensor.DType, p places) (numbers, status spec.Ref, err error) {
	k := len(p.sizes)
	for _, n := range []int{p.rows, p.total()} {
		if int64(n) > math.MaxUint32 {
			return numbers, status, &errs.LimitError{Name: "rows of a table", Want: int64(n), Have: math.MaxUint32}
		}
	}
	if status, err = addChecks(plan, t, indices, d, p.run*k, p.sizes, true); err != nil {
		return numbers, status, err
	}
	numbers = planner.AddScratch(plan, 4*int64(p.total()))
	dims, both := planner.Collapse(p.n, []planner.Operand{{Strides: rowMajor(p.n)}, {Strides: p.steps}})
	steps := both[1].Strides
	span := min(planner.MaxSpan(t, false), planner.MaxWindow)
	to := planner.Operand{Ref: numbers, DType: tensor.U32, Strides: []int{p.run, 1}}
	words := d.Size() / 4
	for launch := 0; launch == 0 || launch < k || launch*placeRank < len(dims); launch++ {
		q := numbersParams{Words: uint32(k * words), Below: 1, Pitch: uint32(p.run)}
		from := planner.Operand{Ref: indices, DType: tensor.U32, Strides: []int{0, k * words}}
		if launch < k {
			q.Size, q.Factor = uint32(p.sizes[launch]), uint32(p.factors[launch])
			from.Base = launch * words
		}
		q.Adds = uint32(min(launch, 1))
		for i := len(dims) - 1; i >= 0; i-- {
			switch at := len(dims) - 1 - i; {
			case at < launch*placeRank:
				q.Below *= uint32(dims[i])
			case at < (launch+1)*placeRank:
				q.N[q.Rank], q.Place[q.Rank] = uint32(dims[i]), uint32(steps[i])
				q.Rank++
			}
		}
		err = planner.Split(t, span, planner.RegionOf([]int{p.blocks, p.run}), []planner.Operand{from, to}, 1, func(r planner.Region) error {
			s := q
			step := spec.Step{Module: spirv.Kernel(numbersKernel), Bind: make([]spec.Bind, 2)}
			step.Bind[0], s.IndexBase = from.Window(t, r)
			step.Bind[1], s.Base = to.Window(t, r)
			s.Count, s.Inner, s.First = uint32(r.N[0]*r.N[1]), uint32(r.N[1]), uint32(r.From[0]*p.run+r.From[1])
			step.Params = s
			groups, err := planner.Grid(t, planner.CeilDiv(int64(s.Count), planner.SmallGroup))
			step.Groups = groups
			plan.Steps = append(plan.Steps, step)
			return err
		})
		if err != nil {
			return numbers, status, err
		}
	}
	return numbers, status, nil
}

// rowMajor returns the strides of a contiguous tensor.
func rowMajor(shape []int) []int { return tensor.Contiguous(tensor.U8, shape...).ElementStrides() }

// product returns the product of sizes.
func product(sizes []int) int { return tensor.Contiguous(tensor.U8, sizes...).Elems() }
