package mir_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

func value(t *testing.T) func(v mir.Value, err error) mir.Value {
	return func(v mir.Value, err error) mir.Value {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestControlNodes makes nodes with bodies that do not suit them, and bodies that contain the graph that they are in.
func TestControlNodes(t *testing.T) {
	f32, truth := tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.Bool, 1)
	must := value(t)
	body := func(calls int, out tensor.Desc) *mir.Graph {
		var b mir.Graph
		v := must(b.AddInput("x", f32))
		for range calls {
			list, err := b.AddCall(ops.Neg{}, v)
			if err != nil {
				t.Fatal(err)
			}
			v = list[0]
		}
		if out.DType == tensor.Bool {
			v = must(b.AddConstant(out, []byte{1}))
		}
		if err := b.AddOutput("y", v); err != nil {
			t.Fatal(err)
		}
		return &b
	}
	var g mir.Graph
	x, c := must(g.AddInput("x", f32)), must(g.AddInput("c", truth))
	turned := must(g.AddView("transpose", x, 0, tensor.Desc{DType: tensor.F32, Shape: []int{3, 2}, Strides: []int{1, 3}}))
	later := must(g.AddView("narrow", x, 12, tensor.Contiguous(tensor.F32, 3)))
	withParam := body(1, f32)
	if _, err := withParam.AddParam("p", f32); err != nil {
		t.Fatal(err)
	}
	deep := body(1, f32)
	for range 64 {
		var b mir.Graph
		in := must(b.AddInput("x", f32))
		one := must(b.AddConstant(truth, []byte{1}))
		list, err := b.AddIf(one, []mir.Value{in}, deep, body(1, f32))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.AddOutput("y", list[0]); err != nil {
			t.Fatal(err)
		}
		deep = &b
	}
	for name, add := range map[string]func() ([]mir.Value, error){
		"no body":                  func() ([]mir.Value, error) { return g.AddIf(c, []mir.Value{x}, body(1, f32), nil) },
		"no condition":             func() ([]mir.Value, error) { return g.AddIf(mir.None, []mir.Value{x}, body(1, f32), body(2, f32)) },
		"a condition of f32":       func() ([]mir.Value, error) { return g.AddIf(x, []mir.Value{x}, body(1, f32), body(2, f32)) },
		"too few inputs":           func() ([]mir.Value, error) { return g.AddIf(c, nil, body(1, f32), body(2, f32)) },
		"a view with strides":      func() ([]mir.Value, error) { return g.AddIf(c, []mir.Value{turned}, body(1, f32), body(2, f32)) },
		"a view from 12 bytes on":  func() ([]mir.Value, error) { return g.AddIf(c, []mir.Value{later}, body(1, f32), body(2, f32)) },
		"a param in a body":        func() ([]mir.Value, error) { return g.AddIf(c, []mir.Value{x}, withParam, body(2, f32)) },
		"other results":            func() ([]mir.Value, error) { return g.AddIf(c, []mir.Value{x}, body(1, f32), body(0, truth)) },
		"too deep":                 func() ([]mir.Value, error) { return g.AddIf(c, []mir.Value{x}, deep, body(1, f32)) },
		"itself, which is no body": func() ([]mir.Value, error) { return g.AddIf(c, []mir.Value{x}, &g, &g) },
		"no state":                 func() ([]mir.Value, error) { return g.AddWhile(nil, []mir.Value{x}, 0, body(0, truth), body(1, f32)) },
		"a negative bound":         func() ([]mir.Value, error) { return g.AddWhile([]mir.Value{x}, nil, -1, body(0, truth), body(1, f32)) },
		"no graph":                 func() ([]mir.Value, error) { return (*mir.Graph)(nil).AddIf(c, nil, body(1, f32), body(1, f32)) },
	} {
		before := g.String()
		if list, err := add(); !errors.Is(err, errs.ErrInvalidArgument) || g.String() != before {
			t.Errorf("%s: got %v, %v", name, list, err)
		}
	}
	// A body does not change when the graph that it was given as does.
	own := body(1, f32)
	list, err := g.AddIf(c, []mir.Value{x}, own, body(2, f32))
	if err != nil {
		t.Fatal(err)
	}
	before := g.String()
	if _, err := own.AddIf(must(own.AddConstant(truth, []byte{0})), []mir.Value{0}, own, own); err != nil {
		t.Fatal(err)
	}
	if _, err := own.AddInput("late", f32); err != nil || g.String() != before || g.Verify() != nil {
		t.Errorf("the body has changed: %v\n%v", err, &g)
	}
	if err := g.AddOutput("y", list[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := g.WithBodies(func(int, int, *mir.Graph) (*mir.Graph, error) { return own, nil }); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("another body that does not suit: %v", err)
	}
}

// TestControlFiles reads files with mistakes in nodes with bodies.
func TestControlFiles(t *testing.T) {
	body := func(call, out string) string {
		return `{"nodes":[{"kind":"input","name":"x","out":["f32[2]"]},{"kind":"op","call":"` + call + `","in":[0],"out":["` + out + `"]}],"outputs":[{"name":"y","value":1}]}`
	}
	file := func(node string) string {
		return `{"format":"lathe graph 1","nodes":[{"kind":"input","name":"x","out":["f32[2]"]},{"kind":"input","name":"c","out":["bool[]"]},` + node + `],"outputs":[]}`
	}
	good := file(`{"kind":"if","in":[1,0],"out":["f32[2]"],"bodies":[` + body("neg", "f32[2]") + `,` + body("exp", "f32[2]") + `]}`)
	var g mir.Graph
	if err := g.UnmarshalJSON([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, node := range map[string]string{
		"one body":          `{"kind":"if","in":[1,0],"out":["f32[2]"],"bodies":[` + body("neg", "f32[2]") + `]}`,
		"no body":           `{"kind":"if","in":[1,0],"out":["f32[2]"],"bodies":[null,null]}`,
		"no node":           `{"kind":"if","in":[1,0],"out":["f32[2]"],"bodies":[{"nodes":[null]},{}]}`,
		"no condition":      `{"kind":"if","out":["f32[2]"],"bodies":[` + body("neg", "f32[2]") + `,` + body("exp", "f32[2]") + `]}`,
		"other results":     `{"kind":"if","in":[1,0],"out":["f32[3]"],"bodies":[` + body("neg", "f32[2]") + `,` + body("exp", "f32[2]") + `]}`,
		"results of a body": `{"kind":"if","in":[1,0],"out":["f32[2]"],"bodies":[` + body("neg", "f32[3]") + `,` + body("exp", "f32[2]") + `]}`,
		"a bound of an if":  `{"kind":"if","most":2,"in":[1,0],"out":["f32[2]"],"bodies":[` + body("neg", "f32[2]") + `,` + body("exp", "f32[2]") + `]}`,
		"bodies of a call":  `{"kind":"op","call":"neg","in":[0],"out":["f32[2]"],"bodies":[]}`,
		"too few values":    `{"kind":"while","out":["f32[2]"],"bodies":[` + body("neg", "f32[2]") + `,` + body("exp", "f32[2]") + `]}`,
		"a false condition": `{"kind":"while","in":[0],"out":["f32[2]"],"bodies":[` + body("neg", "f32[2]") + `,` + body("exp", "f32[2]") + `]}`,
	} {
		if err := g.UnmarshalJSON([]byte(file(node))); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), "node 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
