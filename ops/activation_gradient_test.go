package ops_test

import (
	"math"
	"reflect"
	"testing"

	_ "github.com/lathe-gpu/lathe/ops/all"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestActivationGradients compares the operation that is the gradient of a function of one element with
// differences of the function, in float64. A gradient has the attributes of its function.
func TestActivationGradients(t *testing.T) {
	tested := 0
	for _, op := range spec.All() {
		gradient := spec.Lookup(op.Name + "_grad")
		if op.Traits.Class != spec.Elementwise || gradient == nil || len(op.In) != 1 || len(gradient.In) != 2 {
			continue
		}
		tested++
		for _, call := range op.Cases.Calls {
			checkGradient(t, call, withAttrs(gradient, call))
		}
	}
	if tested < 18 {
		t.Errorf("%d functions have gradients (want at least 18)", tested)
	}
}

// withAttrs returns a call of op with the attributes of c.
func withAttrs(op *spec.Op, c spec.Call) spec.Call {
	like := reflect.TypeOf(op.Cases.Calls[0])
	from := reflect.Indirect(reflect.ValueOf(c))
	if like.Kind() == reflect.Pointer {
		to := reflect.New(like.Elem())
		to.Elem().Set(from.Convert(like.Elem()))
		return to.Interface().(spec.Call)
	}
	return from.Convert(like).Interface().(spec.Call)
}

// checkGradient compares a gradient at many points that are no kinks of the functions.
func checkGradient(t *testing.T, forward, gradient spec.Call) {
	t.Helper()
	const step, n = 1e-5, 401
	desc := tensor.Contiguous(tensor.F64, n)
	x, dy, dx := make([]float64, n), make([]float64, n), tensor.NewHost(desc)
	for i := range x {
		x[i] = 9*(float64(i)/n*2-1) + 0.00317 // no kink is within a step
		dy[i] = math.Cos(float64(5 * i))
	}
	host := func(values []float64, add float64) *tensor.Host {
		h := tensor.NewHost(desc)
		moved := make([]float64, n)
		for i, v := range values {
			moved[i] = v + add
		}
		h.SetFloats(moved)
		return h
	}
	at := func(add float64) []float64 {
		out := tensor.NewHost(desc)
		forward.Spec().Reference(forward, []*tensor.Host{host(x, add)}, []*tensor.Host{out})
		return out.Floats()
	}
	gradient.Spec().Reference(gradient, []*tensor.Host{host(x, 0), host(dy, 0)}, []*tensor.Host{dx})
	up, down := at(step), at(-step)
	for i, got := range dx.Floats() {
		if want := dy[i] * (up[i] - down[i]) / (2 * step); math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
			t.Errorf("%s: x = %v, dy = %v: got %v, want %v", spec.FormatCall(gradient), x[i], dy[i], got, want)
			return
		}
	}
}
