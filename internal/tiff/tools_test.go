package tiff

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// photo is a photograph as samples of 8 bits.
func photo(w, h, n int) *drawn {
	m := testimg.Photo(w, h, 5)
	d := &drawn{w: w, h: h, n: n, s: make([]uint32, w*h*n)}
	for i := range w * h {
		for c := range n {
			d.s[i*n+c] = uint32(m.Pix[4*i+c%4])
		}
	}
	return d
}

// TestRewritten has libtiff write our pictures in its ways; what is read must
// stay the same.
func TestRewritten(t *testing.T) {
	tiffcp := testkit.Tool(t, "tiffcp")
	dir := t.TempDir()
	white, black := kind{photometric: whiteIsZero, bits: 1}, kind{photometric: blackIsZero, bits: 1}
	grey, colour := kind{photometric: blackIsZero, bits: 8}, kind{photometric: rgb, bits: 8}
	deep := kind{photometric: rgb, bits: 16, extra: []int{2}}
	ink := kind{photometric: cmyk, bits: 8}
	for _, c := range []struct {
		k    kind
		args string
		tol  int
	}{
		{white, "-c g4", 0}, {black, "-c g4", 0}, {white, "-c g4 -f lsb2msb", 0}, {black, "-c g4 -f lsb2msb -r 7", 0}, {black, "-c g4 -t -w 32 -l 16", 0},
		{white, "-c g3:1d", 0}, {black, "-c g3:1d -f lsb2msb", 0}, {black, "-c lzw", 0}, {white, "-c packbits -f lsb2msb", 0},
		{black, "-c zip -f lsb2msb -8", 0}, {grey, "-c lzw:2 -r 9", 0}, {colour, "-c lzw:2", 0}, {colour, "-c lzw:2 -p separate -t -w 16 -l 48", 0},
		{colour, "-c zip:2 -8 -B", 0}, {deep, "-c zip:2 -t -w 16 -l 16 -B", 0}, {deep, "-c lzw:2 -L -8", 0}, {ink, "-c lzw -t -w 64 -l 64", 0},
		{grey, "-c jpeg:100", 6}, {colour, "-c jpeg:r:100", 12}, {colour, "-c jpeg:100", 64}, {colour, "-c jpeg:100 -t -w 32 -l 32", 64},
		{colour, "-c jpeg:r:100 -p separate", 12}, {grey, "-c jpeg:100 -r 16", 6}, {ink, "-c jpeg:100", 12},
	} {
		name := fmt.Sprintf("%d x %d %s", c.k.photometric, c.k.bits, c.args)
		d := photo(83, 61, colours[c.k.photometric]+len(c.k.extra))
		if c.k.bits != 8 {
			d = c.k.draw(83, 61, 7)
		}
		in, out := filepath.Join(dir, "in.tiff"), filepath.Join(dir, "out.tiff")
		if err := os.WriteFile(in, c.k.file(d), 0o666); err != nil {
			t.Fatal(err)
		}
		if b, err := exec.Command(tiffcp, append(strings.Fields(c.args), in, out)...).CombinedOutput(); err != nil {
			t.Errorf("%s: tiffcp: %v\n%s", name, err, b)
			continue
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := c.k.seen(d)
		if diff := testimg.Differ(got, want, max(c.tol, c.k.photometric/cmyk)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		sum := 0 // of what JPEG changes: much in few pixels, where colours are shared
		for i := range want.Pix {
			sum += max(int(got.Pix[i])-int(want.Pix[i]), int(want.Pix[i])-int(got.Pix[i]))
		}
		if mean := float64(sum) / float64(len(want.Pix)); mean > 4 {
			t.Errorf("%s: %.1f levels off on average", name, mean)
		}
	}
	// What is not read is named.
	for args, want := range map[string]string{"-c g3:2d": "two-dimensional CCITT", "-c g3:1d:fill": "filled lines", "-c jpeg:100 -p separate": "YCbCr planes"} {
		black := black
		if strings.Contains(args, "jpeg") {
			black = colour
		}
		in, out := filepath.Join(dir, "in.tiff"), filepath.Join(dir, "out.tiff")
		if err := os.WriteFile(in, black.file(black.draw(83, 61, 7)), 0o666); err != nil {
			t.Fatal(err)
		}
		if b, err := exec.Command(tiffcp, append(strings.Fields(args), in, out)...).CombinedOutput(); err != nil {
			t.Fatalf("tiffcp: %v\n%s", err, b)
		}
		data, _ := os.ReadFile(out)
		if _, err := decode(data); !errors.Is(err, errs.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", args, err)
		}
	}
}

// TestAgainstLibtiff has libtiff read our pictures: the generator is on trial
// here, as much as the decoder.
func TestAgainstLibtiff(t *testing.T) {
	tiff2rgba := testkit.Tool(t, "tiff2rgba")
	dir := t.TempDir()
	known := 0
	for i, k := range kinds() {
		if i%5 != 0 && k.photometric != ycbcr && k.photometric != cmyk || !testlevel.IsFull() && i%4 != 0 {
			continue // a process each
		}
		// At the right edge libtiff misreads tiles of 16-bit grey and shared colours.
		d := k.draw(64, 32, uint64(i))
		in, out := filepath.Join(dir, "in.tiff"), filepath.Join(dir, "out.tiff")
		if err := os.WriteFile(in, k.file(d), 0o666); err != nil {
			t.Fatal(err)
		}
		os.Remove(out)
		if err := exec.Command(tiff2rgba, "-n", "-c", "none", in, out).Run(); err != nil || len(k.extra) > 0 {
			continue // it does not read every kind either, and takes what is unnamed for alpha
		}
		data, err := os.ReadFile(out)
		if err != nil {
			continue
		}
		theirs, err := decode(data)
		if err != nil {
			t.Errorf("%+v: the file of tiff2rgba: %v", k, err)
			continue
		}
		known++
		if diff := testimg.Differ(k.seen(d), theirs, 3); diff != "" {
			t.Errorf("%+v: %s by libtiff", k, diff)
		}
	}
	if known < 10 {
		t.Errorf("tiff2rgba read %d kinds", known)
	}
}

// TestFax reads the fax pictures that golang.org/x/image brings along, and the
// same with the photometric interpretation turned round: x/image has that
// change nothing.
func TestFax(t *testing.T) {
	dir := testkit.Samples(t)
	b, err := os.ReadFile(filepath.Join(dir, "bw-gopher.png"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	want := image.NewNRGBA(m.Bounds())
	for y := range want.Rect.Dy() {
		for x := range want.Rect.Dx() {
			want.Set(x, y, m.At(x, y))
		}
	}
	for _, name := range []string{"bw-gopher_ccittGroup3.tiff", "bw-gopher_ccittGroup4.tiff"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, turned := range []bool{false, true} {
			if turned {
				d, err := readDirectory(bytes.NewReader(data), int64(len(data)))
				if err != nil {
					t.Fatal(err)
				}
				at := d.tags[262].at
				data[at] ^= 1 // both bytes: the order may be either
				if d.order.Uint16(data[at:]) > 1 {
					data[at], data[at+1] = data[at]^1, data[at+1]^1
				}
				for i := range want.Pix {
					if i%4 != 3 {
						want.Pix[i] ^= 255
					}
				}
			}
			got, err := decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := testimg.Differ(got, want, 0); diff != "" {
				t.Errorf("%s, turned round %v: %s", name, turned, diff)
			}
		}
		for i := range want.Pix {
			if i%4 != 3 {
				want.Pix[i] ^= 255
			}
		}
	}
}
