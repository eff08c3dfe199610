package lathe_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// onProcessor opens the device cpu until the test ends.
func onProcessor(t *testing.T) *lathe.Device {
	t.Helper()
	testkit.Built(t, drivers.Built(), "cpu")
	dev, err := lathe.Open(t.Context(), lathe.WithBackend("cpu"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// TestLeftOutInputs leaves out inputs of a recurrent layer before others, as nil. The results are those with
// zeros for them.
func TestLeftOutInputs(t *testing.T) {
	ctx := t.Context()
	dev := onProcessor(t)
	for _, d := range []tensor.DType{tensor.F32, tensor.F16} {
		// ramp is a tensor whose elements differ.
		ramp := func(shape ...int) *lathe.Tensor {
			v := make([]float64, tensor.Contiguous(d, shape...).Elems())
			for i := range v {
				v[i] = float64(i%11)/8 - 0.5
			}
			x, err := lathe.FromFloats(ctx, dev, d, v, shape...)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		zeros, err := dev.NewTensor(tensor.Contiguous(d, 1, 32))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := lathe.FromSlice(ctx, dev, []int32{5, 5}, 2)
		if err != nil {
			t.Fatal(err)
		}
		x, w, r, h, p := ramp(5, 2, 3), ramp(1, 16, 3), ramp(1, 16, 4), ramp(1, 2, 4), ramp(1, 12)
		cell, err := dev.NewTensor(tensor.Contiguous(d, 1, 2, 4))
		if err != nil {
			t.Fatal(err)
		}
		call := ops.LSTM{Direction: "forward"}
		want, _, _, err := dev.LSTM(call, x, w, r, zeros, whole, h, cell, p)
		if err != nil {
			t.Fatal(err)
		}
		scope := dev.Scope(ctx)
		inScope, _, _ := scope.LSTM(call, x, w, r, nil, nil, h, nil, p)
		for name, made := range map[string]func() (*lathe.Tensor, error){
			"a method": func() (*lathe.Tensor, error) {
				y, _, _, err := dev.LSTM(call, x, w, r, nil, nil, h, nil, p)
				return y, err
			},
			"Call": func() (*lathe.Tensor, error) {
				out, err := dev.Call(ctx, call, x, w, r, nil, nil, h, nil, p)
				if err != nil {
					return nil, err
				}
				return out[0], nil
			},
			"Run": func() (*lathe.Tensor, error) {
				y, _, yC, err := dev.LSTM(call, x, w, r, nil, nil, nil, nil, nil)
				if err != nil {
					return nil, err
				}
				last, err := dev.NewTensor(yC.Desc())
				if err != nil {
					return nil, err
				}
				return y, dev.Run(ctx, call, []*lathe.Tensor{x, w, r, nil, nil, h, nil, p}, []*lathe.Tensor{y, yC, last})
			},
			"a Scope": func() (*lathe.Tensor, error) { return inScope, scope.Err() },
		} {
			y, err := made()
			if err != nil {
				t.Errorf("%v by %s: %v", d, name, err)
				continue
			}
			a, err := lathe.ToFloats[float64](ctx, want)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := lathe.ToFloats[float64](ctx, y); err != nil || !slices.Equal(a, b) {
				t.Errorf("%v by %s: got %v, %v; want %v", d, name, b, err, a)
			}
		}
		scope.Close()
		// Inputs that a call must have, and those of operations that have no such rule, are errors.
		if _, _, _, err := dev.LSTM(call, x, nil, r, nil, nil, h, nil, nil); !errors.Is(err, lathe.ErrInvalidHandle) {
			t.Errorf("no weights: got %v, want ErrInvalidHandle", err)
		}
		if _, err := dev.Call(ctx, ops.RMSNorm{Dim: -1, Eps: 1e-5}, x, nil); !errors.Is(err, lathe.ErrInvalidHandle) {
			t.Errorf("rms_norm of a nil gamma: got %v, want ErrInvalidHandle", err)
		}
		// A wrong shape or dtype is named.
		other := tensor.F32
		if d == other {
			other = tensor.F16
		}
		wrong, err := dev.NewTensor(tensor.Contiguous(other, 1, 2, 4))
		if err != nil {
			t.Fatal(err)
		}
		for text, in := range map[string]*lathe.Tensor{"initial_h (got ": ramp(1, 2, 5), "initial_h (got " + other.String(): wrong} {
			if _, _, _, err := dev.LSTM(call, x, w, r, nil, nil, in, nil, nil); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), text) {
				t.Errorf("got %v, want ErrInvalidArgument with %q", err, text)
			}
		}
	}
}

// TestLeftOutGamma leaves out the weights of layer_norm and of its gradient, and compares with numbers that were
// worked out by hand: the rows have the mean 5 and the variance 4.
func TestLeftOutGamma(t *testing.T) {
	ctx := t.Context()
	dev := onProcessor(t)
	of := func(v []float32, shape ...int) *lathe.Tensor {
		x, err := lathe.FromSlice(ctx, dev, v, shape...)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	check := func(name string, x *lathe.Tensor, want []float64) {
		t.Helper()
		got, err := lathe.ToFloats[float64](ctx, x)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-5 }) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	x := of([]float32{3, 3, 7, 7, 7, 3, 3, 7}, 2, 4)
	beta, dy := of([]float32{10, 20, 30, 40}, 4), of([]float32{1, 0, 0, 0, 4, 4, 4, 8}, 2, 4)
	out, err := dev.LayerNorm(x, nil, beta, 0)
	if err != nil {
		t.Fatal(err)
	}
	check("out", out, []float64{9, 19, 31, 41, 11, 19, 29, 41})
	// The normalised rows are -1, -1, 1, 1 and 1, -1, -1, 1.
	dx, dgamma, dbeta, err := dev.LayerNormGrad(x, nil, dy, 0)
	if err != nil {
		t.Fatal(err)
	}
	check("dx", dx, []float64{0.25, -0.25, 0, 0, -1, 0, 0, 1})
	check("dgamma", dgamma, []float64{3, -4, -4, 8})
	check("dbeta", dbeta, []float64{5, 4, 4, 8})
}
