package batch

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// part is a call that cuts out a rectangle. Of a picture it is not known before.
type part struct{ r image.Rectangle }

var searching = &spec.Op{Name: "part", Crops: func(spec.Call, tensor.Desc) (int, int) { return 0, 0 }}

func (part) Spec() *spec.Op { return searching }

// cutter is a Searcher that finds a rectangle of a third of the width and half of the height.
type cutter struct{ err error }

func (c cutter) FindCrops(_ context.Context, src image.Image, _ ...spec.Call) ([]spec.Call, error) {
	s := src.Bounds().Size()
	return []spec.Call{part{image.Rect(s.X/3, 0, s.X/3*2, s.Y/2)}}, c.err
}

func (cutter) ApplyTo(_ context.Context, dst draw.Image, src image.Image, calls ...spec.Call) error {
	r := calls[0].(part).r
	if dst.Bounds().Size() != r.Size() {
		return errors.New("wrong size")
	}
	draw.Draw(dst, dst.Bounds(), src, r.Min, draw.Src)
	return nil
}

// TestSearch cuts out of pictures of 8 and 16 bits what a Searcher finds.
func TestSearch(t *testing.T) {
	flat, deep := image.NewNRGBA(image.Rect(0, 0, 30, 20)), image.NewNRGBA64(image.Rect(0, 0, 60, 10))
	for i := range flat.Pix {
		flat.Pix[i] = uint8(i) | 1
	}
	for i := range deep.Pix {
		deep.Pix[i] = uint8(3*i) | 1
	}
	files := map[string][]byte{"in/a.png": encoded(flat, ".png"), "in/b.png": encoded(deep, ".png")}
	tree(t, files)
	size := func(size image.Point, calls ...spec.Call) (image.Point, error) {
		if p := calls[0].(part); !p.r.Empty() {
			return p.r.Size(), nil
		}
		return size, nil
	}
	calls = []spec.Call{part{}}
	defer func() { calls = []spec.Call{call{}} }()
	rep := run(t, t.Context(), cutter{}, []string{"in"}, FindOptions{}, Naming{Format: imageio.PNG}, Options{Folder: "out", Size: size})
	for i, want := range []*image.Rectangle{{Max: image.Pt(10, 10)}, {Max: image.Pt(20, 5)}} {
		f := rep.Files[i]
		if f.Status != OK {
			t.Fatalf("%s: %v", f.Input, f.Err)
		}
		p := must(OpenPicture(t.Context(), f.Output, 0))
		m := must(p.Decode(t.Context(), 16))
		p.Close()
		if m.Bounds() != *want {
			t.Errorf("%s: got %v, want %v", f.Output, m.Bounds(), want)
		}
		if got, want := m.At(3, 4), deep.At(23, 4); i == 1 && got != want {
			t.Errorf("%s: got %v, want %v", f.Output, got, want)
		}
		if got, want := color.NRGBAModel.Convert(m.At(3, 4)), flat.At(13, 4); i == 0 && got != want {
			t.Errorf("%s: got %v, want %v", f.Output, got, want)
		}
	}
	for name, c := range map[string]struct {
		proc Processor
		opts Options
		want string
	}{
		"not found":   {cutter{errors.New("lost")}, Options{Size: size}, "lost"},
		"no searcher": {&negative{}, Options{Size: size}, "no Searcher"},
		"too large after the search": {cutter{}, Options{MaxPixels: 700, Size: func(s image.Point, calls ...spec.Call) (image.Point, error) {
			if p := calls[0].(part); !p.r.Empty() {
				return image.Pt(p.r.Dx(), 100), nil
			}
			return s, nil
		}}, "the result"},
		"too much memory after the search": {cutter{}, Options{MaxPixels: 1 << 40, Memory: 64 << 20, Size: func(s image.Point, calls ...spec.Call) (image.Point, error) {
			if p := calls[0].(part); !p.r.Empty() {
				return image.Pt(p.r.Dx(), 1<<24), nil
			}
			return s, nil
		}}, "memory"},
	} {
		c.opts.Folder = filepath.Join("out", name)
		rep := run(t, t.Context(), c.proc, []string{"in"}, FindOptions{}, Naming{Format: imageio.PNG}, c.opts)
		for _, f := range rep.Files {
			if f.Status != Failed || !strings.Contains(f.Err.Error(), c.want) {
				t.Errorf("%s: %s: %v, %v", name, f.Input, f.Status, f.Err)
			}
		}
	}
	noLeftovers(t)
}
