package icc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// spaces are profiles with tables for RGB, of all types.
var spaces = map[string][]byte{
	"mft1, Lab":              testimg.Space("mft1", "Lab ", 2, testimg.AdobeRGB, 2.2, 1, 17),
	"mft2, Lab":              testimg.Space("mft2", "Lab ", 2, testimg.AdobeRGB, 2.2, 1, 33),
	"mft2, Lab, version 4":   testimg.Space("mft2", "Lab ", 4, testimg.DisplayP3, 2.4, 1, 17),
	"mft2, XYZ, curves":      testimg.Space("mft2", "XYZ ", 2, testimg.ProPhoto, 1.8, 1.8, 5),
	"mft2, Lab, linear":      testimg.Space("mft2", "Lab ", 2, testimg.SRGB, 1, 1, 33),
	"mAB, Lab":               testimg.Space("mAB ", "Lab ", 4, testimg.ProPhoto, 1.8, 1, 33),
	"mAB, XYZ":               testimg.Space("mAB ", "XYZ ", 4, testimg.DisplayP3, 2.2, 2.2, 2),
	"mAB, XYZ, no table":     testimg.TableProfile(4, "RGB ", "XYZ ", "A2B0", testimg.MatrixTag(testimg.AdobeRGB, testimg.Gamma(2.2))),
	"mAB, XYZ, only linear":  testimg.TableProfile(4, "RGB ", "XYZ ", "A2B0", testimg.MatrixTag(testimg.DisplayP3, testimg.Parametric(0, 1))),
	"mft2, Lab, wide, small": testimg.Space("mft2", "Lab ", 2, testimg.ProPhoto, 1.8, 1, 9),
}

// TestCube bounds what the cube of a conversion is off, beside the tables evaluated in float64.
func TestCube(t *testing.T) {
	testlevel.Turn(t, 5)
	random := rand.New(rand.NewPCG(3, 4))
	for name, data := range spaces {
		p, err := Parse(data)
		if err != nil {
			t.Fatal(name, err)
		}
		c := p.ToSRGB()
		worst, sum, n := 0.0, 0.0, 0
		for i := range 5000 {
			v := [3]float64{random.Float64(), random.Float64(), random.Float64()}
			if i%4 == 0 {
				v[1], v[2] = v[0], v[0]
			}
			made := c.at(v)
			for k, light := range p.Light(v) {
				off := 255 * math.Abs(clamp(Encode(light))-clamp(made[k]))
				worst, sum, n = max(worst, off), sum+off, n+1
			}
		}
		if mean := sum / float64(n); worst > 0.75 || mean > 0.02 || c.Cube != cubeSteps || len(c.Colours) != 4*(c.Curve+65*65*65) {
			t.Errorf("%s: %.2f levels off, %.4f in the mean, cube of %d", name, worst, mean, c.Cube)
		}
	}
}

// TestTables compares tables with the function that they are made of. In the grid points there is no more than rounding.
func TestTables(t *testing.T) {
	for _, kind := range []string{"mft1", "mft2", "mAB "} {
		for _, connection := range []string{"XYZ ", "Lab "} {
			if kind == "mft1" && connection == "XYZ " {
				continue // Eight bits are too few for it.
			}
			data := testimg.Space(kind, connection, 2, testimg.SRGB, 2.2, 1.1, 9)
			p, err := Parse(data)
			if err != nil {
				t.Fatal(kind, connection, err)
			}
			// An A2B0 does as well if there is no A2B1.
			other, err := Parse(bytes.Replace(data, []byte("A2B1"), []byte("A2B0"), 1))
			if err != nil {
				t.Fatal(kind, connection, err)
			}
			within := map[string]float64{"mft1": 0.02, "mft2": 2e-4, "mAB ": 2e-4}[kind]
			for i := range 9 * 9 * 9 {
				v := [3]float64{float64(i%9) / 8, float64(i/9%9) / 8, float64(i/81) / 8}
				var light, want [3]float64
				for k := range v {
					light[k] = v[k] * v[k]
					v[k] = math.Pow(v[k], 1/1.1)
				}
				for k, x := range testimg.SRGB {
					want[k/3] += x * light[k%3]
				}
				got := p.a2b.xyz(p.a2b.apply(v), p.lab)
				if other.Light(v) != p.Light(v) {
					t.Fatalf("%s %s: A2B0 differs at %v", kind, connection, v)
				}
				for k := range want {
					near(t, fmt.Sprintf("%s %s at %v", kind, connection, v), got[k], want[k], within)
				}
			}
		}
	}
	// With curves and a matrix too, the tables count.
	tags := []string{"A2B0", testimg.MatrixTag(testimg.AdobeRGB, testimg.Gamma(2.2))}
	for c, name := range []string{"r", "g", "b"} {
		tags = append(tags, name+"TRC", string(testimg.Gamma(1)), name+"XYZ", testimg.XYZTag(testimg.SRGB[c], testimg.SRGB[3+c], testimg.SRGB[6+c]))
	}
	p, err := Parse(testimg.TableProfile(4, "RGB ", "XYZ ", tags...))
	if err != nil || p.a2b == nil {
		t.Error("tables beside a matrix are not used:", err)
	}
	// A profile with tables may be that of sRGB.
	p, err = Parse(testimg.TableProfile(4, "RGB ", "XYZ ", "A2B0", testimg.MatrixTag(testimg.SRGB, testimg.SRGBCurve())))
	if err != nil || !p.IsSRGB() {
		t.Error("tables of sRGB:", err)
	}
	for name, data := range spaces {
		if p, err := Parse(data); err != nil || p.IsSRGB() {
			t.Errorf("%s is taken for sRGB: %v", name, err)
		}
	}
}

// TestLittleEntries compares with the numbers of a profile by hand: a table of two colours along an edge.
func TestLittleEntries(t *testing.T) {
	p, err := Parse(testimg.TableProfile(2, "GRAY", "Lab ", "A2B0", testimg.TableTag(testimg.Tables{Kind: "mft1", From: 1, To: 3, Grid: 2,
		At: func(v [3]float64) [3]float64 { return [3]float64{v[0], 128. / 255, 128. / 255} }})))
	if err != nil || !p.Grey {
		t.Fatal(err)
	}
	for _, l := range []float64{0, 0.2, 0.5, 1} {
		for _, light := range p.Light([3]float64{l, 0.3, 0.9}) {
			near(t, "L*", light, fromLightness((100*math.Round(l*255)/255+16)/116), 2e-3)
		}
	}
	if c := p.ToSRGB(); c.Cube != 0 || c.Matrix == nil || len(c.Colours) != 4*curveSteps {
		t.Errorf("a grey profile makes a cube: %d %d", c.Cube, len(c.Colours))
	}
}

// hostile are tags that are damaged, with a part of the error that they must give.
func hostile() map[string]struct{ tag, text string } {
	old := testimg.TableTag(testimg.Tables{Kind: "mft2", From: 3, To: 3, Grid: 3, At: func(v [3]float64) [3]float64 { return v }})
	eight := testimg.TableTag(testimg.Tables{Kind: "mft1", From: 3, To: 3, Grid: 3, At: func(v [3]float64) [3]float64 { return v }})
	fresh := testimg.TableTag(testimg.Tables{Kind: "mAB ", From: 3, To: 3, Grid: 3, At: func(v [3]float64) [3]float64 { return v }})
	put := func(tag string, at int, bytes string) string { return tag[:at] + bytes + tag[at+len(bytes):] }
	word := func(v uint32) string { return string(binary.BigEndian.AppendUint32(nil, v)) }
	clut := int(binary.BigEndian.Uint32([]byte(fresh[24:])))
	curves := int(binary.BigEndian.Uint32([]byte(fresh[28:])))
	return map[string]struct{ tag, text string }{
		"15 channels of 255":     {put(put(old, 8, "\x0f"), 10, "\xff"), "3 numbers of 15 (want 3 of 3)"},
		"255 points":             {put(old, 10, "\xff"), "ends before its table"},
		"one point":              {put(old, 10, "\x01"), "1 colours along an edge"},
		"no points":              {put(eight, 10, "\x00"), "0 colours along an edge"},
		"long curves":            {put(old, 48, "\xff\xff"), "curves of 65535"},
		"short curves":           {put(old, 50, "\x00\x01"), "and 1 numbers"},
		"cut in its head":        {old[:50], "ends too early"},
		"cut in the first curve": {old[:100], "ends before its curves"},
		"cut in the last curve":  {old[:len(old)-8], "ends before its curves"},
		"cut in the table":       {eight[:48+3*256+5], "ends before its table"},
		"four results":           {put(old, 9, "\x04"), "4 numbers of 3"},
		"another type":           {put(old, 0, "mpet"), `of the type "mpet"`},
		"the other direction":    {put(fresh, 0, "mBA "), `of the type "mBA "`},
		"a part far away":        {put(fresh, 24, word(0xffffffff)), "a part at 4294967295"},
		"a part in the head":     {put(fresh, 12, word(8)), "a part at 8"},
		"a table of 4 bytes":     {put(fresh, clut+16, "\x04"), "damaged table"},
		"255 x 255 x 255":        {put(fresh, clut, "\xff\xff\xff"), "ends before its table"},
		"a dimension of 0":       {put(fresh, clut+1, "\x00"), "0 colours along an edge"},
		"a huge curve":           {put(fresh, curves+8, word(0x7fffffff)), "2147483647 numbers"},
		"no curve":               {put(fresh, curves, "none"), "unknown type"},
		"a cut matrix":           {put(fresh, 16, word(uint32(len(fresh)-8))), "ends before its matrix"},
		"nothing in it":          {put(fresh, 12, string(make([]byte, 20))), "has no curves"},
	}
}

func TestHostileTables(t *testing.T) {
	for name, c := range hostile() {
		_, err := Parse(testimg.TableProfile(4, "RGB ", "Lab ", "A2B0", c.tag))
		if !errors.Is(err, errs.ErrInvalidArgument) && !errors.Is(err, errs.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: got %v, want %s", name, err, c.text)
		}
	}
}

// at evaluates a conversion by a curve and a cube.
func (c Conversion) at(v [3]float64) (made [3]float64) {
	colour := func(i, k int) float64 { return float64(c.Colours[4*i+k]) }
	for k := range v {
		at := v[k] * float64(c.Curve-1)
		i := min(int(at), c.Curve-2)
		v[k] = colour(i, k) + (at-float64(i))*(colour(i+1, k)-colour(i, k))
	}
	if c.Cube > 0 {
		at := v
		v = [3]float64{}
		tetrahedron([3]int{c.Cube, c.Cube, c.Cube}, at, func(i [3]int, weight float64) {
			for k := range v {
				v[k] += weight * colour(c.Curve+i[0]+c.Cube*(i[1]+c.Cube*i[2]), k)
			}
		})
		if c.Matrix != nil {
			v = decode(v)
		}
	}
	if c.Matrix != nil {
		v = apply(*c.Matrix, v)
		v = encode([3]float64{clamp(v[0]), clamp(v[1]), clamp(v[2])})
	}
	if c.Last > 0 {
		first := len(c.Colours)/4 - c.Last
		for k := range v {
			at := clamp(v[k]) * float64(c.Last-1)
			i := min(int(at), c.Last-2)
			v[k] = colour(first+i, k) + (at-float64(i))*(colour(first+i+1, k)-colour(first+i, k))
		}
	}
	return v
}
