package main

import (
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestFresh fails where the methods in the tree are not those of the declarations.
func TestFresh(t *testing.T) {
	if err := run("../..", true); err != nil {
		t.Error(err)
	}
}

// Attribute structs of operations that are made up.
type (
	Plain  struct{}
	Window struct {
		Scale   float64      `attr:"scale" doc:"factor"`
		To      tensor.DType `attr:"to,required" doc:"element type"`
		Circle  bool         `attr:"circle" doc:"wrap around"`
		Padding []int        `attr:"pad_by" doc:"elements on each side"`
	}
	Many struct {
		A float64 `attr:"a,required" doc:"first"`
		B float64 `attr:"b,required" doc:"second"`
		C int     `attr:"c,required" doc:"third"`
		D int     `attr:"d_,required" doc:"fourth"`
	}
)

var ops = map[string]*spec.Op{}

func (Plain) Spec() *spec.Op  { return ops["plain"] }
func (Window) Spec() *spec.Op { return ops["window"] }
func (Many) Spec() *spec.Op   { return ops["many"] }

// TestRules derives methods of made-up operations.
func TestRules(t *testing.T) {
	x, y, mask := spec.Arg{Name: "in", Doc: "numbers"}, spec.Arg{Name: "b", Doc: "more"}, spec.Arg{Name: "mask", Doc: "a mask", Optional: true}
	out := []spec.Arg{{Name: "out", Doc: "a result"}}
	for _, c := range []struct {
		name                 string
		op                   *spec.Op
		root, backend, scope []string
	}{
		{"one input", &spec.Op{Name: "plain", Doc: "The number.", In: []spec.Arg{x}, Out: out, Defaults: Plain{}},
			[]string{"// Plain: the number.", "//   - in: numbers", "//   - result out: a result", "func (d *Device) Plain(in *Tensor) (*Tensor, error) {", "d.callSingle(genapi.Plain{}, in)"},
			[]string{"func (d *Device) Plain(in, out TensorHandle) error {", "d.compute(genapi.Plain{}, list{in}, list{out})"},
			[]string{"// Plain is Device.Plain in a Scope.\nfunc (s *Scope) Plain(in *Tensor) *Tensor {\n\treturn s.Call(genapi.Plain{}, in)[0]\n}"}},
		{"optional input", &spec.Op{Name: "plain", In: []spec.Arg{x, mask}, Out: out, Defaults: Plain{}},
			[]string{"Plain(in, mask *Tensor) (*Tensor, error)", "given(in, mask)...", "a mask; nil if it is left out"},
			[]string{"Plain(in, out TensorHandle, mask *TensorHandle) error", "given(list{in}, mask), list{out}"},
			[]string{"Plain(in, mask *Tensor) *Tensor {", "given(in, mask)...)[0]"}},
		{"any number of inputs", &spec.Op{Name: "window", In: []spec.Arg{{Name: "parts", Variadic: true}}, Out: out, Defaults: Many{}},
			[]string{"Many(c genapi.Many, parts ...*Tensor) (*Tensor, error)", "d.callSingle(c, parts...)"},
			[]string{"Many(out TensorHandle, a, b float64, c_, d_ int, parts ...TensorHandle) error", "C: c_, D: d_}, parts, list{out})"},
			[]string{"Many(c genapi.Many, parts ...*Tensor) *Tensor {", "s.Call(c, parts...)[0]"}},
		{"attributes", &spec.Op{Name: "window", In: []spec.Arg{x, y}, Out: out, Defaults: Window{Scale: 1}},
			[]string{"Window(in, b *Tensor, scale float64, to tensor.DType, padBy ...int) (*Tensor, error)",
				"genapi.Window{Scale: spec.Given(scale), To: to, Padding: padBy}, in, b)", "//   - padBy: elements on each side", "genapi.Window also has circle."},
			[]string{"Window(in, b, out TensorHandle, scale float64, to tensor.DType, padBy ...int) error"},
			[]string{"Window(in, b *Tensor, scale float64, to tensor.DType, padBy ...int) *Tensor {"}},
		{"in place", &spec.Op{Name: "plain", In: []spec.Arg{{Name: "weight"}, x}, Out: []spec.Arg{{Name: "weight", InPlace: []int{0}}}, Defaults: Plain{}},
			[]string{"Plain(weight, in *Tensor) error", "d.Run(context.Background(), genapi.Plain{}, []*Tensor{weight, in}, []*Tensor{weight})", "It changes weight in place."},
			[]string{"Plain(weight, in TensorHandle) error", "d.update(genapi.Plain{}, list{weight, in}, list{weight})"},
			[]string{"Plain(weight, in *Tensor) {\n\ts.Run(genapi.Plain{}, []*Tensor{weight, in}, []*Tensor{weight})\n}"}},
		{"two outputs", &spec.Op{Name: "plain", In: []spec.Arg{x}, Out: []spec.Arg{{Name: "low"}, {Name: "high"}}, Defaults: Plain{}},
			[]string{"Plain(in *Tensor) (low, high *Tensor, err error)", "return res[0], res[1], nil"},
			[]string{"Plain(in, low, high TensorHandle) error"},
			[]string{"Plain(in *Tensor) (low, high *Tensor) {", "return res[0], res[1]\n"}},
		{"a count", &spec.Op{Name: "plain", In: []spec.Arg{x}, Out: []spec.Arg{{Name: "found"}, {Name: "count"}}, Defaults: Plain{}, Counts: func(spec.Call, []tensor.Desc) int { return 0 }},
			[]string{"// Device.Find returns the part of found that counts.\nfunc (d *Device) Plain(in *Tensor) (found, count *Tensor, err error)"},
			[]string{"Plain(in, found, count TensorHandle) error"},
			[]string{"Plain(in *Tensor) (found, count *Tensor) {"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.op.Group = "math"
			ops[c.op.Name] = c.op
			for i, want := range [][]string{c.root, c.backend, c.scope} {
				s := surfaces[i]
				s.takes = func(*operation) bool { return true }
				files, err := s.files([]*spec.Op{c.op}, nil)
				if err != nil {
					t.Fatal(err)
				}
				text := string(files[prefix+s.prefix+"math.go"])
				for _, w := range want {
					if !strings.Contains(text, w) {
						t.Errorf("package %s: %q is missing from:\n%s", s.pkg, w, text)
					}
				}
			}
		})
	}
}

// TestByHand lets a method that is written by hand take the place of a generated one,
// and refuses one that only has its name.
func TestByHand(t *testing.T) {
	op := &spec.Op{Name: "plain", Group: "math", In: []spec.Arg{{Name: "in"}}, Out: []spec.Arg{{Name: "out"}}, Defaults: Plain{}}
	s := surfaces[1]
	if files, err := s.files([]*spec.Op{op}, handwritten{"Other": "plain"}); err != nil || len(files) != 0 {
		t.Errorf("marked: got %d files, %v", len(files), err)
	}
	if _, err := s.files([]*spec.Op{op}, handwritten{"Plain": ""}); err == nil || !strings.Contains(err.Error(), "Plain is there already") {
		t.Errorf("not marked: got %v", err)
	}
}

// TestRefused are declarations that no method can follow from.
func TestRefused(t *testing.T) {
	in := spec.Arg{Name: "in"}
	for name, op := range map[string]*spec.Op{
		"one name for two":   {In: []spec.Arg{in, in}, Out: []spec.Arg{{Name: "out"}}},
		"half in place":      {In: []spec.Arg{in}, Out: []spec.Arg{{Name: "in", InPlace: []int{0}}, {Name: "out"}}},
		"not to be in place": {In: []spec.Arg{in}, Out: []spec.Arg{in}},
	} {
		op.Name, op.Group, op.Defaults = "plain", "math", Plain{}
		if _, err := surfaces[1].files([]*spec.Op{op}, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
