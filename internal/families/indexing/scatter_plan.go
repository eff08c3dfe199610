package indexing

import (
	"math"
	"math/bits"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	scatterShader = "move/scatter"
	reduceShader  = "move/scatter_reduce"
	checkedCopy   = "move/copy_checked"
	// mostPairs is the number of pairs of a launch: an invocation may have to combine them all.
	mostPairs = 1 << 15
	// reducePacks is how many packs an invocation of scatter_reduce makes.
	reducePacks = 4
)

// scatterParams is the push-constant block of lib/scatter.glsl.
type scatterParams struct {
	Count, PairBase, Run, Pitch, First, Rows, TableBase, FirstUpdate, Updates, UpdateBase, Kind uint32
}

// copyParams is the push-constant block of move/copy_checked.comp.
type copyParams struct{ Count uint32 }

// Reduced are the dtypes of elements that can be combined.
var Reduced = slices.Concat(planner.Floats, planner.Integers)

// reductions are the names of the ways to combine elements, in the order of their numbers.
var reductions = []string{"add", "mul", "min", "max"}

// Adds reports whether a reduction is a sum.
func Adds(reduction string) bool { return reduction == reductions[0] }

// Replaces reports whether a reduction is none: updates take the place of elements.
func Replaces(reduction string) bool { return reduction == "" || reduction == "none" }

// scatterKernels lists the kernels of scatter.plan.
func scatterKernels(replaces, reduces bool) []spec.Kernel {
	ks := slices.Concat(CheckKernels(), sortKernels(1), []spec.Kernel{
		{Name: numbersKernel, Params: numbersParams{}}, {Name: checkedCopy + ".u8", Params: copyParams{}},
		{Name: checkedCopy + ".u8.texel", Params: copyParams{}}, {Name: checkedCopy + ".u8.zeros", Params: copyParams{}},
	})
	ks = append(ks, movement.CopyKernels()...)
	if replaces {
		for _, v := range []string{"u8", "u16", "u32"} {
			ks = append(ks, spec.Kernel{Name: scatterShader + "." + v, Params: scatterParams{}})
		}
	}
	if reduces {
		for _, d := range Reduced {
			ks = append(ks, spec.Kernel{Name: reduceShader + "." + d.String(), Params: scatterParams{}})
			if hasPacked(d) {
				ks = append(ks, spec.Kernel{Name: reduceShader + "." + d.String() + ".packed", Params: scatterParams{}})
			}
		}
		ks = append(append(append(ks, elementwise.CastKernels()...), movement.FillKernels()...), runsKernels()...)
	}
	return ks
}

// hasPacked reports whether there is a kernel that combines packs of d.
func hasPacked(d tensor.DType) bool {
	return slices.Contains([]tensor.DType{tensor.F32, tensor.I32, tensor.U32}, d)
}

// scatter describes rows of a table that get updates.
type scatter struct {
	// data is the table before. Without it all elements are zero.
	data spec.Ref
	// indices, of dtype index, say to which row each of updates belongs.
	indices spec.Ref
	index   tensor.DType
	updates spec.Ref
	// dtype is that of the elements.
	dtype tensor.DType
	Addressing
	// kind is the number of the reduction, or -1 if updates replace elements.
	kind int
}

// plan plans the scatter. Output 0 is the table after it.
// Errors: *LimitError.
func (s scatter) plan(t *spec.Target) (*spec.Plan, error) {
	plan, d, out := &spec.Plan{}, s.dtype, spec.Out(0)
	n, size := s.places.rows*s.elems, s.dtype.Size()
	if n == 0 {
		return plan, nil
	}
	if s.places.total() == 0 || s.elems == 0 {
		if s.data.Kind == spec.RefNone {
			return plan, movement.AddFill(plan, t, 0, d, out, n)
		}
		return plan, movement.AddFlatCopy(plan, t, int64(n*size), s.data, 0, out, 0)
	}
	numbers, status, err := addNumbers(plan, t, s.indices, s.index, s.places)
	if err != nil {
		return nil, err
	}
	pairs, err := addSort(plan, t, keyRows{keys: numbers, rows: 1, n: s.places.total(), words: 1, bits: bits.Len(uint(s.places.rows - 1))})
	if err != nil {
		return nil, err
	}
	if s.byRuns(t) {
		return plan, s.addRuns(plan, t, pairs, status, out)
	}
	if size >= 4 {
		if err := addChecked(plan, t, status, s.data, out, int64(n*size)); err != nil {
			return nil, err
		}
		return plan, s.add(plan, t, pairs, status, out)
	}
	// The elements of the table become words, because two invocations must not write to one.
	acc, isRounded := planner.Accumulator(d), s.kind >= 0 && slices.Contains(planner.Floats, d)
	wide, narrow := planner.AddScratch(plan, int64(4*n)), planner.AddScratch(plan, int64(n*size))
	flat, apart := planner.Operand{Ref: s.data, Strides: []int{1}}, planner.Operand{Ref: wide, Strides: []int{4 / size}}
	switch {
	case s.data.Kind == spec.RefNone:
		err = movement.AddFill(plan, t, 0, acc, wide, n)
	case isRounded:
		err = elementwise.AddCast(plan, t, d, acc, n, s.data, wide)
	default:
		err = movement.AddCopy(plan, t, d, []int{n}, flat, apart)
	}
	if err != nil {
		return nil, err
	}
	if err := s.add(plan, t, pairs, status, wide); err != nil {
		return nil, err
	}
	if isRounded {
		err = elementwise.AddCast(plan, t, acc, d, n, wide, narrow)
	} else {
		flat.Ref = narrow
		err = movement.AddCopy(plan, t, d, []int{n}, apart, flat)
	}
	if err != nil {
		return nil, err
	}
	return plan, addChecked(plan, t, status, narrow, out, int64(n*size))
}

// addChecked appends the launches that copy bytes, or make them zero if src is the zero Ref,
// unless the status words say that there is a fault.
func addChecked(plan *spec.Plan, t *spec.Target, status, src, dst spec.Ref, bytes int64) error {
	k := planner.FlatVariant(t, checkedCopy, tensor.U8)
	operands := []planner.Operand{planner.Flat(dst, tensor.U8), planner.Flat(src, tensor.U8)}
	if src.Kind == spec.RefNone {
		k = planner.FlatKernel{Name: checkedCopy + ".u8.zeros", Local: planner.SmallGroup, Packs: 1}
		operands = operands[:1]
	}
	k.Params = func(_, count int) any { return copyParams{uint32(count)} }
	parts := &spec.Plan{}
	if err := planner.AddFlat(parts, t, k, int(bytes), operands...); err != nil {
		return err
	}
	for _, step := range parts.Steps {
		step.Bind = append([]spec.Bind{{Buf: status}}, step.Bind...)
		plan.Steps = append(plan.Steps, step)
	}
	return nil
}

// add appends the launches that change the table by sorted pairs. The elements of the table are
// accumulators if they are combined, and words otherwise.
func (s scatter) add(plan *spec.Plan, t *spec.Target, pairs, status, table spec.Ref) error {
	d, columns := s.dtype, s.elems
	name, from, to := reduceShader+"."+d.String(), d.Size(), planner.Accumulator(d).Size()
	p := scatterParams{Kind: uint32(max(s.kind, 0))}
	if s.kind < 0 {
		if from == 8 { // pairs of words
			from, columns = 4, 2*columns
		}
		name, to = scatterShader+map[int]string{1: ".u8", 2: ".u16", 4: ".u32"}[from], 4
	}
	p.Pitch = uint32(columns)
	// packed says that invocations make packs. It is for drivers on CPUs: a GPU makes neighbouring
	// elements by neighbouring invocations.
	packed, per := s.kind >= 0 && hasPacked(d) && columns%4 == 0 && t.CPU && planner.UsesTexels(t, planner.SmallGroup), 1
	if packed {
		name, per = name+".packed", 4*reducePacks
	}
	// A binding may have to begin before its first element.
	room := int(min(planner.MaxSpan(t, packed), planner.MaxWindow) - planner.WindowAlign(t) - planner.Pack)
	// most returns how many rows of run elements a binding holds.
	most := func(run, size int) int { return 1 + max(room/size-run, 0)/columns }
	run := min(columns, room/max(from, to))
	if packed {
		run = max(run/4, 1) * 4
	}
	for column := 0; column < columns; column += run {
		n := min(run, columns-column)
		each := min(mostPairs, room/pairBytes, max(math.MaxInt32/n, 1))
		if t.MaxIterations > 0 {
			each = min(each, max(int(t.MaxIterations)/2, 1))
		}
		rows, updates := most(n, to), most(n, from)
		for row := 0; row < s.places.rows; row += rows {
			for update := 0; update < s.places.total(); update += updates {
				q := p
				q.Run, q.First, q.FirstUpdate = uint32(n), uint32(row), uint32(update)
				q.Rows, q.Updates = uint32(min(rows, s.places.rows-row)), uint32(min(updates, s.places.total()-update))
				step := spec.Step{Module: spirv.Kernel(name), Bind: make([]spec.Bind, 4)}
				step.Bind[0].Buf = status
				step.Bind[2], q.UpdateBase = planner.Window(t, s.updates, from, int64(update*columns+column), int64(int(q.Updates)-1)*int64(columns)+int64(n))
				step.Bind[3], q.TableBase = planner.Window(t, table, to, int64(row*columns+column), int64(int(q.Rows)-1)*int64(columns)+int64(n))
				for pair := 0; pair < s.places.total(); pair += each {
					q.Count = uint32(min(each, s.places.total()-pair))
					one := step
					one.Bind = slices.Clone(step.Bind)
					one.Bind[1], q.PairBase = planner.Window(t, pairs, 4, int64(2*pair), 2*int64(q.Count))
					one.Params = q
					var err error
					if one.Groups, err = planner.Grid(t, planner.CeilDiv(int64(q.Count)*int64(planner.CeilDiv(n, per)), planner.SmallGroup)); err != nil {
						return err
					}
					plan.Steps = append(plan.Steps, one)
				}
			}
		}
	}
	return nil
}

// Reduces reports whether elements of dtype d can be combined.
func Reduces(d tensor.DType) bool { return slices.Contains(Reduced, d) }
