package spec

import (
	"errors"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestDefineNoPlan checks that a plan function that returns neither a plan nor an error
// is an error.
func TestDefineNoPlan(t *testing.T) {
	for name, d := range map[string]Definition[checked]{
		"Plan":   {Plan: func(checked, *Target, []tensor.Desc, []tensor.Desc) (*Plan, error) { return nil, nil }},
		"PlanAt": {PlanAt: func(checked, *Target, []Place, []Place) (*Plan, error) { return nil, nil }},
	} {
		d.Name = "test_checked"
		op := Define(d)
		if plan, err := op.Plan(checked{op}, &Target{}, nil, nil); plan != nil || !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), "test_checked") {
			t.Errorf("%s: plan %v, error %v", name, plan, err)
		}
	}
}

// byPointer is a call only as a pointer. Its declaration has no Defaults.
type byPointer struct {
	Gain float64 `attr:"gain"`
}

func (*byPointer) Spec() *Op { return byPointerOp }

var byPointerOp *Op

// TestDefineWithoutDefaults declares calls that are pointers, and leaves out Defaults.
func TestDefineWithoutDefaults(t *testing.T) {
	byPointerOp = Define(Definition[*byPointer]{
		Name: "test_by_pointer",
		Shape: func(a *byPointer, _ []tensor.Desc) ([]tensor.Desc, error) {
			return []tensor.Desc{tensor.Contiguous(tensor.F32, int(a.Gain))}, nil
		},
		Plan: func(*byPointer, *Target, []tensor.Desc, []tensor.Desc) (*Plan, error) { return &Plan{}, nil },
	})
	if got, ok := byPointerOp.Defaults.(*byPointer); !ok || got == nil || *got != (byPointer{}) {
		t.Errorf("defaults: %v", byPointerOp.Defaults)
	}
	c, err := Resolve(&byPointer{Gain: 3})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := byPointerOp.Shape(c, nil); err != nil || out[0].Shape[0] != 3 {
		t.Errorf("Shape gave %v, %v", out, err)
	}
}

// TestDefineInterface checks that Define says which declaration has no type of its own.
func TestDefineInterface(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "test_any") || !strings.Contains(text, "interface") {
			t.Errorf("Define panicked with %q", text)
		}
	}()
	Define(Definition[Call]{Name: "test_any"})
	t.Error("Define accepts an interface as the type of the attributes")
}
