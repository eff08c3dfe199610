package conformance_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spec"
)

// cubeOf returns the table of a function with n colours along an edge, and keywords before it.
func cubeOf(t testing.TB, n int, keywords string, f func(c [3]float64) [3]float64) *imageops.Cube {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nLUT_3D_SIZE %d\n", keywords, n)
	for i := range n * n * n {
		c := f([3]float64{float64(i%n) / float64(n-1), float64(i/n%n) / float64(n-1), float64(i/n/n) / float64(n-1)})
		fmt.Fprintln(&b, c[0], c[1], c[2])
	}
	cube, err := imageops.ParseCube(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return cube
}

// warm is a smooth function of colours.
func warm(c [3]float64) [3]float64 {
	return [3]float64{math.Pow(c[0], 0.8), 0.9*c[1] + 0.1*c[0]*c[2], 0.1 + 0.7*c[2]*c[2]}
}

// TestLUT checks that a table of identity changes no byte and no 16-bit level, that a domain, a curve
// and an amount do what they say, and that strips give the same as the whole image.
func TestLUT(t *testing.T) {
	whole, strips := front(t), front(t, lathe.WithStrip(1))
	src := testimg.Noise(61, 200, 4)
	same := cubeOf(t, 7, "", func(c [3]float64) [3]float64 { return c })
	for _, table := range []image.Image{same, must(imageops.ParseCube(strings.NewReader("LUT_1D_SIZE 2\n0 0 0\n1 1 1"))),
		must(imageops.ParseCube(strings.NewReader("DOMAIN_MIN -1 0 0\nDOMAIN_MAX 1 2 1\nLUT_1D_SIZE 2\n-1 0 0\n1 2 1")))} {
		out, err := whole.Apply(t.Context(), src, imageops.LUT{Table: table, Amount: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.Pix, src.Pix) {
			t.Errorf("%v: identity has changed bytes", table.Bounds())
		}
	}
	deep := image.NewNRGBA64(image.Rect(0, 0, 40, 30))
	for i := range deep.Pix {
		deep.Pix[i] = byte(i * 37)
	}
	wide := image.NewNRGBA64(deep.Rect)
	if err := whole.ApplyTo(t.Context(), wide, deep, imageops.LUT{Table: same, Amount: 0.5}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(wide.Pix, deep.Pix) {
		t.Error("identity has changed levels of 16 bits")
	}
	// The curve makes squares, and the cube takes them from 1.
	both := must(imageops.ParseCube(strings.NewReader("LUT_1D_SIZE 256\nLUT_3D_SIZE 2\n" + func() (text string) {
		for i := range 256 {
			v := float64(i) / 255
			text += fmt.Sprintln(v*v, v*v, v*v)
		}
		for i := range 8 {
			text += fmt.Sprintln(1-i&1, 1-i>>1&1, 1-i>>2)
		}
		return text
	}())))
	out, err := whole.Apply(t.Context(), src, imageops.LUT{Table: both, Amount: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out.Pix {
		x := float64(src.Pix[i]) / 255
		want := 255 * (1 - x*x)
		if i%4 == 3 {
			want = float64(src.Pix[i])
		}
		if math.Abs(float64(v)-want) > 0.501 {
			t.Fatalf("byte %d: got %d, want %.3f", i, v, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		chain := []spec.Call{imageops.LUT{Table: same, Amount: 0.7}, imageops.Flip{}, imageops.LUT{Table: both, Amount: 1}}[:rapid.IntRange(1, 3).Draw(t, "calls")]
		want, err := whole.Apply(t.Context(), src, chain...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := strips.Apply(t.Context(), src, chain...)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Pix, want.Pix) {
			t.Error("strips differ from the whole image")
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestLUTAsImageMagick compares with ImageMagick, which has the same table as a Hald picture. It
// interpolates between the eight corners of a cell, and rounds down twice.
func TestLUTAsImageMagick(t *testing.T) {
	tool := "convert"
	if v, err := osexec.CommandContext(t.Context(), tool, "-version").Output(); err != nil || !bytes.Contains(v, []byte("ImageMagick")) {
		testkit.NoTool(t, "needs ImageMagick's program %s; install the package imagemagick: %v", tool, err)
	}
	const n = 16 // a Hald picture of level 4 has 64 by 64 pixels
	cube := cubeOf(t, n, "", warm)
	hald := image.NewNRGBA64(image.Rect(0, 0, 64, 64))
	for i := range n * n * n {
		hald.Set(i%64, i/64, cube.At(i%n, i/n))
	}
	folder := t.TempDir()
	file := must(os.Create(filepath.Join(folder, "hald.png")))
	if err := png.Encode(file, hald); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	src := testimg.Noise(64, 48, 9)
	for i := 3; i < len(src.Pix); i += 4 {
		src.Pix[i] = 255
	}
	cmd := osexec.CommandContext(t.Context(), tool, "-size", "64x48", "-depth", "8", "rgba:-", filepath.Join(folder, "hald.png"), "-hald-clut", "-depth", "8", "rgba:-")
	cmd.Stdin = bytes.NewReader(src.Pix)
	want, err := cmd.Output()
	if err != nil || len(want) != len(src.Pix) {
		t.Fatalf("%d bytes, %v", len(want), err)
	}
	out, err := front(t).Apply(t.Context(), src, imageops.LUT{Table: cube, Amount: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out.Pix {
		if d := math.Abs(float64(v) - float64(want[i])); d > 2 {
			t.Errorf("byte %d of %v: got %d, ImageMagick has %d", i%4, src.Pix[i&^3:i|3], v, want[i])

		}
	}
}
