package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// docs/OPS.md is generated, so it must be what the declarations say now.
func TestPageIsFresh(t *testing.T) {
	if err := run("../..", true); err != nil {
		t.Error(err)
	}
}

// page is the real page.
func page(t *testing.T) string {
	t.Helper()
	methods, err := readMethods("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := render(spec.All(), methods)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sectionOf is the section of an operation.
func sectionOf(t *testing.T, page, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n### "+name+"\n")
	if !ok {
		t.Fatalf("%s has no section", name)
	}
	text, _, _ := strings.Cut(rest, "\n### ")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

func TestEveryOperationIsDescribed(t *testing.T) {
	page := page(t)
	if len(spec.All()) == 0 {
		t.Fatal("no operation is registered")
	}
	for _, op := range spec.All() {
		text := sectionOf(t, page, op.Name)
		shown, _, _ := strings.Cut(text, "<details>")
		if !strings.Contains(shown, "**Precision") || strings.Contains(shown, "- bound") {
			t.Errorf("%s: the precision must be shown, and its reasons folded away:\n%s", op.Name, text)
		}
		table, link := "| operand | dtype |", ""
		if _, at, above := strings.Cut(shown, "**Operands:** [above](#"); above {
			link, _, _ = strings.Cut(at, ")")
			heading := strings.Replace(strings.TrimPrefix(link, "operands-"), "-", " ", 1)
			if _, table, above = strings.Cut(page, "\n### Operands ("+heading+")\n\nof "); !above {
				t.Errorf("%s: no operands at %s", op.Name, link)
			}
			table, _, _ = strings.Cut(table, ":\n")
			if !strings.Contains(table, "`"+op.Name+"`") {
				t.Errorf("%s is not named at %s", op.Name, link)
			}
		} else if !strings.Contains(shown, table) {
			t.Errorf("%s: no operands", op.Name)
		}
		if op.Offered() && !strings.Contains(shown, "```go\n") {
			t.Errorf("%s has no line of Go that calls it", op.Name)
		}
		for i, a := range op.Out {
			if resultType(op, i) == "" {
				t.Errorf("%s: result %s has no element type", op.Name, a.Name)
			}
		}
		for i, a := range op.In {
			if len(inputTypes(op, i)) == 0 {
				t.Errorf("%s: input %s has no element types", op.Name, a.Name)
			}
		}
		for _, a := range op.Attrs() {
			if a.Doc == "" {
				t.Errorf("%s: attribute %s has no doc tag", op.Name, a.Name)
			}
			if field(op, a.Name) == "" {
				t.Errorf("%s: attribute %s has no field", op.Name, a.Name)
			}
		}
		if op.Doc == "" {
			t.Errorf("%s has no Doc", op.Name)
		}
	}
}

// What users had to find by trial.
// TestInternalIsNotOffered: the list of what the command line accepts has all operations that users
// may name, and no others.
func TestInternalIsNotOffered(t *testing.T) {
	page := page(t)
	for _, op := range spec.All() {
		_, group, _ := strings.Cut(page, "\n## Group "+op.Group+"\n")
		group, _, _ = strings.Cut(group, "\n### ")
		list, rest, _ := strings.Cut(group, "\nOnly Lathe itself makes calls of ")
		link := "(#" + op.Name + ")"
		if strings.Contains(list, link) != op.Offered() || strings.Contains(rest, link) == op.Offered() {
			t.Errorf("%s, which is offered: %v, is at the wrong place in:\n%s", op.Name, op.Offered(), group)
		}
	}
}

func TestFacts(t *testing.T) {
	page := page(t)
	for name, facts := range map[string][]string{
		"arg_max":       {"func (d *Device) ArgMax(in *Tensor, dim int) (*Tensor, error)", "dev.Call(ctx, ops.ArgMax{Dim: -1, SelectLastIndex: false}, in)", "| result `out` | i32 |", "| `dim`, `Dim int` | required |"},
		"cast":          {"| result `out` | that of `to` |", "ops.Cast{To: tensor.F32}", "| `in` | all |"},
		"cross_entropy": {"| `targets` | i32, i64 |", "| result `loss` | as `logits` |", "(loss, probs *Tensor, err error)"},
		"embedding":     {"| result `out` | as `weight` |"},
		"relu":          {"**Gradient:** [relu_grad](#relu_grad)."},
		"concat":        {"dev.Call(ctx, ops.Concat{Dim: 0}, in...)"},
		"add":           {"**Precision:** f32, f64 within one unit in the last place; i32, i64, u8, u32, i8, i16, u16, u64 exact."},
		"invert_colors": {"dev.Apply(ctx, img, imageops.InvertColors{})"},
		"brightness":    {"| `factor`, `Factor float64` | 1.2 |", "±10⁶", "u8 within a level"},
	} {
		for _, want := range facts {
			if text := sectionOf(t, page, name); !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, text)
			}
		}
	}
}

// The words of a section, for an operation with all there is to say.
func TestSection(t *testing.T) {
	op := &spec.Op{
		Name: "both", Group: "demo", Doc: "Does both. And more.", Aliases: []string{"b"}, Source: "a book",
		In:  []spec.Arg{{Name: "x", Doc: "a tensor", DTypes: []tensor.DType{tensor.F32}}, {Name: "mask", Doc: "added", Optional: true}, {Name: "rest", Doc: "others", Variadic: true}},
		Out: []spec.Arg{{Name: "y", Doc: "first"}, {Name: "z", Doc: "second", InPlace: []int{0, 1}}},
	}
	other, third := *op, *op
	other.Name, other.Aliases = "other", nil
	third.Name, third.Aliases = "third", nil
	text, err := render([]*spec.Op{op, &other, &third}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## Group demo\n\n[both](#both) (b), [other](#other), [third](#third)\n", "### Operands (demo 1)\n\nof `both`, `other`, `third`:", "### both\n\nDoes both. And more.\n\n**Operands:** [above](#operands-demo-1).\n", "| `x` | f32 | a tensor |\n", "| `mask`, optional |  | added |\n",
		"| `rest`, any number of them |  | others |\n", "| result `y` |  | first |\n", "| result `z` |  | second; it may be `x` or `mask` itself |\n",
		"- source: a book\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

// An operation without a method is an error, and one with a method of another name has that.
func TestMethodMissing(t *testing.T) {
	op := ops.Abs{}.Spec()
	if _, err := calls(op, nil); err == nil || !strings.Contains(err.Error(), "no method Abs") {
		t.Errorf("got %v, want an error that names the method", err)
	}
	if got, err := calls(op, map[string]string{"abs": "func F()", "Abs": "func G()"}); err != nil || got[0] != "func F()" {
		t.Errorf("got %q, %v, want the method that is marked for the operation", got, err)
	}
}

func TestBound(t *testing.T) {
	one := spec.Tolerance{Abs: 0x1p-126, Rel: 0x1p-23}
	for _, c := range []struct {
		d    tensor.DType
		tol  spec.Tolerance
		want string
	}{
		{tensor.F32, spec.Tolerance{Why: "it copies"}, "exact"},
		{tensor.I64, spec.Tolerance{}, "exact"},
		{tensor.F64, spec.Tolerance{Abs: 0x1p-1022}, "exact"},
		{tensor.F32, spec.Tolerance{Abs: .5}, "absolute 0.5"},
		{tensor.U8, spec.Tolerance{Abs: 1}, "within a level"},
		{tensor.F32, spec.Tolerance{Abs: 1e-38, Rel: .25}, "relative 0.25"},
		{tensor.F32, one, "within one unit in the last place"},
		{tensor.F64, spec.Tolerance{Rel: 0x3p-52}, "within 3 units in the last place"},
		{tensor.F16, spec.Tolerance{Abs: 0x1p-24, Rel: 0x1p-23 + 0x1p-10}, "as f32, then rounded once more"},
		{tensor.BF16, spec.Tolerance{Abs: 0x1p-126, Rel: 0x1p-23 + 0x1p-7}, "as f32, then rounded once more"},
		{tensor.F16, spec.Tolerance{Abs: 0x1p-20, Rel: 0x1p-23 + 0x1p-10}, "absolute 9.6e-7 plus relative 0.00098"},
		{tensor.F32, spec.Tolerance{Abs: .5, Rel: .25, Flips: .01}, "absolute 0.5 plus relative 0.25, except for up to 1 % of the elements"},
		{tensor.F32, spec.Tolerance{Flips: .002}, "exact, except for up to 0.2 % of the elements"},
	} {
		if got := bound(c.d, c.tol, one); got != c.want {
			t.Errorf("%v %+v: got %q, want %q", c.d, c.tol, got, c.want)
		}
	}
	if got := strings.Join(growth(spec.Tolerance{Law: "n/4", RepeatedLaw: "1", AnyLaw: "n·Σ|x|"}), "; "); got != "at any size: n/4; in addition, where rows repeat one element: 1; for any values: n·Σ|x|" {
		t.Errorf("growth: %q", got)
	}
}

// The page says once what operations have in common.
func TestShort(t *testing.T) {
	if n, most := len(strings.Fields(page(t))), 145*len(spec.All()); n > most {
		t.Errorf("the page has %d words, and %d are enough for its operations", n, most)
	}
}

func TestDTypes(t *testing.T) {
	for want, list := range map[string][]tensor.DType{
		"": nil, "all": tensor.DTypes(), "i32": {tensor.I32}, "floats": {tensor.F32, tensor.F16, tensor.BF16, tensor.F64},
		"floats, i32": {tensor.F32, tensor.F16, tensor.BF16, tensor.F64, tensor.I32}, "f32, f64": {tensor.F32, tensor.F64},
	} {
		if got := dtypes(list); got != want {
			t.Errorf("%v: got %q, want %q", list, got, want)
		}
	}
}

// A bound on the page is never below the real one, and not much above it.
func TestUpper(t *testing.T) {
	for _, x := range []float64{1, 0.5, 0.1, 9.96, 1.01e-7, 7.87e-6, 9.99e-5, 1.19209289550781e-07, 123, 2.2250738585072014e-308} {
		got, err := strconv.ParseFloat(upper(x), 64)
		if err != nil || got < x*(1-1e-6) || got > x*1.1 {
			t.Errorf("%v: got %s (%v)", x, upper(x), err)
		}
	}
}

func TestTreeWithoutMethods(t *testing.T) {
	if err := run(t.TempDir(), true); err == nil || !strings.Contains(err.Error(), "make generate") {
		t.Errorf("got %v, want an error that says what to run", err)
	}
}
