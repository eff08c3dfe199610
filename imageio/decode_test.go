package imageio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// onlyReader hides all methods but Read, and counts.
type onlyReader struct {
	io.Reader
	n int
}

func (r *onlyReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += n
	return n, err
}

func stream(data []byte) *onlyReader { return &onlyReader{Reader: bytes.NewReader(data)} }

// Every kind of reader gives the same picture.
func TestReaders(t *testing.T) {
	large := encoded(testimg.Noise(400, 300, 1), ".png") // several blocks
	if len(large) < blockSize+1 {
		t.Fatalf("the large picture has %d bytes only", len(large))
	}
	files := map[string][]byte{"large": large}
	for _, ext := range []string{".jpg", ".png", ".gif", ".bmp", ".tiff", ".webp"} {
		files[ext] = encoded(testimg.Quarters(40, 30), ext)
	}
	for name, data := range files {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, append([]byte("head"), data...), 0o666); err != nil {
			t.Fatal(err)
		}
		file := must(os.Open(path))
		defer file.Close()
		must(file.Seek(4, io.SeekStart))
		middle := bytes.NewReader(append([]byte("head"), data...))
		must(middle.Seek(4, io.SeekStart))
		pipe, w := must2(os.Pipe())
		defer pipe.Close()
		go func() {
			w.Write(data)
			w.Close()
		}()
		want, info, err := Decode(t.Context(), bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		for what, r := range map[string]io.Reader{
			"a stream": stream(data), "one byte at a time": iotest.OneByteReader(bytes.NewReader(data)), "an end with the data": iotest.DataErrReader(bytes.NewReader(data)),
			"the middle of a file": file, "the middle of bytes": middle, "a pipe": pipe, "a buffer": bytes.NewBuffer(data), "a string": strings.NewReader(string(data)),
			"a section": io.NewSectionReader(middle, 4, int64(len(data))),
		} {
			got, gotInfo, err := Decode(t.Context(), r, nil)
			if err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
				continue
			}
			if text := testimg.Differ(got.(*image.NRGBA), want.(*image.NRGBA), 0); text != "" {
				t.Errorf("%s, %s: %s", name, what, text)
			}
			// What is kept counts.
			if extra := gotInfo.Memory - info.Memory; extra != 0 && extra < int64(len(data)) {
				t.Errorf("%s, %s: %d bytes of memory, in place %d", name, what, gotInfo.Memory, info.Memory)
			}
		}
	}
}

func must2[A, B any](a A, b B, err error) (A, B) {
	if err != nil {
		panic(err)
	}
	return a, b
}

// The bytes that a source keeps are those that came.
func TestSource(t *testing.T) {
	data := make([]byte, 2*blockSize+17)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	src := must(newSource(iotest.HalfReader(bytes.NewReader(data)), 1<<30))
	v := &view{ctx: t.Context(), src: src}
	must(v.whole())
	if err := iotest.TestReader(io.NewSectionReader(v, 0, src.size), data); err != nil {
		t.Error(err)
	}
	for _, off := range []int64{int64(len(data)), 1 << 62, 1<<63 - 1, -1} {
		if n, err := v.ReadAt(make([]byte, 5), off); n != 0 || err != io.EOF {
			t.Errorf("at %d: %d, %v", off, n, err)
		}
	}
}

// Limits are met exactly, and a picture beyond them is refused before memory is taken or the rest
// is read.
func TestLimits(t *testing.T) {
	data := encoded(testimg.Noise(400, 300, 1), ".png")
	n := int64(len(data))
	for _, c := range []struct {
		o  DecodeOptions
		ok bool
	}{
		{DecodeOptions{MaxBytes: n, MaxPixels: 400 * 300}, true},
		{DecodeOptions{MaxBytes: n - 1}, false},
		{DecodeOptions{MaxPixels: 400*300 - 1}, false},
		{DecodeOptions{MaxBytes: 1 << 62, MaxPixels: 1 << 62}, true},
	} {
		for what, r := range map[string]io.Reader{"in place": bytes.NewReader(data), "a stream": stream(data)} {
			m, _, err := Decode(t.Context(), r, &c.o)
			if (err == nil) != c.ok || !c.ok && (!errors.Is(err, ErrTooLarge) || m != nil) {
				t.Errorf("%s, %+v: %v", what, c.o, err)
			}
		}
	}
	for _, o := range []DecodeOptions{{MaxBytes: -1}, {MaxPixels: -1}} {
		if _, _, err := Decode(t.Context(), stream(data), &o); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	// The header of a PNG comes first.
	r := stream(append(bytes.Clone(data), make([]byte, 64<<20)...))
	if _, _, err := Decode(t.Context(), r, &DecodeOptions{MaxPixels: 1}); !errors.Is(err, ErrTooLarge) || r.n > 2*blockSize {
		t.Errorf("%d bytes were read to find %v", r.n, err)
	}
	// A stream without an end is left at the limit.
	r = &onlyReader{Reader: io.MultiReader(bytes.NewReader(data), endless{})}
	if _, _, err := Decode(t.Context(), r, &DecodeOptions{MaxBytes: 1 << 20}); !errors.Is(err, ErrTooLarge) || r.n > 2<<20 {
		t.Errorf("%d bytes were read to find %v", r.n, err)
	}
	// What is no picture is left at once.
	r = &onlyReader{Reader: endless{}}
	if _, _, err := Decode(t.Context(), r, nil); !errors.Is(err, ErrUnsupported) || !errors.Is(err, image.ErrFormat) || r.n > 2*blockSize {
		t.Errorf("%d bytes were read to find %v", r.n, err)
	}
	// A JPEG says its size first.
	j := encoded(testimg.Noise(900, 900, 1), ".jpg")
	r = stream(j)
	if info, err := DecodeConfig(t.Context(), r, nil); err != nil || info.Width != 900 || r.n > blockSize || len(j) < 2*blockSize {
		t.Errorf("%d of %d bytes were read: %+v, %v", r.n, len(j), info, err)
	}
}

// endless has zeros without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// huge has files of few bytes that claim to be as large as their formats can say.
func huge() map[string][]byte {
	jpg := encoded(testimg.Quarters(8, 8), ".jpg")
	copy(jpg[bytes.Index(jpg, []byte{0xff, 0xc0})+5:], "\xff\xff\xff\xff")
	gif := encoded(testimg.Quarters(8, 8), ".gif")
	copy(gif[6:], "\xff\xff\xff\xff")
	bmp := encoded(testimg.Quarters(8, 8), ".bmp")
	binary.LittleEndian.PutUint32(bmp[18:], 1<<31-1)
	binary.LittleEndian.PutUint32(bmp[22:], 1<<31-1)
	runs := bytes.Clone(bmp) // whose length says nothing
	binary.LittleEndian.PutUint16(runs[28:], 8)
	binary.LittleEndian.PutUint32(runs[30:], 1)
	tif := encoded(testimg.Quarters(8, 8), ".tiff")
	dir := tif[binary.LittleEndian.Uint32(tif[4:]):]
	for i := range 2 { // its first tags are width and height
		binary.LittleEndian.PutUint16(dir[2+12*i+2:], 4)
		binary.LittleEndian.PutUint32(dir[2+12*i+8:], 1<<31-1)
	}
	return map[string][]byte{"jpeg": jpg, "png": testimg.Bomb(1<<31-1, 1<<31-1), "png of 60000": testimg.Bomb(60000, 60000), "gif": gif, "bmp": bmp, "bmp of run lengths": runs, "tiff": tif}
}

func TestHugeSizes(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, data := range huge() {
		for _, r := range []io.Reader{bytes.NewReader(data), stream(data)} {
			m, info, err := Decode(t.Context(), r, nil)
			if m != nil || info != (Info{}) {
				t.Errorf("%s: %v %+v beside %v", name, m, info, err)
			}
			classified(t, name, err)
		}
		if _, err := DecodeConfig(t.Context(), bytes.NewReader(data), nil); err == nil {
			t.Errorf("%s: DecodeConfig keeps no limit", name)
		}
		// The dimensions of a PNG cannot be counted in bytes, whatever is allowed.
		if name == "png" {
			_, _, err := Decode(t.Context(), bytes.NewReader(data), &DecodeOptions{MaxPixels: 1<<63 - 1})
			classified(t, name, err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("%d MiB were taken for pictures that are refused", n>>20)
	}
}

// An error of the reader is returned as what it is, and not called a damaged picture.
func TestReaderFails(t *testing.T) {
	trouble := errors.New("the cable is broken")
	for _, ext := range []string{".jpg", ".png", ".gif", ".bmp", ".tiff", ".webp"} {
		data := encoded(testimg.Noise(400, 300, 1), ext)
		for _, n := range []int{0, 1, 20, len(data) / 2, len(data) - 1, len(data)} {
			r := io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(trouble))
			m, info, err := Decode(t.Context(), r, nil)
			if m != nil || info != (Info{}) || !errors.Is(err, trouble) || errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnsupported) {
				t.Errorf("%s, after %d bytes: %v", ext, n, err)
			}
		}
		// In place, after the header.
		broken := &brokenAt{SectionReader: io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), err: trouble}
		d, err := NewDecoder(t.Context(), broken, nil)
		if err != nil {
			t.Fatal(err)
		}
		broken.broken = true
		err = d.DecodeTo(t.Context(), image.NewNRGBA(d.bounds()))
		if !errors.Is(err, trouble) || errors.Is(err, ErrDamaged) {
			t.Errorf("%s, in place: %v", ext, err)
		}
	}
	for what, r := range map[string]io.Reader{
		"panics": struct{ io.Reader }{}, "returns nothing": iotest.ErrReader(nil), "counts down": counts(-1), "counts too far": counts(1 << 30),
		"a folder": must(os.Open(t.TempDir())),
	} {
		for _, ctx := range []context.Context{context.Background(), t.Context()} {
			if m, _, err := Decode(ctx, r, nil); err == nil || m != nil || errors.Is(err, ErrUnsupported) {
				t.Errorf("a reader that %s: %v, %v", what, m, err)
			}
		}
	}
}

// brokenAt fails when it is told to.
type brokenAt struct {
	*io.SectionReader
	broken bool
	err    error
}

func (b *brokenAt) ReadAt(p []byte, off int64) (int, error) {
	if b.broken {
		return 0, b.err
	}
	return b.SectionReader.ReadAt(p, off)
}

// counts returns an impossible count.
type counts int

func (c counts) Read([]byte) (int, error) { return int(c), nil }

func TestNothing(t *testing.T) {
	for what, r := range map[string]io.Reader{"bytes": bytes.NewReader(nil), "a stream": stream(nil), "an empty file": must(os.Create(filepath.Join(t.TempDir(), "x")))} {
		if _, _, err := Decode(t.Context(), r, nil); !errors.Is(err, ErrDamaged) || err.Error() != "imageio: decode: damaged picture: there is nothing to read" {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, r := range map[string]io.Reader{"nil": nil, "a nil file": (*os.File)(nil), "a nil buffer": (*bytes.Buffer)(nil)} {
		if _, _, err := Decode(t.Context(), r, nil); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%s: %v", what, err)
		}
	}
	var none context.Context
	if _, _, err := Decode(none, stream(nil), nil); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Error(err)
	}
}

// A context that ends ends a reader that waits, the header and the pixels.
func TestDecodeContext(t *testing.T) {
	data := encoded(testimg.Noise(400, 300, 1), ".png")
	for _, n := range []int{0, 10, len(data) / 2} {
		r, w := io.Pipe()
		go w.Write(data[:n]) // and nothing more comes
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, _, err := Decode(ctx, r, nil); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrDamaged) {
			t.Errorf("after %d bytes: %v", n, err)
		}
		cancel()
		w.Close()
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for what, r := range map[string]io.Reader{"in place": bytes.NewReader(data), "a stream": stream(data)} {
		if _, _, err := Decode(ended, r, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
		d, err := NewDecoder(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.DecodeTo(ended, image.NewNRGBA(d.bounds())); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, pixels: %v", what, err)
		}
		if err := d.DecodeTo(t.Context(), image.NewNRGBA(d.bounds())); err != nil {
			t.Errorf("%s, another context: %v", what, err)
		}
	}
}

// Features that are not read are named.
func TestUnsupported(t *testing.T) {
	jpg := encoded(testimg.Quarters(16, 10), ".jpg")
	at := bytes.Index(jpg, []byte{0xff, 0xc0})
	twelve, arithmetic := bytes.Clone(jpg), bytes.Clone(jpg)
	twelve[at+4], arithmetic[at+1] = 12, 0xc9
	for want, data := range map[string][]byte{"JPEG with 12 bits a sample": twelve, "JPEG with arithmetic coding": arithmetic, "not a picture in a format Lathe reads": []byte("a text of some length")} {
		_, _, err := Decode(t.Context(), bytes.NewReader(data), nil)
		if !errors.Is(err, ErrUnsupported) || errors.Is(err, ErrDamaged) || !strings.HasPrefix(err.Error(), "imageio: decode: "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// DecodeTo writes into any image of the size, and nothing beside it.
func TestDecodeTo(t *testing.T) {
	for _, src := range []*image.NRGBA{testimg.Photo(31, 17, 1), testimg.PhotoAlpha(31, 17, 1)} {
		for o := 1; o <= 8; o += 5 {
			data := pngWith(encoded(src, ".png"), "eXIf", testimg.Exif(uint16(o), binary.BigEndian))
			d, err := NewDecoder(t.Context(), stream(data), nil)
			if err != nil {
				t.Fatal(err)
			}
			want := turned(src, orientation(o))
			w, h := want.Rect.Dx(), want.Rect.Dy()
			inner := image.Rect(3, 5, 3+w, 5+h)
			wide := image.NewNRGBA(image.Rect(0, 0, w+9, h+9))
			wideRGBA := image.NewRGBA(wide.Rect)
			testimg.Fill(1, wide.Pix, wideRGBA.Pix)
			before, beforeRGBA := bytes.Clone(wide.Pix), bytes.Clone(wideRGBA.Pix)
			for _, dst := range []draw.Image{
				image.NewNRGBA(want.Rect), wide.SubImage(inner).(*image.NRGBA), image.NewRGBA(want.Rect), wideRGBA.SubImage(inner).(*image.RGBA),
				image.NewGray(inner), image.NewNRGBA64(inner), image.NewCMYK(want.Rect), image.NewPaletted(inner, color.Palette{color.Black, color.White}),
			} {
				if err := d.DecodeTo(t.Context(), dst); err != nil {
					t.Errorf("%T: %v", dst, err)
					continue
				}
				model, b := dst.ColorModel(), dst.Bounds()
				for y := range h {
					for x := range w {
						exact := model.Convert(want.At(x, y))
						if c := want.NRGBAAt(x, y); model == color.NRGBA64Model { // which Convert multiplies by alpha, and divides
							exact = color.NRGBA64{uint16(c.R) * 257, uint16(c.G) * 257, uint16(c.B) * 257, uint16(c.A) * 257}
						}
						if got := dst.At(b.Min.X+x, b.Min.Y+y); got != exact {
							want := exact
							t.Fatalf("orientation %d, %T of %v: pixel %d,%d is %v, want %v", o, dst, b, x, y, got, want)
						}
					}
				}
			}
			for y := range h + 9 {
				for x := range w + 9 {
					if i := wide.PixOffset(x, y); !(image.Pt(x, y).In(inner)) && (wide.Pix[i] != before[i] || wideRGBA.Pix[i] != beforeRGBA[i]) {
						t.Fatalf("pixel %d,%d beside the image has changed", x, y)
					}
				}
			}
			for what, dst := range map[string]draw.Image{
				"nil": nil, "a nil image": (*image.NRGBA)(nil), "another size": image.NewNRGBA(image.Rect(0, 0, w, h+1)), "turned": image.NewNRGBA(image.Rect(0, 0, h, w)),
				"too few bytes": &image.NRGBA{Pix: make([]byte, 4*w*h-1), Stride: 4 * w, Rect: want.Rect}, "too short a stride": &image.RGBA{Pix: make([]byte, 4*w*h), Stride: 4*w - 1, Rect: want.Rect},
				"no bytes": &image.Gray{Rect: want.Rect}, "nothing inside": struct{ draw.Image }{},
			} {
				if err := d.DecodeTo(t.Context(), dst); !errors.Is(err, errs.ErrInvalidArgument) {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}
}

// A Decoder may decode in several goroutines, in place and as a stream.
func TestDecoderConcurrent(t *testing.T) {
	for _, ext := range []string{".jpg", ".png", ".gif", ".bmp", ".tiff", ".webp"} {
		data := encoded(testimg.Noise(120, 90, 1), ext)
		for what, r := range map[string]io.Reader{"in place": bytes.NewReader(data), "a stream": stream(data)} {
			d, err := NewDecoder(t.Context(), r, nil)
			if err != nil {
				t.Fatal(err)
			}
			images := make([]*image.NRGBA, 4)
			var all sync.WaitGroup
			for i := range images {
				images[i] = image.NewNRGBA(d.bounds())
				all.Go(func() {
					if err := d.DecodeTo(t.Context(), images[i]); err != nil {
						t.Error(ext, what, err)
					}
				})
			}
			all.Wait()
			for _, m := range images[1:] {
				if text := testimg.Differ(m, images[0], 0); text != "" {
					t.Error(ext, what, text)
				}
			}
		}
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		name string
		want Format
	}{
		{"jpeg", JPEG}, {"JPG", JPEG}, {".jpe", JPEG}, {"jfif", JPEG}, {".Png", PNG}, {"tif", TIFF}, {".TIFF", TIFF}, {"bmp", BMP}, {"gif", GIF}, {"WebP", WebP},
		{"", ""}, {".", ""}, {"..png", ""}, {"a.png", ""}, {"heic", ""}, {"image/png", ""}, {" png", ""},
	} {
		if f, ok := ParseFormat(c.name); f != c.want || ok != (c.want != "") {
			t.Errorf("ParseFormat(%q) is %q, %v", c.name, f, ok)
		}
	}
	for _, f := range []Format{JPEG, PNG, TIFF, BMP, GIF, WebP} {
		if again, ok := ParseFormat(f.Extension()); again != f || !ok || f.MediaType() != "image/"+string(f) {
			t.Errorf("%s: %q, %q", f, f.Extension(), f.MediaType())
		}
		data := encoded(testimg.Quarters(16, 10), f.Extension())
		for _, n := range []int{18, len(data)} {
			if got, ok := DetectFormat(data[:n]); got != f || !ok {
				t.Errorf("%d bytes of a %s are taken for %q", n, f, got)
			}
		}
		for n := range 18 {
			if got, ok := DetectFormat(data[:n]); ok && got != f {
				t.Errorf("%d bytes of a %s are taken for %q", n, f, got)
			}
		}
	}
	for _, f := range []Format{"", "heic", "JPEG"} {
		if f.Extension() != "" || f.MediaType() != "" || f.CanEncode() {
			t.Errorf("%q is a format", f)
		}
	}
	for _, head := range []string{"", "B", "RIFF", "RIFF\x00\x00\x00\x00WAVEfmt ", "GIF87b", "BMW is not a picture", "\x89PNG\n", fmt.Sprintf("%18d", 0)} {
		if f, ok := DetectFormat([]byte(head)); f != "" || ok {
			t.Errorf("%q is taken for %q", head, f)
		}
	}
}
