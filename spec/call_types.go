package spec

import (
	"fmt"
	"reflect"

	"github.com/lathe-gpu/lathe/tensor"
)

// callTypes are the type of an operation's calls, and the type in which the functions of its
// declaration get them. Programs write structs. Declarations take pointers to those structs,
// because the compiler makes one copy of generic code for all pointers, and another for each
// struct.
type callTypes struct {
	// call is the type of calls.
	call reflect.Type
	// pointer says that the declaration's functions take a pointer to call.
	pointer bool
}

// callTypesOf returns the type of calls for a declaration whose functions take t. It panics if
// t is an interface.
func callTypesOf(name string, t reflect.Type) callTypes {
	if t.Kind() == reflect.Interface {
		panic(fmt.Sprintf("spec: operation %q: the type of its attributes is the interface %v (want a struct, or a pointer to one)", name, t))
	}
	if t.Kind() == reflect.Pointer && t.Elem().Implements(reflect.TypeFor[Call]()) {
		return callTypes{t.Elem(), true}
	}
	return callTypes{t, false}
}

// plain returns a call of the declaration in the type of calls. A nil pointer stands for a
// pointer to a zero value.
func (t callTypes) plain(c Call) Call {
	switch {
	case t.pointer && isNilPointer(c):
		return reflect.Zero(t.call).Interface().(Call)
	case t.pointer && reflect.TypeOf(c) != t.call:
		return reflect.ValueOf(c).Elem().Interface().(Call)
	case isNilPointer(c):
		return reflect.New(t.call.Elem()).Interface().(Call)
	}
	return c
}

// declared returns a call, whose type is that of calls, as the functions of the declaration
// take it. A pointer is to a copy.
func (t callTypes) declared(c Call) Call {
	if !t.pointer {
		return c
	}
	p := reflect.New(t.call)
	p.Elem().Set(reflect.ValueOf(c))
	return p.Interface().(Call)
}

// cases returns the cases of a declaration with plain calls. Its functions check the type of
// a call: one of another type has no inputs. The suite resolves its calls before.
func (t callTypes) cases(c Cases) Cases {
	c.Calls, c.Invalid = t.plainCalls(c.Calls), t.plainCalls(c.Invalid)
	if bench := c.Bench; bench != nil {
		c.Bench = func(d tensor.DType) []BenchCase {
			list := bench(d)
			for i := range list {
				list[i].Call = t.plain(list[i].Call)
			}
			return list
		}
	}
	if inputs := c.Inputs; inputs != nil {
		c.Inputs = func(call Call, d tensor.DType, dims []int) []tensor.Desc {
			if reflect.TypeOf(call) != t.call {
				return nil
			}
			return inputs(t.declared(call), d, dims)
		}
	}
	if bounds := c.Range; bounds != nil {
		low, high := c.Low, c.High
		c.Range = func(call Call, i int, in []tensor.Desc) (float64, float64) {
			if reflect.TypeOf(call) != t.call {
				return low, high
			}
			return bounds(t.declared(call), i, in)
		}
	}
	if settle := c.Settle; settle != nil {
		c.Settle = func(call Call, i int, d tensor.Desc, values []float64) {
			if reflect.TypeOf(call) == t.call {
				settle(t.declared(call), i, d, values)
			}
		}
	}
	return c
}

// plainCalls returns calls as plain does.
func (t callTypes) plainCalls(list []Call) []Call {
	var plain []Call
	for _, c := range list {
		plain = append(plain, t.plain(c))
	}
	return plain
}
