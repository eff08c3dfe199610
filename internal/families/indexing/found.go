package indexing

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	nonzeroShader = "move/nonzero"
	placeShader   = "move/place"
	placeNumber   = "move/place_number.u32"
)

// placeParams is the push-constant block of move/place.comp.
type placeParams struct{ Count, First, Base, Divisor, Size, To, Have, At uint32 }

// placeNumberParams is the push-constant block of move/place_number.comp.
type placeNumberParams struct{ Count, Inner, Pitch, Base, IndexBase, First, Size uint32 }

// foundKernels lists the kernels of addFlags and addPlaces.
func foundKernels() []spec.Kernel {
	ks := append(reduction.RunningSumKernels(), movement.FillKernels()...)
	ks = append(append(ks, movement.CopyKernels()...), spec.Kernel{Name: placeShader + ".u32", Params: placeParams{}})
	for _, v := range []string{".u8", ".u16", ".u32", ".u64"} {
		ks = append(ks, spec.Kernel{Name: nonzeroShader + v, Params: keysParams{}})
	}
	return ks
}

// NonZeroKernels lists the kernels of PlanNonZero.
func NonZeroKernels() []spec.Kernel {
	return append(foundKernels(), spec.Kernel{Name: placeShader + ".u64", Params: placeParams{}})
}

// CompressKernels lists the kernels of PlanCompress.
func CompressKernels() []spec.Kernel {
	return append(append(foundKernels(), LookupKernels()...), spec.Kernel{Name: placeNumber, Params: placeNumberParams{}})
}

// MostFound is the most elements that a call looks at.
const MostFound = mostSorted

// addFlags appends the launches that find which of n elements of d are not zero. The flags are
// words, and sums are the sums of the flags up to each. The last one is copied to count.
// Errors: *LimitError.
func addFlags(plan *spec.Plan, t *spec.Target, d tensor.DType, n int, from, count spec.Ref) (flags, sums spec.Ref, err error) {
	if n > mostSorted {
		return flags, sums, &errs.LimitError{Name: "elements", Want: int64(n), Have: mostSorted}
	}
	if n == 0 {
		return flags, sums, movement.AddFill(plan, t, 0, tensor.I32, count, 1)
	}
	flags, sums = planner.AddScratch(plan, 4*int64(n)), planner.AddScratch(plan, 4*int64(n))
	mask := uint32(math.MaxUint32)
	if infinityBits[d] != 0 {
		mask = math.MaxInt32 >> max(32-8*d.Size(), 0) // without the sign
	}
	k := planner.FlatKernel{Name: nonzeroShader + map[int]string{1: ".u8", 2: ".u16", 4: ".u32", 8: ".u64"}[d.Size()], Local: planner.SmallGroup * max(d.Size(), 4) * 4 / planner.Pack, Packs: 1}
	k.Params = func(_, count int) any { return keysParams{Count: uint32(count), Words: [3]uint32{mask}} }
	if err := planner.AddFlat(plan, t, k, n, planner.Flat(from, d), planner.Flat(flags, tensor.U32)); err != nil {
		return flags, sums, err
	}
	if err := reduction.AddRunningSums(plan, t, n, flags, sums); err != nil {
		return flags, sums, err
	}
	return flags, sums, movement.AddCopy(plan, t, tensor.U32, []int{1}, planner.Operand{Ref: sums, Strides: []int{1}, Base: n - 1}, planner.Operand{Ref: count, Strides: []int{1}})
}

// addPlaces appends the launches that write number/divisor%size of each flag, in words or in pairs
// of words, to a buffer from element at on.
// Errors: *LimitError.
func addPlaces(plan *spec.Plan, t *spec.Target, n int, flags, sums spec.Ref, divisor, size int, to spec.Ref, at, words int) error {
	room := int(min(planner.MaxSpan(t, false), planner.MaxWindow) - planner.WindowAlign(t) - planner.Pack)
	most, have := room/4, room/(4*words)
	for first := 0; first < n; first += most {
		p := placeParams{Count: uint32(min(most, n-first)), First: uint32(first), Divisor: uint32(divisor), Size: uint32(size)}
		step := spec.Step{Module: spirv.Kernel(placeShader + map[int]string{1: ".u32", 2: ".u64"}[words])}
		in, base := planner.Window(t, flags, 4, int64(first), int64(p.Count))
		sum, _ := planner.Window(t, sums, 4, int64(first), int64(p.Count))
		p.Base = base
		groups, err := planner.Grid(t, int64(planner.CeilDiv(int(p.Count), planner.SmallGroup)))
		if err != nil {
			return err
		}
		step.Groups = groups
		// What is found comes no later than it stands.
		for k := 0; k < first+int(p.Count); k += have {
			q, one := p, step
			q.To, q.Have = uint32(k), uint32(min(have, n-k))
			var out spec.Bind
			out, q.At = planner.Window(t, to, 4, int64(at+k)*int64(words), int64(q.Have)*int64(words))
			one.Params, one.Bind = q, []spec.Bind{in, sum, out}
			plan.Steps = append(plan.Steps, one)
		}
	}
	return nil
}

// PlanNonZero plans the search for the elements that are not zero. Output 0 gets their indices,
// [rank, n], a column for each, and zeros after them. Output 1 gets how many there are.
// Errors: *LimitError.
func PlanNonZero(t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
	plan, n := &spec.Plan{}, in.Elems()
	flags, sums, err := addFlags(plan, t, in.DType, n, spec.In(0), spec.Out(1))
	if err != nil || out.Elems() == 0 {
		return plan, err
	}
	if err := movement.AddFill(plan, t, 0, out.DType, spec.Out(0), out.Elems()); err != nil {
		return nil, err
	}
	strides := rowMajor(in.Shape)
	for d, size := range in.Shape {
		if err := addPlaces(plan, t, n, flags, sums, strides[d], size, spec.Out(0), d*n, out.DType.Size()/4); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// PlanCompress plans the choice of slices along dimension N of input 0, which v views. Input 1 says
// which of the first m. Output 0 gets them, and zeros after them. Output 1 gets how many there are.
// Errors: *LimitError.
func PlanCompress(t *spec.Target, v planner.AxisView, m int, out tensor.Desc) (*spec.Plan, error) {
	plan := &spec.Plan{}
	flags, sums, err := addFlags(plan, t, tensor.Bool, m, spec.In(1), spec.Out(1))
	if err != nil || out.Elems() == 0 {
		return plan, err
	}
	if rows := int64(v.Outer) * int64(v.N); rows >= math.MaxUint32 {
		return nil, &errs.LimitError{Name: "rows of a table", Want: rows, Have: math.MaxUint32 - 1}
	}
	if err := movement.AddFill(plan, t, 0, out.DType, spec.Out(0), out.Elems()); err != nil {
		return nil, err
	}
	chosen, status := planner.AddScratch(plan, 4*int64(m)), planner.AddScratch(plan, planner.Pack)
	if err := movement.AddFill(plan, t, math.MaxUint32, tensor.U32, chosen, m); err != nil {
		return nil, err
	}
	if err := movement.AddFill(plan, t, 0, tensor.U32, status, 4); err != nil {
		return nil, err
	}
	if err := addPlaces(plan, t, m, flags, sums, 1, m, chosen, 0, 1); err != nil {
		return nil, err
	}
	numbers := chosen
	if v.Outer > 1 {
		numbers = planner.AddScratch(plan, 4*int64(v.Outer)*int64(m))
		if err := addPlaceNumbers(plan, t, chosen, numbers, v, m); err != nil {
			return nil, err
		}
	}
	return plan, addLookup(plan, t, lookup{
		numbers: numbers, numberSize: 4, rows: v.Outer * m, table: spec.In(0), tableRows: v.Outer * v.N, bytes: v.Inner * out.DType.Size(),
		out: spec.Out(0), status: status, block: m, tableBlock: v.N,
	})
}

// addPlaceNumbers appends the launches that make the numbers of the rows of a table, of m indices
// that are the same for each block of it.
// Errors: *LimitError.
func addPlaceNumbers(plan *spec.Plan, t *spec.Target, indices, numbers spec.Ref, v planner.AxisView, m int) error {
	span := min(planner.MaxSpan(t, false), planner.MaxWindow)
	from := planner.Operand{Ref: indices, DType: tensor.U32, Strides: []int{0, 1}}
	to := planner.Operand{Ref: numbers, DType: tensor.U32, Strides: []int{m, 1}}
	return planner.Split(t, span, planner.RegionOf([]int{v.Outer, m}), []planner.Operand{from, to}, 1, func(r planner.Region) error {
		p := placeNumberParams{Count: uint32(r.N[0] * r.N[1]), Inner: uint32(r.N[1]), Pitch: uint32(m), First: uint32(r.From[0]), Size: uint32(v.N)}
		step := spec.Step{Module: spirv.Kernel(placeNumber), Bind: make([]spec.Bind, 2)}
		step.Bind[0], p.IndexBase = from.Window(t, r)
		step.Bind[1], p.Base = to.Window(t, r)
		step.Params = p
		groups, err := planner.Grid(t, int64(planner.CeilDiv(int(p.Count), planner.SmallGroup)))
		step.Groups = groups
		plan.Steps = append(plan.Steps, step)
		return err
	})
}
