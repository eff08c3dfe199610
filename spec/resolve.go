package spec

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// attrTag is the tag of an attribute. Attributes are declared by the fields of a Call, in tags:
//
//	Factor float64 `attr:"factor" doc:"multiplies every colour"`
//	Dim    int     `attr:"dim,required" doc:"the dimension"`
//
// In text, an attribute that is left out has its default, and a required one
// must not be left out: it has none. A Go program cannot leave out a field: it
// is zero then. So that a forgotten field is never a wrong result, a zero is
// refused where the default is another value. WithDefaults sets such fields to
// their defaults; Given is a zero that is meant. Where zero is a value like any
// other, the attribute's default is zero, or it is required: then a zero is taken
// as it is. With the option "zero", as in attr:"threshold,zero", a zero is taken
// although the default is another, and the operation's Shape judges it.
type attrTag struct {
	name           string // "" where there is no tag
	required, zero bool
}

func tagOf(f reflect.StructField) attrTag {
	words := strings.Split(f.Tag.Get("attr"), ",")
	return attrTag{
		name:     words[0],
		required: slices.Contains(words[1:], "required"),
		zero:     slices.Contains(words[1:], "zero"),
	}
}

// Given is x as an attribute that is set even if it is zero: it gives zeros the
// sign that a field left out does not have, as in Brightness{Factor: Given(0)}.
// Programs that compute an attribute, and may arrive at zero, wrap it in this.
func Given[T ~float32 | ~float64](x T) T {
	if x == 0 {
		return T(math.Copysign(0, -1))
	}
	return x
}

// WithDefaults is the call with its zero attributes at their defaults, as text
// gives them to a call that leaves them out: WithDefaults(AdamUpdate{LR: 0.01,
// Step: n}) has the usual decays. Required attributes, which have no default,
// stay as they are. What is no call of an operation is returned as it is.
func WithDefaults[C Call](c C) C {
	op, err := opOf(c)
	if err != nil || op.Defaults == nil {
		return c
	}
	from, given := structOf(op.Defaults), structOf(c)
	if from.Type() != given.Type() {
		return c
	}
	v := reflect.New(given.Type())
	v.Elem().Set(given)
	for _, i := range attrFields(given.Type()) {
		if f := v.Elem().Field(i); unset(f) && !tagOf(given.Type().Field(i)).required {
			f.Set(from.Field(i))
		}
	}
	if reflect.TypeOf(c).Kind() != reflect.Pointer {
		v = v.Elem()
	}
	return v.Interface().(C)
}

// Resolve returns a call in the type of its operation's Defaults: c may be of that type
// or point to it.
// Errors: ErrInvalidArgument: there is no call, it is a nil pointer or of another
// type than its operation's calls, its operation has no Shape or no Plan, or an
// attribute is zero whose default is not (see WithDefaults and Given).
func Resolve(c Call) (Call, error) {
	op, err := opOf(c)
	if err != nil {
		return nil, err
	}
	if op.Shape == nil || op.Plan == nil {
		return nil, fmt.Errorf("spec: %s: %w: the operation is declared without Shape or Plan", op.Name, errs.ErrInvalidArgument)
	}
	return op.resolve(c)
}

// opOf is the operation of a call, whatever that may be.
func opOf(c Call) (op *Op, err error) {
	if c == nil {
		return nil, noCall("no operation to call")
	}
	if v := reflect.ValueOf(c); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, noCall(fmt.Sprintf("no operation to call: a nil %T", c))
	}
	// A call that embeds a nil one, or one of another program, may have no Spec.
	defer func() {
		if r := recover(); r != nil {
			op, err = nil, noCall(fmt.Sprintf("%T.Spec: %v", c, r))
		}
	}()
	if op = c.Spec(); op == nil {
		return nil, noCall(fmt.Sprintf("%T has no operation", c))
	}
	return op, nil
}

func noCall(what string) error {
	return fmt.Errorf("spec: call: %w: %s", errs.ErrInvalidArgument, what)
}

// resolve is Resolve for a call of op that is not nil.
func (op *Op) resolve(c Call) (Call, error) {
	if op.Defaults == nil {
		return c, nil
	}
	have, want := reflect.TypeOf(c), reflect.TypeOf(op.Defaults)
	if have != want {
		v := reflect.ValueOf(c)
		switch {
		case have == reflect.PointerTo(want):
			c = v.Elem().Interface().(Call)
		case want == reflect.PointerTo(have):
			p := reflect.New(have)
			p.Elem().Set(v)
			c = p.Interface().(Call)
		default:
			return nil, fmt.Errorf("spec: %s: %w: type of the call (got %v, want %v)", op.Name, errs.ErrInvalidArgument, have, want)
		}
	}
	return c, op.checkSet(c)
}

// checkSet refuses a call of the operation's type with a zero attribute whose default
// is not zero.
func (op *Op) checkSet(c Call) error {
	fields := mustBeSet(structOf(op.Defaults).Type())
	if len(fields) == 0 {
		return nil
	}
	given, defaults := structOf(c), structOf(op.Defaults)
	for _, i := range fields {
		if d := defaults.Field(i); unset(given.Field(i)) && !unset(d) {
			name := tagOf(given.Type().Field(i)).name
			return fmt.Errorf("spec: %s: %w: %s is zero, as if left out (spec.WithDefaults sets its default, %s%s)", op.Name, errs.ErrInvalidArgument, name, formatAttr(d), givenHint(d))
		}
	}
	return nil
}

// givenHint says how to mean zero, where that is possible.
func givenHint(f reflect.Value) string {
	if isFloat(f) {
		return "; spec.Given(0) is a zero that is meant"
	}
	return ""
}

var settable sync.Map // reflect.Type → []int

// mustBeSet lists the attributes of a type whose zero is refused if their default
// is another.
func mustBeSet(t reflect.Type) []int {
	if list, ok := settable.Load(t); ok {
		return list.([]int)
	}
	var list []int
	for _, i := range attrFields(t) {
		if tag := tagOf(t.Field(i)); !tag.required && !tag.zero {
			list = append(list, i)
		}
	}
	settable.Store(t, list)
	return list
}

func isFloat(f reflect.Value) bool { return f.Kind() == reflect.Float32 || f.Kind() == reflect.Float64 }

// unset reports whether a field is as a literal leaves it that does not name it.
func unset(f reflect.Value) bool {
	if isFloat(f) {
		return math.Float64bits(f.Float()) == 0
	}
	return f.IsZero()
}
