package value

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe/handles"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// f returns a float for a number that is not NaN or infinite.
func f(x float64) Value {
	v, err := Float(x)
	if err != nil {
		panic(err)
	}
	return v
}

func i(x int64) Value { return Integer(x) }

const (
	maxI = math.MaxInt64
	minI = math.MinInt64
)

func TestEval(t *testing.T) {
	T, F := Boolean(true), Boolean(false)
	obj := func(k string, v Value) Value { return Object(map[string]Value{k: v}) }
	overflow, typ, zero, special := errs.ErrInvalidArgument, errs.ErrType, errs.ErrDivisionByZero, errs.ErrFloatSpecial
	for _, c := range []struct {
		op   string
		args []Value
		want any // a Value or an error
	}{
		{"add", []Value{i(2), i(3)}, i(5)},
		{"add", []Value{i(2), f(0.5)}, f(2.5)},
		{"add", []Value{f(0.5), f(0.25)}, f(0.75)},
		{"add", []Value{String("ab"), String("c")}, String("abc")},
		{"add", []Value{String("ab"), i(1)}, typ},
		{"add", []Value{Null, i(1)}, typ},
		{"add", []Value{T, T}, typ},
		{"add", []Value{i(maxI), i(1)}, overflow},
		{"add", []Value{i(minI), i(-1)}, overflow},
		{"add", []Value{i(maxI), i(minI)}, i(-1)},
		{"add", []Value{i(minI), i(0)}, i(minI)},
		{"add", []Value{f(math.MaxFloat64), f(math.MaxFloat64)}, special},
		{"sub", []Value{i(2), i(3)}, i(-1)},
		{"sub", []Value{i(minI), i(1)}, overflow},
		{"sub", []Value{i(0), i(minI)}, overflow},
		{"sub", []Value{i(-1), i(minI)}, i(maxI)},
		{"sub", []Value{i(1), f(1)}, f(0)},
		{"sub", []Value{String("a"), String("a")}, typ},
		{"mul", []Value{i(-4), i(3)}, i(-12)},
		{"mul", []Value{i(minI), i(-1)}, overflow},
		{"mul", []Value{i(minI), i(1)}, i(minI)},
		{"mul", []Value{i(1 << 62), i(2)}, overflow},
		{"mul", []Value{i(1 << 62), i(-2)}, i(minI)},
		{"mul", []Value{i(0), i(minI)}, i(0)},
		{"mul", []Value{f(0), i(-1)}, f(0)}, // The result is not −0.
		{"mul", []Value{f(1e300), f(1e300)}, special},

		{"div", []Value{i(6), i(3)}, f(2)},
		{"div", []Value{i(1), i(2)}, f(0.5)},
		{"div", []Value{i(-7), f(2)}, f(-3.5)},
		{"div", []Value{i(1), i(0)}, zero},
		{"div", []Value{f(1), f(0)}, zero},
		{"div", []Value{i(0), i(0)}, zero},
		{"div", []Value{i(0), i(-5)}, f(0)},
		{"div", []Value{i(minI), i(-1)}, f(1 << 63)},
		{"div", []Value{f(1e300), f(1e-300)}, special},
		{"div", []Value{String("a"), i(1)}, typ},
		{"mod", []Value{i(7), i(3)}, i(1)},
		{"mod", []Value{i(-7), i(3)}, i(-1)},
		{"mod", []Value{i(7), i(-3)}, i(1)},
		{"mod", []Value{i(minI), i(-1)}, i(0)},
		{"mod", []Value{i(7), f(2.5)}, f(2)},
		{"mod", []Value{f(-7), i(3)}, f(-1)},
		{"mod", []Value{f(-6), i(3)}, f(0)},
		{"mod", []Value{i(7), i(0)}, zero},
		{"mod", []Value{f(7), f(0)}, zero},

		{"pow", []Value{i(2), i(10)}, i(1024)},
		{"pow", []Value{i(0), i(0)}, i(1)},
		{"pow", []Value{i(0), i(maxI)}, i(0)},
		{"pow", []Value{i(1), i(maxI)}, i(1)},
		{"pow", []Value{i(-1), i(maxI)}, i(-1)},
		{"pow", []Value{i(-1), i(maxI - 1)}, i(1)},
		{"pow", []Value{i(2), i(62)}, i(1 << 62)},
		{"pow", []Value{i(2), i(63)}, overflow},
		{"pow", []Value{i(-2), i(63)}, i(minI)},
		{"pow", []Value{i(-2), i(64)}, overflow},
		{"pow", []Value{i(3), i(39)}, i(4052555153018976267)},
		{"pow", []Value{i(3), i(40)}, overflow},
		{"pow", []Value{i(2), i(maxI)}, overflow},
		{"pow", []Value{i(minI), i(1)}, i(minI)},
		{"pow", []Value{i(minI), i(2)}, overflow},
		{"pow", []Value{i(2), i(-1)}, f(0.5)},
		{"pow", []Value{i(0), i(-1)}, special},
		{"pow", []Value{i(2), f(0.5)}, f(math.Sqrt2)},
		{"pow", []Value{f(2), i(3)}, f(8)},
		{"pow", []Value{i(-8), f(1.0 / 3)}, special},
		{"pow", []Value{f(10), i(309)}, special},

		{"sqrt", []Value{i(9)}, f(3)},
		{"sqrt", []Value{f(2)}, f(math.Sqrt2)},
		{"sqrt", []Value{i(-1)}, special},
		{"sqrt", []Value{String("9")}, typ},
		{"sin", []Value{i(0)}, f(0)},
		{"cos", []Value{i(0)}, f(1)},
		{"tan", []Value{f(0.5)}, f(math.Tan(0.5))},
		{"log", []Value{f(math.E)}, f(1)},
		{"log", []Value{i(0)}, special},
		{"log", []Value{i(-1)}, special},
		{"exp", []Value{i(0)}, f(1)},
		{"exp", []Value{i(1000)}, special},
		{"exp", []Value{i(-1000)}, f(0)},

		{"floor", []Value{f(2.7)}, i(2)},
		{"floor", []Value{f(-2.1)}, i(-3)},
		{"ceil", []Value{f(2.1)}, i(3)},
		{"ceil", []Value{f(-0.5)}, i(0)},
		{"round", []Value{f(2.5)}, i(3)},
		{"round", []Value{f(-2.5)}, i(-3)},
		{"round", []Value{f(0.49999999999999994)}, i(0)},
		{"round", []Value{i(maxI)}, i(maxI)},
		{"floor", []Value{f(-1 << 63)}, i(minI)},
		{"floor", []Value{f(1 << 63)}, overflow},
		{"ceil", []Value{f(-1e19)}, overflow},
		{"round", []Value{f(9223372036854774784)}, i(9223372036854774784)},
		{"round", []Value{Null}, typ},
		{"abs", []Value{i(-3)}, i(3)},
		{"abs", []Value{i(minI)}, overflow},
		{"abs", []Value{f(-2.5)}, f(2.5)},
		{"abs", []Value{T}, typ},

		{"eq", []Value{i(1), f(1)}, T},
		{"eq", []Value{i(1<<53 + 1), f(1 << 53)}, F},
		{"eq", []Value{i(maxI), f(1 << 63)}, F},
		{"eq", []Value{i(minI), f(-1 << 63)}, T},
		{"eq", []Value{i(1), String("1")}, F},
		{"eq", []Value{i(1), T}, F},
		{"eq", []Value{i(0), Null}, F},
		{"eq", []Value{Null, Null}, T},
		{"eq", []Value{F, i(0)}, F},
		{"eq", []Value{String("a"), String("a")}, T},
		{"eq", []Value{Array(i(1), String("x")), Array(f(1), String("x"))}, T},
		{"eq", []Value{Array(i(1)), Array(i(1), i(1))}, F},
		{"eq", []Value{Array(), Object(nil)}, F},
		{"eq", []Value{Array(), Array()}, T},
		{"eq", []Value{obj("a", i(1)), obj("a", f(1))}, T},
		{"eq", []Value{obj("a", i(1)), obj("b", i(1))}, F},
		{"eq", []Value{Handle(5), Handle(5)}, T},
		{"eq", []Value{Handle(5), Handle(6)}, F},
		{"eq", []Value{Handle(5), i(5)}, F},
		{"ne", []Value{i(1), f(1)}, F},
		{"ne", []Value{i(1), Null}, T},
		{"lt", []Value{i(1), f(1.5)}, T},
		{"lt", []Value{i(1 << 53), f(1<<53 + 2)}, T},
		{"lt", []Value{f(1 << 53), i(1<<53 + 1)}, T},
		{"gt", []Value{i(1<<53 + 1), f(1 << 53)}, T},
		{"lt", []Value{i(maxI), f(1 << 63)}, T},
		{"gt", []Value{f(1e300), i(maxI)}, T},
		{"lt", []Value{f(-1e300), i(minI)}, T},
		{"lt", []Value{i(-1), f(-0.5)}, T},
		{"gt", []Value{i(-1), f(-1.5)}, T},
		{"le", []Value{i(1), f(1)}, T},
		{"ge", []Value{i(1), f(1)}, T},
		{"lt", []Value{String("a"), String("b")}, T},
		{"ge", []Value{String("a"), String("aa")}, F},
		{"lt", []Value{String("a"), i(1)}, typ},
		{"gt", []Value{T, F}, typ},
		{"le", []Value{Null, Null}, typ},

		{"add", []Value{i(1)}, errs.ErrInvalidArgument},
		{"sqrt", []Value{i(1), i(1)}, errs.ErrInvalidArgument},
		{"sqrt", nil, errs.ErrInvalidArgument},
		{"frobnicate", []Value{i(1)}, errs.ErrInvalidArgument},
	} {
		got, err := Eval(c.op, c.args...)
		switch want := c.want.(type) {
		case error:
			if !errors.Is(err, want) {
				t.Errorf("%s%v: got %v, %v; want error %v", c.op, c.args, got, err, want)
			}
			if err != nil && !strings.Contains(err.Error(), c.op) {
				t.Errorf("%s%v: error does not name the operation: %v", c.op, c.args, err)
			}
		case Value:
			if err != nil || got.Type() != want.Type() || got.String() != want.String() {
				t.Errorf("%s%v: got %v %v, %v; want %v %v", c.op, c.args, got.Type(), got, err, want.Type(), want)
			}
		}
	}
}

func TestOps(t *testing.T) {
	got := strings.Join(Ops(), " ")
	if want := "abs add ceil cos div eq exp floor ge gt le log lt mod mul ne pow round sin sqrt sub tan"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFloatSpecials(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if v, err := Float(x); !errors.Is(err, errs.ErrFloatSpecial) || v.Type() != NullType {
			t.Errorf("Float(%v): got %v, %v", x, v, err)
		}
	}
	x, err := f(math.Copysign(0, -1)).AsFloat()
	if err != nil || math.Signbit(x) {
		t.Errorf("−0 stayed: %v, %v", x, err)
	}
}

// TestIntegersAgainstBig checks that integer arithmetic is exact or an error. It never
// wraps around.
func TestIntegersAgainstBig(t *testing.T) {
	edge := rapid.SampledFrom([]int64{0, 1, -1, 2, -2, maxI, minI, maxI - 1, minI + 1, 1 << 31, 1 << 32, -1 << 32, 3037000499, 3037000500})
	ints := rapid.OneOf(rapid.Int64(), edge, rapid.Int64Range(-100, 100))
	rapid.Check(t, func(t *rapid.T) {
		a, b := ints.Draw(t, "a"), ints.Draw(t, "b")
		x, y := big.NewInt(a), big.NewInt(b)
		want := map[string]*big.Int{"add": new(big.Int).Add(x, y), "sub": new(big.Int).Sub(x, y), "mul": new(big.Int).Mul(x, y)}
		if b != 0 {
			want["mod"] = new(big.Int).Rem(x, y)
		}
		if b >= 0 && b < 200 {
			want["pow"] = new(big.Int).Exp(x, y, nil)
		}
		for op, w := range want {
			got, err := Eval(op, i(a), i(b))
			if !w.IsInt64() {
				if !errors.Is(err, errs.ErrInvalidArgument) {
					t.Fatalf("%d %s %d: got %v, %v; want overflow of %v", a, op, b, got, err, w)
				}
				continue
			}
			if n, aerr := got.AsInt(); err != nil || aerr != nil || n != w.Int64() {
				t.Fatalf("%d %s %d: got %v, %v; want %v", a, op, b, got, err, w)
			}
		}
	})
}

// TestCompareAgainstBig checks that comparisons of integers with floats agree with exact
// arithmetic.
func TestCompareAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Int64(), rapid.Int64Range(1<<53-3, 1<<53+3), rapid.SampledFrom([]int64{maxI, minI})).Draw(t, "n")
		x := rapid.OneOf(
			rapid.Float64Range(-1e20, 1e20),
			rapid.Custom(func(t *rapid.T) float64 {
				return float64(n) + float64(rapid.IntRange(-2, 2).Draw(t, "d"))/4
			}),
			rapid.SampledFrom([]float64{1 << 63, -1 << 63, math.Nextafter(1<<63, 0), math.MaxFloat64, math.SmallestNonzeroFloat64}),
		).Draw(t, "x")
		c := new(big.Float).SetInt64(n).Cmp(big.NewFloat(x))
		for op, want := range map[string]bool{"eq": c == 0, "ne": c != 0, "lt": c < 0, "le": c <= 0, "gt": c > 0, "ge": c >= 0} {
			got, err := Eval(op, i(n), f(x))
			if b, berr := got.AsBool(); err != nil || berr != nil || b != want {
				t.Fatalf("%d %s %v: got %v, %v; want %v", n, op, x, got, err, want)
			}
		}
		mirrored := map[string]bool{"eq": c == 0, "ne": c != 0, "lt": c > 0, "le": c >= 0, "gt": c < 0, "ge": c <= 0}
		for op, want := range mirrored {
			got, err := Eval(op, f(x), i(n))
			if b, berr := got.AsBool(); err != nil || berr != nil || b != want {
				t.Fatalf("%v %s %d: got %v, %v; want %v", x, op, n, got, err, want)
			}
		}
	})
}

func TestAccessors(t *testing.T) {
	values := map[Type]Value{
		NullType: Null, BooleanType: Boolean(true), IntegerType: i(7), FloatType: f(2.5), StringType: String("s"),
		ArrayType: Array(i(1), i(2)), ObjectType: Object(map[string]Value{"b": i(1), "a": i(2)}), HandleType: Handle(handles.Handle(99)),
	}
	names := "null boolean integer float string array object handle"
	var got []string
	for typ := NullType; typ <= HandleType; typ++ {
		got = append(got, typ.String())
		v := values[typ]
		if v.Type() != typ {
			t.Errorf("type of %v: got %v, want %v", v, v.Type(), typ)
		}
		for target, use := range map[Type]func() error{
			BooleanType: func() error { _, err := v.AsBool(); return err },
			IntegerType: func() error { _, err := v.AsInt(); return err },
			FloatType:   func() error { _, err := v.AsFloat(); return err },
			StringType:  func() error { _, err := v.AsString(); return err },
			ArrayType:   func() error { _, err := v.Elements(); return err },
			ObjectType:  func() error { _, err := v.Keys(); return err },
			HandleType:  func() error { _, err := v.AsHandle(); return err },
		} {
			fits := target == typ || target == FloatType && typ == IntegerType
			if err := use(); fits != (err == nil) || !fits && !errors.Is(err, errs.ErrType) {
				t.Errorf("%v as %v: %v", typ, target, err)
			}
		}
	}
	if s := strings.Join(got, " "); s != names {
		t.Errorf("type names: got %s, want %s", s, names)
	}
	if s := Type(99).String(); s != "type(99)" {
		t.Errorf("unknown type: %s", s)
	}
	if keys, _ := values[ObjectType].Keys(); !slices.Equal(keys, []string{"a", "b"}) {
		t.Errorf("keys %v, want a b", keys)
	}
	if v, ok := values[ObjectType].Field("a"); !ok || !v.Equal(i(2)) {
		t.Errorf("field a: %v, %v", v, ok)
	}
	for _, v := range []Value{values[ObjectType], Null, String("zz")} {
		if got, ok := v.Field("zz"); ok {
			t.Errorf("%v has a field zz: %v", v, got)
		}
	}
	if n := values[ArrayType].Len() + values[ObjectType].Len() + String("abc").Len(); n != 4 {
		t.Errorf("lengths add up to %d, want 4", n)
	}
	if b, _ := values[BooleanType].AsBool(); !b {
		t.Error("true is false")
	}
	if s, _ := values[StringType].AsString(); s != "s" {
		t.Errorf("string %q", s)
	}
	if h, _ := values[HandleType].AsHandle(); h != 99 {
		t.Errorf("handle %v", h)
	}
	if x, _ := i(1 << 40).AsFloat(); x != 1<<40 {
		t.Errorf("integer as float: %v", x)
	}
}

// TestValuesAreImmutable checks that a value shares no memory with what its caller passed
// in or gets out.
func TestValuesAreImmutable(t *testing.T) {
	vs := []Value{i(1), i(2)}
	fields := map[string]Value{"k": i(1)}
	a, o := Array(vs...), Object(fields)
	vs[0], fields["k"] = String("changed"), String("changed")
	got, err := a.Elements()
	if err != nil {
		t.Fatal(err)
	}
	got[1] = String("changed")
	keys, err := o.Keys()
	if err != nil {
		t.Fatal(err)
	}
	keys[0] = "changed"
	if s := a.String() + o.String(); s != `[1, 2]{"k": 1}` {
		t.Errorf("got %s", s)
	}
}

func TestValueString(t *testing.T) {
	v := Object(map[string]Value{
		"z": Array(Null, Boolean(false), i(-1), f(3), f(0.1), f(1e30)),
		"a": String("q\"\n"), "h": Handle(handles.Handle(5<<24 | 3)), "o": Object(nil),
	})
	want := `{"a": "q\"\n", "h": h3.5, "o": {}, "z": [null, false, -1, 3.0, 0.1, 1e+30]}`
	if got := v.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
