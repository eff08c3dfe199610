package fusion

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// plan plans a call: one launch, or several where the operands are larger than bindings or grids.
// Errors: ErrUnsupported, ErrStrides, *LimitError.
func plan(f *Fused, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
	l, err := layOut(f, t, in, out)
	p := &spec.Plan{}
	if err != nil || l.n == 0 {
		return p, err
	}
	m, err := l.module()
	if err != nil {
		return nil, err
	}
	most := int64(math.MaxInt32)
	for _, o := range l.operands {
		if o.whole == nil {
			most = min(most, planner.MaxSpan(t, l.texel)/int64(o.dtype.Size()))
		}
	}
	perGroup, unit := int64(l.local*l.packs), int64(1)
	if !l.lanes {
		perGroup, unit = perGroup*4, 4
	}
	groups := int64(1)
	for _, g := range t.MaxGroups {
		groups = min(groups*int64(g), math.MaxInt32)
	}
	align := planner.WindowAlign(t)
	if slices.ContainsFunc(l.inputs, func(x input) bool { return x.row }) {
		align = max(align, int64(l.local))
	}
	most = min(most, groups*perGroup, math.MaxInt32) / align * align
	if most <= 0 {
		return nil, &errs.LimitError{Name: "MaxBinding", Want: align * 8, Have: t.MaxBinding}
	}
	for first := int64(0); first < int64(l.n); first += most {
		count := min(int64(l.n)-first, most)
		w := l.words
		w.Words[countWord], w.Words[startWord] = uint32(count), uint32(first/unit)
		s := spec.Step{Module: m, Params: w}
		for _, o := range l.operands {
			if o.whole != nil {
				s.Bind = append(s.Bind, *o.whole)
				continue
			}
			bind, _ := planner.Window(t, o.ref, o.dtype.Size(), first, count)
			s.Bind = append(s.Bind, bind)
		}
		if s.Groups, err = planner.Grid(t, planner.CeilDiv(count, perGroup)); err != nil {
			return nil, err
		}
		p.Steps = append(p.Steps, s)
	}
	return p, nil
}
