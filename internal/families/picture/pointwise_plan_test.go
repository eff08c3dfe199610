package picture

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe/tensor"
)

// TestStepBits repeats in Go what image/pointwise_byte.step does with the bits of each
// colour, for every threshold that separates two levels.
func TestStepBits(t *testing.T) {
	for half := -2; half <= 520; half++ { // thresholds at levels and between them
		threshold := float32(half) / 2
		low, either := stepBits(threshold)
		for level := range uint32(256) {
			v := level * 0x010101
			sum := v&0x7f7f7f + low
			on := ((sum & v) | ((sum | v) & either)) & 0x808080
			got, want := on<<1-on>>7, uint32(0)
			if float32(level) >= threshold {
				want = 0xffffff
			}
			if got != want {
				t.Fatalf("level %d, threshold %v: got %06x, want %06x", level, threshold, got, want)
			}
		}
	}
}

// TestNoSubnormalThreshold checks that a threshold on bytes above zero stays above zero where a
// driver takes subnormal numbers for zero.
func TestNoSubnormalThreshold(t *testing.T) {
	for _, c := range []struct{ value, want float64 }{{4.6e-41, 0x1p-126}, {0, 0}, {0.5, 127.5}, {1e-300, 0}} {
		got := encodeStages(tensor.U8, []Stage{{Step: true, Threshold: c.value}})[0].Threshold
		if float64(got) != c.want {
			t.Errorf("threshold %g: got %g, want %g", c.value, got, c.want)
		}
	}
}

// TestExactFunctions compares the functions that are the same on every processor with those of
// package math.
func TestExactFunctions(t *testing.T) {
	near := func(name string, x, got, want float64) {
		if !(math.Abs(got-want) <= 1e-11) {
			t.Errorf("%s of %v: got %v, want %v", name, x, got, want)
		}
	}
	for i := -720; i <= 720; i++ {
		x := float64(i) * 1.3
		cos, sin := CosSin(x)
		near("cosine", x, cos, math.Cos(x*math.Pi/180))
		near("sine", x, sin, math.Sin(x*math.Pi/180))
		near("Exp2", x/200, Exp2(x/200), math.Exp2(x/200))
		for _, e := range []float64{0.1, 1 / 2.2, 1, 2.4, 10} {
			base := float64(i+720) / 1440
			near("power", base, power(base, e), math.Pow(base, e))
		}
	}
	near("power", 1e-300, power(1e-300, 0.1), math.Pow(1e-300, 0.1))
}

// TestSpline checks that a curve goes through its points, and neither rises above nor falls below
// two of them on its way from one to the other.
func TestSpline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "points")
		var points []float64
		x := rapid.Float64Range(0, 0.1).Draw(t, "x")
		for range n {
			points = append(points, x, rapid.Float64Range(0, 1).Draw(t, "y"))
			x += rapid.Float64Range(0.001, 0.1).Draw(t, "step")
		}
		c := Curve{Channels: AllColours, Spline: NewSpline(points)}
		for i := range n {
			if got, want := c.at(points[2*i]), points[2*i+1]; math.Abs(got-want) > 1e-9 {
				t.Fatalf("point %d: got %v, want %v", i, got, want)
			}
		}
		for i := range n - 1 {
			low, high := min(points[2*i+1], points[2*i+3]), max(points[2*i+1], points[2*i+3])
			for k := range 21 {
				v := points[2*i] + float64(k)/20*(points[2*i+2]-points[2*i])
				if got := c.at(v); got < low-1e-9 || got > high+1e-9 {
					t.Fatalf("between points %d and %d: got %v, want %v to %v", i, i+1, got, low, high)
				}
			}
		}
		if got, want := c.at(-1), points[1]; got != want {
			t.Fatalf("before the first point: got %v, want %v", got, want)
		}
		if got, want := c.at(2), points[2*n-1]; math.Abs(got-want) > 1e-9 {
			t.Fatalf("behind the last point: got %v, want %v", got, want)
		}
	})
}

// TestTables checks that tables are exact: of single stages, of stages one after the other, and
// that those that need the arithmetic of the device have none.
func TestTables(t *testing.T) {
	sum := func(s ...Stage) (table levelTable) {
		table, ok := tableOf(s[0])
		for _, next := range s[1:] {
			then, more := tableOf(next)
			table, ok = table.then(then), ok && more
		}
		if !ok {
			t.Fatal("no table")
		}
		return table
	}
	invert, gamma := Stage{Scale: -1, Offset: 1}, CurveStage(Gamma(0, 1, 2.2, 0, 1))
	both := sum(gamma, invert)
	for level := range 256 {
		want := 255 - uint8(math.Floor(255*math.Pow(float64(level)/255, 1/2.2)+0.5))
		for c := range both {
			if got := both[c][level]; got != want {
				t.Errorf("colour %d, level %d: got %d, want %d", c, level, got, want)
			}
		}
	}
	red := sum(Stage{Curves: []Curve{{Channels: Red, Power: Gamma(0, 1, 1, 1, 0)}}})
	if red[0][200] != 55 || red[1][200] != 200 || red[2][200] != 200 {
		t.Errorf("a curve of red: level 200 became %d, %d and %d", red[0][200], red[1][200], red[2][200])
	}
	amount := 0.5
	for _, s := range []Stage{{Scale: 1.5}, {Luma: true, Scale: 1}, {Matrix: new([12]float64)}, {Vibrance: &amount}} {
		if _, ok := tableOf(s); ok {
			t.Errorf("%+v has a table", s)
		}
	}
}

// TestSameKind divides chains where a CPU driver takes several passes.
func TestSameKind(t *testing.T) {
	amount := 0.5
	invert, scale, curve := Stage{Scale: -1, Offset: 1}, Stage{Scale: 2}, CurveStage(Gamma(0, 1, 2, 0, 1))
	matrix, vibrance := Stage{Matrix: new([12]float64)}, Stage{Vibrance: &amount}
	for _, c := range []struct {
		stages []Stage
		want   int
	}{
		{[]Stage{scale}, 1}, {[]Stage{scale, invert, scale, curve}, 3}, {[]Stage{curve, invert, curve, scale}, 3},
		{[]Stage{invert, curve, scale}, 2}, {[]Stage{matrix, matrix}, 1}, {[]Stage{vibrance, scale}, 1},
		{[]Stage{scale, scale, scale, scale, scale, scale, scale}, maxStages},
	} {
		if got := sameKind(c.stages); got != c.want {
			t.Errorf("%+v: got %d, want %d", c.stages, got, c.want)
		}
	}
}
