package desktop

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spec"
)

// backends are those that a program has without a further import.
var backends = []string{"cpu", "vk"}

// has ends a test if the machine has no device of the backend.
func has(t *testing.T, backend string) {
	t.Helper()
	dev, err := lathe.Open(t.Context(), lathe.WithBackend(backend), lathe.WithLogger(nil))
	testkit.Device(t, dev, err)
}

// TestFyne shows a photograph, moves both sliders, and closes the window. Each time the window
// must show what the references make of the photograph.
func TestFyne(t *testing.T) {
	d := newDisplay(t)
	// With this tag Fyne draws by OpenGL ES. Its bindings to OpenGL take three minutes to compile.
	bin := build(t, "fyne", "-tags", "gles")
	photo := testimg.Photo(480, 300, 7)
	file := filepath.Join(t.TempDir(), "photo.png")
	var b bytes.Buffer
	if err := png.Encode(&b, photo); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	want := func(sigma, contrast float64) *image.NRGBA {
		return filtered(t, photo, imageops.GaussianBlur{Sigma: sigma}, imageops.Contrast{Factor: spec.Given(contrast)})
	}
	// Where the sliders begin, the first one at its left end, and then the second one at its right end.
	steps := []*image.NRGBA{want(6, 1.2), want(0.5, 1.2), want(0.5, 2)}
	for i := range steps {
		for j := range i {
			if _, wrong := find(steps[i], steps[j], 3); wrong == "" {
				t.Fatalf("steps %d and %d show the same: the test tells nothing", i, j)
			}
		}
	}
	for _, backend := range backends {
		t.Run(backend, func(t *testing.T) {
			has(t, backend)
			d.t = t
			p := d.start(backend, bin, "-sigma", "6", "-contrast", "1.2", file)
			var at image.Point
			// A level of the blur is up to two levels after the contrast, and that is rounded.
			shows := func(m *image.NRGBA) func() string {
				return func() (wrong string) {
					at, wrong = find(d.screen(), m, 3)
					return wrong
				}
			}
			d.until(p, shows(steps[0]))
			// The sliders are below the picture, and end where it ends. A slider that is drawn
			// beyond its end stays at the end.
			right, bottom := at.X+photo.Rect.Dx(), at.Y+photo.Rect.Dy()
			d.drag(right-50, at.X, bottom+23)
			d.until(p, shows(steps[1]))
			d.drag(right-200, right, bottom+63)
			d.until(p, shows(steps[2]))
			d.end(p)
		})
	}
}
