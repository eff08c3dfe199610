package picture

import "math"

// Channels of a Curve: bit c is set for the colour c.
const (
	Red, Green, Blue = 1, 2, 4
	AllColours       = Red | Green | Blue
)

// Curve is a function of one colour component. Its argument is clamped, so that it may be any
// number. Exactly one of Power and Spline is set.
type Curve struct {
	// Channels are the colours that have the curve. The others stay as they are. A picture of
	// one channel only has the curves of AllColours.
	Channels int
	Power    *Power
	Spline   *Spline
}

// Power maps v to a power of it, with a straight part at its beginning: x is (v − Black)·Scale,
// clamped to 0..1. The result is Low·x + LowBias for x < Until, and
// Gain·(Times·x + Shift)^Exponent + Bias from there on. Times·x + Shift is in 0..1 then.
type Power struct {
	Black, Scale           float64
	Until, Low, LowBias    float64
	Times, Shift, Exponent float64
	Gain, Bias             float64
	// Steps rounds the result to a multiple of 1/Steps. 0 does not.
	Steps float64
}

// Spline is a cubic in each of some intervals. Outside of them it is constant.
type Spline struct {
	Segments []Segment
	// End is where the last interval ends.
	End float64
}

// Segment is the function C[0] + C[1]·t + C[2]·t² + C[3]·t³ of t = v − From, from From to the
// beginning of the next segment.
type Segment struct {
	From float64
	C    [4]float64
}

// at returns the value of the curve. It has the same bits on every processor: the conversions
// keep Go from adding without rounding the product.
func (c Curve) at(v float64) float64 {
	if s := c.Spline; s != nil {
		if len(s.Segments) == 0 {
			return v
		}
		v = min(max(v, s.Segments[0].From), s.End)
		seg := s.Segments[0]
		for _, next := range s.Segments[1:] {
			if v >= next.From {
				seg = next
			}
		}
		t := v - seg.From
		y := seg.C[3]
		for i := 2; i >= 0; i-- {
			y = float64(y*t) + seg.C[i]
		}
		return y
	}
	p := c.Power
	x := Clamp01(float64((v - p.Black) * p.Scale))
	y := float64(p.Low*x) + p.LowBias
	if !(x < p.Until) {
		y = float64(p.Gain*power(Clamp01(float64(p.Times*x)+p.Shift), p.Exponent)) + p.Bias
	}
	if p.Steps > 0 {
		y = math.Floor(float64(y*p.Steps)+0.5) / p.Steps
	}
	return y
}

// power returns x^e for x in 0..1 and e > 0. The result has the same bits on every processor,
// which math.Pow does not promise.
func power(x, e float64) float64 {
	if x <= 0 {
		return 0
	}
	m, n := math.Frexp(x) // m is in ½..1
	if m < math.Sqrt2/2 {
		m, n = 2*m, n-1
	}
	// ln m = 2·atanh(s), with |s| below 0.172
	s := (m - 1) / (m + 1)
	z, sum := float64(s*s), 0.0
	for k := 23; k > 0; k -= 2 {
		sum = float64(sum*z) + 1/float64(k)
	}
	ln := float64(float64(n)*math.Ln2) + float64(2*float64(s*sum))
	return expOfNegative(max(-float64(e*ln), 0))
}

// levelTable is the value of each of 256 levels of each colour.
type levelTable [3][256]uint8

// tableOf returns the table that does the same as a stage on bytes, or false if there is none:
// if the stage mixes colours, or if its arithmetic rounds, which is the device's.
func tableOf(s Stage) (t levelTable, ok bool) {
	var f func(c int, level int) float64
	switch {
	case s.Curves != nil:
		f = func(c, level int) float64 {
			v := float64(level) / 255
			for _, curve := range s.Curves {
				if curve.Channels&(1<<c) != 0 {
					v = curve.at(v)
				}
			}
			return math.Floor(float64(v*255) + 0.5)
		}
	case s.inverts():
		f = func(_, level int) float64 { return float64(255 - level) }
	default:
		return t, false
	}
	for c := range t {
		for level := range t[c] {
			t[c][level] = uint8(min(max(f(c, level), 0), 255))
		}
	}
	return t, true
}

// then returns the table that does what t does and then what next does.
func (t levelTable) then(next levelTable) (both levelTable) {
	for c := range t {
		for level, v := range t[c] {
			both[c][level] = next[c][v]
		}
	}
	return both
}

// Exp2 returns 2^x for |x| ≤ 50. The result has the same bits on every processor.
func Exp2(x float64) float64 {
	if x <= 0 {
		return expOfNegative(-float64(x * math.Ln2))
	}
	return 1 / expOfNegative(float64(x*math.Ln2))
}

// CosSin returns the cosine and the sine of an angle in degrees. The results have the same bits on
// every processor, which those of math.Sincos need not have.
func CosSin(degrees float64) (cos, sin float64) {
	const halvings = 8
	x := float64(math.Remainder(degrees, 360)*(math.Pi/180)) / (1 << halvings) // below 0.0123
	z := float64(x * x)
	// 1 − cos x keeps its digits where cos x would lose them.
	sin = float64(x * (1 - float64(z/6*(1-float64(z/20*(1-z/42))))))
	less := float64(z / 2 * (1 - float64(z/12*(1-float64(z/30*(1-z/56))))))
	for range halvings {
		sin, less = float64(2*sin*(1-less)), float64(2*sin*sin)
	}
	return 1 - less, sin
}

// Straight returns the curve of x for all colours, where x is (v − black)/(white − black),
// clamped to 0..1.
func Straight(black, white float64) *Power {
	return &Power{Black: black, Scale: 1 / (white - black), Until: 2, Low: 1}
}

// Gamma returns the curve of x^(1/gamma)·(to − from) + from, with the x of Straight.
func Gamma(black, white, gamma, from, to float64) *Power {
	p := Straight(black, white)
	p.Low, p.LowBias = to-from, from
	if gamma != 1 {
		p.Until, p.Times, p.Exponent, p.Gain, p.Bias = 0, 1, 1/gamma, to-from, from
	}
	return p
}

// Decode returns the curve that makes linear light of sRGB, times gain. Encode is its inverse for a
// gain of 1.
func Decode(gain float64) *Power {
	return &Power{Scale: 1, Until: 0.04045, Low: gain / 12.92, Times: 1 / 1.055, Shift: 0.055 / 1.055, Exponent: 2.4, Gain: gain}
}

// Encode returns the curve that makes sRGB of linear light.
func Encode() *Power {
	return &Power{Scale: 1, Until: 0.0031308, Low: 12.92, Times: 1, Exponent: 1 / 2.4, Gain: 1.055, Bias: -0.055}
}

// CurveStage returns the stage of curves for all colours.
func CurveStage(curves ...*Power) Stage {
	var s Stage
	for _, p := range curves {
		s.Curves = append(s.Curves, Curve{Channels: AllColours, Power: p})
	}
	return s
}
