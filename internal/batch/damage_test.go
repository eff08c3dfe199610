package batch

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// TestDamage opens pictures cut off at every length and with bytes changed at
// random. Whatever comes of it, it is a picture of the size its header says or
// an error, within the limit, and never a panic.
func TestDamage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "picture")
	try := func(what string, data []byte) {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		src, err := openSource(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		const limit = 1 << 14
		h, err := src.readHeader(limit)
		if err != nil {
			return
		}
		w, ht := h.size()
		if w <= 0 || ht <= 0 || w*ht > limit || h.turn < 1 || h.turn > 8 || h.cost < int64(w*ht) {
			t.Fatalf("%s: header %+v", what, h)
		}
		_ = src.decode(image.NewNRGBA(image.Rect(0, 0, w, ht)), h, 1) // an error or not
	}
	r := rand.New(rand.NewPCG(7, 7))
	for _, ext := range []string{".jpg", ".png", ".gif", ".bmp", ".tiff", ".webp"} {
		whole := encoded(testimg.Quarters(16, 10), ext)
		for n := range min(len(whole), 700) {
			if !testlevel.Sampled(n, 4) {
				continue
			}
			try(fmt.Sprintf("%s cut to %d", ext, n), whole[:n])
		}
		for i := range 400 {
			data := append([]byte(nil), whole...)
			for range 1 + r.IntN(4) {
				data[r.IntN(len(data))] = byte(r.Uint32())
			}
			if !testlevel.Sampled(i, 4) {
				continue
			}
			try(fmt.Sprintf("%s mutant %d", ext, i), data)
		}
	}
}

// TestRead reads every format, and names what is not read.
func TestRead(t *testing.T) {
	tree(t, nil)
	jpg := encoded(testimg.Quarters(16, 10), ".jpg")
	twelve := bytes.Clone(jpg)
	at := bytes.Index(twelve, []byte{0xff, 0xc0})
	twelve[at+4] = 12
	arithmetic := bytes.Clone(jpg)
	arithmetic[at+1] = 0xc9
	for name, data := range map[string][]byte{
		"a.jpg": jpg, "a.png": encoded(testimg.Quarters(16, 10), ".png"), "a.bmp": encoded(testimg.Quarters(16, 10), ".bmp"), "a.tiff": encoded(testimg.Quarters(16, 10), ".tiff"), "a.gif": encoded(testimg.Quarters(16, 10), ".gif"),
	} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := Read(t.Context(), name, 160)
		if err != nil || m.Rect.Size() != image.Pt(16, 10) || testimg.Distance(m.NRGBAAt(15, 9), color.NRGBA{240, 240, 240, 255}) > 8 {
			t.Errorf("%s: %v, %v", name, m, err)
		}
		if _, err := Read(t.Context(), name, 159); err == nil {
			t.Errorf("%s: read past the limit", name)
		}
	}
	for want, data := range map[string][]byte{"JPEG with 12 bits a sample": twelve, "JPEG with arithmetic coding": arithmetic} {
		if err := os.WriteFile("b.jpg", data, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), "b.jpg", 0); !errors.Is(err, errs.ErrUnsupported) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := Read(t.Context(), "none.jpg", 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestContain(t *testing.T) {
	err := func() (err error) {
		defer contain(&err)
		var none []int
		_ = none[len(os.Args)+3]
		return nil
	}()
	if err == nil {
		t.Error("a panic of a decoder is not an error")
	}
}
