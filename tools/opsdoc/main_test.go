package main

import (
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// docs/OPS.md is generated, so it must be what the declarations say now.
func TestPageIsFresh(t *testing.T) {
	if err := run("../../docs/OPS.md", true); err != nil {
		t.Error(err)
	}
}

func TestEveryOperationIsDescribed(t *testing.T) {
	page := string(render(spec.All()))
	if len(spec.All()) == 0 {
		t.Fatal("no operation is registered")
	}
	for _, op := range spec.All() {
		if !strings.Contains(page, "\n## "+op.Name+"\n") {
			t.Errorf("%s has no section", op.Name)
		}
		for _, a := range op.Attrs() {
			if a.Doc == "" {
				t.Errorf("%s: attribute %s has no doc tag", op.Name, a.Name)
			}
		}
		if op.Doc == "" {
			t.Errorf("%s has no Doc", op.Name)
		}
	}
}

// The words of a section, for an operation with all there is to say.
func TestSection(t *testing.T) {
	op := &spec.Op{
		Name: "both", Group: "demo", Doc: "Does both. And more.", Aliases: []string{"b"},
		In:      []spec.Arg{{Name: "x", Doc: "a tensor"}, {Name: "mask", Doc: "added", Optional: true}, {Name: "rest", Doc: "others", Variadic: true}},
		Out:     []spec.Arg{{Name: "y", Doc: "first"}, {Name: "z", Doc: "second", InPlace: []int{1}}},
		Kernels: []spec.Kernel{{Name: "demo/both.f32"}, {Name: "demo/both.f32.texel"}, {Name: "demo/last.f32"}},
	}
	page := string(render([]*spec.Op{op}))
	for _, want := range []string{
		"## Group demo\n", "| [both](#both), b | Does both |  | mask |", "- in `x`: a tensor\n", "- in `mask` (optional): added\n",
		"- in `rest` (any number of them): others\n", "- out `y`: first\n", "- out `z`: second; it may be `mask` itself\n",
		"- kernels: `demo/both` (f32, f32.texel); `demo/last` (f32)\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	in := []tensor.Desc{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 3)}
	for want, tol := range map[string]spec.Tolerance{
		"exact: it copies":                                              {Why: "it copies"},
		"within 0.5 of the reference":                                   {Abs: .5},
		"within 0.25 of the value of the reference":                     {Abs: 1e-38, Rel: .25},
		"within 0.5 of the reference for inputs [2,3] and [3]: it sums": {Abs: .5, Law: "n/4", Any: 3, AnyLaw: "n·Σ|x|", Why: "it sums"},
		"within 0.5 + 0.25 of the value of the reference, but for 0.01 of the elements, whose value a rounding error may change completely: of noise": {Abs: .5, Rel: .25, Flips: .01, Why: "of noise"},
	} {
		if got := tolerance(tol, in); got != want {
			t.Errorf("%+v: got %q, want %q", tol, got, want)
		}
	}
	if got := strings.Join(growth(spec.Tolerance{Law: "n/4", AnyLaw: "n·Σ|x|"}), "; "); got != "within, at any size, for values as the suite has them: n/4; within, for any values: n·Σ|x|" {
		t.Errorf("growth: %q", got)
	}
}

func TestStaleOrMissingPageIsAnError(t *testing.T) {
	err := run(t.TempDir()+"/OPS.md", true)
	if err == nil || !strings.Contains(err.Error(), "make docs") {
		t.Errorf("missing page: got %v, want an error that says what to run", err)
	}
}
