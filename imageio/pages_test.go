package imageio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// threePages is a TIFF file of a photograph, grey of 16 bits, and a palette, all of other sizes.
func threePages() ([]byte, []image.Image) {
	grey := image.NewGray16(image.Rect(0, 0, 20, 11))
	testimg.Fill(3, grey.Pix)
	table := image.NewPaletted(image.Rect(0, 0, 9, 14), color.Palette{color.Black, color.NRGBA{200, 9, 9, 255}})
	for i := range table.Pix {
		table.Pix[i] = uint8(i % 3 / 2)
	}
	pictures := []image.Image{testimg.Photo(31, 17, 1), grey, table}
	var files [][]byte
	for _, m := range pictures {
		files = append(files, encoded(m, ".tiff"))
	}
	return testimg.Pages(files...), pictures
}

// samePixels reports an image that is not another one.
func samePixels(t *testing.T, what string, got, want image.Image) {
	t.Helper()
	if got.Bounds() != want.Bounds() {
		t.Fatalf("%s: %v, want %v", what, got.Bounds(), want.Bounds())
	}
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			if g, w := color.NRGBA64Model.Convert(got.At(x, y)), color.NRGBA64Model.Convert(want.At(x, y)); g != w {
				t.Fatalf("%s: pixel %d,%d is %v, want %v", what, x, y, g, w)
			}
		}
	}
}

// TestPage reads each page of a TIFF file, with what the file says of it.
func TestPage(t *testing.T) {
	data, pictures := threePages()
	for _, open := range []func() io.Reader{func() io.Reader { return bytes.NewReader(data) }, func() io.Reader { return stream(data) }} {
		for i, want := range pictures {
			o := &DecodeOptions{Page: i + 1, Depth: 16}
			m, info, err := Decode(t.Context(), open(), o)
			if err != nil {
				t.Fatal(err)
			}
			samePixels(t, fmt.Sprint("page ", i+1), m, want)
			if info.Frames != 3 || info.Grey != (i == 1) || info.Depth != []int{8, 16, 8}[i] || info.Palette != []int{0, 0, 256}[i] || info.Width != want.Bounds().Dx() {
				t.Errorf("page %d: %+v", i+1, info)
			}
			if config, err := DecodeConfig(t.Context(), open(), o); err != nil || config.Width != info.Width {
				t.Errorf("page %d: %+v, %v", i+1, config, err)
			}
			n := 0
			for f, err := range must(NewDecoder(t.Context(), open(), o)).Frames(t.Context()) {
				if n++; err != nil {
					t.Fatal(err)
				}
				samePixels(t, "the only frame", f.Image, want)
			}
			if n != 1 {
				t.Errorf("page %d: %d frames", i+1, n)
			}
		}
		m, _, err := Decode(t.Context(), open(), nil)
		if err != nil {
			t.Fatal(err)
		}
		samePixels(t, "without a page", m, pictures[0])
	}
	// The page has its own orientation and metadata, and a first page that is not read is in nobody's way.
	var second bytes.Buffer
	source := &Info{Metadata: &Metadata{DensityX: 300, DensityY: 300, XMP: []byte("<x/>")}}
	if err := Encode(t.Context(), &second, testimg.Quarters(8, 6), TIFF, &EncodeOptions{Source: source}); err != nil {
		t.Fatal(err)
	}
	both := testimg.Pages(encoded(testimg.Quarters(8, 8), ".tiff"), second.Bytes())
	m, info, err := Decode(t.Context(), bytes.NewReader(both), &DecodeOptions{Page: 2})
	if err != nil || info.Metadata == nil || string(info.Metadata.XMP) != "<x/>" || info.Metadata.DensityX != 300 {
		t.Fatalf("%+v, %v", info.Metadata, err)
	}
	samePixels(t, "the second page", m, testimg.Quarters(8, 6))
	if _, info, err = Decode(t.Context(), bytes.NewReader(both), nil); err != nil || info.Metadata != nil && info.Metadata.XMP != nil {
		t.Errorf("%+v, %v", info.Metadata, err)
	}
	at := bytes.Index(both, []byte{3, 1, 3, 0, 1, 0, 0, 0}) // the compression of the first page
	both[at+8] = 99
	if _, _, err := Decode(t.Context(), bytes.NewReader(both), nil); err == nil {
		t.Error("an unknown compression is read")
	}
	if _, _, err := Decode(t.Context(), bytes.NewReader(both), &DecodeOptions{Page: 2}); err != nil {
		t.Error(err)
	}
}

// TestPageOfAnimation takes a frame as Frames returns it.
func TestPageOfAnimation(t *testing.T) {
	frames := sprites(37, 21, 5)
	for _, f := range []Format{GIF, WebP} {
		data := animate(t, frames, f, &EncodeOptions{WebP: lossless})
		all, _, _, err := all(t, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range all {
			m, info, err := Decode(t.Context(), bytes.NewReader(data), &DecodeOptions{Page: i + 1})
			if err != nil || info.Frames != 5 {
				t.Fatalf("%s: %+v, %v", f, info, err)
			}
			samePixels(t, fmt.Sprint(f, " ", i+1), m, want)
		}
		// All frames before count for the limit, and an early end is found.
		o := &DecodeOptions{Page: 3, MaxPixels: 3*37*21 - 1}
		if _, _, err := Decode(t.Context(), bytes.NewReader(data), o); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", f, err)
		}
		if o.Page = 2; must(NewDecoder(t.Context(), bytes.NewReader(data), o)).Info().Memory <= must(NewDecoder(t.Context(), bytes.NewReader(data), nil)).Info().Memory {
			t.Errorf("%s: a frame takes no memory", f)
		}
		ctx, stop := context.WithCancel(t.Context())
		d := must(NewDecoder(ctx, bytes.NewReader(data), o))
		stop()
		if err := d.DecodeTo(ctx, image.NewNRGBA(image.Rect(0, 0, 37, 21))); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", f, err)
		}
	}
	cut := animate(t, frames, GIF, nil)
	for _, n := range []int{len(cut) / 2, len(cut) - 30} {
		if _, _, err := Decode(t.Context(), bytes.NewReader(cut[:n]), &DecodeOptions{Page: 5}); err == nil {
			t.Errorf("frame 5 of a file that ends after %d of %d bytes", n, len(cut))
		}
	}
}

// TestNoSuchPage checks the errors, which say how many pages there are.
func TestNoSuchPage(t *testing.T) {
	tiff, _ := threePages()
	apng := pngWith(encoded(testimg.Quarters(8, 8), ".png"), "acTL", []byte{0, 0, 0, 12, 0, 0, 0, 0})
	png := encoded(testimg.Quarters(8, 8), ".png")
	for _, c := range []struct {
		data []byte
		page int
		kind error
		want string
	}{
		{tiff, 4, errs.ErrInvalidArgument, "page (got 4, want 1 to 3: the file has 3 pages)"},
		{animation(5), 6, errs.ErrInvalidArgument, "page (got 6, want 1 to 5: the animation has 5 frames)"},
		{png, 2, errs.ErrInvalidArgument, "page (got 2, and the file has one picture)"},
		{encoded(testimg.Quarters(8, 8), ".tiff"), 2, errs.ErrInvalidArgument, "page (got 2, and the file has one picture)"},
		{apng, 2, ErrUnsupported, "page 2 of the 12 pictures of a png file"},
		{png, -1, errs.ErrInvalidArgument, "page (got -1, want 1 or more, or 0 for the first one)"},
	} {
		_, _, err := Decode(t.Context(), bytes.NewReader(c.data), &DecodeOptions{Page: c.page})
		if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("page %d: %v, want %q", c.page, err, c.want)
		}
	}
	for _, data := range [][]byte{apng, png, encoded(testimg.Quarters(8, 8), ".jpg")} {
		if _, _, err := Decode(t.Context(), bytes.NewReader(data), &DecodeOptions{Page: 1, AtLeast: image.Pt(1, 1)}); err != nil {
			t.Error(err)
		}
	}
}

// TestPagesAsImageMagick reads pages of files that ImageMagick and libtiff have made.
func TestPagesAsImageMagick(t *testing.T) {
	convert, tiffcp, dir := testkit.Tool(t, "convert"), testkit.Tool(t, "tiffcp"), t.TempDir()
	args := []string{"-depth", "8"}
	var want []image.Image
	for i := range 3 {
		m := testimg.Photo(40+i, 30-i, uint64(i))
		name := filepath.Join(dir, fmt.Sprintf("%d.png", i))
		if err := os.WriteFile(name, encoded(m, ".png"), 0o600); err != nil {
			t.Fatal(err)
		}
		args, want = append(args, name), append(want, m)
	}
	one, big := filepath.Join(dir, "one.tif"), filepath.Join(dir, "big.tif")
	for _, command := range [][]string{append(append([]string{convert}, args...), "-compress", "zip", one), {tiffcp, "-8", "-c", "lzw", one, big}} {
		if text, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", command, err, text)
		}
	}
	for _, name := range []string{one, big} {
		for i, m := range want {
			got, info, err := Decode(t.Context(), bytes.NewReader(must(os.ReadFile(name))), &DecodeOptions{Page: i + 1})
			if err != nil || info.Frames != 3 {
				t.Fatalf("%s: %+v, %v", name, info, err)
			}
			samePixels(t, name, got, m)
		}
	}
}
