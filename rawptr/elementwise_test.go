package rawptr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/rawptr"
)

var unaryRefs = map[rawptr.UnaryOp]func(float64) float64{
	rawptr.ReLU:    func(x float64) float64 { return max(x, 0) },
	rawptr.Sigmoid: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, rawptr.Tanh: math.Tanh, rawptr.Exp: math.Exp, rawptr.Log: math.Log,
	rawptr.Sqrt: math.Sqrt, rawptr.Abs: math.Abs, rawptr.Neg: func(x float64) float64 { return -x },
	rawptr.GELU:  func(x float64) float64 { return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) },
	rawptr.SiLU:  func(x float64) float64 { return x / (1 + math.Exp(-x)) },
	rawptr.Rsqrt: func(x float64) float64 { return 1 / math.Sqrt(x) }, rawptr.Sin: math.Sin, rawptr.Cos: math.Cos, rawptr.Floor: math.Floor,
	rawptr.Ceil: math.Ceil, rawptr.Round: math.RoundToEven, rawptr.Erf: math.Erf,
	rawptr.Sign:     func(x float64) float64 { return x / math.Abs(x) },
	rawptr.Softplus: func(x float64) float64 { return math.Log1p(math.Exp(x)) },
}

var binaryRefs = map[rawptr.BinaryOp]func(a, b float64) float64{
	rawptr.Add: func(a, b float64) float64 { return a + b }, rawptr.Sub: func(a, b float64) float64 { return a - b },
	rawptr.Mul: func(a, b float64) float64 { return a * b }, rawptr.Div: func(a, b float64) float64 { return a / b },
	rawptr.Maximum: math.Max, rawptr.Minimum: math.Min, rawptr.Pow: math.Pow, rawptr.Mod: math.Mod,
	rawptr.Equal: func(a, b float64) float64 { return truth(a == b) }, rawptr.NotEqual: func(a, b float64) float64 { return truth(a != b) },
	rawptr.Less: func(a, b float64) float64 { return truth(a < b) }, rawptr.LessEqual: func(a, b float64) float64 { return truth(a <= b) },
	rawptr.Greater: func(a, b float64) float64 { return truth(a > b) }, rawptr.GreaterEqual: func(a, b float64) float64 { return truth(a >= b) },
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// random are n numbers between low and high.
func random(r *rand.Rand, n int, low, high float32) []float32 {
	xs := make([]float32, n)
	for i := range xs {
		xs[i] = low + (high-low)*r.Float32()
	}
	return xs
}

func TestUnary(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(3, 4))
	const n = 67
	xs := append(random(r, n-2, -3, 3), float32(math.NaN()), 1.5)
	for op := rawptr.ReLU; op <= rawptr.Softplus; op++ {
		f := unaryRefs[op]
		if f == nil {
			t.Fatalf("no reference of %v", op)
		}
		// Elements from an address inside an allocation to another one, which has more on both sides.
		in, out := put(t, d, append([]float32{9, 9, 9}, xs...)), put(t, d, make([]float32, n+2))
		if err := d.Unary(op, in+12, out+4, n); err != nil {
			t.Fatalf("%v: %v", op, err)
		}
		got := get[float32](t, d, out, n+2)
		for i, x := range xs {
			if want := f(float64(x)); !near(got[i+1], want, math.Abs(want)) {
				t.Errorf("%v(%v): got %v, want %v", op, x, got[i+1], want)
			}
		}
		if got[0] != 0 || got[n+1] != 0 {
			t.Errorf("%v wrote beside its output", op)
		}
		if err := d.Unary(op, in+12, in+12, n); err != nil {
			t.Fatalf("%v in place: %v", op, err)
		}
		for i, x := range get[float32](t, d, in+12, n) {
			if math.Float32bits(x) != math.Float32bits(got[i+1]) && x == x {
				t.Errorf("%v in place: element %d is %v, elsewhere %v", op, i, x, got[i+1])
			}
		}
		free(t, d, in, out)
	}
}

func TestBinary(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(5, 6))
	const n = 41
	as, bs := random(r, n, 0.5, 4), random(r, n, 0.5, 4)
	as[3], bs[4], as[5] = float32(math.NaN()), float32(math.NaN()), bs[5]
	a, b, out := put(t, d, as), put(t, d, bs), put(t, d, make([]float32, n+1))
	for op := rawptr.Add; op <= rawptr.GreaterEqual; op++ {
		f := binaryRefs[op]
		if f == nil {
			t.Fatalf("no reference of %v", op)
		}
		if err := d.Binary(op, a, b, out+4, n); err != nil {
			t.Fatalf("%v: %v", op, err)
		}
		got := get[float32](t, d, out+4, n)
		for i := range got {
			if want := f(float64(as[i]), float64(bs[i])); !near(got[i], want, 8*math.Abs(want)) {
				t.Errorf("%v(%v, %v): got %v, want %v", op, as[i], bs[i], got[i], want)
			}
		}
		for name, same := range map[string]func(x, y rawptr.Ptr) error{
			"over a": func(x, y rawptr.Ptr) error { return d.Binary(op, x, b, x, n) },
			"over b": func(x, y rawptr.Ptr) error { return d.Binary(op, a, y, y, n) },
		} {
			x, y := put(t, d, as), put(t, d, bs)
			if err := same(x, y); err != nil {
				t.Fatalf("%v %s: %v", op, name, err)
			}
			p := map[string]rawptr.Ptr{"over a": x, "over b": y}[name]
			for i, v := range get[float32](t, d, p, n) {
				if v != got[i] && (v == v || got[i] == got[i]) {
					t.Errorf("%v %s: element %d is %v, elsewhere %v", op, name, i, v, got[i])
				}
			}
			free(t, d, x, y)
		}
	}
}

// Wrong arguments are found before anything is allocated or run.
func TestElementwiseErrors(t *testing.T) {
	rec := recorder(t)
	d := rec.Device
	p, q := alloc(t, d, 64), alloc(t, d, 64)
	rec.quiet(t, func() {
		for _, n := range []int{-1, 17, math.MaxInt, math.MaxInt / 4, math.MinInt} {
			wantInvalid(t, fmt.Sprint("Unary of ", n), d.Unary(rawptr.Exp, p, q, n))
			wantInvalid(t, fmt.Sprint("Binary of ", n), d.Binary(rawptr.Add, p, p, q, n))
			wantInvalid(t, fmt.Sprint("Less of ", n), d.Binary(rawptr.Less, p, p, q, n))
		}
		for _, op := range []rawptr.UnaryOp{0, rawptr.Softplus + 1, 255} {
			wantInvalid(t, op.String(), d.Unary(op, p, q, 4))
			wantInvalid(t, op.String(), d.Unary(op, p, q, 0))
		}
		for _, op := range []rawptr.BinaryOp{0, rawptr.GreaterEqual + 1, 255} {
			wantInvalid(t, op.String(), d.Binary(op, p, p, q, 4))
		}
		for _, op := range []rawptr.BinaryOp{rawptr.Add, rawptr.Less} {
			wantInvalid(t, "in part over a", d.Binary(op, p, q, p+4, 4))
			wantInvalid(t, "in part over b", d.Binary(op, q, p+4, p, 4))
			wantInvalid(t, "a foreign address", d.Binary(op, p, 7, q, 4))
			wantInvalid(t, "a foreign address", d.Binary(op, 7, p, q, 4))
			wantInvalid(t, "a foreign address", d.Binary(op, p, p, 7, 4))
			wantInvalid(t, "off the elements", d.Binary(op, p+1, p, q, 4))
			if err := d.Binary(op, 1, 2, 3, 0); err != nil {
				t.Errorf("%v of nothing: %v", op, err)
			}
		}
		wantInvalid(t, "in part over the input", d.Unary(rawptr.Exp, p, p+4, 4))
		if err := d.Unary(rawptr.Exp, 1, 2, 0); err != nil {
			t.Errorf("exp of nothing: %v", err)
		}
	})
	if err := d.Binary(rawptr.Less, p, q, p, 16); err != nil {
		t.Error(err)
	}
}
