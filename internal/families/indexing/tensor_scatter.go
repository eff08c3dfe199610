package indexing

import (
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	rowsScatter   = "move/tensor_scatter"
	narrowScatter = "move/tensor_scatter_narrow"
)

// rowsScatterParams is the push-constant block of move/tensor_scatter.comp.
type rowsScatterParams struct {
	Count, Units, Rows, First, Each, IndexBase, IndexStep, Size, Row, From, Have uint32
	UpdateBase, UpdateOuter, UpdateRow, CacheBase, CacheOuter, CacheRow          uint32
}

// narrowScatterParams is the push-constant block of move/tensor_scatter_narrow.comp.
type narrowScatterParams struct {
	Count, Units, Size, Column, Row, Outer, Each, IndexBase, IndexStep uint32
	From, Have                                                         [3]uint32
	UpdateBase, UpdateOuter, UpdateRow                                 uint32
}

// TensorScatterKernels lists the kernels of PlanTensorScatter.
func TensorScatterKernels() []spec.Kernel {
	return append(CheckFewKernels(),
		spec.Kernel{Name: rowsScatter + ".u32", Params: rowsScatterParams{}}, spec.Kernel{Name: rowsScatter + ".u128", Params: rowsScatterParams{}},
		spec.Kernel{Name: narrowScatter + ".u8", Params: narrowScatterParams{}}, spec.Kernel{Name: narrowScatter + ".u16", Params: narrowScatterParams{}},
		spec.Kernel{Name: checkedCopy + ".u8", Params: copyParams{}}, spec.Kernel{Name: checkedCopy + ".u8.texel", Params: copyParams{}},
	)
}

// CheckTensorScatter returns the axis of a cache, from 0 on, if the inputs of TensorScatter suit each other.
// Errors: ErrInvalidArgument.
func CheckTensorScatter(in []tensor.Desc, axis int) (int, error) {
	cache, update := in[0], in[1]
	k, err := planner.Axis(axis, len(cache.Shape))
	if err != nil {
		return 0, err
	}
	if k == 0 {
		return 0, planner.Invalid("axis %d is the batch (want another dimension)", axis)
	}
	if update.DType != cache.DType || len(update.Shape) != len(cache.Shape) {
		return 0, planner.Invalid("input update is %v, cache %v (want the same dtype and number of dimensions)", update, cache)
	}
	for i, n := range update.Shape {
		if n != cache.Shape[i] && (i != k || n > cache.Shape[i]) {
			return 0, planner.Invalid("input update is %v, cache %v (want the same shape, or fewer elements along dimension %d)", update, cache, k)
		}
	}
	return k, planner.CheckFew("write_indices", in[2], cache.Shape[0])
}

// tensorScatter is a cache [outer, size, inner] that gets rows elements of updates along its second dimension.
type tensorScatter struct {
	t                        *spec.Target
	plan                     *spec.Plan
	outer, size, inner, rows int
	// each is how many outer indices a batch has.
	each    int
	indices planner.Few
	status  spec.Ref
}

// PlanTensorScatter plans that output 0 is input 0, a cache, with input 1 in place of elements along a dimension, from the index on that input 2
// has for each index of the first dimension. circular says that what goes beyond the end begins again at 0.
// Errors: *LimitError, ErrStrides.
func PlanTensorScatter(t *spec.Target, in, out []spec.Place, axis int, circular bool) (*spec.Plan, error) {
	if err := planner.Aligned(in[0], in[1], out[0]); err != nil {
		return nil, err
	}
	cache, plan := in[0].Desc, &spec.Plan{}
	if cache.Elems() == 0 {
		return plan, nil
	}
	v := planner.ViewAxis(cache.Shape, axis)
	s := tensorScatter{t: t, plan: plan, outer: v.Outer, size: v.N, inner: v.Inner, rows: in[1].Desc.Shape[axis], each: v.Outer / cache.Shape[0]}
	if int64(max(s.size, s.outer)) > math.MaxInt32 || int64(s.inner) > math.MaxInt32 {
		return nil, &errs.LimitError{Name: "size of a dimension", Want: int64(max(s.size, s.outer, s.inner)), Have: math.MaxInt32}
	}
	var err error
	if s.indices, err = planner.FewOf(t, 2, in[2]); err != nil {
		return nil, err
	}
	limit := s.size
	if !circular {
		limit = s.size - s.rows + 1
	}
	s.status = AddFewCheck(plan, s.indices, limit)
	first := len(plan.Steps)
	if err := addChecked(plan, t, s.status, spec.In(0), spec.Out(0), cache.Bytes()); err != nil {
		return nil, err
	}
	for i := range plan.Steps[first:] {
		plan.Steps[first+i].Copies = spec.In(0)
	}
	if s.rows == 0 {
		return plan, nil
	}
	bytes, unit := s.inner*cache.DType.Size(), planner.Pack
	for unit > 1 && (bytes%unit != 0 || unit == 8) {
		unit /= 2
	}
	if unit < 4 {
		return plan, s.addNarrow(unit, bytes/unit)
	}
	return plan, s.addRows(unit, bytes/unit)
}

// operand returns a tensor [outer, rows, units] of the call.
func (s *tensorScatter) operand(ref spec.Ref, rows, units int) planner.Operand {
	return planner.Operand{Ref: ref, Strides: []int{rows * units, units, 1}}
}

// units gives the operand the dtype of units of so many bytes. Units of 16 bytes are counted as four words.
func unitsOf(o planner.Operand, unit int) planner.Operand {
	if o.DType = map[int]tensor.DType{1: tensor.U8, 2: tensor.F16, 4: tensor.U32}[min(unit, 4)]; unit == planner.Pack {
		o.Strides = []int{4 * o.Strides[0], 4 * o.Strides[1], 4}
	}
	return o
}

// addRows appends the launches of move/tensor_scatter.comp.
func (s *tensorScatter) addRows(unit, units int) error {
	kernel, per := spirv.Kernel(fmt.Sprintf("%s.u%d", rowsScatter, 8*unit)), unit/4
	cache, update := unitsOf(s.operand(spec.Out(0), s.size, units), unit), unitsOf(s.operand(spec.In(1), s.rows, units), unit)
	span := min(planner.MaxSpan(s.t, false), planner.MaxWindow) - planner.Pack
	return planner.Split(s.t, span, planner.RegionOf([]int{s.outer, s.size, units}), []planner.Operand{cache}, 1, func(to planner.Region) error {
		have := planner.Region{From: []int{to.From[0], 0, to.From[2]}, N: []int{to.N[0], s.rows, to.N[2]}}
		return planner.Split(s.t, span, have, []planner.Operand{update}, 1, func(from planner.Region) error {
			window := to.Clone()
			window.From[0], window.N[0], window.From[2], window.N[2] = from.From[0], from.N[0], from.From[2], from.N[2]
			dst, dstBase := cache.Window(s.t, window)
			src, srcBase := update.Window(s.t, from)
			p := rowsScatterParams{
				Count: uint32(from.Elems()), Units: uint32(from.N[2]), Rows: uint32(from.N[1]), First: uint32(from.From[0]), Each: uint32(s.each),
				IndexBase: s.indices.Base, IndexStep: s.indices.Step(), Size: uint32(s.size), Row: uint32(from.From[1]), From: uint32(to.From[1]), Have: uint32(to.N[1]),
				UpdateBase: srcBase / uint32(per), UpdateOuter: uint32(s.rows * units), UpdateRow: uint32(units),
				CacheBase: dstBase / uint32(per), CacheOuter: uint32(s.size * units), CacheRow: uint32(units),
			}
			groups, err := planner.Grid(s.t, planner.CeilDiv(int64(from.Elems()), planner.SmallGroup))
			s.plan.Steps = append(s.plan.Steps, spec.Step{Module: kernel, Params: p, Groups: groups, Bind: []spec.Bind{{Buf: s.status}, s.indices.Bind, src, dst}})
			return err
		})
	})
}

// addNarrow appends the launches of move/tensor_scatter_narrow.comp.
func (s *tensorScatter) addNarrow(unit, units int) error {
	kernel := spirv.Kernel(fmt.Sprintf("%s.u%d", narrowScatter, 8*unit))
	update := unitsOf(s.operand(spec.In(1), s.rows, units), unit)
	span, align := min(planner.MaxSpan(s.t, false), planner.MaxWindow)-planner.Pack, int(planner.WindowAlign(s.t))
	n, most, block := s.outer*s.size*units, int(span)/unit/align*align, s.size*units
	for at := 0; at < n; at += most {
		count := min(most, n-at)
		dst, _ := planner.Window(s.t, spec.Out(0), unit, int64(at), int64(count))
		groups, err := planner.Grid(s.t, planner.CeilDiv(int64(planner.CeilDiv(count*unit, 4)), planner.SmallGroup))
		if err != nil {
			return err
		}
		first, last := at/block, (at+count-1)/block
		have := planner.Region{From: []int{first, 0, 0}, N: []int{last - first + 1, s.rows, units}}
		err = planner.Split(s.t, span, have, []planner.Operand{update}, 1, func(r planner.Region) error {
			src, srcBase := update.Window(s.t, r)
			p := narrowScatterParams{
				Count: uint32(count), Units: uint32(units), Size: uint32(s.size), Column: uint32(at % units), Row: uint32(at / units % s.size), Outer: uint32(first),
				Each: uint32(s.each), IndexBase: s.indices.Base, IndexStep: s.indices.Step(),
				UpdateBase: srcBase, UpdateOuter: uint32(s.rows * units), UpdateRow: uint32(units),
			}
			for d := range r.N {
				p.From[d], p.Have[d] = uint32(r.From[d]), uint32(r.N[d])
			}
			s.plan.Steps = append(s.plan.Steps, spec.Step{Module: kernel, Params: p, Groups: groups, Bind: []spec.Bind{{Buf: s.status}, s.indices.Bind, src, dst}})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
