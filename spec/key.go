package spec

import (
	"encoding/binary"
	"math"
	"reflect"
)

// keyLayout says how the attributes of a type become bytes that differ where the
// attributes differ.
type keyLayout struct {
	fields []int
	whole  bool // every field can be written
}

func newKeyLayout(t reflect.Type) *keyLayout {
	l := &keyLayout{whole: t.Kind() == reflect.Struct}
	if !l.whole {
		return l
	}
	for i := range t.NumField() {
		l.fields = append(l.fields, i)
		l.whole = l.whole && keyable(t.Field(i).Type) && (t.Field(i).IsExported() || t.Field(i).Type.Kind() != reflect.Interface)
	}
	return l
}

// callType is the type of attributes that are calls themselves.
var callType = reflect.TypeFor[Call]()

func keyable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return keyable(t.Elem())
	case reflect.Interface:
		return t == callType
	}
	return false
}

// AppendKey appends bytes to b that are the same for equal calls of an operation, and
// different for all others. It reports false for a call whose attributes it cannot
// write, such as structs of structs, and for what is no call.
func AppendKey(b []byte, c Call) ([]byte, bool) {
	op, err := opOf(c)
	if err != nil || op.key == nil || !op.key.whole || structOf(c).Type() != structOf(op.Defaults).Type() {
		return b, false
	}
	b = binary.LittleEndian.AppendUint64(b, op.id)
	v, ok := structOf(c), true
	for _, i := range op.key.fields {
		if b, ok = appendKey(b, v.Field(i)); !ok {
			return b, false
		}
	}
	return b, true
}

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
