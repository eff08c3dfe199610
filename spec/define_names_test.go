package spec

import (
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// named is a call whose plan has device checks.
type named struct{}

func (named) Spec() *Op { return namedOp }

var namedOp = Define(Definition[named]{
	Name: "test_named",
	Plan: func(named, *Target, []tensor.Desc, []tensor.Desc) (*Plan, error) {
		found := func([4]uint32) error { return errs.ErrInvalidArgument }
		return &Plan{Checks: []DeviceCheck{{Error: found}, {Error: found}}}, nil
	},
})

// What a device check reports names its operation, as the errors of Plan do.
func TestDefineNamesDeviceChecks(t *testing.T) {
	plan, err := namedOp.Plan(named{}, &Target{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, check := range plan.Checks {
		err, want := check.Error([4]uint32{1}), "spec: test_named: "+errs.ErrInvalidArgument.Error()
		if err.Error() != want || !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("check %d: %q, want %q", i, err, want)
		}
	}
}
