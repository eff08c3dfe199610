package errs

import (
	"context"
	"fmt"
	"reflect"
)

// Nil reports whether v is nil, or an interface that holds a nil pointer, map,
// slice, function or channel.
func Nil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.Interface:
		return r.IsNil()
	}
	return false
}

// Context returns ctx.Err(), or ErrInvalidArgument if ctx is nil.
func Context(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: a nil context (want context.Background() at least)", ErrInvalidArgument)
	}
	return ctx.Err()
}
