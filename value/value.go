// Package value has scalar Values and the operations on them. A Value is what a
// script holds: a number, a string, a list, or a handle of a tensor. Operations on
// tensors take Values as parameters, and the operations of this package compute
// with them on the host. They need no device.
package value

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-gpu/lathe/handles"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Type is the type of a Value.
type Type uint8

// The types of values.
const (
	NullType Type = iota
	BooleanType
	IntegerType
	FloatType
	StringType
	ArrayType
	ObjectType
	HandleType
)

var typeNames = [...]string{"null", "boolean", "integer", "float", "string", "array", "object", "handle"}

// String returns the type's name, such as "integer".
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", uint8(t))
}

// Value is a scalar or a tree of scalars. It does not change. The zero Value is null.
type Value struct {
	typ Type
	// bits is the value of a boolean, an integer, a float or a handle.
	bits uint64
	// text is the value of a string.
	text string
	// keys are the keys of an object in ascending order. list[i] is the field keys[i].
	keys []string
	// list are the elements of an array, or the fields of an object.
	list []Value
}

// Null is the null value.
var Null Value

// Boolean returns a boolean.
func Boolean(b bool) Value {
	v := Value{typ: BooleanType}
	if b {
		v.bits = 1
	}
	return v
}

// Integer returns an integer.
func Integer(i int64) Value { return Value{typ: IntegerType, bits: uint64(i)} }

// Float returns a float. −0 becomes +0.
// Errors: ErrFloatSpecial for NaN and infinities.
func Float(f float64) (Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Null, fmt.Errorf("value: float: %w (got %v)", errs.ErrFloatSpecial, f)
	}
	return Value{typ: FloatType, bits: math.Float64bits(f + 0)}, nil // Adding 0 turns −0 into +0.
}

// String returns a string.
func String(s string) Value { return Value{typ: StringType, text: s} }

// Array returns an array of the values.
func Array(vs ...Value) Value { return Value{typ: ArrayType, list: slices.Clone(vs)} }

// Object returns an object of the fields.
func Object(fields map[string]Value) Value {
	v := Value{typ: ObjectType, keys: slices.Sorted(maps.Keys(fields))}
	for _, k := range v.keys {
		v.list = append(v.list, fields[k])
	}
	return v
}

// Handle returns a handle.
func Handle(h handles.Handle) Value { return Value{typ: HandleType, bits: uint64(h)} }

// Type returns the type of v.
func (v Value) Type() Type { return v.typ }

// want returns ErrType unless v is of type t.
func (v Value) want(t Type) error {
	if v.typ != t {
		return fmt.Errorf("value: %w (got %v, want %v)", errs.ErrType, v.typ, t)
	}
	return nil
}

// AsBool returns the value of a boolean, or ErrType.
func (v Value) AsBool() (bool, error) {
	return v.bits != 0 && v.typ == BooleanType, v.want(BooleanType)
}

// AsInt returns the value of an integer, or ErrType. A float without a fraction is not an
// integer.
func (v Value) AsInt() (int64, error) {
	if err := v.want(IntegerType); err != nil {
		return 0, err
	}
	return int64(v.bits), nil
}

// AsFloat returns the value of a float, or the value of an integer rounded to float64.
// Any other type is ErrType.
func (v Value) AsFloat() (float64, error) {
	switch v.typ {
	case FloatType:
		return math.Float64frombits(v.bits), nil
	case IntegerType:
		return float64(int64(v.bits)), nil
	}
	return 0, fmt.Errorf("value: %w (got %v, want integer or float)", errs.ErrType, v.typ)
}

// AsString returns the value of a string, or ErrType.
func (v Value) AsString() (string, error) { return v.text, v.want(StringType) }

// AsHandle returns the value of a handle, or ErrType.
func (v Value) AsHandle() (handles.Handle, error) {
	if err := v.want(HandleType); err != nil {
		return 0, err
	}
	return handles.Handle(v.bits), nil
}

// Len returns the number of elements of an array or of fields of an object. It is 0 for
// any other type.
func (v Value) Len() int { return len(v.list) }

// Elements returns a copy of the elements of an array, or ErrType.
func (v Value) Elements() ([]Value, error) {
	if err := v.want(ArrayType); err != nil {
		return nil, err
	}
	return slices.Clone(v.list), nil
}

// Keys returns a copy of the keys of an object in ascending order, or ErrType.
func (v Value) Keys() ([]string, error) { return slices.Clone(v.keys), v.want(ObjectType) }

// Field returns the field of an object. ok is false if it has no such field or
// v is not an object.
func (v Value) Field(key string) (field Value, ok bool) {
	i, ok := slices.BinarySearch(v.keys, key)
	if !ok {
		return Null, false
	}
	return v.list[i], true
}

// String formats v like JSON. Floats always have a point or an exponent. Handles are
// formatted as slot and generation.
func (v Value) String() string {
	var b strings.Builder
	v.format(&b)
	return b.String()
}

// format writes v as String does.
func (v Value) format(b *strings.Builder) {
	switch v.typ {
	case BooleanType:
		b.WriteString(strconv.FormatBool(v.bits != 0))
	case IntegerType:
		b.WriteString(strconv.FormatInt(int64(v.bits), 10))
	case FloatType:
		s := strconv.FormatFloat(math.Float64frombits(v.bits), 'g', -1, 64)
		b.WriteString(s)
		if !strings.ContainsAny(s, ".e") {
			b.WriteString(".0")
		}
	case StringType:
		b.WriteString(strconv.Quote(v.text))
	case ArrayType, ObjectType:
		open, end := byte('['), byte(']')
		if v.typ == ObjectType {
			open, end = '{', '}'
		}
		b.WriteByte(open)
		for i, x := range v.list {
			if i > 0 {
				b.WriteString(", ")
			}
			if v.typ == ObjectType {
				b.WriteString(strconv.Quote(v.keys[i]))
				b.WriteString(": ")
			}
			x.format(b)
		}
		b.WriteByte(end)
	case HandleType:
		b.WriteString(handles.Handle(v.bits).String())
	default:
		b.WriteString("null")
	}
}
