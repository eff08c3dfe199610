package indexing

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const lookupKernel = "move/embedding"

// lookupParams is the push-constant block of move/embedding.comp.
type lookupParams struct {
	Rows, Run, Packs, Pitch, IndexBase, IndexWords, First, Count, TableBase, DstBase uint32
}

// LookupKernels lists the kernels of PlanLookup without those of CheckKernels and CheckFewKernels.
func LookupKernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, v := range []string{"u8", "u16", "u32", "u32.texel", "u128", "u128.texel"} {
		ks = append(ks, spec.Kernel{Name: lookupKernel + "." + v, Params: lookupParams{}})
	}
	return ks
}

// fewNumbers is how many numbers are checked by one workgroup. More of them are checked by many.
const fewNumbers = 1024

// PlanLookup plans a lookup of rows in a table. Input 0 holds row numbers, input 1 is the
// table [rows, columns], and output 0 gets one row of the table for each number. All of
// them are contiguous. The plan checks the numbers first. Then it copies the rows, for
// each region of the output from each part of the table. Few numbers may begin at any word.
// Errors: *LimitError, ErrStrides.
func PlanLookup(t *spec.Target, in, out []spec.Place) (*spec.Plan, error) {
	plan := &spec.Plan{}
	if err := planner.Aligned(out[0], in[1]); err != nil {
		return nil, err
	}
	index, rows := in[0].Desc.DType, in[0].Desc.Elems()
	table, columns := in[1].Desc.Shape[0], in[1].Desc.Shape[1]
	if rows == 0 {
		return plan, nil
	}
	l := lookup{numbers: spec.In(0), numberSize: index.Size(), rows: rows, table: spec.In(1), tableRows: table, bytes: columns * in[1].Desc.DType.Size(), out: spec.Out(0)}
	if rows <= fewNumbers {
		few, err := planner.FewOf(t, 0, in[0])
		if err != nil {
			return nil, err
		}
		l.status, l.numberBase = AddFewCheck(plan, few, table), int(in[0].Misalignment)
		return plan, addLookup(plan, t, l)
	}
	err := planner.Aligned(in[0])
	if err == nil {
		l.status, err = AddCheck(plan, t, spec.In(0), index, rows, table)
	}
	if err != nil {
		return nil, err
	}
	return plan, addLookup(plan, t, l)
}

// lookup describes a lookup of rows in a table by their numbers.
type lookup struct {
	// numbers are the numbers of the rows, of numberSize bytes each. Those of 8 bytes have
	// their low word first. All are in range unless status says otherwise.
	numbers    spec.Ref
	numberSize int
	// numberBase is where the first number begins, in bytes.
	numberBase int
	// rows is the number of numbers, and of rows of out.
	rows int
	// table has tableRows rows of that many bytes, and so has out.
	table     spec.Ref
	tableRows int
	bytes     int
	out       spec.Ref
	status    spec.Ref
	// block, if not 0, says that the numbers come in blocks of so many. Those of block b are
	// rows of part b of the table, of tableBlock rows each.
	block, tableBlock int
}

// addLookup appends the launches of a lookup to a plan.
// Errors: *LimitError.
func addLookup(plan *spec.Plan, t *spec.Target, l lookup) error {
	// A row consists of pitch units. A unit is as large as possible: 16, 4, 2 or 1 bytes.
	bytes, unit := l.bytes, planner.Pack
	for unit > 1 && (bytes%unit != 0 || unit == 8) {
		unit /= 2
	}
	pitch := bytes / unit
	local, each := planner.SmallGroup, 1
	kernel := fmt.Sprintf("%s.u%d", lookupKernel, 8*unit)
	texel := unit >= 4 && planner.UsesTexels(t, planner.TexelGroup)
	if texel {
		kernel, local, each = kernel+".texel", planner.TexelGroup, 4
	}
	// All positions are counted in bytes here.
	span := min(planner.MaxSpan(t, texel), planner.MaxWindow)
	numbers := planner.Operand{Ref: l.numbers, DType: tensor.U8, Strides: []int{l.numberSize, 0}, Base: l.numberBase}
	from := planner.Operand{Ref: l.table, DType: tensor.U8, Strides: []int{bytes, unit}}
	to := planner.Operand{Ref: l.out, DType: tensor.U8, Strides: []int{bytes, unit}}
	oneRow := planner.Operand{Ref: from.Ref, DType: tensor.U8, Strides: []int{0, unit}}
	room := span - planner.WindowAlign(t) - planner.Pack
	return planner.Split(t, span-planner.Pack, planner.RegionOf([]int{l.rows, pitch}), []planner.Operand{numbers, to, oneRow}, 1, func(r planner.Region) error {
		run := r.N[1]
		most := max(1, 1+(int(room)-run*unit)/bytes) // This is the number of table rows for each launch.
		indices, indexBase := numbers.Window(t, r)
		dst, dstBase := to.Window(t, r)
		packs := planner.CeilDiv(run, each)
		total := int64(r.N[0]) * int64(packs)
		if per := 4 / unit; per > 1 {
			// All rows can be copied as one. Split only divides the last dimension where a
			// single row is left.
			packs = planner.CeilDiv(int(dstBase)%4/unit+r.N[0]*run, per)
			total = int64(packs)
		}
		groups, err := planner.Grid(t, planner.CeilDiv(total, int64(local)))
		if err != nil {
			return err
		}
		begin, end := 0, l.tableRows
		if l.block > 0 {
			begin, end = r.From[0]/l.block*l.tableBlock, ((r.From[0]+r.N[0]-1)/l.block+1)*l.tableBlock
		}
		for first := begin; first < end; first += most {
			count := min(most, end-first)
			src, srcBase := from.Window(t, planner.Region{From: []int{first, r.From[1]}, N: []int{count, run}})
			plan.Steps = append(plan.Steps, spec.Step{
				Module: spirv.Kernel(kernel), Groups: groups, Bind: []spec.Bind{indices, src, dst, {Buf: l.status}},
				Params: lookupParams{
					Rows: uint32(r.N[0]), Run: uint32(run), Packs: uint32(packs), Pitch: uint32(pitch),
					IndexBase: indexBase / 4, IndexWords: uint32(l.numberSize / 4), First: uint32(first), Count: uint32(count),
					TableBase: srcBase / uint32(unit), DstBase: dstBase / uint32(unit),
				},
			})
		}
		return nil
	})
}
