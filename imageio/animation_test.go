package imageio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// sprites is an animation of few colours: something moves, vanishes and comes again. Pixels are opaque or transparent.
func sprites(w, h, n int) (frames []*image.NRGBA) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	colours := []color.NRGBA{{200, 30, 10, 255}, {0, 0, 0, 255}, {255, 255, 255, 255}, {20, 90, 240, 255}}
	for i := range n {
		m := image.NewNRGBA(image.Rect(0, 0, w, h))
		for p := range w * h {
			if p%w > 3 {
				m.SetNRGBA(p%w, p/w, colours[(p%w/4+p/w/4)%2])
			}
		}
		if i%3 != 2 {
			x, y := r.IntN(w-3), r.IntN(h-3)
			for p := range 9 {
				m.SetNRGBA(x+p%3, y+p/3, colours[2+i%2])
			}
		}
		frames = append(frames, m)
	}
	return frames
}

// sequence yields frames that are shown for 40, 50, 60 … milliseconds.
func sequence[M image.Image](frames []M) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		for i, m := range frames {
			if !yield(Frame{m, time.Duration(4+i) * hundredth}, nil) {
				return
			}
		}
	}
}

// all reads the frames of a file.
func all(t *testing.T, data []byte, o *DecodeOptions) (frames []*image.NRGBA, delays []time.Duration, info Info, err error) {
	t.Helper()
	d, err := NewDecoder(t.Context(), bytes.NewReader(data), o)
	if err != nil {
		return nil, nil, info, err
	}
	for f, err := range d.Frames(t.Context()) {
		if err != nil {
			return frames, delays, d.Info(), err
		}
		m := *f.Image.(*image.NRGBA)
		m.Pix = bytes.Clone(m.Pix)
		frames, delays = append(frames, &m), append(delays, f.Delay)
	}
	return frames, delays, d.Info(), nil
}

func animate(t *testing.T, frames []*image.NRGBA, f Format, o *EncodeOptions) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := EncodeFrames(t.Context(), &file, sequence(frames), f, o); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// Both formats keep pixels, delays and how many times the animation is shown, also from one to the other.
func TestEncodeFrames(t *testing.T) {
	want := sprites(37, 21, 9)
	for _, first := range []Format{GIF, WebP} {
		for plays := range 4 {
			o := &EncodeOptions{WebP: lossless, Source: &Info{Plays: plays}}
			data := animate(t, want, first, o)
			for _, second := range []Format{GIF, WebP} {
				frames, _, info, err := all(t, data, nil)
				if err != nil {
					t.Fatal(err)
				}
				got, delays, info, err := all(t, animate(t, frames, second, &EncodeOptions{WebP: lossless, Source: &info}), nil)
				if err != nil || len(got) != len(want) || info.Frames != len(want) || info.Plays != plays || info.Format != second {
					t.Fatalf("%s, %s: %d frames, %+v, %v", first, second, len(got), info, err)
				}
				for i, m := range got {
					if !bytes.Equal(m.Pix, want[i].Pix) || delays[i] != time.Duration(4+i)*hundredth {
						t.Fatalf("%s, %s: frame %d differs, or its delay %v", first, second, i, delays[i])
					}
				}
			}
		}
	}
}

// ImageMagick sees the same frames, delays and loops in our files, and we see what it sees in its own.
func TestFramesAsImageMagick(t *testing.T) {
	convert, identify := testkit.Tool(t, "convert"), testkit.Tool(t, "identify")
	run := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	coalesced := func(name string) (frames []*image.NRGBA) {
		stem := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		run(convert, name, "-coalesce", "-depth", "8", "png32:"+at(stem+"-%03d.png"))
		names, _ := filepath.Glob(at(stem + "-*.png"))
		for _, n := range names {
			m, _, err := Decode(t.Context(), bytes.NewReader(must(os.ReadFile(n))), nil)
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, m.(*image.NRGBA))
		}
		return frames
	}
	alike := func(what string, got, want []*image.NRGBA) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d frames (want %d)", what, len(got), len(want))
		}
		for i, m := range got {
			for p := 0; p < len(m.Pix); p += 4 {
				g, w := m.Pix[p:p+4], want[i].Pix[p:p+4]
				if (g[3] > 0 || w[3] > 0) && !bytes.Equal(g, w) {
					t.Fatalf("%s: frame %d, pixel %d is %v (want %v)", what, i, p/4, g, w)
				}
			}
		}
	}
	want := sprites(37, 21, 9)
	if err := os.WriteFile(at("own.gif"), animate(t, want, GIF, &EncodeOptions{Source: &Info{Plays: 3}}), 0o600); err != nil {
		t.Fatal(err)
	}
	alike("our GIF", coalesced(at("own.gif")), want)
	if text := run(identify, "-format", "%T ", at("own.gif")); strings.TrimSpace(text) != "4 5 6 7 8 9 10 11 12" {
		t.Errorf("identify says the delays %s", text)
	}
	// Frames smaller than the picture, each disposal, palettes of their own, transparency, interlaced.
	for i, dispose := range []string{"none", "background", "previous"} {
		name := at("theirs" + dispose + ".gif")
		args := []string{"-size", "40x30", "-delay", "7", "-loop", "5", "-interlace", "GIF"}
		for k := range 5 {
			args = append(args, "(", "-page", fmt.Sprintf("40x30+%d+%d", 3*k, 2*k), "-size", "20x15", fmt.Sprintf("radial-gradient:rgb(%d,20,40)-transparent", 40*k+50), "-colors", "30", "-set", "dispose", dispose, ")")
		}
		run(convert, append(args, name)...)
		data := must(os.ReadFile(name))
		got, delays, info, err := all(t, data, nil)
		if err != nil || info.Plays != 5 || delays[i] != 7*hundredth {
			t.Fatalf("%s: %+v, %v, %v", dispose, info, delays, err)
		}
		alike(dispose, got, coalesced(name))
		// Written again, it is the same.
		again, _, _, err := all(t, animate(t, got, GIF, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		alike(dispose+" again", again, got)
	}
}

// The tools of libwebp read our files, and gif2webp's file has the frames of its input.
func TestFramesAsLibwebp(t *testing.T) {
	mux, gif2webp := testkit.Tool(t, "webpmux"), testkit.Tool(t, "gif2webp")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	want := sprites(37, 21, 9)
	for _, kind := range []string{lossless, lossy} {
		if err := os.WriteFile(at("own.webp"), animate(t, want, WebP, &EncodeOptions{WebP: kind, Source: &Info{Plays: 3}}), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(mux, "-info", at("own.webp")).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Loop Count : 3") || !strings.Contains(string(out), "Number of frames: 9") || !strings.Contains(string(out), "Canvas size: 37 x 21") {
			t.Fatalf("webpmux: %v\n%s", err, out)
		}
		// The first frame is the whole picture.
		dwebp := testkit.Tool(t, "dwebp")
		if out, err := exec.Command(mux, "-get", "frame", "1", at("own.webp"), "-o", at("one.webp")).CombinedOutput(); err != nil {
			t.Fatalf("webpmux: %v\n%s", err, out)
		}
		if out, err := exec.Command(dwebp, at("one.webp"), "-o", at("one.png")).CombinedOutput(); err != nil {
			t.Fatalf("dwebp: %v\n%s", err, out)
		}
		m, _, err := Decode(t.Context(), bytes.NewReader(must(os.ReadFile(at("one.png")))), nil)
		if err != nil || kind == lossless && !bytes.Equal(m.(*image.NRGBA).Pix, want[0].Pix) {
			t.Errorf("%s: dwebp sees another first frame, %v", kind, err)
		}
	}
	if err := os.WriteFile(at("a.gif"), animate(t, want, GIF, &EncodeOptions{Source: &Info{Plays: 3}}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{nil, {"-min_size"}, {"-kmax", "1"}} {
		if out, err := exec.Command(gif2webp, append(more, at("a.gif"), "-o", at("b.webp"))...).CombinedOutput(); err != nil {
			t.Fatalf("gif2webp: %v\n%s", err, out)
		}
		got, delays, info, err := all(t, must(os.ReadFile(at("b.webp"))), nil)
		if err != nil || len(got) != len(want) || info.Plays != 3 || delays[8] != 12*hundredth {
			t.Fatalf("%v: %d frames, %+v, %v, %v", more, len(got), info, delays, err)
		}
		for i, m := range got {
			for p := 0; p < len(m.Pix); p += 4 {
				if g, w := m.Pix[p:p+4], want[i].Pix[p:p+4]; g[3] != w[3] || w[3] > 0 && !bytes.Equal(g, w) {
					t.Fatalf("%v: frame %d, pixel %d is %v (want %v)", more, i, p/4, g, w)
				}
			}
		}
	}
}

// Frames are upright, and so is what is written from them.
func TestTurnedFrames(t *testing.T) {
	want := sprites(16, 8, 3)
	data := animate(t, want, WebP, &EncodeOptions{WebP: lossless})
	turned := webpExtended(data, testimg.Exif(6, binary.LittleEndian))
	got, _, info, err := all(t, turned, nil)
	if err != nil || info.Width != 8 || info.Height != 16 || info.Orientation != 6 || len(got) != 3 {
		t.Fatalf("%+v, %v", info, err)
	}
	for i, m := range got {
		for p := range 16 * 8 {
			if x, y := p%16, p/16; m.NRGBAAt(7-y, x) != want[i].NRGBAAt(x, y) {
				t.Fatalf("frame %d is not turned", i)
			}
		}
	}
	if _, _, info, err = all(t, animate(t, got, WebP, &EncodeOptions{Source: &info}), nil); err != nil || info.Orientation != 1 || info.Width != 8 || info.Metadata == nil {
		t.Fatalf("written: %+v, %v", info, err)
	}
}

// webpExtended adds EXIF data to an animation.
func webpExtended(data, exif []byte) []byte {
	data = bytes.Clone(data)
	data[20] |= 8
	data = append(append(append(data, "EXIF"...), le32(len(exif))...), exif...)
	if len(exif)%2 == 1 {
		data = append(data, 0)
	}
	copy(data[4:], le32(len(data)-8))
	return data
}

// A picture that does not move is one frame. Other pictures of several are refused.
func TestFramesOfStills(t *testing.T) {
	m := testimg.Quarters(16, 10)
	for _, ext := range []string{".jpg", ".png", ".gif", ".bmp", ".tiff", ".webp"} {
		got, delays, info, err := all(t, encoded(m, ext), nil)
		if err != nil || len(got) != 1 || delays[0] != 0 || info.Plays != 0 {
			t.Errorf("%s: %d frames, %v, %+v, %v", ext, len(got), delays, info, err)
		}
	}
	apng := pngWith(encoded(testimg.Quarters(8, 8), ".png"), "acTL", []byte{0, 0, 0, 12, 0, 0, 0, 0})
	for _, data := range [][]byte{apng, pages(3)} {
		if _, _, _, err := all(t, data, nil); !errors.Is(err, ErrUnsupported) {
			t.Errorf("several pictures: %v", err)
		}
	}
}

// A GIF file of one picture has its colours, and 256 at most.
func TestEncodeGIF(t *testing.T) {
	for name, m := range map[string]image.Image{"few colours": sprites(20, 10, 1)[0], "a palette": testimg.Quarters(16, 10)} {
		var file bytes.Buffer
		if err := Encode(t.Context(), &file, m, GIF, nil); err != nil {
			t.Fatal(err)
		}
		got, info, err := Decode(t.Context(), &file, nil)
		if err != nil || info.Format != GIF || info.Frames != 1 || !bytes.Equal(got.(*image.NRGBA).Pix, toNRGBA(m).Pix) {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
	photo := testimg.Photo(200, 150, 1)
	var file, theirs bytes.Buffer
	if err := errors.Join(Encode(t.Context(), &file, photo, GIF, nil), gif.Encode(&theirs, photo, nil)); err != nil {
		t.Fatal(err)
	}
	far := func(file *bytes.Buffer) (sum float64) {
		m, _, err := Decode(t.Context(), file, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range m.(*image.NRGBA).Pix {
			d := float64(v) - float64(photo.Pix[i])
			sum += d * d
		}
		return sum
	}
	if ours, std := far(&file), far(&theirs); ours > std/2 {
		t.Errorf("the error is %.0f, and %.0f with a fixed palette", ours, std)
	}
	// Half of alpha decides.
	edge := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	edge.Pix = []byte{9, 8, 7, 127, 9, 8, 7, 128}
	file.Reset()
	if err := Encode(t.Context(), &file, edge, GIF, nil); err != nil {
		t.Fatal(err)
	}
	if m, _, err := Decode(t.Context(), &file, nil); err != nil || !bytes.Equal(m.(*image.NRGBA).Pix, []byte{0, 0, 0, 0, 9, 8, 7, 255}) {
		t.Errorf("alpha of a half: %v, %v", m, err)
	}
	if err := Encode(t.Context(), io.Discard, photo, GIF, &EncodeOptions{Source: &Info{Metadata: &Metadata{XMP: []byte("x"), IPTC: []byte("y")}}}); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "XMP, IPTC") {
		t.Errorf("metadata: %v", err)
	}
	if m, err := (&Metadata{DensityX: 72}).Fit(GIF); m != nil || err != nil {
		t.Errorf("a density: %v, %v", m, err)
	}
}

// Delays are rounded so that the sum is right.
func TestDelays(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	for name, c := range map[string]struct {
		f     Format
		delay time.Duration
		want  []time.Duration // in the unit of the format
	}{
		"thirds":       {GIF, 33 * time.Millisecond, []time.Duration{3, 4, 3, 3, 4, 3}},
		"short":        {GIF, 12 * time.Millisecond, []time.Duration{2, 2, 2, 2, 2, 2}},
		"a hundredth":  {GIF, 10 * time.Millisecond, []time.Duration{1, 1, 1, 1, 1, 1}},
		"none":         {GIF, 0, []time.Duration{0, 0, 0, 0, 0, 0}},
		"long":         {GIF, time.Hour, []time.Duration{65535, 65535, 65535, 65535, 65535, 65535}},
		"for ever":     {WebP, 1<<63 - 1, []time.Duration{1<<24 - 1, 1<<24 - 1, 1<<24 - 1, 1<<24 - 1, 1<<24 - 1, 1<<24 - 1}},
		"microseconds": {WebP, 2500 * time.Microsecond, []time.Duration{3, 2, 3, 2, 3, 2}},
	} {
		var file bytes.Buffer
		frames := func(yield func(Frame, error) bool) {
			for range 6 {
				if !yield(Frame{m, c.delay}, nil) {
					return
				}
			}
		}
		if err := EncodeFrames(t.Context(), &file, frames, c.f, nil); err != nil {
			t.Fatal(err)
		}
		_, delays, _, err := all(t, file.Bytes(), nil)
		unit := map[Format]time.Duration{GIF: hundredth, WebP: time.Millisecond}[c.f]
		for i := range delays {
			delays[i] /= unit
		}
		if err != nil || !slices.Equal(delays, c.want) {
			t.Errorf("%s: %v (want %v), %v", name, delays, c.want, err)
		}
	}
}

// Wrong use and endings of all kinds are errors.
func TestEncodeFramesErrors(t *testing.T) {
	good, small := image.NewNRGBA(image.Rect(0, 0, 4, 4)), image.NewNRGBA(image.Rect(0, 0, 4, 3))
	broken := errors.New("no more frames")
	one := sequence([]image.Image{good})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		w      io.Writer
		frames iter.Seq2[Frame, error]
		f      Format
		o      *EncodeOptions
		want   error
	}{
		"no context":     {nil, io.Discard, one, GIF, nil, errs.ErrInvalidArgument},
		"an ended one":   {ended, io.Discard, one, GIF, nil, context.Canceled},
		"no writer":      {t.Context(), nil, one, GIF, nil, errs.ErrInvalidArgument},
		"nil frames":     {t.Context(), io.Discard, nil, GIF, nil, errs.ErrInvalidArgument},
		"no frames":      {t.Context(), io.Discard, sequence([]image.Image{}), WebP, nil, errs.ErrInvalidArgument},
		"PNG":            {t.Context(), io.Discard, one, PNG, nil, ErrUnsupported},
		"unknown":        {t.Context(), io.Discard, one, "mp4", nil, errs.ErrInvalidArgument},
		"quality":        {t.Context(), io.Discard, one, WebP, &EncodeOptions{Quality: 101}, errs.ErrInvalidArgument},
		"another size":   {t.Context(), io.Discard, sequence([]image.Image{good, small}), GIF, nil, errs.ErrInvalidArgument},
		"no image":       {t.Context(), io.Discard, sequence([]image.Image{good, nil}), WebP, nil, errs.ErrInvalidArgument},
		"empty":          {t.Context(), io.Discard, sequence([]image.Image{image.NewNRGBA(image.Rectangle{})}), GIF, nil, errs.ErrInvalidArgument},
		"too wide":       {t.Context(), io.Discard, sequence([]image.Image{image.NewNRGBA(image.Rect(0, 0, 16384, 1))}), WebP, nil, ErrTooLarge},
		"negative delay": {t.Context(), io.Discard, func(yield func(Frame, error) bool) { yield(Frame{good, -1}, nil) }, GIF, nil, errs.ErrInvalidArgument},
		"their error":    {t.Context(), io.Discard, func(yield func(Frame, error) bool) { yield(Frame{}, broken) }, GIF, nil, broken},
		"their panic":    {t.Context(), io.Discard, func(func(Frame, error) bool) { panic("x") }, GIF, nil, errs.ErrInvalidArgument},
		"metadata":       {t.Context(), io.Discard, one, GIF, &EncodeOptions{Source: &Info{Metadata: &Metadata{ICC: []byte("x")}}}, ErrUnsupported},
	} {
		err := EncodeFrames(c.ctx, c.w, c.frames, c.f, c.o)
		if !errors.Is(err, c.want) || err != broken && !strings.HasPrefix(err.Error(), "imageio: encode frames: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file to which is only appended gets an animation too.
func TestAppendedFrames(t *testing.T) {
	frames := sprites(40, 30, 3)
	for _, f := range []Format{GIF, WebP} {
		name := filepath.Join(t.TempDir(), "a")
		file := must(os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666))
		err := EncodeFrames(t.Context(), file, sequence(frames), f, &EncodeOptions{WebP: lossless})
		file.Close()
		if got := must(os.ReadFile(name)); err != nil || !bytes.Equal(got, animate(t, frames, f, &EncodeOptions{WebP: lossless})) {
			t.Errorf("%s: %d bytes, %v", f, len(got), err)
		}
	}
}

// Hostile animations are errors within limits, and a loop that ends early is fine.
func TestHostileFrames(t *testing.T) {
	want := sprites(40, 30, 5)
	for _, f := range []Format{GIF, WebP} {
		data := animate(t, want, f, &EncodeOptions{WebP: lossless})
		if _, _, _, err := all(t, data, &DecodeOptions{MaxPixels: 40*30*5 - 1}); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "5 frames of 40×30") {
			t.Errorf("%s: the limit of pixels: %v", f, err)
		}
		if got, _, _, err := all(t, data, &DecodeOptions{MaxPixels: 40 * 30 * 5}); err != nil || len(got) != 5 {
			t.Errorf("%s: at the limit: %v", f, err)
		}
		cut := data[:len(data)*2/3]
		got, _, _, err := all(t, cut, nil)
		if !errors.Is(err, ErrDamaged) || len(got) == 0 || len(got) >= 5 || !strings.Contains(err.Error(), "ends too early") {
			t.Errorf("%s cut off: %d frames, %v", f, len(got), err)
		}
		d := must(NewDecoder(t.Context(), stream(data), nil))
		for range 2 {
			n := 0
			for _, err := range d.Frames(t.Context()) {
				if n++; err != nil || n == 2 {
					break
				}
			}
			if n != 2 {
				t.Errorf("%s: %d frames", f, n)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		for _, err := range d.Frames(ctx) {
			if n++; n == 2 {
				cancel()
			}
			if n > 2 && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: after the context's end: %v", f, err)
			}
		}
		if n != 3 {
			t.Errorf("%s: %d frames until the context ended", f, n)
		}
		cancel()
		r := rand.New(rand.NewPCG(2, 2))
		for i := range 600 {
			bad := bytes.Clone(data)
			for range 1 + r.IntN(4) {
				bad[r.IntN(len(bad))] = byte(r.Uint32())
			}
			if _, _, _, err := all(t, bad, &DecodeOptions{MaxPixels: 1 << 14}); err != nil {
				classified(t, fmt.Sprintf("%s mutant %d", f, i), err)
			}
		}
	}
	// A canvas of 65535×65535 with a frame of a pixel, and many frames on a large canvas.
	frame := ",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00"
	head := func(side byte) string {
		return "GIF89a" + string([]byte{side, side, side, side}) + "\x80\x00\x00\xff\x00\x00\x00\xff\x00"
	}
	for name, data := range map[string]string{"giant": head(255) + frame + frame + ";", "many": head(16) + strings.Repeat(frame, 100000) + ";"} {
		if _, _, _, err := all(t, []byte(data), nil); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := DecodeConfig(t.Context(), strings.NewReader(head(0)+frame+";"), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("no pixels: %v", err)
	}
}
