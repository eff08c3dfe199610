package conformance_test

import (
	"bytes"
	"image"
	"math"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/icc"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// profiles are some of all kinds that ToSRGB takes.
var profiles = map[string][]byte{
	"Display P3":       testimg.RGBProfile(4, testimg.DisplayP3, testimg.SRGBCurve()),
	"Adobe RGB":        testimg.RGBProfile(2, testimg.AdobeRGB, testimg.Gamma(563./256)),
	"ProPhoto":         testimg.RGBProfile(2, testimg.ProPhoto, testimg.GammaTable(1.8, 4096)),
	"few table values": testimg.RGBProfile(2, testimg.SRGB, testimg.GammaTable(2.4, 20)),
	"linear":           testimg.RGBProfile(4, testimg.DisplayP3, testimg.Parametric(0, 1)),
	"grey":             testimg.GreyProfile(testimg.Gamma(1.8)),
	"grey of Lab":      testimg.TableProfile(2, "GRAY", "Lab ", "kTRC", string(testimg.Gamma(1))),
	"mft1":             testimg.Space("mft1", "Lab ", 2, testimg.AdobeRGB, 2.2, 1, 17),
	"mft2":             testimg.Space("mft2", "Lab ", 2, testimg.DisplayP3, 2.2, 1, 17),
	"mft2 of XYZ":      testimg.Space("mft2", "XYZ ", 4, testimg.ProPhoto, 1.8, 1.8, 2),
	"mAB":              testimg.Space("mAB ", "Lab ", 4, testimg.SRGB, 1.8, 1, 33),
	"mAB, no table":    testimg.TableProfile(4, "RGB ", "XYZ ", "A2B1", testimg.MatrixTag(testimg.AdobeRGB, testimg.Gamma(2.2))),
	"grey with tables": greyTables,
}

// greyTables is a profile for grey that makes warm colours of dark ones.
var greyTables = testimg.TableProfile(2, "GRAY", "Lab ", "A2B1", testimg.TableTag(testimg.Tables{
	Kind: "mft2", From: 1, To: 3, Grid: 9, In: func(v float64) float64 { return math.Sqrt(v) },
	At: func(v [3]float64) [3]float64 {
		l := v[0] * v[0]
		y := math.Pow((100*l+16)/116, 3)
		return testimg.Connected("mft2", "Lab ", [3]float64{0.9642 * y, y, 0.8249 * y * (0.7 + 0.3*l)})
	},
}))

// ramps is a picture of greys, of each colour from black and of random colours.
func ramps() *image.NRGBA {
	m := testimg.Noise(256, 64, 8)
	for i := range 256 {
		for y, c := range [][3]int{{1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}} {
			o := m.PixOffset(i, y)
			m.Pix[o], m.Pix[o+1], m.Pix[o+2] = uint8(i*c[0]), uint8(i*c[1]), uint8(i*c[2])
		}
	}
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	return m
}

// grey gives each pixel its red.
func grey(m *image.NRGBA) {
	for i := 0; i < len(m.Pix); i += 4 {
		m.Pix[i+1], m.Pix[i+2] = m.Pix[i], m.Pix[i]
	}
}

// TestToSRGB compares conversions of 8 and of 16 bits with the curves and the matrix in float64.
func TestToSRGB(t *testing.T) {
	dev, strips := front(t), front(t, lathe.WithStrip(1))
	for name, data := range profiles {
		src := ramps()
		if want := must(icc.Parse(data)); want.Grey {
			grey(src)
		}
		parsed, want := must(imageops.ParseProfile(data)), must(icc.Parse(data))
		convert := func(px [3]float64) [3]float64 {
			light := want.Light(px)
			for c, v := range light {
				light[c] = icc.Encode(min(max(v, 0), 1))
			}
			return light
		}
		got, err := dev.Apply(t.Context(), src, imageops.ToSRGB{Profile: parsed})
		if err != nil {
			t.Fatal(name, err)
		}
		parts, err := strips.Apply(t.Context(), src, imageops.ToSRGB{Profile: parsed})
		if err != nil {
			t.Fatal(name, err)
		}
		if !bytes.Equal(parts.Pix, got.Pix) {
			t.Errorf("%s: strips differ from the whole picture", name)
		}
		deep, wide := image.NewNRGBA64(image.Rect(0, 0, 256, 2)), image.NewNRGBA64(image.Rect(0, 0, 256, 2))
		testimg.Fill(5, deep.Pix)
		for i := range 512 {
			for c := range 8 {
				if i < 256 {
					deep.Pix[8*i+c] = uint8(i) // greys
				} else if want.Grey && c < 6 {
					deep.Pix[8*i+c] = deep.Pix[8*i+c%2]
				}
			}
		}
		if err := dev.ApplyTo(t.Context(), wide, deep, imageops.ToSRGB{Profile: parsed}); err != nil {
			t.Fatal(name, err)
		}
		worst, worstDeep := 0.0, 0.0
		for i := 0; i < len(src.Pix); i += 4 {
			for c, v := range convert([3]float64{float64(src.Pix[i]) / 255, float64(src.Pix[i+1]) / 255, float64(src.Pix[i+2]) / 255}) {
				worst = max(worst, math.Abs(float64(got.Pix[i+c])-255*v))
			}
		}
		for y := range 2 {
			for x := range 256 {
				from, to := deep.NRGBA64At(x, y), wide.NRGBA64At(x, y)
				made := convert([3]float64{float64(from.R) / 65535, float64(from.G) / 65535, float64(from.B) / 65535})
				worstDeep = max(worstDeep, math.Abs(float64(to.R)-65535*made[0]), math.Abs(float64(to.G)-65535*made[1]), math.Abs(float64(to.B)-65535*made[2]))
				if to.A != from.A {
					t.Fatalf("%s: alpha %d has become %d", name, from.A, to.A)
				}
			}
		}
		// The table has 4081 colours, between which 16-bit levels lie. A cube has fewer.
		most, mostDeep := 0.51, 8.0
		if parsed.Tensor().Shape[1] > 5000 {
			most, mostDeep = 0.8, 64
		}
		if worst > most || worstDeep > mostDeep {
			t.Errorf("%s: %.3f levels of 8 bits off, %.2f of 16 bits", name, worst, worstDeep)
		}
		if w := got.Pix[4*255 : 4*256]; name != "linear" && (w[0] != 255 || w[1] != 255 || w[2] != 255) {
			t.Errorf("%s: white has become %v", name, w)
		}
	}
}

// TestToSRGBAsLittleCMS compares with Little CMS, as ImageMagick and libvips call it.
func TestToSRGBAsLittleCMS(t *testing.T) {
	testlevel.Turn(t, 5)
	folder := t.TempDir()
	file := func(name string, data []byte) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	dev := front(t)
	target := file("srgb.icc", testimg.RGBProfile(4, testimg.SRGB, testimg.SRGBCurve()))
	for name, data := range profiles {
		src := ramps()
		isGrey := must(icc.Parse(data)).Grey
		if isGrey {
			grey(src)
		}
		var b bytes.Buffer
		info := imageio.Info{Grey: isGrey, Depth: 8, Metadata: &imageio.Metadata{ICC: data}}
		if err := imageio.Encode(t.Context(), &b, src, imageio.PNG, &imageio.EncodeOptions{Source: &info}); err != nil {
			t.Fatal(name, err)
		}
		if !bytes.Contains(b.Bytes(), []byte("iCCP")) {
			t.Fatalf("%s: the file has no profile", name)
		}
		in := file("in.png", b.Bytes())
		got, err := dev.Apply(t.Context(), src, imageops.ToSRGB{Profile: must(imageops.ParseProfile(data))})
		if err != nil {
			t.Fatal(name, err)
		}
		// In the mean vips differs by a twentieth of a level at most, and ImageMagick rounds more often. For tables vips lets
		// Little CMS make a table of 33 colours along an edge, which is coarse where sRGB ends. ImageMagick does not.
		mean, most := map[string]float64{"convert": 0.5, "vips": 0.06}, map[string]int{"convert": 2, "vips": 2}
		if bytes.Contains(data[:256], []byte("A2B1")) && !isGrey {
			mean["vips"], most["vips"] = 0.2, 32
		}
		for tool, args := range map[string][]string{
			"convert": {in, "-intent", "Relative", "-profile", target, "-colorspace", "sRGB", "-depth", "8", "PNG32:" + filepath.Join(folder, "convert.png")},
			"vips":    {"icc_transform", in, filepath.Join(folder, "vips.png"), target, "--embedded", "--intent", "relative"},
		} {
			if _, err := osexec.LookPath(tool); err != nil {
				testkit.NoTool(t, "needs the program %s; install the packages imagemagick and libvips-tools: %v", tool, err)
			}
			if out, err := osexec.CommandContext(t.Context(), tool, args...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %s: %v\n%s", name, tool, err, out)
			}
			made, err := os.Open(filepath.Join(folder, tool+".png"))
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := imageio.Decode(t.Context(), made, nil)
			made.Close()
			if err != nil {
				t.Fatal(err)
			}
			worst, sum := 0, 0
			for i := range src.Pix {
				d := int(got.Pix[i]) - int(want.(*image.NRGBA).Pix[i])
				worst, sum = max(worst, d, -d), sum+max(d, -d)
			}
			if worst > most[tool] || float64(sum) > mean[tool]*float64(len(src.Pix)) {
				t.Errorf("%s: up to %d levels from %s, %.3f in the mean", name, worst, tool, float64(sum)/float64(len(src.Pix)))
			}
		}
	}
}

// targets are profiles that colours can be made for.
var targets = map[string][]byte{
	"Display P3": profiles["Display P3"],
	"Adobe RGB":  profiles["Adobe RGB"],
	"ProPhoto":   testimg.RGBProfile(2, testimg.ProPhoto, testimg.Gamma(1.8)),
	"grey":       profiles["grey"],
	"tables":     testimg.TableProfile(4, "RGB ", "Lab ", "A2B1", testimg.SpaceTag("mAB ", "Lab ", testimg.AdobeRGB, 2.2, 1, 17), "B2A1", chooser("mBA ")),
	"old tables": testimg.TableProfile(2, "RGB ", "Lab ", "A2B1", spaceTag, "B2A1", chooser("mft2")),
}

// spaceTag has tables that say what colours of Adobe RGB mean.
var spaceTag = testimg.SpaceTag("mft2", "Lab ", testimg.AdobeRGB, 2.2, 1, 17)

// chooser returns tables that choose colours of Adobe RGB.
func chooser(kind string) string {
	inverse, _ := icc.Inverse(testimg.AdobeRGB)
	return testimg.Chooser(kind, "Lab ", inverse, 2.2, 33)
}

// TestToProfileAsLittleCMS compares with Little CMS, as ImageMagick and libvips call it, and finds that pictures come back
// nearly as they were.
func TestToProfileAsLittleCMS(t *testing.T) {
	testlevel.Turn(t, 5)
	folder := t.TempDir()
	file := func(name string, data []byte) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	dev, strips := front(t), front(t, lathe.WithStrip(1))
	for to, data := range targets {
		for from, source := range map[string][]byte{"sRGB": testimg.RGBProfile(4, testimg.SRGB, testimg.SRGBCurve()), "ProPhoto": profiles["ProPhoto"], "grey": profiles["grey"], "mft2": profiles["mft2"]} {
			name, src := from+" to "+to, ramps()
			parsed := must(imageops.ParseProfile(source))
			if parsed.IsGrey() {
				grey(src)
			}
			target := must(imageops.ParseProfile(data))
			conversion := must(target.From(parsed))
			if from == "sRGB" {
				conversion = must(target.From(nil))
			}
			got := must(dev.Apply(t.Context(), src, imageops.ToProfile{Profile: conversion}))
			if parts := must(strips.Apply(t.Context(), src, imageops.ToProfile{Profile: conversion})); !bytes.Equal(parts.Pix, got.Pix) {
				t.Errorf("%s: strips differ from the whole picture", name)
			}
			if from == "sRGB" && (to == "Adobe RGB" || to == "Display P3") { // They have all colours of sRGB.
				back := must(dev.Apply(t.Context(), got, imageops.ToSRGB{Profile: target}))
				if d := farthest(back.Pix, src.Pix); d > 14 { // Dark levels of Adobe RGB are far apart.
					t.Errorf("%s and back: up to %d levels off", name, d)
				}
			}
			var b bytes.Buffer
			info := imageio.Info{Grey: parsed.IsGrey(), Depth: 8, Metadata: &imageio.Metadata{ICC: source}}
			if err := imageio.Encode(t.Context(), &b, src, imageio.PNG, &imageio.EncodeOptions{Source: &info}); err != nil {
				t.Fatal(name, err)
			}
			in, profile := file("in.png", b.Bytes()), file("target.icc", data)
			mean, most := map[string]float64{"convert": 0.55, "vips": 0.05}, map[string]int{"convert": 2, "vips": 2}
			switch { // vips has tables of 33 colours, and Lathe of 65.
			case bytes.Contains(data[:256], []byte("B2A1")):
				mean["vips"], most["vips"], most["convert"] = 0.2, 24, 16
			case from == "mft2":
				mean["vips"], most["vips"], most["convert"] = 0.2, 24, 3
			}
			for tool, args := range map[string][]string{
				"convert": {in, "-intent", "Relative", "-profile", profile, "-depth", "8", filepath.Join(folder, "convert.tif")},
				"vips":    {"icc_transform", in, filepath.Join(folder, "vips.tif"), profile, "--embedded", "--intent", "relative"},
			} {
				if _, err := osexec.LookPath(tool); err != nil {
					testkit.NoTool(t, "needs the program %s; install the packages imagemagick and libvips-tools: %v", tool, err)
				}
				if out, err := osexec.CommandContext(t.Context(), tool, args...).CombinedOutput(); err != nil {
					t.Fatalf("%s: %s: %v\n%s", name, tool, err, out)
				}
				made := must(os.Open(filepath.Join(folder, tool+".tif")))
				want, _, err := imageio.Decode(t.Context(), made, nil)
				made.Close()
				if err != nil {
					t.Fatal(err)
				}
				sum := 0
				for i, v := range want.(*image.NRGBA).Pix {
					sum += max(int(v)-int(got.Pix[i]), int(got.Pix[i])-int(v))
				}
				worst := farthest(got.Pix, want.(*image.NRGBA).Pix)
				if worst > most[tool] || float64(sum) > mean[tool]*float64(len(src.Pix)) {
					t.Errorf("%s: up to %d levels from %s, %.3f in the mean", name, worst, tool, float64(sum)/float64(len(src.Pix)))
				}
			}
		}
	}
}

// farthest is the largest difference of two pictures in levels.
func farthest(a, b []byte) (most int) {
	for i := range a {
		most = max(most, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return most
}
