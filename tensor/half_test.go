package tensor

import (
	"math"
	"sort"
	"testing"
)

// half is a 16-bit float format as textbooks describe it: a sign, exp exponent bits and
// man mantissa bits.
type half struct {
	name     string
	exp, man int
	widen    func(uint16) float32
	narrow   func(float64) uint16
}

var halves = []half{
	{"f16", 5, 10, F16ToFloat32, F16FromFloat64},
	{"bf16", 8, 7, BF16ToFloat32, BF16FromFloat64},
}

// value returns the value of the bits by the definition, in float64, which has every
// value of both formats exactly.
func (f half) value(b uint16) float64 {
	sign := 1.0
	if b>>15 == 1 {
		sign = -1
	}
	bias := 1<<(f.exp-1) - 1
	e := int(b>>f.man) & (1<<f.exp - 1)
	m := float64(int(b) & (1<<f.man - 1))
	scale := math.Ldexp(1, -f.man)
	switch {
	case e == 1<<f.exp-1 && m == 0:
		return math.Inf(int(sign))
	case e == 1<<f.exp-1:
		return math.NaN()
	case e == 0:
		return sign * math.Ldexp(m*scale, 1-bias)
	}
	return sign * math.Ldexp(1+m*scale, e-bias)
}

// TestHalfWidenExhaustive checks that each of the 65536 bit patterns is converted to its
// value, and back.
func TestHalfWidenExhaustive(t *testing.T) {
	for _, f := range halves {
		for b := range 1 << 16 {
			want := f.value(uint16(b))
			got := float64(f.widen(uint16(b)))
			if math.IsNaN(want) {
				if !math.IsNaN(got) {
					t.Fatalf("%s %#04x: got %v, want NaN", f.name, b, got)
				}
				if back := f.value(f.narrow(got)); !math.IsNaN(back) {
					t.Fatalf("%s %#04x: NaN came back as %v", f.name, b, back)
				}
				continue
			}
			if math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s %#04x: got %v, want %v", f.name, b, got, want)
			}
			if back := f.narrow(got); back != uint16(b) {
				t.Fatalf("%s %#04x: came back as %#04x", f.name, b, back)
			}
		}
	}
}

// naive rounds by a search in all positive values. It returns the nearest value. Of two
// values that are equally near, it returns the even one. From half a step after the
// largest value on, it returns infinity.
func (f half) naive(v float64, values []float64) uint16 {
	sign := uint16(0)
	if math.Signbit(v) {
		sign, v = 1<<15, -v
	}
	inf := len(values)
	i := sort.SearchFloat64s(values, v) // the first ≥ v
	if i < inf && values[i] == v {
		return sign | uint16(i)
	}
	above := math.Ldexp(1, 1<<(f.exp-1)) // This value would follow the largest one.
	if i < inf {
		above = values[i]
	} else if v >= above {
		return sign | uint16(inf)
	}
	below := values[i-1]
	// This is exact: both differences need no more bits than v has.
	switch down, up := v-below, above-v; {
	case down < up, down == up && i%2 == 1:
		return sign | uint16(i-1)
	}
	return sign | uint16(i)
}

// TestHalfNarrowExhaustive compares with the naive search at every value and at every
// half-way point between two values. It also tries the next float64 and float32 on both
// sides of each.
func TestHalfNarrowExhaustive(t *testing.T) {
	for _, f := range halves {
		inf := (1<<f.exp - 1) << f.man
		values := make([]float64, inf)
		for b := range values {
			values[b] = f.value(uint16(b))
		}
		check := func(v float64) {
			t.Helper()
			for _, v := range []float64{v, -v} {
				if got, want := f.narrow(v), f.naive(v, values); got != want {
					t.Fatalf("%s of %b (%v): got %#04x, want %#04x", f.name, v, v, got, want)
				}
			}
		}
		largest := values[inf-1]
		for b, v := range values {
			next := math.Ldexp(1, 1<<(f.exp-1))
			if b+1 < inf {
				next = values[b+1]
			}
			for _, p := range []float64{v, v + (next-v)/2, v + (next-v)/4, v + (next-v)*3/4} {
				check(p)
				check(math.Nextafter(p, math.Inf(1)))
				if p > 0 {
					check(math.Nextafter(p, 0))
				}
				if p <= math.MaxFloat32 {
					check(float64(math.Nextafter32(float32(p), 0)))
					if up := math.Nextafter32(float32(p), math.MaxFloat32); up != 0 {
						check(float64(up))
					}
				}
			}
		}
		for _, v := range []float64{2 * largest, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-300} {
			check(v)
		}
		for _, s := range []int{1, -1} {
			if got := f.value(f.narrow(math.Inf(s))); got != math.Inf(s) {
				t.Errorf("%s of %v: got %v", f.name, math.Inf(s), got)
			}
		}
	}
}

// TestBF16Ties checks that BF16 ties are rounded to the even neighbour in one step. A
// float64 next to a tie, which float32 would round to the tie, must not count as a tie.
func TestBF16Ties(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want uint16
	}{
		{1 + 0x1p-8, 0x3F80},           // half-way between 1 and 1 + 2⁻⁷: even is 1
		{1 + 3*0x1p-8, 0x3F82},         // half-way between odd 3F81 and even 3F82
		{1 + 0x1p-8 + 0x1p-50, 0x3F81}, // just above the tie
		{1 + 3*0x1p-8 - 0x1p-50, 0x3F81},
		{-(1 + 0x1p-8 + 0x1p-50), 0xBF81},
		{0x1p-134, 0x0000},             // half of the smallest subnormal
		{0x1p-134 + 0x1p-170, 0x0001},  // and slightly more
		{0x1.FEp127 + 0x1p119, 0x7F80}, // half a step past the largest
		{0x1.FEp127 + 0x1p118, 0x7F7F}, // a quarter
		{math.MaxFloat32, 0x7F80},      // nearer to the value that would follow
		{math.Copysign(0, -1), 0x8000}, // keeps its sign
		{-math.SmallestNonzeroFloat64, 0x8000},
	} {
		if got := BF16FromFloat64(c.v); got != c.want {
			t.Errorf("%b: got %#04x, want %#04x", c.v, got, c.want)
		}
	}
}
