package conformance_test

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
)

// openCV compiles testdata/opencv.cpp, and returns a function that runs it on pictures of one size.
func openCV(t *testing.T) func(t *testing.T, call string, in ...*image.NRGBA) []byte {
	t.Helper()
	compiler := testkit.Tool(t, "g++")
	const headers = "/usr/include/opencv4"
	if _, err := os.Stat(headers + "/opencv2/photo.hpp"); err != nil {
		testkit.NoTool(t, "needs OpenCV 4; install the package libopencv-photo-dev: %v", err)
	}
	program := filepath.Join(t.TempDir(), "opencv")
	args := []string{"-O1", "-o", program, "-I" + headers, "testdata/opencv.cpp", "-lopencv_photo", "-lopencv_imgproc", "-lopencv_core"}
	if text, err := osexec.CommandContext(t.Context(), compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("g++: %v: %s", err, text)
	}
	return func(t *testing.T, call string, in ...*image.NRGBA) []byte {
		t.Helper()
		size := in[0].Rect.Size()
		cmd := osexec.CommandContext(t.Context(), program, append([]string{strconv.Itoa(size.X), strconv.Itoa(size.Y)}, strings.Fields(call)...)...)
		var stdin, stderr bytes.Buffer
		for _, m := range in {
			for i := 0; i < len(m.Pix); i += 4 {
				stdin.Write(m.Pix[i : i+3])
			}
		}
		cmd.Stdin, cmd.Stderr = &stdin, &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("OpenCV: %s: %v: %s", call, err, &stderr)
		}
		return out
	}
}

// opaque returns a picture from bytes of RGB.
func opaque(t *testing.T, rgb []byte, size image.Point) *image.NRGBA {
	t.Helper()
	if len(rgb) != 3*size.X*size.Y {
		t.Fatalf("%d bytes for %v pixels", len(rgb), size)
	}
	m := image.NewNRGBA(image.Rectangle{Max: size})
	for i := range m.Pix {
		if m.Pix[i] = 255; i%4 < 3 {
			m.Pix[i] = rgb[i/4*3+i%4]
		}
	}
	return m
}

// TestAsOpenCV compares operations on bytes with OpenCV: those that other programs have not, or have
// with another definition, and some that they have, for a second opinion.
func TestAsOpenCV(t *testing.T) {
	testlevel.Turn(t, 5)
	run, dev := openCV(t), front(t)
	photo := testimg.Photo(96, 64, 5)
	greyed := func(m *image.NRGBA) *image.NRGBA {
		for i := range m.Pix {
			if i%4 != 3 {
				m.Pix[i] = m.Pix[i&^3|1]
			}
		}
		return m
	}
	greys, large := greyed(testimg.Photo(96, 64, 6)), greyed(testimg.Photo(960, 768, 7))
	soft, err := dev.Apply(t.Context(), photo, imageops.GaussianBlur{Sigma: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		src        *image.NRGBA
		call, same string // the call of Lathe, and that of testdata/opencv.cpp
		limits     limits
		why        string // of the limits, if they are above one level
	}{
		{photo, "bilateral 3 sigma_color=0.1 radius=5", "bilateral 5 25.5 3", limits{1, 0, 0.3}, ""},
		{photo, "bilateral 8 sigma_color=0.5 radius=9", "bilateral 9 127.5 8", limits{1, 0, 0.3}, ""},
		{photo, "non_local_means 0.06", "non_local_means 15.3 7 21", limits{8, 13, 0.1}, "OpenCV takes weights below a thousandth for 0, and here there are 440 of them"},
		{photo, "non_local_means 0.2 patch=5 search=5", "non_local_means 51 5 5", limits{1, 6, 0.3}, ""},
		{greys, "non_local_means 0.03 patch=3 search=11", "non_local_means 7.65 3 11", limits{1, 6, 0.3}, ""},
		{greys, "canny sigma=0 low=0.3 high=0.8", "canny 0 0.3 0.8", limits{0, 1, 0}, ""},
		{photo, "canny sigma=1.4 low=0.1 high=0.3", "canny 1.4 0.1 0.3", limits{255, 1, 1}, "a pixel may be an edge or not where two gradients are nearly equal"},
		{large, "clahe 2 tiles_x=4 tiles_y=4", "clahe 2 4 4", limits{2, 0, 0.6}, "the tables of OpenCV have whole levels, and pixels above the limit that 256 does not divide go to some of them"},
		{large, "clahe 40 tiles_x=3 tiles_y=2", "clahe 40 3 2", limits{2, 0, 0.6}, "as before"},
		{greys, "equalize", "equalize", limits{1, 0, 0.5}, ""},
		{photo, "sobel_edges magnitude=true", "sobel", limits{1, 0, 0.1}, ""},
		{photo, "sobel_edges 0.4", "sobel_above 102", limits{0, 0, 0}, ""},
		{photo, "laplacian", "laplacian", limits{0, 0, 0}, ""},
		{photo, "gaussian_blur 0.7", "gaussian 0.7", limits{1, 0, 0.1}, ""},
		{photo, "gaussian_blur 3", "gaussian 3", limits{1, 0, 0.1}, ""},
		{photo, "gaussian_blur 11", "gaussian 11", limits{1, 0, 0.1}, ""},
		{photo, "unsharp sigma=1.5 amount=1.2", "unsharp 1.5 1.2", limits{1, 0, 0.4}, "Lathe rounds the blurred picture to whole levels"},
		{photo, "box_blur 3", "box 3", limits{1, 0, 0.1}, ""},
		{photo, "box_blur 40", "box 40", limits{1, 0, 0.1}, ""},
		{photo, "median 2", "median 2", limits{0, 0, 0}, ""},
		{photo, "median 20", "median 20", limits{0, 0, 0}, ""},
		{photo, "median 100", "median 100", limits{0, 0, 0}, ""},
		{photo, "erode 2", "erode 2", limits{0, 0, 0}, ""},
		{photo, "dilate 9", "dilate 9", limits{0, 0, 0}, ""},
		{photo, "opening 3", "opening 3", limits{0, 0, 0}, ""},
		{photo, "closing 2", "closing 2", limits{0, 0, 0}, ""},
		{photo, "motion_blur 15", "motion 15 0", limits{1, 0, 0.3}, ""},
		{photo, "motion_blur 8.5 angle=30", "motion 8.5 30", limits{1, 0, 0.3}, ""},
		{photo, "motion_blur 40 angle=-135", "motion 40 -135", limits{1, 0, 0.3}, ""},
		{soft, "zoom_blur 0.2", "zoom 0.2 0.5 0.5", limits{1, 0, 0.3}, ""},
		{soft, "zoom_blur 0.5 x=1 y=0.25", "zoom 0.5 1 0.25", limits{1, 0, 0.3}, ""},
		{photo, "pixelate 8", "pixelate 8", limits{1, 0, 0.04}, "OpenCV rounds halves to even"},
		{photo, "pixelate 32", "pixelate 32", limits{0, 0, 0}, ""},
		{photo, "perspective to=-5,-9,110,-3,120,70,-15,66", "perspective -5 -9 110 -3 120 70 -15 66", limits{4, 0, 0.2}, "places of OpenCV are 32nds of a pixel"},
		{photo, "resize width=250 height=131 fit=stretch filter=bilinear", "enlarge 250 131", limits{1, 0, 0.3}, ""},
		{photo, "grayscale", "grey", limits{1, 0, 0.1}, ""},
	} {
		t.Run(c.call, func(t *testing.T) {
			call, err := spec.ParseCall(c.call)
			if err != nil {
				t.Fatal(err)
			}
			got, err := dev.Apply(t.Context(), c.src, call)
			if err != nil {
				t.Fatal(err)
			}
			c.limits.check(t, "OpenCV", got, opaque(t, run(t, c.same, c.src), got.Rect.Size()))
			if t.Failed() && c.why != "" {
				t.Log("they differ because", c.why)
			}
		})
	}
	// OpenCV has PSNR, and the blur of which SSIM is made.
	other, err := dev.Apply(t.Context(), photo, spec.WithDefaults(imageops.Noise{Amount: 0.1}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := dev.Compare(t.Context(), photo, other)
	if err != nil {
		t.Fatal(err)
	}
	var psnr, ssim float64
	if _, err := fmt.Sscan(string(run(t, "compare", photo, other)), &psnr, &ssim); err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.PSNR-psnr) > 1e-4*psnr || math.Abs(got.SSIM-ssim) > 1e-4 {
		t.Errorf("PSNR %v and SSIM %v, OpenCV has %v and %v", got.PSNR, got.SSIM, psnr, ssim)
	}
}

// TestOtherPrograms checks that docs/other-programs.md has a row for each operation on pictures.
func TestOtherPrograms(t *testing.T) {
	page, err := os.ReadFile("../../docs/other-programs.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 && strings.HasPrefix(cells[1], " `") {
			for name := range strings.SplitSeq(cells[1], ",") {
				rows[strings.Trim(name, " `")]++
			}
		}
	}
	for _, op := range spec.All() {
		if op.Group == "image" && !strings.HasPrefix(op.Name, "test_") && rows[op.Name] != 1 {
			t.Errorf("docs/other-programs.md has %d rows for %s, want 1", rows[op.Name], op.Name)
		}
	}
}
