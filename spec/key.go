package spec

import (
	"encoding/binary"
	"math"
	"reflect"
)

// keyLayout says how the attributes of a type are written as bytes, such that different
// attributes give different bytes.
type keyLayout struct {
	// fields are the numbers of the fields that are written.
	fields []int
	// complete says that every field can be written.
	complete bool
}

// newKeyLayout returns the layout of keys for attributes of type t.
func newKeyLayout(t reflect.Type) *keyLayout {
	l := &keyLayout{complete: t.Kind() == reflect.Struct}
	if !l.complete {
		return l
	}
	for i := range t.NumField() {
		if t.Field(i).Type == imageType {
			continue // Calls of tensors leave it out, and only they have keys.
		}
		l.fields = append(l.fields, i)
		l.complete = l.complete && keyable(t.Field(i).Type, t.Field(i).IsExported(), maxDepth)
	}
	return l
}

// callType is the type of attributes that are calls themselves, as in a chain.
var callType = reflect.TypeFor[Call]()

// maxDepth is how many pointers, slices, arrays and structs an attribute may be nested in. It ends
// the search in a type that contains itself.
const maxDepth = 16

// maxKey is the length in bytes from which on a call has no key. It ends the key of a call
// that contains itself.
const maxKey = 1 << 14

// keyable reports whether attributes of type t can be written as a key. Package reflect
// returns a call only if the field is exported.
func keyable(t reflect.Type, exported bool, depth int) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return depth > 0 && keyable(t.Elem(), exported, depth-1)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); depth == 0 || !keyable(f.Type, exported && f.IsExported(), depth-1) {
				return false
			}
		}
		return true
	case reflect.Interface:
		return exported && t == callType
	}
	return false
}

// AppendKey appends a key to b. Equal calls of an operation have the same key, and
// different calls have different keys. It reports false if it cannot write an attribute,
// such as a map or a picture, and if c is not a valid call or the key is
// very long.
func AppendKey(b []byte, c Call) ([]byte, bool) {
	if len(b) > maxKey {
		return b, false
	}
	op, err := opOf(c)
	if err != nil || op.key == nil || !op.key.complete || structOf(c).Type() != structOf(op.Defaults).Type() {
		return b, false
	}
	b = binary.LittleEndian.AppendUint64(b, op.id)
	v, ok := structOf(c), true
	for _, i := range op.pictures {
		if !v.Field(i).IsNil() { // With tensors such a call is refused, and must not find the plan of one without.
			return b, false
		}
	}
	for _, i := range op.key.fields {
		if b, ok = appendKey(b, v.Field(i)); !ok {
			return b, false
		}
	}
	return b, true
}

// appendKey appends the value of an attribute.
func appendKey(b []byte, v reflect.Value) ([]byte, bool) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1), true
		}
		return append(b, 0), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.LittleEndian.AppendUint64(b, uint64(v.Int())), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.LittleEndian.AppendUint64(b, v.Uint()), true
	case reflect.Float32, reflect.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float())), true
	case reflect.String:
		b = binary.LittleEndian.AppendUint64(b, uint64(v.Len()))
		return append(b, v.String()...), true
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0), true
		}
		return appendKey(append(b, 1), v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return append(b, 0), true
		}
		b = append(b, 1)
		c, ok := v.Interface().(Call)
		if !ok {
			return b, false
		}
		return AppendKey(b, c)
	case reflect.Struct:
		for i := range v.NumField() {
			var ok bool
			if b, ok = appendKey(b, v.Field(i)); !ok {
				return b, false
			}
		}
		return b, true
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0), true
		}
		b = append(b, 1)
		fallthrough
	case reflect.Array:
		b = binary.LittleEndian.AppendUint64(b, uint64(v.Len()))
		for i := range v.Len() {
			var ok bool
			if b, ok = appendKey(b, v.Index(i)); !ok {
				return b, false
			}
		}
		return b, true
	}
	return b, false
}
