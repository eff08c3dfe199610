package batch

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/spec"
)

// movie is an animation of n frames of 12×8 pixels, in which a white pixel goes along the diagonal.
func movie(n int, f imageio.Format, meta *imageio.Metadata) []byte {
	frames := func(yield func(imageio.Frame, error) bool) {
		for i := range n {
			m := image.NewNRGBA(image.Rect(0, 0, 12, 8))
			draw.Draw(m, m.Rect, image.Black, image.Point{}, draw.Src)
			m.Set(i, i, color.White)
			if !yield(imageio.Frame{Image: m, Delay: 70 * time.Millisecond}, nil) {
				return
			}
		}
	}
	var b bytes.Buffer
	if err := imageio.EncodeFrames(context.Background(), &b, frames, f, &imageio.EncodeOptions{WebP: "lossless", Source: &imageio.Info{Plays: 2, Metadata: meta}}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// played reads an animation.
func played(t *testing.T, data []byte) (frames []*image.NRGBA, info imageio.Info) {
	t.Helper()
	d := must(imageio.NewDecoder(t.Context(), bytes.NewReader(data), nil))
	for f, err := range d.Frames(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		m := *f.Image.(*image.NRGBA)
		m.Pix = slices.Clone(m.Pix)
		frames = append(frames, &m)
	}
	return frames, d.Info()
}

// All frames are processed, one at a time, in files and in streams. Metadata stay, or are noted.
func TestAnimate(t *testing.T) {
	meta := &imageio.Metadata{XMP: []byte("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>")}
	tree(t, map[string][]byte{"in/a.gif": movie(5, imageio.GIF, nil), "in/b.webp": movie(4, imageio.WebP, meta)})
	for _, format := range []imageio.Format{"", imageio.GIF, imageio.WebP} {
		p := &negative{}
		rep := run(t, t.Context(), p, []string{"in"}, FindOptions{}, Naming{Format: format}, Options{Folder: "out", Existing: Replace, WebP: "lossless"})
		if rep.Count(OK) != 2 || p.calls.Load() != 9 || p.most.Load() != 1 || rep.Pixels != 9*96 {
			t.Fatalf("%d calls, %d pixels\n%s", p.calls.Load(), rep.Pixels, lines(rep))
		}
		for i, f := range rep.Files {
			data := must(os.ReadFile(f.Output))
			frames, info := played(t, data)
			if f.Frames != 5-i || len(frames) != 5-i || info.Plays != 2 || f.OutBytes != int64(len(data)) || f.Decode <= 0 || f.Compute <= 0 || f.Encode <= 0 {
				t.Errorf("%s: %+v, %+v", f.Output, f, info)
			}
			for n, m := range frames {
				if m.NRGBAAt(n, n) != (color.NRGBA{0, 0, 0, 255}) || m.NRGBAAt(n+1, n) != (color.NRGBA{255, 255, 255, 255}) {
					t.Errorf("%s: frame %d is no negative", f.Output, n)
				}
			}
			lost := i == 1 && format == imageio.GIF
			if (len(f.Notes) == 1 && strings.Contains(f.Notes[0], "GIF has no place for XMP")) != lost || (info.Metadata != nil) != (i == 1 && !lost) {
				t.Errorf("%s: notes %q, metadata %+v", f.Output, f.Notes, info.Metadata)
			}
		}
	}
	noLeftovers(t)
	got, rep := runStream(t, bytes.NewReader(movie(5, imageio.GIF, nil)), "", Options{})
	if want := must(os.ReadFile("out/a.gif")); rep.Count(OK) != 1 || !bytes.Equal(got, want) {
		t.Errorf("a stream has %d bytes, and the file %d\n%s", len(got), len(want), lines(rep))
	}
}

// A failure in the middle leaves nothing, and says what happened.
func TestAnimateFails(t *testing.T) {
	tree(t, map[string][]byte{"a.gif": movie(5, imageio.GIF, nil)})
	broken := errors.New("the device is gone")
	p := &negative{err: func(n int64) error {
		if n == 3 {
			return broken
		}
		return nil
	}}
	rep := run(t, t.Context(), p, []string{"a.gif"}, FindOptions{}, Naming{}, Options{Folder: "out"})
	if err := rep.Files[0].Err; err != broken {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p = &negative{err: func(n int64) error {
		if n == 3 {
			cancel()
		}
		return nil
	}}
	if rep := run(t, ctx, p, []string{"a.gif"}, FindOptions{}, Naming{}, Options{Folder: "out"}); rep.Count(Interrupted) != 1 {
		t.Errorf("interrupted:\n%s", lines(rep))
	}
	for want, o := range map[string]Options{
		"5 frames of 12×8 are 480 pixels, the limit is 479": {MaxPixels: 479},
		"the result: 5 frames of 24×8": {MaxPixels: 500, Size: func(s image.Point, _ ...spec.Call) (image.Point, error) {
			return image.Pt(2*s.X, s.Y), nil
		}},
		"a frame of 600×8": {MaxPixels: 500, Size: func(s image.Point, _ ...spec.Call) (image.Point, error) {
			return image.Pt(600, s.Y), nil
		}},
		"needs about":          {Memory: 1 << 20},
		"GIF has 8 bits":       {Depth: 16},
		"the output exists":    {Folder: "."},
		"would have one (--fo": {},
	} {
		n := Naming{}
		if o.Folder == "" {
			o.Folder = "out"
		} else {
			n.Suffix = "x"
			if err := os.WriteFile("ax.gif", nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if strings.HasPrefix(want, "would have one") {
			n.Format = imageio.PNG
		}
		rep := run(t, t.Context(), &negative{}, []string{"a.gif"}, FindOptions{}, n, o)
		if err := rep.Files[0].Err; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if left, err := os.ReadDir("out"); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

// spotter is a Searcher that finds the white pixel.
type spotter struct{ cutter }

func (s spotter) FindCrops(_ context.Context, src image.Image, calls ...spec.Call) ([]spec.Call, error) {
	for i := range 8 {
		if r, _, _, _ := src.At(i, i).RGBA(); r > 0 {
			return []spec.Call{part{image.Rect(i, i, i+1, i+1)}}, s.err
		}
	}
	return calls, errors.New("nothing found")
}

// A searched rectangle is that of all frames together, or of the first one if its size is known before.
func TestAnimateSearch(t *testing.T) {
	tree(t, map[string][]byte{"a.gif": movie(5, imageio.GIF, nil)})
	found := func(whole image.Point) func(s image.Point, calls ...spec.Call) (image.Point, error) {
		return func(_ image.Point, calls ...spec.Call) (image.Point, error) {
			if p, ok := calls[0].(part); ok && !p.r.Empty() {
				return p.r.Size(), nil
			}
			return whole, nil
		}
	}
	union := func(a, b spec.Call) (spec.Call, error) { return part{a.(part).r.Union(b.(part).r)}, nil }
	jobs := must(Plan(must(Find(t.Context(), []string{"a.gif"}, FindOptions{})), Naming{}))
	for _, c := range []struct{ whole, want image.Point }{{image.Pt(12, 8), image.Pt(5, 5)}, {image.Pt(1, 1), image.Pt(1, 1)}} {
		o := Options{Folder: "out", Existing: Replace, Size: found(c.whole), Union: union}
		rep := must(Run(t.Context(), spotter{}, []spec.Call{part{}}, jobs, o))
		if rep.Count(OK) != 1 {
			t.Fatal(lines(rep))
		}
		frames, info := played(t, must(os.ReadFile("out/a.gif")))
		if image.Pt(info.Width, info.Height) != c.want || len(frames) != 5 {
			t.Errorf("%d frames of %d×%d (want %v)", len(frames), info.Width, info.Height, c.want)
		}
		for i, m := range frames {
			if white := m.NRGBAAt(min(i, info.Width-1), min(i, info.Height-1)).R == 255; white != (i < c.want.X) {
				t.Errorf("%v, frame %d: white is %v", c.want, i, white)
			}
		}
	}
	bad := errors.New("no search")
	for name, c := range map[string]struct {
		p    Processor
		o    Options
		want string
	}{
		"no searcher": {&negative{}, Options{Size: found(image.Pt(12, 8)), Union: union}, "no Searcher"},
		"no union":    {spotter{}, Options{Size: found(image.Pt(12, 8))}, "no Searcher"},
		"an error":    {spotter{cutter{bad}}, Options{Size: found(image.Pt(12, 8)), Union: union}, "no search"},
	} {
		c.o.Folder, c.o.Existing = "out", Replace
		rep := must(Run(t.Context(), c.p, []spec.Call{part{}}, jobs, c.o))
		if err := rep.Files[0].Err; err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
