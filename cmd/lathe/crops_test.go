package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"os"
	"path/filepath"
	"testing"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// TestTrimFolder trims pictures of a folder: each has a result of its own size, also after resize,
// and one whose result would be too large is refused.
func TestTrimFolder(t *testing.T) {
	if !drivers.Has(drivers.CPU) {
		return // the command computes on the device cpu
	}
	folder := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(folder, "cache"))
	t.Setenv("LATHE_BACKEND", "cpu")
	t.Setenv("LATHE_DEVICE", "")
	write := func(name string, m draw.Image, keep image.Rectangle) {
		draw.Draw(m, m.Bounds(), image.White, image.Point{}, draw.Src)
		draw.Draw(m, keep, image.NewUniform(color.NRGBA{200, 30, 90, 255}), image.Point{}, draw.Src)
		data, err := testimg.Encode(m, filepath.Ext(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a.png", image.NewNRGBA(image.Rect(0, 0, 70, 50)), image.Rect(10, 5, 50, 25))
	write("b.png", image.NewNRGBA64(image.Rect(0, 0, 30, 90)), image.Rect(0, 80, 30, 85))
	write("c.jpg", image.NewNRGBA(image.Rect(0, 0, 64, 64)), image.Rect(16, 16, 32, 48))
	size := func(name string) (image.Point, int) {
		data, err := os.ReadFile(filepath.Join(folder, "out", name))
		if err != nil {
			t.Fatal(err)
		}
		m, info, err := imageio.Decode(t.Context(), bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		return m.Bounds().Size(), info.Depth
	}
	for op, want := range map[string][3]image.Point{
		"trim 10":                     {{40, 20}, {30, 5}, {16, 32}},
		"trim 10 | resize width=80":   {{80, 40}, {80, 13}, {80, 160}},
		"flip | trim 10 color=white":  {{40, 20}, {30, 5}, {16, 32}},
		"trim 10 | pad left=1 top=10": {{41, 30}, {31, 15}, {17, 42}},
	} {
		code, _, said := command(t, "image", folder, "--op", op, "-o", filepath.Join(folder, "out"), "--force")
		if code != exitOK {
			t.Fatalf("%s: exit code %d: %s", op, code, said)
		}
		for i, name := range []string{"a.png", "b.png", "c.jpg"} {
			got, depth := size(name)
			if got != want[i] {
				t.Errorf("%s: %s: got %v, want %v", op, name, got, want[i])
			}
			if deep := name == "b.png"; deep != (depth == 16) {
				t.Errorf("%s: %s: %d bits a channel", op, name, depth)
			}
		}
	}
	// A narrow part that is enlarged to a width is higher than the picture would be.
	code, _, said := command(t, "image", filepath.Join(folder, "c.jpg"), "--op", "trim 10 | resize width=80", "-o", filepath.Join(folder, "out"), "--force", "--max-pixels", "7000")
	if code != exitFailed || !bytes.Contains([]byte(said), []byte("80×160")) {
		t.Errorf("a result that is too large: exit code %d: %s", code, said)
	}
}
