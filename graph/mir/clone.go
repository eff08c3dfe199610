package mir

import (
	"reflect"

	"github.com/lathe-gpu/lathe/spec"
)

// cloneCall returns a call with slices of its own, so that the graph does not change when the caller's slices do. An empty slice
// becomes nil.
func cloneCall(c spec.Call) spec.Call {
	v := reflect.ValueOf(c)
	if v.Kind() == reflect.Pointer {
		to := reflect.New(v.Type().Elem())
		to.Elem().Set(v.Elem())
		cloneSlices(to.Elem())
		return to.Interface().(spec.Call)
	}
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	cloneSlices(to)
	return to.Interface().(spec.Call)
}

// cloneSlices gives a value that can be set slices of its own. Fields that are not exported are not attributes.
func cloneSlices(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				cloneSlices(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 { // text has one word for an empty list and none, and so has no operation two meanings
			v.SetZero()
			return
		}
		to := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(to, v)
		v.Set(to)
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			cloneSlices(v.Index(i))
		}
	}
}
