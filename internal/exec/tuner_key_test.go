package exec

import (
	"testing"

	"github.com/lathe-gpu/lathe/internal/exec/tune"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ownReLU is an operation of a program that has the name of one of Lathe. Its strategies
// have the same names too.
type ownReLU struct{}

func (ownReLU) Spec() *spec.Op { return ownReLUOp }

var (
	ownReLUOp *spec.Op
	// whilePlanning is called with the strategy of each plan of ownReLU.
	whilePlanning func(strategy string)
)

func init() {
	relu := ops.ReLU{}
	ownReLUOp = spec.Define(spec.Definition[ownReLU]{
		Name: "relu", In: []spec.Arg{{Name: "in"}}, Out: []spec.Arg{{Name: "out"}},
		Shape: func(_ ownReLU, in []tensor.Desc) ([]tensor.Desc, error) { return relu.Spec().Shape(relu, in) },
		Plan: func(_ ownReLU, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			whilePlanning(t.Strategy)
			return relu.Spec().Plan(relu, t, in, out)
		},
		Strategies: func(_ ownReLU, t *spec.Target, in, out []tensor.Desc) []string {
			return relu.Spec().Strategies(relu, t, in, out)
		},
		SizeClass: func(_ ownReLU, in []tensor.Desc) []int { return relu.Spec().SizeClass(relu, in) },
	})
}

// TestTuneNames checks that an operation of a program does not follow the choice for the
// operation of Lathe that has the same name.
func TestTuneNames(t *testing.T) {
	planned := ""
	whilePlanning = func(strategy string) { planned = strategy }
	x := newTuned(t, tune.Cached, "", cpuInfo(), nil)
	in, out := x.vector(t, 1000), x.vector(t, 1000)
	d := []tensor.Desc{in.Desc}
	x.db.Remember(string(callKey(nil, ops.ReLU{}, d)), "storage", 2)
	for _, c := range []struct{ know, want string }{{"", ""}, {"storage", "storage"}} {
		if c.know != "" {
			x.db.Remember(string(callKey(nil, ownReLU{}, d)), c.know, 2)
		}
		if err := x.Run(t.Context(), ownReLU{}, []Operand{in}, []Operand{out}); err != nil {
			t.Fatal(err)
		}
		if planned != c.want {
			t.Errorf("planned with the strategy %q, want %q", planned, c.want)
		}
	}
	if string(callKey(nil, ownReLU{}, d)) != string(callKey(nil, &ownReLU{}, d)) {
		t.Error("a pointer to a call has another key")
	}
}

// TestTuneWhileCompiling checks that a call follows a choice that was made while the call
// was compiled.
func TestTuneWhileCompiling(t *testing.T) {
	for _, mode := range []tune.Mode{tune.Cached, tune.Full} {
		x := newTuned(t, mode, "", cpuInfo(), nil)
		in, out := x.vector(t, 1000), x.vector(t, 1000)
		key := string(callKey(nil, ownReLU{}, []tensor.Desc{in.Desc}))
		x.db.Remember(key, "texels", 1)
		var planned []string
		whilePlanning = func(strategy string) {
			if planned = append(planned, strategy); len(planned) == 1 {
				x.db.Remember(key, "storage", 2)
			}
		}
		for range 3 {
			if err := x.Run(t.Context(), ownReLU{}, []Operand{in}, []Operand{out}); err != nil {
				t.Fatal(err)
			}
		}
		if len(planned) != 2 || planned[1] != "storage" {
			t.Errorf("%v: planned with the strategies %q, want texels, then once storage", mode, planned)
		}
	}
}

// TestTuneCompiledOnce checks that a call which is measured is compiled once.
func TestTuneCompiledOnce(t *testing.T) {
	x := newTuned(t, tune.Full, "", cpuInfo(), nil)
	in, out := x.vector(t, 1000), x.vector(t, 1000)
	plans := 0
	whilePlanning = func(string) { plans++ }
	for i := range 3 {
		if err := x.Run(t.Context(), ownReLU{}, []Operand{in}, []Operand{out}); err != nil {
			t.Fatal(err)
		}
		// Two plans are measured, and the better one is made once more to be run.
		if plans != 3 {
			t.Errorf("%d plans after run %d, want 3", plans, i+1)
		}
	}
}
