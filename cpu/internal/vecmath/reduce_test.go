package vecmath

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// bigPi returns pi, by Machin's formula.
func bigPi(bits uint) *big.Float {
	number := func(v int64) *big.Float { return new(big.Float).SetPrec(bits + 64).SetInt64(v) }
	arccot := func(k int64) *big.Float {
		sum, power := number(0), number(0).Quo(number(1), number(k))
		for i := int64(0); power.MantExp(nil) > -int(bits)-32; i++ {
			term := number(0).Quo(power, number(2*i+1))
			if i%2 == 1 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, number(k*k))
		}
		return sum
	}
	a, b := arccot(5), arccot(239)
	return a.Sub(a.Mul(a, number(16)), b.Mul(b, number(4)))
}

// TestReduction compares the functions with reductions of many bits, at large numbers and at
// those nearest to multiples of pi/2: the accuracy of package math is not needed here.
func TestReduction(t *testing.T) {
	const bits = 320
	half := bigPi(bits)
	half.SetMantExp(half, -1)
	number := func() *big.Float { return new(big.Float).SetPrec(bits) }
	// reduceBig returns n mod 4 and r with x = n*pi/2 + r.
	reduceBig := func(x float64) (int, float64) {
		q := number().Quo(number().SetFloat64(x), half)
		n, _ := q.Add(q, number().SetFloat64(math.Copysign(0.5, x))).Int(nil)
		r := number().Sub(number().SetFloat64(x), number().Mul(number().SetInt(n), half))
		f, _ := r.Float64()
		return int(new(big.Int).And(n, big.NewInt(3)).Int64()), f
	}
	pick := func(shift int, f ...func(float64) float64) func(x float64) float64 {
		return func(x float64) float64 {
			n, r := reduceBig(x)
			return f[(n+shift)%len(f)](r)
		}
	}
	minus := func(f func(float64) float64) func(float64) float64 {
		return func(x float64) float64 { return -f(x) }
	}
	cases := []reference{
		{name: Sin, ulp: 1.5, one: pick(0, math.Sin, math.Cos, minus(math.Sin), minus(math.Cos))},
		{name: Cos, ulp: 1.5, one: pick(1, math.Sin, math.Cos, minus(math.Sin), minus(math.Cos))},
		{name: Tan, ulp: 3, one: pick(0, math.Tan, func(x float64) float64 { return -1 / math.Tan(x) })},
	}

	// The numbers that are nearest to multiples of pi/2, relative to their size.
	r := rand.New(rand.NewPCG(testlevel.Seed(t), 3))
	var xs []float32
	count := 400
	if testlevel.IsFull() {
		count = 8000
	}
	for i := range count {
		n := float64(1 + r.Int64N(1<<(1+i%42)))
		x := float32(n * math.Pi / 2)
		xs = append(xs, x, -x, math.Nextafter32(x, 0), math.Float32frombits(math.Float32bits(0x1p20)+r.Uint32N(0x7f800000-0x49800000)))
	}
	// Continued fractions find the convergents p/q of 2^e*2/pi, and p*2^e is nearest to a
	// multiple if p has 24 bits.
	for e := range 105 {
		for _, m := range nearMultiples(half, e) {
			xs = append(xs, float32(math.Ldexp(float64(m), e)))
		}
	}
	closest := math.Inf(1)
	for _, x := range xs {
		_, rest := reduceBig(float64(x))
		closest = min(closest, math.Abs(rest))
	}
	t.Logf("%d numbers, the nearest one 2^%.1f from a multiple of pi/2", len(xs), math.Log2(closest))
	for _, ref := range cases {
		c := &checker{t: t, e: newEngine(t, ref.name), ref: ref}
		for _, x := range xs {
			c.add(x, 1)
		}
		c.flush()
		t.Logf("%.3f ULP: %s", c.worst, c.at)
	}
}

// nearMultiples returns integers m of at most 24 bits for which m*2^e is near a multiple of
// half: the denominators of the convergents of 2^e/half.
func nearMultiples(half *big.Float, e int) []int64 {
	one := new(big.Float).SetPrec(half.Prec()).SetInt64(1)
	rest := new(big.Float).SetMantExp(one, e)
	rest.Quo(rest, half)
	var found []int64
	before, now := int64(1), int64(0) // the denominators before the first convergent
	for {
		whole, _ := rest.Int(nil)
		if now != 0 && whole.BitLen() > 24 {
			return found
		}
		k := int64(0)
		if now != 0 {
			k = whole.Int64()
		}
		before, now = now, k*now+before
		if now >= 1<<24 {
			return found
		}
		found = append(found, now)
		rest.Sub(rest, new(big.Float).SetInt(whole))
		if rest.Sign() == 0 {
			return found
		}
		rest.Quo(one, rest)
	}
}
