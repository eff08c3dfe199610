package icc

import (
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

// chooser returns a profile with tables in both directions.
func chooser(kind, connection string, primaries [9]float64, gamma float64, grid int) []byte {
	inverse, _ := Inverse(primaries)
	other := map[string]string{"mAB ": "mBA "}[kind]
	if other == "" {
		other = kind
	}
	return testimg.TableProfile(2, "RGB ", connection, "A2B0", testimg.SpaceTag(kind, connection, primaries, gamma, 1, 17), "B2A0", testimg.Chooser(other, connection, inverse, gamma, grid))
}

func parsed(t *testing.T, data []byte) *Profile {
	t.Helper()
	p, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTargets compares conversions to profiles with a matrix or a curve with the formula.
func TestTargets(t *testing.T) {
	power := func(g float64) func(v float64) float64 { return func(v float64) float64 { return math.Pow(v, 1/g) } }
	lab := func(v float64) float64 { return (116*lightness(v) - 16) / 100 }
	sources := map[string]*Profile{"sRGB": nil, "Display P3": parsed(t, testimg.RGBProfile(4, testimg.DisplayP3, testimg.SRGBCurve())),
		"tables": parsed(t, spaces["mft2, Lab"]), "grey": parsed(t, testimg.GreyProfile(testimg.Gamma(1.8)))}
	for name, c := range map[string]struct {
		data   []byte
		encode func(v float64) float64
		last   int
	}{
		"Display P3":     {testimg.RGBProfile(4, testimg.DisplayP3, testimg.SRGBCurve()), Encode, 0},
		"Adobe RGB":      {testimg.RGBProfile(2, testimg.AdobeRGB, testimg.Gamma(2.2)), power(math.Round(2.2*256) / 256), lastSteps},
		"ProPhoto":       {testimg.RGBProfile(2, testimg.ProPhoto, testimg.GammaTable(1.8, 4096)), power(1.8), lastSteps},
		"linear":         {testimg.RGBProfile(4, testimg.ProPhoto, testimg.Parametric(0, 1)), power(1), lastSteps},
		"inverted":       {testimg.RGBProfile(4, testimg.SRGB, []byte("curv\x00\x00\x00\x00\x00\x00\x00\x02\xff\xff\x00\x00")), func(v float64) float64 { return 1 - v }, lastSteps},
		"grey":           {testimg.GreyProfile(testimg.Gamma(2.5)), power(2.5), lastSteps},
		"grey lightness": {testimg.TableProfile(2, "GRAY", "Lab ", "kTRC", string(testimg.Gamma(1))), lab, lastSteps},
	} {
		p := parsed(t, c.data)
		target, err := p.Target()
		if err != nil {
			t.Fatal(name, err)
		}
		for from, source := range sources {
			if from == "tables" && name != "Display P3" && name != "grey" {
				continue // A cube takes a while, and does not depend on the target.
			}
			conversion := source.To(target)
			if conversion.Last != c.last || (conversion.Cube > 0) != (from == "tables") {
				t.Errorf("%s to %s: cube of %d, last curve of %d", from, name, conversion.Cube, conversion.Last)
			}
			if source == nil {
				source = standard
			}
			random := rand.New(rand.NewPCG(5, 6))
			worst, sum, n := 0.0, 0.0, 0
			for i := range 3000 {
				v := [3]float64{random.Float64(), random.Float64(), random.Float64()}
				if i%4 == 0 || source.Grey { // One of 256 levels, because between them curves of light are straight.
					v[0] = math.Round(255*v[0]) / 255
					v[1], v[2] = v[0], v[0]
				}
				light := source.Light(v)
				if p.Grey {
					y := 0.0
					for k, x := range light {
						y += luminance[k] * x
					}
					light = [3]float64{y, y, y}
				} else {
					inverse, _ := Inverse(p.Linear())
					light = apply(inverse, light)
				}
				made := conversion.at(v)
				for k := range light {
					off := 255 * math.Abs(made[k]-c.encode(clamp(light[k])))
					worst, sum, n = max(worst, off), sum+off, n+1
				}
			}
			most := 0.3 // a table of 4096 numbers of 16 bits is coarse near black
			if from == "tables" {
				most = 1
			}
			if mean := sum / float64(n); worst > most || mean > 0.02 {
				t.Errorf("%s to %s: %.3f levels off, %.4f in the mean", from, name, worst, mean)
			}
		}
	}
}

// TestTargetTables compares cubes with the tables evaluated in float64, and these with the function that they are made of.
func TestTargetTables(t *testing.T) {
	testlevel.Turn(t, 5)
	for _, kind := range []string{"mft1", "mft2", "mAB "} {
		p := parsed(t, chooser(kind, "Lab ", testimg.SRGB, 2.2, 33))
		target, err := p.Target()
		if err != nil || target.b2a == nil {
			t.Fatal(kind, err)
		}
		for from, source := range map[string]*Profile{"sRGB": nil, "tables": p, "grey": parsed(t, testimg.GreyProfile(testimg.Gamma(2.2)))} {
			c := source.To(target)
			if source == nil {
				source = standard
			}
			random := rand.New(rand.NewPCG(7, 8))
			sum, direct, n := 0.0, 0.0, 0
			for range 3000 {
				v := [3]float64{random.Float64(), random.Float64(), random.Float64()}
				if source.Grey {
					v[0] = math.Round(255*v[0]) / 255
					v[1], v[2] = v[0], v[0]
				}
				light := source.Light(v)
				made, want := c.at(v), target.colour(light)
				for k := range made {
					sum += 255 * math.Abs(clamp(made[k])-want[k])
					direct += 255 * math.Abs(want[k]-math.Pow(clamp(light[k]), 1/2.2))
					n++
				}
			}
			// The tables are themselves a level off, because Lab has few steps for colours of sRGB.
			if sum, direct = sum/float64(n), direct/float64(n); sum > 0.12 || direct > 1.2 {
				t.Errorf("%s to %s: %.3f levels from the tables in the mean, which are %.3f off", from, kind, sum, direct)
			}
		}
	}
	// Grey of tables.
	p := parsed(t, testimg.TableProfile(2, "GRAY", "Lab ", "kTRC", string(testimg.Gamma(1)), "B2A1", testimg.TableTag(testimg.Tables{
		Kind: "mft2", From: 3, To: 1, Grid: 5, At: func(v [3]float64) [3]float64 { return [3]float64{v[0] * 65535 / 65280} },
	})))
	target, err := p.Target()
	if err != nil || target.b2a == nil {
		t.Fatal(err)
	}
	for _, v := range [][3]float64{{}, {0.2, 0.7, 0.4}, {1, 1, 1}, {1, 0, 0}} {
		light := standard.Light(v)
		want := 1.16*lightness(luminance[0]*light[0]+luminance[1]*light[1]+luminance[2]*light[2]) - 0.16
		for k, got := range (*Profile)(nil).To(target).at(v) {
			near(t, fmt.Sprint("lightness of ", v, k), got, want, 5e-3)
		}
	}
}

func TestRefusedTargets(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want error
		text string
	}{
		"a scanner":  {spaces["mft2, Lab"], errs.ErrUnsupported, "not which colours to choose (B2A0)"},
		"a hill":     {testimg.GreyProfile([]byte("curv\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\xff\xff\x00\x00")), errs.ErrUnsupported, "rises and falls"},
		"one colour": {testimg.GreyProfile([]byte("curv\x00\x00\x00\x00\x00\x00\x00\x02\x80\x00\x80\x00")), errs.ErrUnsupported, "constant"},
	} {
		if _, err := parsed(t, c.data).Target(); !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: got %v, want %s", name, err, c.text)
		}
	}
	for name, c := range hostile() {
		tag := c.tag
		switch tag[:4] { // The types of the two directions have other names.
		case "mAB ":
			tag = "mBA " + tag[4:]
		case "mBA ":
			tag = "mAB " + tag[4:]
		}
		p := parsed(t, testimg.TableProfile(4, "RGB ", "Lab ", "A2B0", testimg.MatrixTag(testimg.SRGB, testimg.Gamma(2)), "B2A0", tag))
		if _, err := p.Target(); !errors.Is(err, errs.ErrInvalidArgument) && !errors.Is(err, errs.ErrUnsupported) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func FuzzTarget(f *testing.F) {
	f.Add(testimg.RGBProfile(4, testimg.DisplayP3, testimg.SRGBCurve()))
	f.Add(testimg.GreyProfile(testimg.GammaTable(1.8, 9)))
	for _, kind := range []string{"mft1", "mft2", "mAB "} {
		f.Add(chooser(kind, "Lab ", testimg.SRGB, 2.2, 2))
		f.Add(chooser(kind, "XYZ ", testimg.SRGB, 2.2, 2))
	}
	for _, c := range hostile() {
		f.Add(testimg.TableProfile(4, "RGB ", "Lab ", "A2B0", testimg.MatrixTag(testimg.SRGB, testimg.Gamma(2)), "B2A0", c.tag))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data)
		if err != nil {
			return
		}
		target, err := p.Target()
		if err != nil {
			return
		}
		for _, light := range [][3]float64{{}, {0.2, 0.9, 0.4}, {1, 1, 1}, {-3, 9, 0}} {
			for _, v := range target.colour(light) {
				if !(v >= 0 && v <= 1) {
					t.Errorf("%v becomes %v", light, v)
				}
			}
		}
	})
}
