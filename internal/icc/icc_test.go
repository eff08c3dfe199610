package icc

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: got %v, want %v within %v", what, got, want, within)
	}
}

func TestParse(t *testing.T) {
	p, err := Parse(testimg.RGBProfile(2, testimg.AdobeRGB, testimg.Gamma(563./256)))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the gamma of Adobe RGB", p.Curves[1].At(0.5), math.Pow(0.5, 563./256), 1e-12)
	near(t, "its matrix", p.Matrix[5], 0.06322, 1e-5)
	m := p.Linear()
	for row := range 3 {
		near(t, "white", m[3*row]+m[3*row+1]+m[3*row+2], 1, 1e-12)
	}
	near(t, "the red of Adobe RGB in red of sRGB", m[0], 1.3983, 2e-3)
	if p.IsSRGB() {
		t.Error("Adobe RGB is not sRGB")
	}
	for name, curve := range map[string][]byte{"parametric": testimg.SRGBCurve()} {
		for _, version := range []byte{2, 4} {
			if p, err := Parse(testimg.RGBProfile(version, testimg.SRGB, curve)); err != nil || !p.IsSRGB() {
				t.Errorf("sRGB, %s, version %d: %v", name, version, err)
			}
		}
	}
	grey, err := Parse(testimg.GreyProfile(testimg.GammaTable(1.8, 100)))
	if err != nil || !grey.Grey || grey.Linear() != [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1} {
		t.Fatalf("grey: %+v, %v", grey, err)
	}
	near(t, "a table", grey.Curves[2].At(0.7), math.Pow(0.7, 1.8), 1e-4)
	near(t, "its end", grey.Curves[2].At(7), 1, 0)
}

// TestCurves compares the five kinds of parametric curves with their formulas.
func TestCurves(t *testing.T) {
	for _, c := range []struct {
		curve []byte
		want  func(v float64) float64
	}{
		{[]byte("curv\x00\x00\x00\x00\x00\x00\x00\x00"), func(v float64) float64 { return v }},
		{testimg.Parametric(0, 2.5), func(v float64) float64 { return math.Pow(v, 2.5) }},
		{testimg.Parametric(1, 2, 1.25, -0.25), func(v float64) float64 {
			if v < 0.2 {
				return 0
			}
			return math.Pow(1.25*v-0.25, 2)
		}},
		{testimg.Parametric(2, 2, 1, -0.25, 0.125), func(v float64) float64 {
			if v < 0.25 {
				return 0.125
			}
			return math.Pow(v-0.25, 2) + 0.125
		}},
		{testimg.Parametric(3, 2, 0.75, 0.25, 0.5, 0.125), func(v float64) float64 {
			if v < 0.125 {
				return 0.5 * v
			}
			return math.Pow(0.75*v+0.25, 2)
		}},
		{testimg.Parametric(4, 3, 0.75, 0.25, 0.5, 0.125, -0.0625, 0.03125), func(v float64) float64 {
			if v < 0.125 {
				return 0.5*v + 0.03125
			}
			return math.Pow(0.75*v+0.25, 3) - 0.0625
		}},
	} {
		p, err := Parse(testimg.GreyProfile(c.curve))
		if err != nil {
			t.Errorf("%q: %v", c.curve, err)
			continue
		}
		for i := range 101 {
			v := float64(i) / 100
			near(t, fmt.Sprintf("%q at %v", c.curve, v), p.Curves[0].At(v), min(max(c.want(v), 0), 1), 1e-4)
		}
	}
}

func TestRefused(t *testing.T) {
	good := testimg.RGBProfile(4, testimg.DisplayP3, testimg.SRGBCurve())
	change := func(at int, text string) []byte {
		b := append([]byte(nil), good...)
		copy(b[at:], text)
		return b
	}
	flat := [9]float64{1, 1, 1, 1, 1, 1, 1, 1, 1}
	for name, c := range map[string]struct {
		data []byte
		want error
		text string
	}{
		"nothing":       {nil, errs.ErrInvalidArgument, "no ICC profile in 0 bytes"},
		"another file":  {change(36, "data"), errs.ErrInvalidArgument, "no ICC profile"},
		"a short one":   {good[:len(good)-1], errs.ErrInvalidArgument, "it says that it has"},
		"a long one":    {make([]byte, MaxBytes+1), errs.ErrInvalidArgument, "at most"},
		"version 5":     {change(8, "\x05"), errs.ErrUnsupported, "version 5"},
		"a link":        {change(12, "link"), errs.ErrUnsupported, `class "link"`},
		"CMYK":          {testimg.ProfileOf(2, "CMYK", "A2B0", "mft2\x00\x00\x00\x00"), errs.ErrUnsupported, `it is for "CMYK" colours (want RGB or grey)`},
		"tables":        {testimg.ProfileOf(2, "RGB ", "A2B0", "mft2\x00\x00\x00\x00"), errs.ErrInvalidArgument, "the tag A2B0 ends too early"},
		"no matrix":     {testimg.ProfileOf(2, "RGB "), errs.ErrUnsupported, "without a matrix"},
		"no curve":      {testimg.ProfileOf(2, "GRAY"), errs.ErrInvalidArgument, "kTRC is missing"},
		"a long curve":  {testimg.GreyProfile([]byte("curv\x00\x00\x00\x00\xff\xff\xff\xff\x00\x00")), errs.ErrInvalidArgument, "4294967295 numbers"},
		"no gamma":      {testimg.GreyProfile(testimg.Gamma(0)), errs.ErrInvalidArgument, "gamma of 0"},
		"an odd curve":  {testimg.GreyProfile(testimg.Parametric(5, 1, 1, 1, 1, 1)), errs.ErrInvalidArgument, "of the kind 5"},
		"a short curve": {testimg.GreyProfile(testimg.Parametric(4, 1)), errs.ErrInvalidArgument, "ends too early"},
		"division":      {testimg.GreyProfile(testimg.Parametric(1, 1, 0, 1)), errs.ErrInvalidArgument, "divides by 0"},
		"no colours":    {testimg.RGBProfile(2, flat, testimg.Gamma(2)), errs.ErrInvalidArgument, "lie on a line"},
	} {
		if _, err := Parse(c.data); !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: got %v, want %v, %s", name, err, c.want, c.text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(testimg.RGBProfile(4, testimg.DisplayP3, testimg.SRGBCurve()))
	f.Add(testimg.RGBProfile(2, testimg.ProPhoto, testimg.GammaTable(1.8, 9)))
	f.Add(testimg.GreyProfile(testimg.Parametric(4, 3, 0.75, 0.25, 0.5, 0.125, -0.0625, 0.03125)))
	small := func(v [3]float64) [3]float64 { return v }
	for _, kind := range []string{"mft1", "mft2", "mAB "} {
		for _, connection := range []string{"XYZ ", "Lab "} {
			f.Add(testimg.TableProfile(4, "RGB ", connection, "A2B0", testimg.TableTag(testimg.Tables{Kind: kind, From: 3, To: 3, Grid: 2, At: small})))
			f.Add(testimg.TableProfile(2, "GRAY", connection, "A2B1", testimg.TableTag(testimg.Tables{Kind: kind, From: 1, To: 3, Grid: 2, At: small})))
		}
	}
	for _, c := range hostile() {
		f.Add(testimg.TableProfile(4, "RGB ", "Lab ", "A2B0", c.tag))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data)
		if err != nil {
			return
		}
		finite := func(list ...float64) {
			for _, v := range list {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("got %v", list)
				}
			}
		}
		m := p.Linear()
		finite(m[:]...)
		for _, v := range [][3]float64{{}, {0.3, 0.9, 0.1}, {1, 1, 1}, {1, 0, 0.5}} {
			light := p.Light(v)
			finite(light[:]...)
		}
		for _, c := range p.Curves {
			if p.a2b != nil {
				break
			}
			for _, v := range []float64{0, 0.3, 1} {
				if light := c.At(v); !(light >= 0 && light <= 1) {
					t.Errorf("%v becomes %v", v, light)
				}
			}
		}
	})
}
