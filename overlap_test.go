package lathe_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/spec"
)

// TestApplyToOverlap applies to images that share memory with the result, whole and in
// strips, premultiplied and not. The result is that of a source with memory of its own.
func TestApplyToOverlap(t *testing.T) {
	const w, h = 300, 240
	sub := func(m *image.NRGBA, x, y int) *image.NRGBA {
		return m.SubImage(image.Rect(x, y, x+w, y+h)).(*image.NRGBA)
	}
	views := []struct {
		name string
		make func(base *image.NRGBA) (dst *image.NRGBA, src image.Image)
	}{
		{"below", func(b *image.NRGBA) (*image.NRGBA, image.Image) { return sub(b, 0, 9), sub(b, 0, 0) }},
		{"above", func(b *image.NRGBA) (*image.NRGBA, image.Image) { return sub(b, 0, 0), sub(b, 0, 9) }},
		{"right", func(b *image.NRGBA) (*image.NRGBA, image.Image) { return sub(b, 20, 0), sub(b, 0, 0) }},
		{"premultiplied, below", func(b *image.NRGBA) (*image.NRGBA, image.Image) {
			s := sub(b, 0, 0)
			return sub(b, 20, 9), &image.RGBA{Pix: s.Pix, Stride: s.Stride, Rect: s.Rect}
		}},
		{"rows packed tighter", func(b *image.NRGBA) (*image.NRGBA, image.Image) {
			return &image.NRGBA{Pix: b.Pix, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}, sub(b, 0, 0)
		}},
		{"packed, of other capacity", func(b *image.NRGBA) (*image.NRGBA, image.Image) {
			n, off := 4*w*h, 4096
			r := image.Rect(0, 0, w, h)
			return &image.NRGBA{Pix: b.Pix[off : off+n : off+n], Stride: 4 * w, Rect: r}, &image.NRGBA{Pix: b.Pix[:n:n], Stride: 4 * w, Rect: r}
		}},
		{"the same pixels, of other capacity", func(b *image.NRGBA) (*image.NRGBA, image.Image) {
			n := 4 * w * h
			r := image.Rect(0, 0, w, h)
			return &image.NRGBA{Pix: b.Pix[:n:n], Stride: 4 * w, Rect: r}, &image.NRGBA{Pix: b.Pix, Stride: 4 * w, Rect: r}
		}},
		{"deeper colours", func(b *image.NRGBA) (*image.NRGBA, image.Image) {
			return sub(b, 0, 0), &image.Gray16{Pix: b.Pix, Stride: 2 * w, Rect: image.Rect(0, 0, w, h)}
		}},
	}
	chains := [][]spec.Call{{imageops.InvertColors{}}, {imageops.GaussianBlur{Sigma: 2}, imageops.InvertColors{}}}
	for _, strip := range []int64{1, 4 * w * 50, 1 << 20} {
		dev := open(t, lathe.WithStrip(strip))
		for _, v := range views {
			for i, calls := range chains {
				_, src := v.make(noise(w+20, h+10))
				want := must(dev.Apply(t.Context(), src, calls...))(t)
				dst, src := v.make(noise(w+20, h+10))
				if err := dev.ApplyTo(t.Context(), dst, src, calls...); err != nil {
					t.Fatal(err)
				}
				if y := differs(dst.Pix, dst.Stride, want.Pix, w, h); y >= 0 {
					t.Errorf("%s, chain %d, strips of %d bytes: row %d differs from that of a copied source", v.name, i, strip, y)
				}
				dst, src = v.make(noise(w+20, h+10))
				if err := dev.ApplyTo(t.Context(), &image.RGBA{Pix: dst.Pix, Stride: dst.Stride, Rect: dst.Rect}, src, calls...); err != nil {
					t.Fatal(err)
				}
				if y := differs(dst.Pix, dst.Stride, premultiplied(want).Pix, w, h); y >= 0 {
					t.Errorf("%s, chain %d, strips of %d bytes, premultiplied: row %d differs from that of a copied source", v.name, i, strip, y)
				}
			}
		}
	}
}

// differs returns the first row of w pixels that is not that of want, whose rows have no gaps
// between them, or −1.
func differs(pix []byte, stride int, want []byte, w, h int) int {
	for y := range h {
		if !bytes.Equal(pix[y*stride:][:4*w], want[y*4*w:][:4*w]) {
			return y
		}
	}
	return -1
}

// halfImporter imports the first slice that it is given and no other. It cannot free.
type halfImporter struct {
	gpu.Device
	imports int
}

func (d *halfImporter) Import(data []byte) (gpu.Handle, error) {
	if d.imports++; d.imports > 1 {
		return 0, fmt.Errorf("import: %w", gpu.ErrUnsupported)
	}
	return d.Device.Alloc(int64(len(data)))
}

func (d *halfImporter) Free(gpu.Handle) error { return fmt.Errorf("free: %w", errs.ErrDeviceLost) }

// TestApplyReleaseFails fails to release the memory of the source after the memory of the
// result could not be imported.
func TestApplyReleaseFails(t *testing.T) {
	half := &halfImporter{Device: null.NewRecorder(nil)}
	dev, err := lathe.Open(t.Context(), lathe.WithGPU(half), lathe.WithoutCache())
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if _, err := dev.Apply(t.Context(), noise(256, 256), imageops.InvertColors{}); !errors.Is(err, errs.ErrDeviceLost) || half.imports != 2 {
		t.Errorf("got %v after %d imports, want ErrDeviceLost after 2", err, half.imports)
	}
}
