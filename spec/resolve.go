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

// attrTag is the tag of an attribute. The fields of a Call declare attributes by tags:
//
//	Factor float64 `attr:"factor" doc:"multiplies every colour"`
//	Dim    int     `attr:"dim,required" doc:"the dimension"`
//
// In text, an attribute that is left out gets its default. A required attribute has no
// default, so it must be given. In a Go program, a field that is left out is zero. A
// forgotten field must never give a wrong result. So a zero is refused if the default is
// not zero. Text that is empty gets its default, because it means nothing else.
// WithDefaults replaces all such zeros by the defaults. Given marks a zero that is meant. A zero is accepted if the default is zero, if the attribute is required, or if
// the tag has the option "zero", as in attr:"threshold,zero". The operation's Shape then
// checks it. The option "main" is for text: see ParseCall.
type attrTag struct {
	// name is the name of the attribute. It is empty if there is no tag.
	name string
	// required, zero and main say that the tag has these options.
	required, zero, main bool
}

func tagOf(f reflect.StructField) attrTag {
	words := strings.Split(f.Tag.Get("attr"), ",")
	return attrTag{
		name:     words[0],
		required: slices.Contains(words[1:], "required"),
		zero:     slices.Contains(words[1:], "zero"),
		main:     slices.Contains(words[1:], "main"),
	}
}

// Given returns x as an attribute that is set, even if it is zero. It returns -0 for a
// zero, which a field that is left out never is, as in Brightness{Factor: Given(0)}.
// Programs that compute an attribute which may be zero should use it.
func Given[T ~float32 | ~float64](x T) T {
	if x == 0 {
		return T(math.Copysign(0, -1))
	}
	return x
}

// markedFields lists the attributes in which Given marks a zero: numbers that have a default, which
// is not zero. In any other attribute 0 is a zero, and -0 may be meant.
func markedFields(defaults Call) []int {
	v := structOf(defaults)
	var list []int
	for _, i := range attrFields(v.Type()) {
		if isFloat(v.Field(i)) && v.Field(i).Float() != 0 && !tagOf(v.Type().Field(i)).required {
			list = append(list, i)
		}
	}
	return list
}

// unmarkedFields are the markedFields whose zeros reach a declaration as 0. Where the tag has the option
// "zero", the declaration tells a zero that is given from one that was left out, by its sign.
func unmarkedFields(defaults Call) []int {
	t := structOf(defaults).Type()
	return slices.DeleteFunc(markedFields(defaults), func(i int) bool { return tagOf(t.Field(i)).zero })
}

// unmarked returns a call in which zeros that Given marks are 0. The functions of a declaration
// compute with it: clip, for example, would else make -0 of negative numbers. c does not change.
func (op *Op) unmarked(c Call) Call { return op.withZeros(c, 0) }

// remarked undoes unmarked, for a call that a function of a declaration returns: no attribute of it was
// left out.
func (op *Op) remarked(c Call) Call { return op.withZeros(c, Given(0.0)) }

// withZeros returns a call whose attributes of op.marked that are 0 or -0 are zero. c does not change.
func (op *Op) withZeros(c Call, zero float64) Call {
	other := func(f reflect.Value) bool { return f.Float() == 0 && math.Signbit(f.Float()) != math.Signbit(zero) }
	if !slices.ContainsFunc(op.marked, func(i int) bool { return other(structOf(c).Field(i)) }) {
		return c
	}
	v := reflect.New(structOf(c).Type())
	v.Elem().Set(structOf(c))
	for _, i := range op.marked {
		if f := v.Elem().Field(i); other(f) {
			f.SetFloat(zero)
		}
	}
	if reflect.TypeOf(c).Kind() != reflect.Pointer {
		v = v.Elem()
	}
	return v.Interface().(Call)
}

// WithDefaults returns the call with defaults in place of zero attributes. Text has the
// same effect when it leaves attributes out. WithDefaults(AdamUpdate{LR: 0.01, Step: n}),
// for example, has the usual decay rates. Required attributes have no default and do not
// change. If c is not a valid call, it is returned unchanged.
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

// Resolve returns a call in the type of its operation's Defaults, with the defaults of text
// that is empty. c has that type, or is a pointer to it.
// Errors: ErrInvalidArgument if c is nil, is a nil pointer or has another type than its
// operation's calls, if its operation has no Shape or no Plan, or if an attribute is zero
// whose default is not (see WithDefaults and Given).
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

// As returns a copy of a call in the type A of its operation's Definition, such as *Blur for a
// Blur.
// Errors: as Resolve, and ErrInvalidArgument if the Definition has another type.
func As[A Call](c Call) (A, error) {
	a, err := declared(c)
	if err != nil {
		return *new(A), err
	}
	if a, ok := a.(A); ok {
		return a, nil
	}
	return *new(A), noCall(fmt.Sprintf("%T is not a call of the operation (want %v)", c, reflect.TypeFor[A]()))
}

// declared returns a copy of a call as the functions of its operation's Definition take it.
func declared(c Call) (Call, error) {
	c, err := Resolve(c)
	if err != nil {
		return nil, err
	}
	return c.Spec().calls.declared(c), nil
}

// opOf returns the operation of a call. It never panics.
func opOf(c Call) (op *Op, err error) {
	if c == nil {
		return nil, noCall("no operation to call")
	}
	if v := reflect.ValueOf(c); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, noCall(fmt.Sprintf("no operation to call: a nil %T", c))
	}
	// Spec may panic. A call may embed a nil pointer, and another program's Spec may do
	// anything.
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

// resolve is Resolve for a call of op, which is not nil.
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
	return op.complete(c)
}

// complete returns a call with the defaults of text that is empty, or an error if another
// attribute is zero whose default is not zero. c has the type of the operation's calls, and
// does not change.
func (op *Op) complete(c Call) (Call, error) {
	fields := mustBeSet(structOf(op.Defaults).Type())
	if len(fields) == 0 {
		return c, nil
	}
	given, defaults := structOf(c), structOf(op.Defaults)
	var filled reflect.Value
	for _, i := range fields {
		d := defaults.Field(i)
		if !unset(given.Field(i)) || unset(d) {
			continue
		}
		if d.Kind() != reflect.String {
			name := tagOf(given.Type().Field(i)).name
			return nil, fmt.Errorf("spec: %s: %w: %s is zero, as if left out (spec.WithDefaults sets its default, %s%s)", op.Name, errs.ErrInvalidArgument, name, formatAttr(d), givenHint(d))
		}
		if !filled.IsValid() {
			filled = reflect.New(given.Type())
			filled.Elem().Set(given)
		}
		filled.Elem().Field(i).Set(d)
	}
	switch {
	case !filled.IsValid():
		return c, nil
	case reflect.TypeOf(c).Kind() != reflect.Pointer:
		filled = filled.Elem()
	}
	return filled.Interface().(Call), nil
}

// givenHint says how to give a zero that is meant, if the type allows it.
func givenHint(f reflect.Value) string {
	if isFloat(f) {
		return "; spec.Given(0) is a zero that is meant"
	}
	return ""
}

var settable sync.Map // reflect.Type → []int

// mustBeSet lists the attributes of a type whose zero is refused if their default is not
// zero.
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

// unset reports whether a field has the value of a field that was left out.
func unset(f reflect.Value) bool {
	if isFloat(f) {
		return math.Float64bits(f.Float()) == 0
	}
	return f.IsZero()
}
