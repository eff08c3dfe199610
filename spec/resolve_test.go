package spec

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// tuned is a call that a program could declare.
type tuned struct {
	Gain  float64 `attr:"gain"`
	Half  float32 `attr:"half"`
	Dim   int     `attr:"dim,required"`
	Level float64 `attr:"level,zero"`
	Exact bool    `attr:"exact"`
}

func (tuned) Spec() *Op { return tunedOp }

// held is a call only as a pointer.
type held struct {
	Gain float64 `attr:"gain"`
}

func (*held) Spec() *Op { return heldOp }

// wrapped has the Spec of the call that it embeds, but is not a call of that operation.
type wrapped struct{ Call }

type loose struct{ op *Op }

func (l loose) Spec() *Op { return l.op }

var tunedOp, heldOp *Op

func init() {
	tunedOp = Register(Define(Definition[tuned]{
		Name: "test_tuned", Defaults: tuned{Gain: 2, Half: 0.5, Dim: -1, Level: 0.4},
		Shape: func(a tuned, in []tensor.Desc) ([]tensor.Desc, error) {
			return []tensor.Desc{tensor.Contiguous(tensor.F32, int(a.Gain))}, nil
		},
		Plan: func(a tuned, _ *Target, _, _ []tensor.Desc) (*Plan, error) {
			return &Plan{Scratch: []int64{int64(a.Gain)}}, nil
		},
		Strategies: func(tuned, *Target, []tensor.Desc, []tensor.Desc) []string { return []string{"a"} },
		SizeClass:  func(a tuned, _ []tensor.Desc) []int { return []int{a.Dim} },
		Reference:  func(tuned, []*tensor.Host, []*tensor.Host) {},
		Tolerance:  func(a tuned, _ tensor.DType, _ []tensor.Desc) Tolerance { return Tolerance{Abs: a.Gain} },
		Cost:       func(a tuned, _ []tensor.Desc) Cost { return Cost{Flops: int64(a.Gain)} },
	}))
	heldOp = Register(Define(Definition[*held]{
		Name: "test_held", Defaults: &held{Gain: 2},
		Shape: func(*held, []tensor.Desc) ([]tensor.Desc, error) { return nil, nil },
		Plan:  func(*held, *Target, []tensor.Desc, []tensor.Desc) (*Plan, error) { return nil, nil },
	}))
}

func TestResolve(t *testing.T) {
	full := tuned{Gain: 3, Half: 1, Level: 0.1}
	for _, c := range []Call{full, &full} {
		if got, err := Resolve(c); err != nil || got != Call(full) {
			t.Errorf("%T: got %#v, %v", c, got, err)
		}
		if out, err := tunedOp.Shape(c, nil); err != nil || out[0].Shape[0] != 3 {
			t.Errorf("%T: Shape gave %v, %v", c, out, err)
		}
		if p, err := tunedOp.Plan(c, &Target{}, nil, nil); err != nil || p.Scratch[0] != 3 {
			t.Errorf("%T: Plan gave %v, %v", c, p, err)
		}
		tunedOp.Reference(c, nil, nil)
		if tunedOp.Tolerance(c, tensor.F32, nil).Abs != 3 || tunedOp.Cost(c, nil).Flops != 3 || len(tunedOp.SizeClass(c, nil)) != 1 || len(tunedOp.Strategies(c, nil, nil, nil)) != 1 {
			t.Errorf("%T: a function of the operation did not see the call", c)
		}
	}
	if _, err := tunedOp.Plan(full, nil, nil, nil); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("without a target: %v", err)
	}
	p := &held{3}
	if got, err := Resolve(p); err != nil || got != Call(p) {
		t.Errorf("a call that is a pointer: got %#v, %v", got, err)
	}
}

// scaled is a struct whose declaration takes pointers.
type scaled struct {
	Gain float64 `attr:"gain"`
	rows RowRange
}

func (scaled) Spec() *Op { return scaledOp }

var scaledOp *Op

func init() {
	scaledOp = Define(Definition[*scaled]{
		Name: "test_scaled", Defaults: &scaled{Gain: 2},
		Shape: func(a *scaled, _ []tensor.Desc) ([]tensor.Desc, error) {
			d := tensor.Contiguous(tensor.F32, int(a.Gain))
			a.Gain = -1 // must not reach the caller
			return []tensor.Desc{d}, nil
		},
		Plan:      func(*scaled, *Target, []tensor.Desc, []tensor.Desc) (*Plan, error) { return &Plan{}, nil },
		ForOpaque: func(a *scaled) *scaled { return &scaled{Gain: a.Gain + 1} },
		Strips: &StripsOf[*scaled]{
			Need: func(_ *scaled, _ []tensor.Desc, _ int, out RowRange) RowRange { return out },
			Part: func(a *scaled, _ []tensor.Desc, _ []RowRange, out RowRange) (*scaled, RowRange) {
				return &scaled{a.Gain, out}, out
			},
		},
		Cases: CasesOf[*scaled]{
			Calls: []*scaled{nil, {Gain: 5}}, Invalid: []*scaled{{Gain: -5}}, Low: -2, High: 2,
			Inputs: func(a *scaled, _ tensor.DType, _ []int) []tensor.Desc {
				return []tensor.Desc{tensor.Contiguous(tensor.F32, int(a.Gain))}
			},
			Range: func(a *scaled, _ int, _ []tensor.Desc) (low, high float64) { return 0, a.Gain },
			Bench: func(tensor.DType) []BenchCase { return []BenchCase{{Call: &scaled{Gain: 7}}} },
		},
	})
}

// A declaration takes pointers to copies, and calls are structs for everyone else.
func TestDeclaredByPointer(t *testing.T) {
	call := scaled{Gain: 3}
	for _, c := range []Call{call, &call} {
		if got, err := Resolve(c); err != nil || got != Call(scaled{Gain: 3}) {
			t.Errorf("%T: resolved to %#v, %v", c, got, err)
		}
		if out, err := scaledOp.Shape(c, nil); err != nil || out[0].Shape[0] != 3 || call.Gain != 3 {
			t.Errorf("%T: Shape gave %v, %v and left %v", c, out, err, call)
		}
		if got, ok := scaledOp.ForOpaque(c); !ok || got != Call(scaled{Gain: 4}) {
			t.Errorf("%T: for opaque pictures %#v, %v", c, got, ok)
		}
		rows := RowRange{1, 2}
		if got, made := scaledOp.Strips.Part(c, nil, nil, rows); got != Call(scaled{3, rows}) || made != rows {
			t.Errorf("%T: a part is %#v with %v", c, got, made)
		}
		a, err := As[*scaled](c)
		if err != nil || *a != call || a == &call {
			t.Errorf("As of %T: %v, %v", c, a, err)
		}
	}
	if got := WithDefaults(scaled{}); got != (scaled{Gain: 2}) {
		t.Errorf("with defaults: %v", got)
	}
	if _, err := As[*scaled](nil); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("As of nothing: %v", err)
	}
	if _, err := As[scaled](call); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("As of another type: %v", err)
	}
	if _, err := scaledOp.Shape(tuned{}, nil); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("a call of another operation: %v", err)
	}
}

// Empty text is its default, and the caller's call does not change.
func TestEmptyText(t *testing.T) {
	for _, c := range []Call{worded{Size: 3}, &worded{Size: 3}} {
		got, err := Resolve(c)
		if err != nil || got != Call(worded{Size: 3, Filter: "lanczos3"}) {
			t.Errorf("%T: got %#v, %v", c, got, err)
		}
		if structOf(c).Field(1).String() != "" {
			t.Errorf("%T: the caller's call became %#v", c, c)
		}
		if out, err := wordedOp.Shape(c, nil); err != nil || out[0].Shape[0] != len("lanczos3") {
			t.Errorf("%T: Shape gave %v, %v", c, out, err)
		}
	}
	if got, err := Resolve(worded{Filter: "box"}); err == nil {
		t.Errorf("a zero that is no text: got %#v", got)
	}
	if got, err := ParseCall("test_worded size=0"); err == nil || !strings.Contains(err.Error(), "size cannot be 0 (its default is 2)") {
		t.Errorf("a zero in text: %#v, %v", got, err)
	}
}

type worded struct {
	Size   int    `attr:"size" doc:"a size"`
	Filter string `attr:"filter" doc:"a filter"`
}

func (worded) Spec() *Op { return wordedOp }

var wordedOp *Op

func init() {
	wordedOp = Register(Define(Definition[*worded]{
		Name: "test_worded", Defaults: &worded{Size: 2, Filter: "lanczos3"},
		Shape: func(a *worded, _ []tensor.Desc) ([]tensor.Desc, error) {
			return []tensor.Desc{tensor.Contiguous(tensor.F32, len(a.Filter))}, nil
		},
		Plan: func(*worded, *Target, []tensor.Desc, []tensor.Desc) (*Plan, error) { return &Plan{}, nil },
	}))
}

// The cases of a declaration by pointer have structs. A nil pointer is a zero struct.
func TestCasesByPointer(t *testing.T) {
	c := scaledOp.Cases
	if scaledOp.Defaults != Call(scaled{Gain: 2}) || c.Calls[0] != Call(scaled{}) || c.Calls[1] != Call(scaled{Gain: 5}) || c.Invalid[0] != Call(scaled{Gain: -5}) {
		t.Errorf("defaults %#v, calls %#v, invalid %#v", scaledOp.Defaults, c.Calls, c.Invalid)
	}
	if got := c.Bench(tensor.F32)[0].Call; got != Call(scaled{Gain: 7}) {
		t.Errorf("a benchmark has %#v", got)
	}
	if in := c.Inputs(c.Calls[1], tensor.F32, nil); len(in) != 1 || in[0].Shape[0] != 5 {
		t.Errorf("inputs %v", in)
	}
	if _, high := c.Range(c.Calls[1], 0, nil); high != 5 {
		t.Errorf("range to %v", high)
	}
	if _, high := c.Range(tuned{}, 0, nil); high != 2 || c.Inputs(tuned{}, tensor.F32, nil) != nil {
		t.Errorf("a call of another operation has inputs or a range to %v", high)
	}
	p := Define(Definition[*scaled]{Name: "test_nil"})
	if p.Defaults != Call(scaled{}) {
		t.Errorf("nil defaults are %#v", p.Defaults)
	}
}

func TestResolveRefuses(t *testing.T) {
	zero := func(f func(*tuned)) tuned {
		c := tuned{Gain: 1, Half: 1, Dim: 1, Level: 1}
		f(&c)
		return c
	}
	for name, c := range map[string]struct {
		call Call
		want string
	}{
		"nothing":              {nil, "no operation"},
		"a nil pointer":        {(*tuned)(nil), "nil *spec.tuned"},
		"a nil call's pointer": {(*held)(nil), "nil *spec.held"},
		"one that embeds nil":  {wrapped{}, "wrapped.Spec"},
		"one that embeds":      {wrapped{tuned{Gain: 1}}, "got spec.wrapped, want spec.tuned"},
		"no operation":         {loose{}, "has no operation"},
		"an empty operation":   {loose{&Op{}}, "without Shape or Plan"},
		"zero gain":            {zero(func(c *tuned) { c.Gain = 0 }), "gain is zero, as if left out (spec.WithDefaults sets its default, 2; spec.Given(0)"},
		"zero half":            {zero(func(c *tuned) { c.Half = 0 }), "half is zero"},
		"a pointer to zeros":   {&tuned{}, "gain is zero"},
		"zero held":            {&held{}, "gain is zero"},
	} {
		if got, err := Resolve(c.call); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v, want ErrInvalidArgument with %q", name, got, err, c.want)
		}
		if _, err := tunedOp.Shape(c.call, nil); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%s: Shape gave %v", name, err)
		}
		if _, err := tunedOp.Plan(c.call, nil, nil, nil); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%s: Plan gave %v", name, err)
		}
		tunedOp.Reference(c.call, nil, nil)
		if tunedOp.Tolerance(c.call, tensor.F32, nil) != (Tolerance{}) || tunedOp.Cost(c.call, nil) != (Cost{}) || tunedOp.SizeClass(c.call, nil) != nil || tunedOp.Strategies(c.call, nil, nil, nil) != nil {
			t.Errorf("%s: a function of the operation took it", name)
		}
		_, _ = FormatCall(c.call), FormatBrief(c.call) // no panic
	}
	for name, c := range map[string]tuned{
		"a required zero":                    zero(func(c *tuned) { c.Dim = 0 }),
		"a zero that Shape judges":           zero(func(c *tuned) { c.Level = 0 }),
		"a zero that is the default":         zero(func(c *tuned) { c.Exact = false }),
		"zeros that are given":               zero(func(c *tuned) { c.Gain, c.Half = Given(0.0), Given(float32(0)) }),
		"a call with its defaults":           WithDefaults(tuned{}),
		"a number given":                     zero(func(c *tuned) { c.Gain = Given(-3.0) }),
		"what is not zero, not even to text": zero(func(c *tuned) { c.Gain = math.SmallestNonzeroFloat64 }),
	} {
		if _, err := Resolve(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGivenZero checks that the functions of a declaration see 0 where Given marks a zero. They see -0
// where the default is zero, because it is meant there, and where they judge a zero.
func TestGivenZero(t *testing.T) {
	for name, c := range map[string]Call{
		"a struct":  zeros{Gain: Given(0.0), Half: Given(float32(0)), Shift: Given(0.0), Must: Given(0.0)},
		"a pointer": &zeros{Gain: Given(0.0), Half: Given(float32(0)), Shift: Given(0.0), Must: Given(0.0)},
	} {
		zerosSeen = zeros{Gain: 1}
		if _, err := c.Spec().Shape(c, nil); err != nil {
			t.Fatal(err)
		}
		z := zerosSeen
		if math.Float64bits(z.Gain) != 0 || !math.Signbit(float64(z.Half)) || !math.Signbit(z.Shift) || !math.Signbit(z.Must) {
			t.Errorf("%s: got %+v, want the signs of all but gain", name, z)
		}
		if p, ok := c.(*zeros); ok && !math.Signbit(p.Gain) {
			t.Errorf("%s: the call has changed: %+v", name, p)
		}
	}
	Register(zerosOp)
	c, err := ParseCall("test_zeros gain=0 half=0 shift=0 must=0")
	if z, ok := c.(zeros); err != nil || !ok || !math.Signbit(z.Gain) || math.Signbit(z.Shift) || math.Signbit(z.Must) {
		t.Errorf("of text: got %+v, %v, want a sign that marks gain only", c, err)
	}
}

// zeros has attributes whose zeros mean different things.
type zeros struct {
	Gain  float64 `attr:"gain"`
	Half  float32 `attr:"half,zero"`
	Shift float64 `attr:"shift"`
	Must  float64 `attr:"must,required"`
}

func (zeros) Spec() *Op { return zerosOp }

var (
	zerosOp   *Op
	zerosSeen zeros
)

func init() {
	zerosOp = Define(Definition[zeros]{
		Name: "test_zeros", Defaults: zeros{Gain: 2, Half: 0.5, Must: 1},
		Shape: func(a zeros, _ []tensor.Desc) ([]tensor.Desc, error) {
			zerosSeen = a
			return nil, nil
		},
		Plan: func(zeros, *Target, []tensor.Desc, []tensor.Desc) (*Plan, error) { return &Plan{}, nil },
	})
}

func TestWithDefaults(t *testing.T) {
	if got, want := WithDefaults(tuned{Gain: 7, Dim: 3}), (tuned{Gain: 7, Half: 0.5, Dim: 3, Level: 0.4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := WithDefaults(tuned{Gain: Given(0.0)}); !math.Signbit(got.Gain) || got.Gain != 0 || got.Dim != 0 {
		t.Errorf("a zero that is given: got %+v", got)
	}
	mine := &held{}
	if got := WithDefaults(mine); got.Gain != 2 || mine.Gain != 0 {
		t.Errorf("a pointer: got %+v and %+v", got, mine)
	}
	if got := WithDefaults(Call(tuned{})); got != Call(tuned{Gain: 2, Half: 0.5, Level: 0.4}) {
		t.Errorf("as a Call: got %+v", got)
	}
	if WithDefaults[Call](nil) != nil || WithDefaults((*held)(nil)) != nil || WithDefaults(loose{}) != (loose{}) {
		t.Error("no call was changed")
	}
}

// TestTextAndRequired checks that text and a program give the same call. A zero in text
// is meant.
func TestTextAndRequired(t *testing.T) {
	if _, err := ParseCall("test_tuned gain=3"); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), "dim is missing: it has no default") {
		t.Errorf("without a required attribute: %v", err)
	}
	c, err := ParseCall("test_tuned dim=0")
	if err != nil || c != Call(WithDefaults(tuned{})) {
		t.Errorf("got %+v, %v", c, err)
	}
	c, err = ParseCall("test_tuned dim=0 gain=0 half=-0")
	if err != nil {
		t.Fatal(err)
	}
	if c, err = Resolve(c); err != nil || c.(tuned).Gain != 0 || c.(tuned).Half != 0 {
		t.Errorf("zeros in text: got %+v, %v", c, err)
	}
	if text := FormatCall(c); text != "test_tuned gain=0 half=0 dim=0 level=0.4 exact=false" {
		t.Errorf("written as %q", text)
	}
	var defaults []string
	for _, a := range tunedOp.Attrs() {
		defaults = append(defaults, a.Name+" "+a.Default)
	}
	if want := []string{"gain 2", "half 0.5", "dim ", "level 0.4", "exact false"}; !reflect.DeepEqual(defaults, want) {
		t.Errorf("got %q, want %q", defaults, want)
	}
}

func TestParseOp(t *testing.T) {
	if op, err := ParseOp("TEST_Tuned"); err != nil || op != tunedOp {
		t.Errorf("got %v, %v", op, err)
	}
	if _, err := ParseOp("test_tunes"); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), `did you mean "test_tuned"?`) {
		t.Errorf("an unknown one: %v", err)
	}
	if _, err := ParseOp("test_tuned", "image"); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("one of another group: %v", err)
	}
}

// TestResolveAllocs checks that resolving a call allocates nothing, because calls are
// resolved before every launch.
func TestResolveAllocs(t *testing.T) {
	var c Call = WithDefaults(tuned{})
	if n := testing.AllocsPerRun(100, func() { _, _ = Resolve(c) }); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}
