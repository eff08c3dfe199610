package testimg

import (
	"bytes"
	"encoding/binary"
	"image"
	"math/rand/v2"
	"strings"
	"testing"

	_ "golang.org/x/image/webp"
)

// What Encode writes is a picture of the format.
func TestEncode(t *testing.T) {
	for ext, want := range map[string]string{".jpg": "jpeg", ".png": "png", ".gif": "gif", ".bmp": "bmp", ".tiff": "tiff", ".webp": "webp"} {
		size := image.Pt(12, 8)
		if ext == ".webp" {
			size = image.Pt(1, 1)
		}
		data, err := Encode(Quarters(12, 8), ext)
		if err != nil {
			t.Fatal(err)
		}
		if m, format, err := image.Decode(bytes.NewReader(data)); err != nil || format != want || m.Bounds().Size() != size {
			t.Errorf("%s: %v %s, %v", ext, m, format, err)
		}
	}
	if _, err := Encode(Quarters(1, 1), ".tif"); err == nil {
		t.Error("an unknown format is encoded")
	}
}

func TestQuarters(t *testing.T) {
	m := Quarters(9, 4)
	for q, want := range Corners {
		if got := m.NRGBAAt(8*(q%2), 3*(q/2)); got != want {
			t.Errorf("corner %d is %v, want %v", q, got, want)
		}
	}
}

func TestBomb(t *testing.T) {
	if c, _, err := image.DecodeConfig(bytes.NewReader(Bomb(60000, 50000))); err != nil || c.Width != 60000 || c.Height != 50000 {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestWithSegments(t *testing.T) {
	j, err := Encode(Quarters(8, 8), ".jpg")
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
		tag := Exif(6, order)
		with := WithSegments(j, "Exif\x00\x00"+string(tag))
		if len(tag) != 26 || len(with) != len(j)+4+6+len(tag) || !bytes.Contains(with, tag) {
			t.Errorf("%v: %d bytes of EXIF, %d of JPEG", order, len(tag), len(with))
		}
		if _, _, err := image.Decode(bytes.NewReader(with)); err != nil {
			t.Error(err)
		}
	}
}

// Damaged copies differ from the file, which stays as it was.
func TestDamage(t *testing.T) {
	file := bytes.Repeat([]byte{1, 2, 3}, 100)
	r := rand.New(rand.NewPCG(1, 1))
	differ := 0
	for n := range 90 {
		bad := Damage(r, file, n, 10)
		if n%3 == 0 != (len(bad) < len(file)) || n%3 == 1 && !bytes.Equal(bad[10:], file[10:]) {
			t.Errorf("copy %d has %d of %d bytes", n, len(bad), len(file))
		}
		if !bytes.Equal(bad, file) {
			differ++
		}
	}
	if differ < 80 || !bytes.Equal(file, bytes.Repeat([]byte{1, 2, 3}, 100)) {
		t.Errorf("%d of 90 copies are damaged", differ)
	}
}

func TestDiffer(t *testing.T) {
	a := Noise(5, 4, 1)
	b := image.NewNRGBA(a.Rect)
	copy(b.Pix, a.Pix)
	if d := Differ(a, b, 0); d != "" {
		t.Errorf("equal pictures: %s", d)
	}
	b.Pix[b.PixOffset(3, 2)+3] ^= 8 // alpha, 8 levels
	for tol, want := range map[int]string{0: "pixel (3, 2)", 7: "pixel (3, 2)", 8: ""} {
		if d := Differ(a, b, tol); !strings.HasPrefix(d, want) || want == "" && d != "" {
			t.Errorf("tolerance %d: %q, want %q", tol, d, want)
		}
	}
	if d := Differ(a, Noise(4, 5, 1), 255); !strings.HasPrefix(d, "size") {
		t.Errorf("pictures of two sizes: %q", d)
	}
	if bytes.Equal(Noise(5, 4, 2).Pix, a.Pix) || !bytes.Equal(Noise(5, 4, 1).Pix, a.Pix) {
		t.Error("a seed makes the noise, and always the same")
	}
}
