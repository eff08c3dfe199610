package exec

import (
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// launched is an operation whose plan launches one kernel once for each of Params.
type launched struct {
	op     *spec.Op
	params []any
}

func (l launched) Spec() *spec.Op { return l.op }

// TestParamsOfEveryStep checks the params struct of each step, even if an earlier step or
// call launched the same kernel with the right one.
func TestParamsOfEveryStep(t *testing.T) {
	m := null.Module("test/params", 8, spv.Binding{Slot: 0}, spv.Binding{Slot: 1})
	m.Params = []spv.Member{{Name: "count", Type: "u32", Size: 4}, {Name: "scale", Type: "f32", Offset: 4, Size: 4}}
	op := spec.Define(spec.Definition[launched]{
		Name: "launched", In: []spec.Arg{{Name: "in"}}, Out: []spec.Arg{{Name: "out"}},
		Shape: func(_ launched, in []tensor.Desc) ([]tensor.Desc, error) { return in, nil },
		Plan: func(l launched, _ *spec.Target, _, _ []tensor.Desc) (*spec.Plan, error) {
			p := &spec.Plan{}
			for _, params := range l.params {
				p.Steps = append(p.Steps, spec.Step{
					Module: m, Params: params, Groups: [3]uint32{1, 1, 1},
					Bind: []spec.Bind{{Buf: spec.In(0)}, {Buf: spec.Out(0)}},
				})
			}
			return p, nil
		},
	})
	type right struct {
		Count uint32
		Scale float32
	}
	type swapped struct {
		Scale float32
		Count uint32
	}
	r, _ := recorder(t)
	place := []Place{{Desc: tensor.Contiguous(tensor.F32, 8)}}
	for i, c := range []struct {
		params []any
		want   error
	}{
		{[]any{right{}}, nil},
		{[]any{right{1, 2}, right{3, 4}}, nil},
		{[]any{swapped{}}, errs.ErrABIMismatch},
		{[]any{right{}, swapped{}}, errs.ErrABIMismatch},
		{[]any{right{}, nil}, errs.ErrABIMismatch},
		{[]any{right{}, struct{ Count uint32 }{}}, errs.ErrABIMismatch},
	} {
		if _, err := r.Compile(launched{op, c.params}, place, place); !errors.Is(err, c.want) {
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
	}
}
