package value

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// scalarOp is a scalar operation of one or two operands.
type scalarOp struct {
	arity int
	// eval computes the operation. It ignores b if arity is 1.
	eval func(a, b Value) (Value, error)
}

var scalarOps = map[string]scalarOp{
	"add": {2, add},
	"sub": {2, arithmetic(subInt, func(a, b float64) float64 { return a - b })},
	"mul": {2, arithmetic(mulInt, func(a, b float64) float64 { return a * b })},
	"div": {2, divide(nil, func(a, b float64) float64 { return a / b })},
	"mod": {2, divide(func(a, b int64) int64 { return a % b }, math.Mod)},
	"pow": {2, pow},

	"sqrt": {1, real(math.Sqrt)},
	"sin":  {1, real(math.Sin)},
	"cos":  {1, real(math.Cos)},
	"tan":  {1, real(math.Tan)},
	"log":  {1, real(math.Log)},
	"exp":  {1, real(math.Exp)},

	"floor": {1, integral(math.Floor)},
	"ceil":  {1, integral(math.Ceil)},
	"round": {1, integral(math.Round)},
	"abs":   {1, abs},

	"eq": {2, func(a, b Value) (Value, error) { return Boolean(a.Equal(b)), nil }},
	"ne": {2, func(a, b Value) (Value, error) { return Boolean(!a.Equal(b)), nil }},
	"lt": {2, ordered(func(c int) bool { return c < 0 })},
	"le": {2, ordered(func(c int) bool { return c <= 0 })},
	"gt": {2, ordered(func(c int) bool { return c > 0 })},
	"ge": {2, ordered(func(c int) bool { return c >= 0 })},
}

// Ops returns the names of the operations that Eval knows, sorted.
func Ops() []string { return slices.Sorted(maps.Keys(scalarOps)) }

// Eval computes a scalar operation on the host:
//
//	add sub mul    two integers give an integer; with a float the result is a float;
//	               add also joins two strings
//	div            the result is always a float
//	mod            two integers: the result has the sign of the dividend;
//	               floats: like math.Mod
//	pow            an integer to an integer ≥ 0 gives an integer, else a float
//	sqrt sin cos tan log exp   the result is a float; log is the natural logarithm
//	floor ceil round           the result is an integer; round rounds halves away
//	               from zero
//	abs            the result has the type of the operand
//	eq ne          any two values, element by element; numbers by value, so 1 equals 1.0
//	lt le gt ge    two numbers by value, or two strings by bytes
//
// A comparison of an integer with a float is exact, however large they are.
//
// Errors: ErrInvalidArgument (no such operation, wrong number of operands, an
// integer result that does not fit in 64 bits), ErrType, ErrDivisionByZero,
// ErrFloatSpecial (the result would be NaN or infinite).
func Eval(op string, args ...Value) (Value, error) {
	o, ok := scalarOps[op]
	if !ok {
		return Null, fmt.Errorf("value: eval: %w: no operation %q", errs.ErrInvalidArgument, op)
	}
	if len(args) != o.arity {
		return Null, fmt.Errorf("value: %s: %w: operands (got %d, want %d)", op, errs.ErrInvalidArgument, len(args), o.arity)
	}
	v, err := o.eval(args[0], args[o.arity-1])
	if err != nil {
		return Null, fmt.Errorf("value: %s: %w", op, err)
	}
	return v, nil
}

// typeError returns ErrType with the types of the operands.
func typeError(want string, vs ...Value) error {
	names := make([]string, len(vs))
	for i, v := range vs {
		names[i] = v.typ.String()
	}
	return fmt.Errorf("%w (got %s, want %s)", errs.ErrType, strings.Join(names, " and "), want)
}

var errOverflow = fmt.Errorf("%w: integer overflow", errs.ErrInvalidArgument)

func (v Value) isNumber() bool { return v.typ == IntegerType || v.typ == FloatType }
func (v Value) isInt() bool    { return v.typ == IntegerType }
func (v Value) int() int64     { return int64(v.bits) }

// float returns the value of a number as a float64.
func (v Value) float() float64 {
	if v.typ == IntegerType {
		return float64(v.int())
	}
	return math.Float64frombits(v.bits)
}

// arithmetic returns an operation that uses ints for two integers and floats for all
// other numbers. ints reports whether the result fits in 64 bits.
func arithmetic(ints func(a, b int64) (int64, bool), floats func(a, b float64) float64) func(a, b Value) (Value, error) {
	return func(a, b Value) (Value, error) {
		switch {
		case !a.isNumber() || !b.isNumber():
			return Null, typeError("numbers", a, b)
		case a.isInt() && b.isInt():
			r, ok := ints(a.int(), b.int())
			if !ok {
				return Null, errOverflow
			}
			return Integer(r), nil
		}
		return Float(floats(a.float(), b.float()))
	}
}

var addNumbers = arithmetic(
	func(a, b int64) (int64, bool) { r := a + b; return r, (r > a) == (b > 0) },
	func(a, b float64) float64 { return a + b },
)

func add(a, b Value) (Value, error) {
	if a.typ == StringType && b.typ == StringType {
		return String(a.text + b.text), nil
	}
	if !a.isNumber() || !b.isNumber() {
		return Null, typeError("numbers or strings", a, b)
	}
	return addNumbers(a, b)
}

func subInt(a, b int64) (int64, bool) { r := a - b; return r, (r < a) == (b > 0) }

func mulInt(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if hi != 0 {
		return 0, false
	}
	return signed(lo, (a < 0) != (b < 0))
}

// magnitude returns |i|. For MinInt64 it does not fit in an int64.
func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

// signed gives a magnitude its sign, and reports whether the result fits in an int64.
func signed(m uint64, negative bool) (int64, bool) {
	if negative {
		return int64(-m), m <= 1<<63
	}
	return int64(m), m <= math.MaxInt64
}

// divide returns an operation that fails for a zero divisor. If ints is nil, the result
// is always a float.
func divide(ints func(a, b int64) int64, floats func(a, b float64) float64) func(a, b Value) (Value, error) {
	return func(a, b Value) (Value, error) {
		switch {
		case !a.isNumber() || !b.isNumber():
			return Null, typeError("numbers", a, b)
		case b.float() == 0:
			return Null, errs.ErrDivisionByZero
		case ints != nil && a.isInt() && b.isInt():
			return Integer(ints(a.int(), b.int())), nil
		}
		return Float(floats(a.float(), b.float()))
	}
}

func pow(a, b Value) (Value, error) {
	switch {
	case !a.isNumber() || !b.isNumber():
		return Null, typeError("numbers", a, b)
	case !a.isInt() || !b.isInt() || b.int() < 0:
		return Float(math.Pow(a.float(), b.float()))
	}
	r, ok := powInt(a.int(), b.int())
	if !ok {
		return Null, errOverflow
	}
	return Integer(r), nil
}

// powInt returns base to the power exp ≥ 0. It squares in at most 64 rounds. It reports
// whether the result fits in an int64.
func powInt(base, exp int64) (int64, bool) {
	negative := base < 0 && exp&1 == 1
	result, square := uint64(1), magnitude(base)
	for {
		if exp&1 == 1 {
			hi, lo := bits.Mul64(result, square)
			if hi != 0 {
				return 0, false
			}
			result = lo
		}
		if exp >>= 1; exp == 0 {
			return signed(result, negative)
		}
		// A bit of exp is left, so the result is a multiple of this square. If the
		// square does not fit, neither does the result.
		hi, lo := bits.Mul64(square, square)
		if hi != 0 {
			return 0, false
		}
		square = lo
	}
}

// real returns an operation from numbers to floats.
func real(f func(float64) float64) func(a, _ Value) (Value, error) {
	return func(a, _ Value) (Value, error) {
		if !a.isNumber() {
			return Null, typeError("a number", a)
		}
		return Float(f(a.float()))
	}
}

// integral returns an operation from floats to integers. The operation returns an integer
// unchanged.
func integral(f func(float64) float64) func(a, _ Value) (Value, error) {
	return func(a, _ Value) (Value, error) {
		switch {
		case a.isInt():
			return a, nil
		case a.typ != FloatType:
			return Null, typeError("a number", a)
		}
		r := f(a.float())
		if r < -1<<63 || r >= 1<<63 {
			return Null, fmt.Errorf("%w: %v does not fit in an integer", errs.ErrInvalidArgument, r)
		}
		return Integer(int64(r)), nil
	}
}

func abs(a, _ Value) (Value, error) {
	switch {
	case a.typ == FloatType:
		return Float(math.Abs(a.float()))
	case !a.isInt():
		return Null, typeError("a number", a)
	}
	r, ok := signed(magnitude(a.int()), false)
	if !ok {
		return Null, errOverflow
	}
	return Integer(r), nil
}

// compareNumbers returns −1 if a is less than b, 0 if they are equal, and 1 if a is
// greater. It rounds neither of them.
func compareNumbers(a, b Value) int {
	switch {
	case a.isInt() && b.isInt():
		return cmp.Compare(a.int(), b.int())
	case a.isInt():
		return compareMixed(a.int(), b.float())
	case b.isInt():
		return -compareMixed(b.int(), a.float())
	}
	return cmp.Compare(a.float(), b.float())
}

// compareMixed is compareNumbers for an integer and a float.
func compareMixed(i int64, f float64) int {
	switch {
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	whole, frac := math.Modf(f) // whole is an int64, exactly
	if c := cmp.Compare(i, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(0, frac)
}

// Equal reports whether two values are equal. Numbers are compared by value, whatever
// their types. Arrays and objects are compared element by element. All other values are
// equal only if they have the same type.
func (v Value) Equal(w Value) bool {
	if v.isNumber() && w.isNumber() {
		return compareNumbers(v, w) == 0
	}
	return v.typ == w.typ && v.bits == w.bits && v.text == w.text &&
		slices.Equal(v.keys, w.keys) && slices.EqualFunc(v.list, w.list, Value.Equal)
}

// ordered returns a comparison. holds reports the result of the comparison for −1, 0 or
// 1, as compareNumbers returns them.
func ordered(holds func(int) bool) func(a, b Value) (Value, error) {
	return func(a, b Value) (Value, error) {
		switch {
		case a.isNumber() && b.isNumber():
			return Boolean(holds(compareNumbers(a, b))), nil
		case a.typ == StringType && b.typ == StringType:
			return Boolean(holds(cmp.Compare(a.text, b.text))), nil
		}
		return Null, typeError("two numbers or two strings", a, b)
	}
}
