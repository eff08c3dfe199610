package spec

import (
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// checked is a call whose plan has device checks. Each call gets the same plan.
type checked struct{ op *Op }

func (c checked) Spec() *Op { return c.op }

// TestDefineNamesDeviceChecks checks that the error of a device check names its operation and its input
// once, as errors of Plan and PlanAt do. That must be so even if the same plan is
// returned several times.
func TestDefineNamesDeviceChecks(t *testing.T) {
	found := func([4]uint32) error { return errs.ErrInvalidArgument }
	kept := &Plan{Checks: []DeviceCheck{{Error: found}, {Error: found, Of: In(1)}, {Error: found, Of: In(2)}, {Error: found, Of: Out(0)}}}
	for name, d := range map[string]Definition[checked]{
		"Plan":   {Plan: func(checked, *Target, []tensor.Desc, []tensor.Desc) (*Plan, error) { return kept, nil }},
		"PlanAt": {PlanAt: func(checked, *Target, []Place, []Place) (*Plan, error) { return kept, nil }},
	} {
		d.Name, d.In = "test_checked", []Arg{{Name: "data"}, {Name: "indices"}}
		op := Define(d)
		for range 2 {
			plan, err := op.Plan(checked{op}, &Target{}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, check := range plan.Checks {
				err, want := check.Error([4]uint32{1}), "spec: test_checked: "+[]string{"", "indices: ", "", ""}[i]+errs.ErrInvalidArgument.Error()
				if err.Error() != want || !errors.Is(err, errs.ErrInvalidArgument) {
					t.Errorf("%s: check %d: %q, want %q", name, i, err, want)
				}
			}
		}
	}
}

// TestDefineNamesPlanErrors checks that errors of Plan and PlanAt name the operation in
// the same way.
func TestDefineNamesPlanErrors(t *testing.T) {
	for name, d := range map[string]Definition[checked]{
		"Plan":   {Plan: func(checked, *Target, []tensor.Desc, []tensor.Desc) (*Plan, error) { return nil, ErrStrides }},
		"PlanAt": {PlanAt: func(checked, *Target, []Place, []Place) (*Plan, error) { return nil, ErrStrides }},
	} {
		d.Name = "test_checked"
		op := Define(d)
		if plan, err := op.Plan(checked{op}, &Target{}, nil, nil); plan != nil || !errors.Is(err, ErrStrides) || err.Error() != "spec: test_checked: "+ErrStrides.Error() {
			t.Errorf("%s: plan %v, error %v", name, plan, err)
		}
		if plan, err := op.Plan(checked{op}, nil, nil, nil); plan != nil || !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%s without a target: plan %v, error %v", name, plan, err)
		}
	}
}
