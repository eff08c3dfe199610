package imageio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/lathe-gpu/lathe/internal/errs"
	ownjpeg "github.com/lathe-gpu/lathe/internal/jpeg"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// boxed is a picture made smaller by means of squares.
func boxed(m *image.NRGBA, by int) *image.NRGBA {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, (w+by-1)/by, (h+by-1)/by))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			var sum [4]int
			n := 0
			for v := y * by; v < min((y+1)*by, h); v++ {
				for u := x * by; u < min((x+1)*by, w); u++ {
					for c := range sum {
						sum[c] += int(m.Pix[v*m.Stride+4*u+c])
					}
					n++
				}
			}
			for c := range sum {
				out.Pix[y*out.Stride+4*x+c] = byte((sum[c] + n/2) / n)
			}
		}
	}
	return out
}

// meanDistance is how far two pictures are apart in a channel on average. It is −1 for other sizes.
func meanDistance(a, b *image.NRGBA) float64 {
	if a.Rect != b.Rect {
		return -1
	}
	sum := 0
	for i := range a.Pix {
		sum += max(int(a.Pix[i])-int(b.Pix[i]), int(b.Pix[i])-int(a.Pix[i]))
	}
	return float64(sum) / float64(len(a.Pix))
}

// The picture is the smallest one that is large enough, and shows what the full one shows.
func TestAtLeast(t *testing.T) {
	whole := testimg.Photo(403, 299, 2)
	var file bytes.Buffer
	if err := Encode(t.Context(), &file, whole, JPEG, &EncodeOptions{Quality: 95, Subsampling: "4:4:4"}); err != nil {
		t.Fatal(err)
	}
	full, fullInfo, err := Decode(t.Context(), bytes.NewReader(file.Bytes()), nil)
	if err != nil || fullInfo.Full != image.Pt(403, 299) {
		t.Fatal(fullInfo, err)
	}
	for _, c := range []struct {
		want image.Point
		by   int
	}{
		{image.Pt(50, 37), 8}, {image.Pt(51, 37), 4}, {image.Pt(50, 38), 4}, {image.Pt(1, 1), 8}, {image.Pt(0, 20), 8}, {image.Pt(100, 0), 4},
		{image.Pt(101, 0), 2}, {image.Pt(201, 149), 2}, {image.Pt(202, 149), 1}, {image.Pt(5000, 1), 1}, {image.Pt(0, 0), 1},
	} {
		for what, stream := range map[string]bool{"in place": false, "as a stream": true} {
			o := &DecodeOptions{AtLeast: c.want}
			m, info, err := Decode(t.Context(), bytes.NewReader(file.Bytes()), o)
			if stream {
				m, info, err = Decode(t.Context(), iotest.HalfReader(bytes.NewReader(file.Bytes())), o)
			}
			if err != nil {
				t.Fatal(err)
			}
			size := image.Pt((403+c.by-1)/c.by, (299+c.by-1)/c.by)
			if m.Bounds().Size() != size || info.Width != size.X || info.Height != size.Y || info.Full != fullInfo.Full || info.Subsampling != "4:4:4" {
				t.Errorf("%v %s: %v, %+v, want %v", c.want, what, m.Bounds(), info, size)
				continue
			}
			// The frequencies that are left out and the means of squares differ most where edges are. A photograph
			// has few of them.
			if d := meanDistance(m.(*image.NRGBA), boxed(full.(*image.NRGBA), c.by)); d < 0 || d > 2 {
				t.Errorf("%v %s: %.2f levels off", c.want, what, d)
			}
		}
	}
}

// A Decoder for less leaves the first one as it is, says how much memory it takes, and makes images of all types.
func TestDecoderAtLeast(t *testing.T) {
	data := encoded(testimg.Photo(160, 120, 1), ".jpg")
	d, err := NewDecoder(t.Context(), bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	small := d.AtLeast(30, 30)
	if got := small.Info(); got.Width != 40 || got.Height != 30 || got.Full != image.Pt(160, 120) || got.Memory >= d.Info().Memory || d.Info().Width != 160 {
		t.Errorf("%+v of %+v", got, d.Info())
	}
	if again := small.AtLeast(20, 15); again.Info().Width != 20 {
		t.Errorf("%+v", again.Info())
	}
	if back := small.AtLeast(0, 0); back != d {
		t.Error("the whole picture is another Decoder")
	}
	want := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	if err := small.DecodeTo(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	deep, pre := image.NewNRGBA64(want.Rect), image.NewRGBA(want.Rect)
	if err := errors.Join(small.DecodeTo(t.Context(), deep), small.DecodeTo(t.Context(), pre)); err != nil {
		t.Fatal(err)
	}
	for y := range 30 {
		for x := range 40 {
			c := want.NRGBAAt(x, y)
			if color.NRGBAModel.Convert(deep.At(x, y)) != color.Color(c) || color.NRGBAModel.Convert(pre.At(x, y)) != color.Color(c) {
				t.Fatalf("(%d,%d): %v, %v, want %v", x, y, deep.At(x, y), pre.At(x, y), c)
			}
		}
	}
	if err := small.DecodeTo(t.Context(), image.NewNRGBA(image.Rect(0, 0, 160, 120))); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Error(err)
	}
	if (*Decoder)(nil).AtLeast(1, 1) != nil || new(Decoder).AtLeast(1, 1).Info().Width != 0 {
		t.Error("a Decoder of nothing")
	}
	for _, ext := range []string{".png", ".gif", ".bmp", ".tiff", ".webp"} {
		m, info, err := Decode(t.Context(), bytes.NewReader(encoded(testimg.Quarters(64, 48), ext)), &DecodeOptions{AtLeast: image.Pt(4, 4)})
		if err != nil || m.Bounds().Dx() != info.Width || info.Full != image.Pt(info.Width, info.Height) {
			t.Errorf("%s: %+v, %v", ext, info, err)
		}
	}
	for _, p := range []image.Point{{-1, 5}, {5, -1}} {
		if _, _, err := Decode(t.Context(), bytes.NewReader(data), &DecodeOptions{AtLeast: p}); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Error(err)
		}
	}
	if _, _, err := Decode(t.Context(), bytes.NewReader(data), &DecodeOptions{AtLeast: image.Pt(4, 4), MaxPixels: 1000}); !errors.Is(err, ErrTooLarge) {
		t.Error("the limit is for the file: ", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := small.DecodeTo(ctx, want); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A smaller picture is upright too, and metadata are as always.
func TestAtLeastOriented(t *testing.T) {
	seen := testimg.Quarters(35, 21)
	for o := 1; o <= 8; o++ {
		for name, data := range oriented(seen, o) {
			for _, stored := range []bool{false, true} {
				opts := DecodeOptions{AsStored: stored}
				full, fullInfo, err := Decode(t.Context(), bytes.NewReader(data), &opts)
				if err != nil {
					t.Fatal(err)
				}
				opts.AtLeast = image.Pt(10, 10)
				m, info, err := Decode(t.Context(), bytes.NewReader(data), &opts)
				if err != nil {
					t.Fatal(err)
				}
				if info.Format != JPEG {
					continue
				}
				if info.Full != full.Bounds().Size() || m.Bounds().Dx() != (info.Full.X+1)/2 || m.Bounds().Dy() != (info.Full.Y+1)/2 || info.Orientation != o || info.Metadata == nil || !bytes.Equal(info.Metadata.EXIF, fullInfo.Metadata.EXIF) {
					t.Errorf("orientation %d, %s, stored %v: %v, %+v", o, name, stored, m.Bounds(), info)
				}
				// The middle of each quarter has the same colour.
				b := m.Bounds()
				for _, at := range []image.Point{{b.Dx() / 4, b.Dy() / 4}, {3 * b.Dx() / 4, b.Dy() / 4}, {b.Dx() / 4, 3 * b.Dy() / 4}, {3 * b.Dx() / 4, 3 * b.Dy() / 4}} {
					if got, want := m.At(at.X, at.Y).(color.NRGBA), full.At(2*at.X, 2*at.Y).(color.NRGBA); testimg.Distance(got, want) > 12 {
						t.Errorf("orientation %d, %s, stored %v %v: %v, want %v", o, name, stored, at, got, want)
					}
				}
			}
		}
	}
}

// All kinds of colours are smaller, and Info says of them what it says of the full picture.
func TestAtLeastColours(t *testing.T) {
	convert := testkit.Tool(t, "convert")
	for name, args := range map[string][]string{
		"CMYK": {"-colorspace", "CMYK"}, "grey": {"-colorspace", "Gray"}, "RGB": {"-colorspace", "sRGB", "-define", "jpeg:colorspace=RGB"},
		"4:2:0": {"-sampling-factor", "2x2"}, "4:1:1": {"-sampling-factor", "4x1"}, "progressive": {"-interlace", "JPEG"},
	} {
		file, err := exec.CommandContext(t.Context(), convert, append(append([]string{"-size", "203x101", "gradient:#204080-#f0d0a0"}, args...), "-quality", "95", "jpeg:-")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		full, fullInfo, err := Decode(t.Context(), bytes.NewReader(file), nil)
		if err != nil {
			t.Fatal(err)
		}
		m, info, err := Decode(t.Context(), bytes.NewReader(file), &DecodeOptions{AtLeast: image.Pt(25, 10)})
		if err != nil || info.Width != 26 || info.Height != 13 || info.Grey != fullInfo.Grey || info.Subsampling != fullInfo.Subsampling || info.Depth != 8 {
			t.Errorf("%s: %+v, %v", name, info, err)
			continue
		}
		if d := meanDistance(m.(*image.NRGBA), boxed(full.(*image.NRGBA), 8)); d < 0 || d > 1 {
			t.Errorf("%s: %.2f levels off", name, d)
		}
	}
}

// What is damaged fails with the same error as without AtLeast, and what is only unusual is decoded in full.
func TestAtLeastDamage(t *testing.T) {
	r, n := rand.New(rand.NewPCG(3, 4)), 1500
	if testlevel.Of() >= testlevel.Full {
		n = 6000
	}
	whole := encoded(testimg.Photo(64, 48, 1), ".jpg")
	counts := map[string]int{}
	for i := range n {
		data := bytes.Clone(whole)
		for range 1 + r.IntN(3) {
			data[r.IntN(len(data))] = byte(r.Uint32())
		}
		if i%7 == 0 {
			data = data[:r.IntN(len(data))]
		}
		o := DecodeOptions{MaxPixels: 1 << 16}
		full, fullInfo, want := Decode(t.Context(), bytes.NewReader(data), &o)
		o.AtLeast = image.Pt(8, 6)
		m, info, err := Decode(t.Context(), bytes.NewReader(data), &o)
		if fmt.Sprint(err) != fmt.Sprint(want) {
			t.Fatalf("%v, want %v\n%x", err, want, data)
		}
		switch {
		case err != nil:
			counts["errors"]++
		case m.Bounds().Size() == full.Bounds().Size():
			counts["full"]++
			if !bytes.Equal(m.(*image.NRGBA).Pix, full.(*image.NRGBA).Pix) || info.Width != fullInfo.Width {
				t.Fatalf("another picture\n%x", data)
			}
		default:
			counts["smaller"]++
		}
	}
	if counts["errors"] == 0 || counts["full"] == 0 || counts["smaller"] == 0 {
		t.Error(counts)
	}
}

// allocated is how many bytes f takes, of which some may be free again.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// A picture takes no more memory than Info says, and 100 megapixels at an eighth take a small part of what they take in full.
func TestAtLeastMemory(t *testing.T) {
	side := 1600
	if testlevel.Of() >= testlevel.Full {
		side = 10000
	}
	for _, progressive := range []bool{false, true} {
		var file bytes.Buffer
		if err := ownjpeg.Encode(&file, &ownjpeg.Picture{Width: side, Height: side, Across: 2, Down: 2, Quality: 85, Progressive: progressive,
			Row: func(dst []byte, y int) {
				for x := range side {
					binary.LittleEndian.PutUint32(dst[4*x:], uint32(x/40*3+y/30*0x20100)|0xff000000)
				}
			}}); err != nil {
			t.Fatal(err)
		}
		d, err := NewDecoder(t.Context(), bytes.NewReader(file.Bytes()), nil)
		if err != nil {
			t.Fatal(err)
		}
		for by := 2; by <= 8; by *= 2 {
			small := d.AtLeast(side/by, side/by)
			said := small.Info().Memory
			took := allocated(func() {
				if err := small.DecodeTo(t.Context(), image.NewNRGBA(image.Rect(0, 0, small.Info().Width, small.Info().Height))); err != nil {
					t.Error(err)
				}
			})
			if took > said || said > 2*took+4<<20 {
				t.Errorf("progressive %v by %d: takes %d bytes, and says %d", progressive, by, took, said)
			}
			if by == 8 && side == 10000 {
				full := allocated(func() {
					if _, err := jpeg.Decode(bytes.NewReader(file.Bytes())); err != nil {
						t.Error(err)
					}
				}) + 4*int64(side)*int64(side)
				if took > full/15 {
					t.Errorf("progressive %v: %d MiB at an eighth, %d MiB in full", progressive, took>>20, full>>20)
				}
				t.Logf("progressive %v: %d MiB at an eighth, %d MiB in full", progressive, took>>20, full>>20)
			}
		}
	}
}
