package conformance

import (
	"math"
	"reflect"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
)

// TestPortableCalls refuses cases whose integers need 64 bits: the published hashes hold in programs
// of 32 bits as well.
func TestPortableCalls(t *testing.T) {
	for _, op := range spec.All() {
		for _, c := range op.Cases.Calls {
			if n, wide := wideInt(reflect.ValueOf(c)); wide {
				t.Errorf("%s: the case %+v has the int %d, which programs of 32 bits cannot hold", op.Name, c, n)
			}
		}
	}
	if _, wide := wideInt(reflect.ValueOf(&struct{ Axes []int }{[]int{1, math.MinInt}})); !wide && math.MaxInt > math.MaxInt32 {
		t.Error("wideInt does not find an int of 64 bits in a slice")
	}
}

// wideInt returns an int in v, or in what v points to or contains, that is not within 32 bits.
// An int64 has 64 bits in every program.
func wideInt(v reflect.Value) (int64, bool) {
	switch v.Kind() {
	case reflect.Int:
		return v.Int(), v.Int() != int64(int32(v.Int()))
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return wideInt(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if n, wide := wideInt(v.Index(i)); wide {
				return n, true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if n, wide := wideInt(v.Field(i)); wide {
				return n, true
			}
		}
	}
	return 0, false
}
