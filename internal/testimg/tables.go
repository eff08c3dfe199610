package testimg

import (
	"encoding/binary"
	"math"
)

// Tables describes the tag of an ICC profile with tables, for TableTag.
type Tables struct {
	// Kind is "mft1", "mft2", "mAB " or "mBA ".
	Kind string
	// From and To are how many numbers go in and come out, each 1 or 3.
	From, To int
	// Grid is the number of colours along an edge of the table, at least 2.
	Grid int
	// In is the curve before the table, and Out is the one after it, each of numbers in 0..1. Nil changes nothing.
	In, Out func(v float64) float64
	// At is the table. It has numbers in 0..1 of the connection space, as the kind has them, or of the device.
	At func(v [3]float64) [3]float64
}

// TableTag returns the data of the tag.
func TableTag(t Tables) string {
	same := func(v float64) float64 { return v }
	if t.In == nil {
		t.In = same
	}
	if t.Out == nil {
		t.Out = same
	}
	b := append([]byte(t.Kind), 0, 0, 0, 0, byte(t.From), byte(t.To))
	number := func(v float64) {
		v = min(max(v, 0), 1)
		if t.Kind == "mft1" {
			b = append(b, byte(v*255+0.5))
		} else {
			b = binary.BigEndian.AppendUint16(b, uint16(v*65535+0.5))
		}
	}
	curve := func(n, channels int, f func(v float64) float64) {
		for range channels {
			for i := range n {
				number(f(float64(i) / float64(n-1)))
			}
		}
	}
	table := func() {
		total := 1
		for range t.From {
			total *= t.Grid
		}
		for i := range total {
			var v [3]float64
			for k, left := t.From-1, i; k >= 0; k-- {
				v[k] = float64(left%t.Grid) / float64(t.Grid-1)
				left /= t.Grid
			}
			made := t.At(v)
			for _, x := range made[:t.To] {
				number(x)
			}
		}
	}
	identity := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	if t.Kind[0:2] == "mf" {
		b = append(b, byte(t.Grid), 0)
		for _, v := range identity {
			b = appendFixed(b, v)
		}
		n := 256
		if t.Kind == "mft2" {
			n = 1024
			b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, uint16(n)), uint16(n))
		}
		curve(n, t.From, t.In)
		table()
		curve(n, t.To, t.Out)
		return string(b)
	}
	b = append(b, make([]byte, 22)...)
	here := func(at int) { binary.BigEndian.PutUint32(b[at:], uint32(len(b))) }
	const n = 1024 // numbers of a curve
	side := func(at, channels int, f func(v float64) float64) {
		here(at)
		for range channels {
			b = binary.BigEndian.AppendUint32(append(b, "curv\x00\x00\x00\x00"...), n)
			curve(n, 1, f)
		}
	}
	first, last, small := 28, 12, t.To
	if t.Kind == "mBA " {
		first, last, small = 12, 28, t.From
	}
	side(first, t.From, t.In)
	side(last, t.To, t.Out)
	here(24)
	grid := make([]byte, 20)
	for k := range t.From {
		grid[k] = byte(t.Grid)
	}
	grid[16] = 2
	b = append(b, grid...)
	table()
	if b = append(b, "\x00\x00\x00"[:-len(b)&3]...); small == 3 { // A matrix and curves that change nothing.
		here(16)
		for _, v := range append(identity, 0, 0, 0) {
			b = appendFixed(b, v)
		}
		here(20)
		for range 3 {
			b = append(b, Parametric(0, 1)...)
		}
	}
	return string(b)
}

// MatrixTag returns the data of a tag "mAB " that has no table: the curves make light, and the matrix makes XYZ.
func MatrixTag(primaries [9]float64, curve []byte) string {
	b := append([]byte("mAB \x00\x00\x00\x00\x03\x03"), make([]byte, 22)...)
	here := func(at int) { binary.BigEndian.PutUint32(b[at:], uint32(len(b))) }
	here(12)
	for range 3 {
		b = append(b, "curv\x00\x00\x00\x00\x00\x00\x00\x00"...)
	}
	here(16)
	for i := range 12 {
		v := 0.0
		if i < 9 {
			v = primaries[i] * 32768 / 65535
		}
		b = appendFixed(b, v)
	}
	here(20)
	for range 3 {
		b = append(b, curve...)
		b = append(b, "\x00\x00\x00"[:-len(curve)&3]...)
	}
	return string(b)
}

// TableProfile returns a profile for "RGB " or "GRAY" whose colours are connected by "XYZ " or "Lab ". Tags are
// names and data by turns.
func TableProfile(version byte, colours, connection string, tags ...string) []byte {
	b := ProfileOf(version, colours, append([]string{"wtpt", xyz(0.9642, 1, 0.82491)}, tags...)...)
	copy(b[20:], connection)
	return b
}

// Connected makes numbers of the connection space for Tables of a kind, of XYZ.
func Connected(kind, connection string, v [3]float64) [3]float64 {
	if connection == "XYZ " {
		for k := range v {
			v[k] *= 32768. / 65535
		}
		return v
	}
	f := func(v float64) float64 {
		if v > 216./24389 {
			return math.Cbrt(v)
		}
		return v*841/108 + 4./29
	}
	x, y, z := f(v[0]/0.9642), f(v[1]), f(v[2]/0.8249)
	l, a, b := 116*y-16, 500*(x-y), 200*(y-z)
	if kind == "mft2" {
		return [3]float64{l / 100 * 65280 / 65535, (a + 128) * 256 / 65535, (b + 128) * 256 / 65535}
	}
	return [3]float64{l / 100, (a + 128) / 255, (b + 128) / 255}
}

// Space returns a profile for RGB with the tag A2B1 that SpaceTag returns.
func Space(kind, connection string, version byte, primaries [9]float64, gamma, curve float64, grid int) []byte {
	return TableProfile(version, "RGB ", connection, "A2B1", SpaceTag(kind, connection, primaries, gamma, curve, grid))
}

// SpaceTag returns the data of a tag that makes what primary colours and a gamma would make. The curves before the table
// are powers of the number curve, and the table has the rest.
func SpaceTag(kind, connection string, primaries [9]float64, gamma, curve float64, grid int) string {
	return TableTag(Tables{
		Kind: kind, From: 3, To: 3, Grid: grid, In: func(v float64) float64 { return math.Pow(v, curve) },
		At: func(v [3]float64) [3]float64 {
			var light, made [3]float64
			for k := range v {
				light[k] = math.Pow(v[k], gamma/curve)
			}
			for i, x := range primaries {
				made[i/3] += x * light[i%3]
			}
			return Connected(kind, connection, made)
		},
	})
}

// disconnected is the inverse of Connected.
func disconnected(kind, connection string, v [3]float64) [3]float64 {
	if connection == "XYZ " {
		for k := range v {
			v[k] *= 65535. / 32768
		}
		return v
	}
	l, a, b := v[0]*100, v[1]*255-128, v[2]*255-128
	if kind == "mft2" {
		l, a, b = v[0]*100*65535/65280, v[1]*65535/256-128, v[2]*65535/256-128
	}
	f := func(v float64) float64 {
		if v > 6./29 {
			return v * v * v
		}
		return (v - 4./29) * 108 / 841
	}
	y := (l + 16) / 116
	return [3]float64{0.9642 * f(y+a/500), f(y), 0.8249 * f(y-b/200)}
}

// Chooser returns the data of the tag B2A1 for what Space makes, of the type mft1, mft2 or mBA. inverse is the
// inverse of the primary colours.
func Chooser(kind, connection string, inverse [9]float64, gamma float64, grid int) string {
	return TableTag(Tables{Kind: kind, From: 3, To: 3, Grid: grid, At: func(v [3]float64) (made [3]float64) {
		xyz := disconnected(kind, connection, v)
		for i, x := range inverse {
			made[i/3] += x * xyz[i%3]
		}
		for k := range made {
			made[k] = math.Pow(max(made[k], 0), 1/gamma)
		}
		return made
	}})
}
