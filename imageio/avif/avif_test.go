package avif_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/imageio"
	_ "github.com/lathe-gpu/lathe/imageio/avif"
	"github.com/lathe-gpu/lathe/internal/avif"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// built returns whether this program has the codec. If it has none, a picture is an error that says why.
func built(t *testing.T) bool {
	t.Helper()
	if avif.Available() == nil {
		return true
	}
	err := imageio.Encode(t.Context(), &bytes.Buffer{}, testimg.Photo(8, 8, 1), imageio.AVIF, nil)
	if !errors.Is(err, imageio.ErrUnsupported) || !strings.Contains(err.Error(), "nodynamic") && runtime.GOOS != "js" || imageio.AVIF.CanEncode() {
		t.Errorf("without the codec: %v", err)
	}
	return false
}

func encode(t testing.TB, m image.Image, o *imageio.EncodeOptions) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := imageio.Encode(t.Context(), &file, m, imageio.AVIF, o); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func decode(t testing.TB, file []byte, depth int) (image.Image, imageio.Info) {
	t.Helper()
	m, info, err := imageio.Decode(t.Context(), bytes.NewReader(file), &imageio.DecodeOptions{Depth: depth})
	if err != nil {
		t.Fatal(err)
	}
	return m, info
}

// psnr is how near the colours are, in dB, and the largest difference of alpha.
func psnr(a, b *image.NRGBA) (db float64, alpha int) {
	var sum float64
	for i := range a.Pix {
		d := int(a.Pix[i]) - int(b.Pix[i])
		if i%4 == 3 {
			alpha = max(alpha, max(d, -d))
			continue
		}
		sum += float64(d * d)
	}
	return 10 * math.Log10(255*255*float64(len(a.Pix))*3/4/max(sum, 1e-9)), alpha
}

func TestRoundTrip(t *testing.T) {
	if !built(t) {
		return
	}
	for _, c := range []struct {
		m        *image.NRGBA
		quality  int
		sampling string
		least    float64
	}{
		{testimg.Photo(96, 64, 1), 0, "", 30}, {testimg.Photo(96, 64, 1), 95, "4:4:4", 42}, {testimg.Photo(96, 64, 1), 90, "4:2:2", 35},
		{testimg.PhotoAlpha(61, 47, 2), 80, "", 30}, {testimg.PhotoAlpha(61, 47, 2), 100, "4:4:4", 45},
		{testimg.Photo(1, 1, 3), 90, "", 25}, {testimg.Photo(1, 37, 3), 90, "4:4:4", 30}, {testimg.Photo(131, 3, 3), 90, "4:4:0", 30},
	} {
		file := encode(t, c.m, &imageio.EncodeOptions{Quality: c.quality, Subsampling: c.sampling})
		if f, ok := imageio.DetectFormat(file); f != imageio.AVIF || !ok {
			t.Errorf("DetectFormat: %q, %v", f, ok)
		}
		m, info := decode(t, file, 0)
		db, alpha := psnr(m.(*image.NRGBA), c.m)
		want := map[string]string{"": "4:2:0", "4:4:0": "4:4:4"}[c.sampling]
		if want == "" {
			want = c.sampling
		}
		if db < c.least || alpha != 0 || info.Subsampling != want || info.Format != imageio.AVIF || info.Depth != 8 || info.Frames != 1 || info.Metadata != nil || info.MetadataErr != nil {
			t.Errorf("%v quality %d %s: %.1f dB (want %v), alpha differs by %d, %+v", c.m.Rect, c.quality, c.sampling, db, c.least, alpha, info)
		}
		again, _ := decode(t, encode(t, m, &imageio.EncodeOptions{Quality: 95, Source: &info}), 0)
		if db, _ := psnr(again.(*image.NRGBA), m.(*image.NRGBA)); db < 33 {
			t.Errorf("%v: %.1f dB when written once more", c.m.Rect, db)
		}
	}
	// A grey picture, 16 bits, a view, and an image whose colours are multiplied by alpha.
	grey := image.NewGray16(image.Rect(5, 9, 40, 31))
	for y := 9; y < 31; y++ {
		for x := 5; x < 40; x++ {
			grey.SetGray16(x, y, color.Gray16{Y: uint16(1500 * x)})
		}
	}
	m, _ := decode(t, encode(t, grey, &imageio.EncodeOptions{Quality: 95, Source: &imageio.Info{Grey: true, Depth: 16}}), 16)
	if got, ok := m.(*image.NRGBA); !ok || got.Rect != image.Rect(0, 0, 35, 22) || math.Abs(float64(got.NRGBAAt(20, 7).R)-1500.*25/257) > 4 || got.NRGBAAt(20, 7).A != 255 {
		t.Errorf("grey: %T %v %v", m, m.Bounds(), m.At(20, 7))
	}
	photo := testimg.Photo(64, 64, 4)
	part := photo.SubImage(image.Rect(10, 20, 51, 63)).(*image.NRGBA)
	m, _ = decode(t, encode(t, part, &imageio.EncodeOptions{Quality: 95}), 0)
	for y := range 43 {
		for x := range 41 {
			if testimg.Distance(m.(*image.NRGBA).NRGBAAt(x, y), part.NRGBAAt(10+x, 20+y)) > 60 {
				t.Fatalf("a view: %d,%d", x, y)
			}
		}
	}
}

// Metadata are kept byte by byte, and so is the orientation of a picture that is as stored.
func TestMetadata(t *testing.T) {
	if !built(t) {
		return
	}
	m := testimg.Photo(40, 24, 1)
	meta := &imageio.Metadata{EXIF: testimg.Exif(1, binary.BigEndian), XMP: []byte("<x:xmpmeta/>"), ICC: testimg.ICC("RGB ", 3000)}
	_, info := decode(t, encode(t, m, &imageio.EncodeOptions{Source: &imageio.Info{Metadata: meta}}), 0)
	got := info.Metadata
	if got == nil || !bytes.Equal(got.XMP, meta.XMP) || !bytes.Equal(got.ICC, meta.ICC) || len(got.EXIF) == 0 || info.MetadataErr != nil || info.Orientation != 1 {
		t.Fatalf("%+v, %v", got, info.MetadataErr)
	}
	for o := 1; o <= 8; o++ {
		meta := &imageio.Metadata{EXIF: testimg.Exif(uint16(o), binary.LittleEndian)}
		file := encode(t, testimg.Quarters(32, 16), &imageio.EncodeOptions{Quality: 95, Source: &imageio.Info{Metadata: meta}})
		up, info := decode(t, file, 0)
		size := image.Pt(32, 16)
		if o > 4 {
			size = image.Pt(16, 32)
		}
		if info.Orientation != o || up.Bounds().Size() != size {
			t.Errorf("orientation %d: %+v", o, info)
		}
		var jpeg bytes.Buffer
		if err := imageio.Encode(t.Context(), &jpeg, testimg.Quarters(32, 16), imageio.JPEG, &imageio.EncodeOptions{Quality: 95, Source: &imageio.Info{Metadata: meta}}); err != nil {
			t.Fatal(err)
		}
		want, wantInfo := decode(t, jpeg.Bytes(), 0)
		if wantInfo.Orientation != o {
			t.Fatalf("JPEG: %d", wantInfo.Orientation)
		}
		if db, _ := psnr(up.(*image.NRGBA), want.(*image.NRGBA)); db < 25 {
			t.Errorf("orientation %d: turned otherwise than in a JPEG file (%.1f dB)", o, db)
		}
		if once, _ := decode(t, encode(t, up, &imageio.EncodeOptions{Source: &info}), 0); once.Bounds() != up.Bounds() {
			t.Errorf("orientation %d: turned twice", o)
		}
	}
	// IPTC has no place, and is named.
	if fit, err := (&imageio.Metadata{IPTC: []byte{28, 2, 5, 0, 1, 'a'}, ICC: meta.ICC}).Fit(imageio.AVIF); !errors.Is(err, imageio.ErrUnsupported) || fit.IPTC != nil || fit.ICC == nil {
		t.Errorf("IPTC: %+v, %v", fit, err)
	}
}

// avifTool runs avifenc or avifdec.
func avifTool(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), testkit.Tool(t, name), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// Files of avifenc are read as avifdec reads them: subsampling, depth, alpha, limited range, grey,
// grids, lossless, turned and cut out.
func TestAsAvifdec(t *testing.T) {
	if !built(t) {
		return
	}
	dir := t.TempDir()
	testkit.Tool(t, "avifenc")
	write := func(name string, m image.Image) string {
		path := filepath.Join(dir, name)
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	photo := write("photo.png", testimg.Photo(128, 128, 7))
	alpha := write("alpha.png", testimg.PhotoAlpha(75, 53, 8))
	deep := image.NewNRGBA64(image.Rect(0, 0, 70, 50))
	for i := range deep.Pix {
		deep.Pix[i] = byte(i * i / 97)
	}
	for i := 6; i < len(deep.Pix); i += 8 {
		deep.Pix[i] |= 0x40 // no colour is hidden
	}
	wide := write("deep.png", deep)
	for name, args := range map[string][]string{
		"420":         {"-y", "420", photo},
		"444":         {"-y", "444", photo},
		"422 limited": {"-y", "422", "-r", "limited", photo},
		"grey":        {"-y", "400", photo},
		"10 bits":     {"-d", "10", "-y", "444", wide},
		"12 bits":     {"-d", "12", "-y", "444", "-r", "limited", wide},
		"10 bits 420": {"-d", "10", "-y", "420", wide},
		"alpha":       {"-y", "444", alpha},
		"alpha 420":   {"-y", "420", "--range", "limited", alpha},
		"premultiply": {"-y", "444", "-p", alpha},
		"lossless":    {"-l", photo},
		"grid":        {"-y", "420", "--grid", "2x2", photo, photo, photo, photo},
		"turned":      {"--irot", "1", "-y", "444", alpha},
		"mirrored":    {"--irot", "3", "--imir", "0", "-y", "444", photo},
		"cut out":     {"--crop", "10,20,60,40", "-y", "444", photo},
	} {
		file := filepath.Join(dir, "x.avif")
		if name == "premultiply" {
			args = append([]string{"--min", "0", "--max", "0"}, args...)
		}
		avifTool(t, "avifenc", append(append([]string{"-s", "8", "-j", "1"}, args...), file)...)
		out := filepath.Join(dir, "x.png")
		upsampling := "nearest" // as for JPEG; the library smooths colours of more than 8 bits only
		if strings.Contains(name, "bits") {
			upsampling = "best"
		}
		avifTool(t, "avifdec", "-d", "16", "-u", upsampling, file, out)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, info := decode(t, data, 16)
		f, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := imageio.Decode(t.Context(), f, &imageio.DecodeOptions{Depth: 16})
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		wantDepth := 8
		if strings.Contains(name, "bits") {
			fmt.Sscanf(name, "%d", &wantDepth)
		}
		if info.Depth != wantDepth || info.Grey != (name == "grey") || info.MetadataErr != nil {
			t.Errorf("%s: %+v", name, info)
		}
		as := want
		switch name { // avifdec of Debian 12 does not turn and cut
		case "turned":
			as = turned{want, 1, false}
		case "mirrored":
			as = turned{want, 3, true}
		case "cut out":
			as = moved{want, image.Rect(10, 20, 70, 60)}
		}
		if got.Bounds() != as.Bounds() {
			t.Errorf("%s: size %v, want %v", name, got.Bounds(), as.Bounds())
			continue
		}
		most := 0
		b := got.Bounds()
		for y := range b.Dy() {
			for x := range b.Dx() {
				p, q := color.NRGBA64Model.Convert(got.At(x, y)).(color.NRGBA64), color.NRGBA64Model.Convert(as.At(x, y)).(color.NRGBA64)
				if q.A < 0x1000 {
					continue // what colours a transparent pixel hides depends on rounding
				}
				for _, d := range []int{int(p.R) - int(q.R), int(p.G) - int(q.G), int(p.B) - int(q.B), int(p.A) - int(q.A)} {
					most = max(most, max(d, -d))
				}
			}
		}
		bound := 385 // a level and a half of 8 bits: one way rounds to 8 bits, and the other one to 16
		if info.Depth > 8 {
			bound = 64
		}
		if name == "premultiply" {
			bound = 8 * 257
		}
		if most > bound {
			t.Errorf("%s: differs by %d of 65535 (want at most %d)", name, most, bound)
		}
	}
}

// turned is a picture turned anticlockwise, and then exchanged top and bottom.
type turned struct {
	image.Image
	turns  int
	mirror bool
}

func (r turned) Bounds() image.Rectangle {
	b := r.Image.Bounds()
	if r.turns%2 == 1 {
		return image.Rect(0, 0, b.Dy(), b.Dx())
	}
	return b
}

func (r turned) At(x, y int) color.Color {
	b := r.Bounds()
	if r.mirror {
		y = b.Dy() - 1 - y
	}
	for range r.turns { // back, clockwise
		x, y, b = b.Dy()-1-y, x, image.Rect(0, 0, b.Dy(), b.Dx())
	}
	return r.Image.At(x, y)
}

// moved is a part of a picture.
type moved struct {
	image.Image
	part image.Rectangle
}

func (m moved) Bounds() image.Rectangle { return image.Rectangle{Max: m.part.Size()} }
func (m moved) At(x, y int) color.Color { return m.Image.At(m.part.Min.X+x, m.part.Min.Y+y) }

// avifdec reads our files as we do.
func TestForAvifdec(t *testing.T) {
	if !built(t) {
		return
	}
	dir := t.TempDir()
	for name, m := range map[string]*image.NRGBA{"photo": testimg.Photo(90, 61, 1), "alpha": testimg.PhotoAlpha(64, 33, 2)} {
		meta := &imageio.Metadata{EXIF: testimg.Exif(1, binary.BigEndian), XMP: []byte("<x:xmpmeta/>"), ICC: testimg.RGBProfile(4, [9]float64{0.5, 0.3, 0.16, 0.24, 0.69, 0.07, 0, 0.04, 0.78}, testimg.Gamma(2.2))}
		file := encode(t, m, &imageio.EncodeOptions{Quality: 90, Subsampling: "4:4:4", Source: &imageio.Info{Metadata: meta}})
		path := filepath.Join(dir, name+".avif")
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, name+".png")
		avifTool(t, "avifdec", path, out)
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		want, info := decode(t, data, 0)
		got, _ := decode(t, file, 0)
		if db, alpha := psnr(got.(*image.NRGBA), want.(*image.NRGBA)); db < 45 || alpha != 0 {
			t.Errorf("%s: %.1f dB, alpha differs by %d", name, db, alpha)
		}
		if info.Metadata == nil || !bytes.Equal(info.Metadata.ICC, meta.ICC) {
			t.Errorf("%s: avifdec finds no profile", name)
		}
	}
}

// An animation says how many pictures it has, and gives the first one.
func TestAnimation(t *testing.T) {
	if !built(t) {
		return
	}
	dir := t.TempDir()
	var names []string
	for i := range 3 {
		var b bytes.Buffer
		if err := png.Encode(&b, testimg.Photo(48, 32, uint64(i))); err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Join(dir, fmt.Sprintf("%d.png", i)))
		if err := os.WriteFile(names[i], b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "film.avif")
	avifTool(t, "avifenc", append(append([]string{"-s", "8", "-y", "444"}, names...), path)...)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, info := decode(t, file, 0)
	if db, _ := psnr(m.(*image.NRGBA), testimg.Photo(48, 32, 0)); info.Frames != 3 || db < 30 {
		t.Errorf("%d frames, the first one is %.1f dB from what it was", info.Frames, db)
	}
}

// Hostile files are errors or pictures, in bounded time and memory.
func TestHostile(t *testing.T) {
	if !built(t) {
		return
	}
	m := testimg.PhotoAlpha(40, 30, 1)
	whole := encode(t, m, &imageio.EncodeOptions{Source: &imageio.Info{Metadata: &imageio.Metadata{XMP: []byte("<x/>"), EXIF: testimg.Exif(6, binary.BigEndian)}}})
	try := func(what string, data []byte) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		m, info, err := imageio.Decode(ctx, bytes.NewReader(data), &imageio.DecodeOptions{MaxPixels: 1 << 16})
		switch {
		case ctx.Err() != nil:
			t.Errorf("%s: takes more than a minute", what)
		case err == nil:
			if m.Bounds().Size() != image.Pt(info.Width, info.Height) || info.Width*info.Height > 1<<16 {
				t.Errorf("%s: %v of %+v", what, m.Bounds(), info)
			}
		case !errors.Is(err, imageio.ErrDamaged) && !errors.Is(err, imageio.ErrUnsupported) && !errors.Is(err, imageio.ErrTooLarge):
			t.Errorf("%s: %v", what, err)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for n := range len(whole) {
		if testlevel.Sampled(n, 12) {
			try(fmt.Sprintf("cut to %d", n), whole[:n])
		}
	}
	for i := range 1500 {
		data := bytes.Clone(whole)
		for range 1 + r.IntN(4) {
			at := r.IntN(len(data))
			if i%2 == 0 {
				at = r.IntN(min(len(data), 700)) // the container
			}
			data[at] = byte(r.Uint32())
		}
		if testlevel.Sampled(i, 12) {
			try(fmt.Sprintf("mutant %d", i), data)
		}
	}
	// A file that says it is smaller than its AV1 data gets no more memory than it says.
	small := bytes.Clone(encode(t, testimg.Photo(640, 480, 1), &imageio.EncodeOptions{Quality: 5}))
	at := bytes.Index(small, []byte("ispe"))
	binary.BigEndian.PutUint32(small[at+8:], 16)
	binary.BigEndian.PutUint32(small[at+12:], 16)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	try("a false size", small)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 200<<20 {
		t.Errorf("a false size took %d MiB", grown>>20)
	}
	// A bomb is refused by its header.
	binary.BigEndian.PutUint32(small[at+8:], 60000)
	binary.BigEndian.PutUint32(small[at+12:], 60000)
	if _, err := imageio.DecodeConfig(t.Context(), bytes.NewReader(small), nil); !errors.Is(err, imageio.ErrTooLarge) {
		t.Errorf("a bomb: %v", err)
	}
}

// The context ends decoding and encoding, and calls do not disturb each other.
func TestContext(t *testing.T) {
	if !built(t) {
		return
	}
	big := testimg.Photo(2000, 1500, 1)
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	begin := time.Now()
	if err := imageio.Encode(ctx, &bytes.Buffer{}, big, imageio.AVIF, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that ended: %v", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("a context that ended took %v", took)
	}
	if err := imageio.Encode(t.Context(), &bytes.Buffer{}, image.NewGray(image.Rect(0, 0, 65536, 1)), imageio.AVIF, nil); !errors.Is(err, imageio.ErrTooLarge) {
		t.Errorf("65536 pixels: %v", err)
	}
	if err := imageio.Encode(t.Context(), &bytes.Buffer{}, testimg.Photo(2, 2, 1), imageio.AVIF, &imageio.EncodeOptions{Quality: 101}); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("quality 101: %v", err)
	}
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			m := testimg.PhotoAlpha(50+i, 40, uint64(i))
			got, _ := decode(t, encode(t, m, &imageio.EncodeOptions{Quality: 90, Subsampling: "4:4:4"}), 0)
			if db, alpha := psnr(got.(*image.NRGBA), m); db < 30 || alpha != 0 {
				t.Errorf("picture %d of several at once: %.1f dB, alpha %d", i, db, alpha)
			}
		})
	}
	group.Wait()
}
