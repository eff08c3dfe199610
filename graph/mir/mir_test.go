package mir_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

func Example() {
	g := &mir.Graph{}
	x, _ := g.AddInput("x", tensor.Contiguous(tensor.F32, 2, 3))
	y, _ := g.AddCall(ops.Exp{}, x)
	_ = g.AddOutput("y", y[0])
	fmt.Print(g)
	fmt.Println(g.Verify())
	// Output:
	// v0 = input x  f32[2,3]
	// v1 = exp v0  f32[2,3]
	// output y = v1
	// <nil>
}

// must returns a value, or ends the test.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestRefused adds nodes that cannot be. The graph stays as it was.
func TestRefused(t *testing.T) {
	g := &mir.Graph{}
	f := tensor.Contiguous(tensor.F32, 2, 3)
	x := must[mir.Value](t)(g.AddInput("x", f))
	before := g.String()
	strided := tensor.Desc{DType: tensor.F32, Shape: []int{2, 3}, Strides: []int{1, 2}}
	for name, err := range map[string]error{
		"name taken":          second(g.AddParam("x", f)),
		"no name":             second(g.AddInput("", f)),
		"strided input":       second(g.AddInput("y", strided)),
		"no dtype":            second(g.AddInput("y", tensor.Desc{})),
		"bytes of a constant": second(g.AddConstant(f, make([]byte, 23))),
		"view of nothing":     second(g.AddView("v", 7, 0, f)),
		"view beyond":         second(g.AddView("v", x, 4, f)),
		"view between":        second(g.AddView("v", x, 2, tensor.Contiguous(tensor.F32, 1))),
		"view of another":     second(g.AddView("v", x, 0, tensor.Contiguous(tensor.I32, 2))),
		"view before":         second(g.AddView("v", x, -4, tensor.Contiguous(tensor.F32, 1))),
		"no call":             second(g.AddCall(nil, x)),
		"too few inputs":      second(g.AddCall(ops.Add{}, x)),
		"unknown input":       second(g.AddCall(ops.Exp{}, 3)),
		"no input":            second(g.AddCall(ops.Exp{}, mir.None)),
		"output of nothing":   g.AddOutput("y", 9),
		"output without name": g.AddOutput("", x),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if after := g.String(); after != before {
		t.Errorf("the graph changed:\n%s", after)
	}
	if err := g.Verify(); err != nil {
		t.Error(err)
	}
	if err := g.AddOutput("y", x); err != nil {
		t.Fatal(err)
	}
	if err := g.AddOutput("y", x); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("two outputs of a name: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestViews joins views of views, and leaves out those that change nothing.
func TestViews(t *testing.T) {
	g := &mir.Graph{}
	x := must[mir.Value](t)(g.AddInput("x", tensor.Contiguous(tensor.F32, 4, 6)))
	if v := must[mir.Value](t)(g.AddView("reshape", x, 0, tensor.Contiguous(tensor.F32, 4, 6))); v != x {
		t.Errorf("a view of everything is %v, want %v", v, x)
	}
	rows := must[mir.Value](t)(g.AddView("narrow", x, 24, tensor.Contiguous(tensor.F32, 2, 6)))
	turned := must[mir.Value](t)(g.AddView("transpose", rows, 8, tensor.Desc{DType: tensor.F32, Shape: []int{4, 2}, Strides: []int{1, 6}}))
	if root, offset := g.Root(turned); root != x || offset != 32 {
		t.Errorf("it is %d bytes into %v, want 32 into %v", offset, root, x)
	}
	if err := g.Verify(); err != nil {
		t.Error(err)
	}
	if text := g.String(); !strings.Contains(text, "transpose v0 +32 bytes") {
		t.Error(text)
	}
}

// TestOptimise looks at what the passes make of a graph, and that they leave the graph itself alone.
func TestOptimise(t *testing.T) {
	g := &mir.Graph{}
	d := tensor.Contiguous(tensor.F32, 3)
	x := must[mir.Value](t)(g.AddInput("x", d))
	must[mir.Value](t)(g.AddParam("unused", d))
	one := must[mir.Value](t)(g.AddConstant(d, make([]byte, 12)))
	two := must[mir.Value](t)(g.AddConstant(d, make([]byte, 12)))
	a := must[[]mir.Value](t)(g.AddCall(ops.Add{}, x, one))[0]
	b := must[[]mir.Value](t)(g.AddCall(ops.Add{}, x, two))[0]
	c := must[[]mir.Value](t)(g.AddCall(ops.LeakyReLU{Alpha: 0.5}, a))[0]
	e := must[[]mir.Value](t)(g.AddCall(ops.LeakyReLU{Alpha: 0.25}, b))[0] // another attribute
	if err := errors.Join(g.AddOutput("c", c), g.AddOutput("e", e)); err != nil {
		t.Fatal(err)
	}
	before := g.String()
	to, changes, err := mir.Optimise(g, nil, mir.Passes, nil)
	if err != nil {
		t.Fatal(err)
	}
	if g.String() != before {
		t.Error("the graph changed")
	}
	want := `v0 = input x  f32[3]
v1 = param unused  f32[3]
v2 = constant  f32[3]
v3 = add v0 v2  f32[3]
v4 = leaky_relu alpha=0.5 v3  f32[3]
v5 = leaky_relu alpha=0.25 v3  f32[3]
output c = v4
output e = v5
`
	if to.String() != want || changes["cse"] != 2 || changes["dce"] != 0 {
		t.Errorf("got %v and\n%vwant\n%v", changes, to, want)
	}
}

// TestOptimiseInputs checks that no pass can change what a run is given, or its order.
func TestOptimiseInputs(t *testing.T) {
	graph := func(names ...string) *mir.Graph {
		g := &mir.Graph{}
		for _, name := range names {
			must[mir.Value](t)(g.AddInput(name, tensor.Contiguous(tensor.F32, 3)))
		}
		if err := g.AddOutput("y", 0); err != nil {
			t.Fatal(err)
		}
		return g
	}
	for text, to := range map[string]*mir.Graph{
		`input "y", f32[3] at another place`: graph("y", "x"), `lost input "y", f32[3]`: graph("x"), `input "z", f32[3] at another place`: graph("x", "y", "z"),
	} {
		pass := mir.Pass{Name: "bad", Run: func(*mir.Graph, *spec.Target) (*mir.Graph, int, error) { return to, 1, nil }}
		if _, _, err := mir.Optimise(graph("x", "y"), nil, []mir.Pass{pass}, nil); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v (want %s)", err, text)
		}
	}
}
