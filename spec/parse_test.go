package spec

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// mix has an attribute of every kind.
type mix struct {
	Gain  float64 `attr:"gain" doc:"factor"`
	Half  float32 `attr:"half"`
	Steps int     `attr:"steps"`
	Mask  uint8   `attr:"mask"`
	Exact bool    `attr:"exact"`
	Label string  `attr:"label"`
	kept  int
}

func (mix) Spec() *Op { return mixOp }

// wide has the attributes of tensors.
type wide struct {
	Perm []int        `attr:"perm"`
	Axis *int         `attr:"axis"`
	To   tensor.DType `attr:"to"`
}

func (wide) Spec() *Op { return wideOp }

type soft struct {
	Sigma float64 `attr:"sigma" doc:"standard deviation, pixels"`
}

func (*soft) Spec() *Op { return softOp }

type bare struct{}

// fusion has an attribute that cannot be written as text.
type fusion struct{ Calls []Call }

func (fusion) Spec() *Op { return fusionOp }

func (bare) Spec() *Op { return bareOp }

var wideOp, mixOp, softOp, bareOp, fusionOp *Op

func init() {
	mixOp = Register(&Op{Name: "test_mix", Aliases: []string{"tmix"}, Defaults: mix{Gain: 1, Label: "a b", kept: 7}})
	wideOp = Register(&Op{Name: "test_wide", Group: "test", Defaults: wide{To: tensor.F32}})
	softOp = Register(&Op{Name: "test_soft", Defaults: &soft{Sigma: 2}})
	fusionOp = Register(&Op{Name: "test_fusion", Defaults: fusion{}})
	bareOp = Register(&Op{Name: "test_bare", Defaults: bare{}})
}

func TestParseCall(t *testing.T) {
	for text, want := range map[string]Call{
		"test_mix":                             mix{Gain: 1, Label: "a b", kept: 7},
		" TMIX  gain=0.5 steps=-3 exact=true ": mix{Gain: .5, Steps: -3, Exact: true, Label: "a b", kept: 7},
		`test_mix label="x y|z=1" mask=255`:    mix{Gain: 1, Label: "x y|z=1", Mask: 255, kept: 7},
		"test_mix label=é\u00a0half=0.25":      mix{Gain: 1, Label: "é", Half: .25, kept: 7},
		"test_soft 3":                          &soft{3},
		"test_soft SIGMA=1e-3":                 &soft{1e-3},
		"test_bare":                            bare{},
		"test_wide":                            wide{To: tensor.F32},
		"test_wide perm=2,0,-1 axis=-3 to=i64": wide{Perm: []int{2, 0, -1}, Axis: new(-3), To: tensor.I64},
		"test_wide perm=4 axis=none":           wide{Perm: []int{4}, To: tensor.F32},
	} {
		got, err := ParseCall(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %#v, want %#v", text, got, want)
		}
	}
	if d := softOp.Defaults.(*soft); d.Sigma != 2 {
		t.Errorf("parsing changed the defaults: %v", *d)
	}
}

func TestParseCallErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "operation is missing",
		"test_sofd 3":               `did you mean "test_soft"?`,
		"zzzzzzzzzz":                "known: ",
		"test_hoft":                 `did you mean "test_soft"?`,
		"test_":                     `did you mean "test_bare", "test_held" or "test_mix"?`,
		"test_soft sigme=3":         `did you mean "sigma"?`,
		"test_fusion":               `unknown operation "test_fusion"`,
		"test_wide perm=1,,2":       `"" is not an integer`,
		"test_wide perm=":           `"" is not an integer`,
		"test_wide axis=nil":        `"nil" is not an integer`,
		"test_wide to=f33":          `"f33" is not an element type (known: [f32`,
		"test_bare x=1":             "it has none",
		"test_bare 3":               "it has none",
		"test_mix 3":                "name=value (it has: gain, half, steps",
		"test_soft sigma=1 sigma=2": "given twice",
		"test_soft sigma=NaN":       "NaN",
		"test_soft sigma=-Inf":      "NaN or infinity",
		"test_soft sigma=1e999":     "too large",
		"test_soft sigma=0x1p4":     "not a number",
		"test_soft sigma=three":     "not a number",
		"test_soft sigma=":          "not a number",
		"test_mix half=1e39":        "too large",
		"test_mix steps=1.5":        "not an integer",
		"test_mix mask=256":         "not an integer",
		"test_mix exact=yes":        "not true or false",
		`test_mix label="x`:         "quote is not closed",
		"test_mix plain=1":          "no attribute",
	} {
		_, err := ParseCall(text)
		if !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want ErrInvalidArgument with %q", text, err, want)
		}
	}
}

func TestParseCalls(t *testing.T) {
	got, err := ParseCalls(`test_bare | test_soft 3|test_mix label="a|b"`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Call{bare{}, &soft{3}, mix{Gain: 1, Label: "a|b", kept: 7}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	if _, err := ParseCalls("test_bare |"); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("an empty part: got %v", err)
	}
}

func TestFormatCallRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := mix{
			Gain:  rapid.Float64().Filter(func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }).Draw(t, "gain"),
			Half:  rapid.Float32().Filter(func(x float32) bool { return x-x == 0 }).Draw(t, "half"),
			Steps: rapid.Int().Draw(t, "steps"),
			Mask:  rapid.Uint8().Draw(t, "mask"),
			Exact: rapid.Bool().Draw(t, "exact"),
			Label: rapid.String().Draw(t, "label"),
			kept:  7,
		}
		text := FormatCall(want)
		got, err := ParseCalls(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Fatalf("%q: got %#v, want %#v", text, got, want)
		}
	})
	if got := FormatCall(&soft{2.5}); got != "test_soft sigma=2.5" {
		t.Errorf("got %q", got)
	}
}

func TestAttrs(t *testing.T) {
	got := mixOp.Attrs()
	if len(got) != 6 || got[0] != (Attr{Name: "gain", Type: "number", Default: "1", Doc: "factor"}) || got[5] != (Attr{Name: "label", Type: "text", Default: `"a b"`}) {
		t.Errorf("got %+v", got)
	}
	if fusionOp.Written() || !mixOp.Written() || !softOp.Written() || !bareOp.Written() {
		t.Error("Written is wrong")
	}
	if a := bareOp.Attrs(); len(a) != 0 {
		t.Errorf("an operation without attributes has %+v", a)
	}
}

func FuzzParseCall(f *testing.F) {
	f.Add("test_mix gain=1 label=\"x\"")
	f.Add("test_soft 3")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCall(text)
		if err != nil {
			if !errors.Is(err, errs.ErrInvalidArgument) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := ParseCall(FormatCall(c))
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%q: %#v came back as %#v, %v", text, c, again, err)
		}
	})
}

// TestParseCallGroups checks that operations of other groups are neither found nor
// suggested.
func TestParseCallGroups(t *testing.T) {
	if c, err := ParseCall("test_wide", "other", "test"); err != nil || c.Spec() != wideOp {
		t.Errorf("of the group: got %v, %v", c, err)
	}
	_, err := ParseCalls("test_wide | test_soft", "test")
	if !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), "test_soft is an operation of no group, not of test (known: test_wide") {
		t.Errorf("of another group: %v", err)
	}
	if _, err = ParseCall("test_sofd", "test"); err == nil || strings.Contains(err.Error(), "test_soft") {
		t.Errorf("unknown: %v", err)
	}
}

// TestKnown checks what an error says of the names that exist, where there are none.
func TestKnown(t *testing.T) {
	if got, want := known([]string{"none"}), `import _ "github.com/lathe-gpu/lathe/ops/all" makes those of Lathe known`; got != want {
		t.Errorf("without operations: %s, want %s", got, want)
	}
	if got := known([]string{"test"}); !strings.HasPrefix(got, "known: test_wide") || !strings.HasSuffix(got, "for those of Lathe") {
		t.Errorf("with those of a program: %s", got)
	}
}

func TestAttrTypes(t *testing.T) {
	var got []string
	for _, a := range wideOp.Attrs() {
		got = append(got, a.Name+" "+a.Type+" "+a.Default)
	}
	if want := []string{"perm integers or none none", "axis integer or none none", "to element type f32"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	text := FormatCall(wide{Perm: []int{1, 0}, Axis: new(2), To: tensor.BF16})
	if c, err := ParseCall(text); err != nil || !reflect.DeepEqual(c, wide{Perm: []int{1, 0}, Axis: new(2), To: tensor.BF16}) {
		t.Errorf("%q came back as %v, %v", text, c, err)
	}
}

// light has an attribute whose name may be left out although there are others.
type light struct {
	Lift   float64 `attr:"lift"`
	Factor float64 `attr:"factor,main"`
}

func (light) Spec() *Op { return lightOp }

var lightOp = &Op{Name: "test_light", Defaults: light{Factor: 1}}

// TestMainAttribute leaves out the name of an attribute.
func TestMainAttribute(t *testing.T) {
	Register(lightOp)
	for text, want := range map[string]Call{
		"test_light 3":                 light{Lift: Given(0.0), Factor: 3},
		"test_light lift=2 3":          light{Lift: 2, Factor: 3},
		"test_light 3 lift=2":          light{Lift: 2, Factor: 3},
		"test_light factor=3 lift=0.5": light{Lift: 0.5, Factor: 3},
	} {
		if got, err := ParseCall(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"test_light 3 4", "test_light 3 factor=4"} {
		if _, err := ParseCall(text); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
