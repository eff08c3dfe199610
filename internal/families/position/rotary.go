// Package position plans operations that put the positions of tokens into their vectors.
package position

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	anglesShader = "nn/rotary_angles"
	rotaryShader = "nn/rotary_embedding"
	// MostColumns is how many elements a row may have.
	MostColumns = 1 << 14
)

// anglesParams is the push-constant block of nn/rotary_angles.comp.
type anglesParams struct{ Count, Pairs, Most, Base, Words uint32 }

// rotaryParams is the push-constant block of nn/rotary_embedding.comp.
type rotaryParams struct {
	Count, Column, Row, Width, Rotated, Positions, Each, StepBatch, StepRow, Base, Interleaved, Zero uint32
}

// RotaryKernels lists the kernels of Rotary.Plan.
func RotaryKernels() []spec.Kernel {
	return slices.Concat(indexing.CheckFewKernels(),
		planner.DTypeVariants(anglesShader, anglesParams{}, []tensor.DType{tensor.F32, tensor.F64}, nil),
		planner.DTypeVariants(rotaryShader, rotaryParams{}, planner.Floats, nil))
}

// Rotary is how rows rotate.
type Rotary struct {
	// Rotated is how many of the first elements of a row rotate; 0 means all.
	Rotated int
	// Interleaved says that neighbours are a pair, and not the elements of both halves.
	Interleaved bool
}

// columns returns how many elements of a row of x rotate.
func (r Rotary) columns(x tensor.Desc) int {
	if r.Rotated == 0 {
		return x.Shape[len(x.Shape)-1]
	}
	return r.Rotated
}

// Check returns an error unless the inputs suit each other: x [..., s,d], positions, and two caches.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (r Rotary) Check(in []tensor.Desc) error {
	x, positions := in[0], in[1]
	rank := len(x.Shape)
	if rank < 2 {
		return planner.Invalid("input x is %v (want [..., s,d])", x)
	}
	s, d, n := x.Shape[rank-2], x.Shape[rank-1], r.columns(x)
	switch {
	case n < 0 || n > d || n%2 != 0:
		return planner.Invalid("%d elements of rows of %d rotate (want an even number, at most %d)", n, d, d)
	case d > MostColumns:
		return planner.Unsupported("rows of %d elements (want at most %d)", d, MostColumns)
	}
	for i, name := range []string{"cos_cache", "sin_cache"} {
		if c := in[2+i]; c.DType != planner.Accumulator(x.DType) || len(c.Shape) != 2 || c.Shape[1] != n/2 || c.Shape[0] != in[2].Shape[0] {
			return planner.Invalid("input %s is %v (want %v [positions,%d], both caches alike)", name, c, planner.Accumulator(x.DType), n/2)
		}
	}
	shape := positions.Shape
	batched := len(shape) == 2 && rank > 2 && (shape[0] == x.Shape[0] || shape[0] == 1)
	if len(shape) != 1 && !batched || shape[len(shape)-1] != s && shape[len(shape)-1] != 1 {
		return planner.Invalid("input position_ids is %v, x %v (want [s] or [batch,s], where each size may be 1)", positions, x)
	}
	if positions.Elems() > planner.MostFew {
		return planner.Unsupported("input position_ids is %v (want at most %d)", positions, planner.MostFew)
	}
	return nil
}

// Plan plans output 0, x with its rows rotated. Check has accepted the inputs.
// Errors: *LimitError, ErrStrides.
func (r Rotary) Plan(t *spec.Target, in, out []spec.Place) (*spec.Plan, error) {
	x, plan := in[0].Desc, &spec.Plan{}
	if err := planner.CheckTarget(t, x); err != nil {
		return nil, err
	}
	if err := planner.Aligned(out[0], in[0], in[2], in[3]); err != nil {
		return nil, err
	}
	if x.Elems() == 0 {
		return plan, nil
	}
	ids, err := planner.FewOf(t, 1, in[1])
	if err != nil {
		return nil, err
	}
	status := indexing.AddFewCheck(plan, ids, in[2].Desc.Shape[0])
	table, err := r.addAngles(plan, t, ids, in[2].Desc)
	if err != nil {
		return nil, err
	}
	return plan, r.addRows(plan, t, in[1].Desc.Shape, x, table, status)
}

// addAngles appends the launch that makes the table of the angles, and returns the table.
func (r Rotary) addAngles(plan *spec.Plan, t *spec.Target, ids planner.Few, cache tensor.Desc) (spec.Bind, error) {
	pairs, size := cache.Shape[1], cache.DType.Size()
	bytes := int64(2*ids.Count*pairs*size) + planner.Pack
	table := planner.AddScratch(plan, bytes)
	if have := planner.MaxSpan(t, false); bytes > have || cache.Bytes() > have-planner.Pack {
		return spec.Bind{}, &errs.LimitError{Name: "MaxBinding", Want: max(bytes, cache.Bytes()), Have: have}
	}
	if cache.Elems() == 0 { // nothing rotates, or the check finds an error
		return spec.Bind{Buf: table}, nil
	}
	p := anglesParams{Count: uint32(ids.Count * pairs), Pairs: uint32(pairs), Most: uint32(cache.Shape[0]), Base: ids.Base, Words: ids.Words}
	groups, err := planner.Grid(t, planner.CeilDiv(int64(p.Count), planner.SmallGroup))
	plan.Steps = append(plan.Steps, spec.Step{
		Module: spirv.Kernel(fmt.Sprintf("%s.%v", anglesShader, cache.DType)), Params: p, Groups: groups,
		Bind: []spec.Bind{ids.Bind, {Buf: spec.In(2)}, {Buf: spec.In(3)}, {Buf: table}},
	})
	return spec.Bind{Buf: table}, err
}

// addRows appends the launches that rotate rows. ids is the shape of the positions.
func (r Rotary) addRows(plan *spec.Plan, t *spec.Target, ids []int, x tensor.Desc, table spec.Bind, status spec.Ref) error {
	rank, size := len(x.Shape), x.DType.Size()
	s, d := x.Shape[rank-2], x.Shape[rank-1]
	p := rotaryParams{Width: uint32(d), Rotated: uint32(r.columns(x)), Positions: uint32(s), Each: uint32(x.Elems() / d)}
	if last := len(ids) - 1; ids[last] > 1 {
		p.StepRow = 1
	}
	if len(ids) == 2 && ids[0] > 1 {
		p.Each, p.StepBatch = p.Each/uint32(x.Shape[0]), uint32(ids[1])
	}
	if r.Interleaved {
		p.Interleaved = 1
	}
	// The input of a launch are whole rows, so it may begin and end before and behind its output.
	align := int(planner.WindowAlign(t))
	most := (int(min(planner.MaxSpan(t, false), planner.MaxWindow)-planner.WindowAlign(t)-planner.Pack)/size - 2*d) / align * align
	if most <= 0 {
		return &errs.LimitError{Name: "MaxBinding", Want: int64(3*d*size + align), Have: t.MaxBinding}
	}
	for first, n := 0, x.Elems(); first < n; first += most {
		count := min(most, n-first)
		row, last := first/d, (first+count-1)/d
		p.Count, p.Column, p.Row = uint32(count), uint32(first%d), uint32(row)
		src, base := planner.Window(t, spec.In(0), size, int64(row*d), int64((last-row+1)*d))
		dst, _ := planner.Window(t, spec.Out(0), size, int64(first), int64(count))
		p.Base = base
		groups, err := planner.Grid(t, int64(planner.CeilDiv(planner.CeilDiv(count*size, planner.Pack), planner.SmallGroup)))
		if err != nil {
			return err
		}
		plan.Steps = append(plan.Steps, spec.Step{
			Module: spirv.Kernel(fmt.Sprintf("%s.%v", rotaryShader, x.DType)), Params: p, Groups: groups,
			Bind: []spec.Bind{{Buf: status}, src, table, dst},
		})
	}
	return nil
}
