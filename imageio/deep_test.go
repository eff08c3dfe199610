package imageio

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// deepPictures are pictures of 16 bits, by the type that a decoder makes of them.
func deepPictures() map[string]image.Image {
	r := image.Rect(0, 0, 37, 23)
	alpha, solid, grey := image.NewNRGBA64(r), image.NewNRGBA64(r), image.NewGray16(r)
	testimg.Fill(1, alpha.Pix, solid.Pix, grey.Pix)
	for i := 6; i < len(solid.Pix); i += 8 {
		solid.Pix[i], solid.Pix[i+1] = 255, 255
	}
	return map[string]image.Image{"alpha": alpha, "solid": solid, "grey": grey}
}

// Every bit of 16 comes back, turned or not, and the file is of as few samples as it can be.
func TestDeep(t *testing.T) {
	for name, m := range deepPictures() {
		want := image.NewNRGBA64(m.Bounds())
		for y := range 23 {
			for x := range 37 {
				want.Set(x, y, m.At(x, y))
			}
		}
		for _, f := range []Format{PNG, TIFF} {
			what := name + " as " + string(f)
			var file bytes.Buffer
			if err := Encode(t.Context(), &file, m, f, nil); err != nil {
				t.Fatal(what, err)
			}
			flat, flatInfo, err := Decode(t.Context(), bytes.NewReader(file.Bytes()), nil)
			got, info, err2 := Decode(t.Context(), bytes.NewReader(file.Bytes()), &DecodeOptions{Depth: 16})
			if err != nil || err2 != nil || info.Depth != 16 || info.Memory <= flatInfo.Memory || info.Grey != (name == "grey") {
				t.Fatalf("%s: %v, %v, %+v, flat %+v", what, err, err2, info, flatInfo)
			}
			deep, ok := got.(*image.NRGBA64)
			if _, shallow := flat.(*image.NRGBA); !ok || !shallow {
				t.Fatalf("%s: %T and %T", what, got, flat)
			}
			if name == "alpha" { // Set has multiplied by alpha
				want = m.(*image.NRGBA64)
			}
			if !bytes.Equal(deep.Pix, want.Pix) {
				t.Errorf("%s: other pixels", what)
			}
			// Written as its source it is the same again.
			var again bytes.Buffer
			if err := Encode(t.Context(), &again, deep, f, &EncodeOptions{Source: &info}); err != nil {
				t.Fatal(err)
			}
			if again.Len() > file.Len()+64 {
				t.Errorf("%s: %d bytes became %d", what, file.Len(), again.Len())
			}
			// Others read the same.
			other, _, err := image.Decode(&again)
			if err != nil {
				t.Fatal(what, err)
			}
			for y := range 23 {
				for x := range 37 {
					if g, w := color.RGBA64Model.Convert(other.At(x, y)), color.RGBA64Model.Convert(want.At(x, y)); g != w {
						t.Fatalf("%s: pixel %d,%d is %v for others, %v for us", what, x, y, g, w)
					}
				}
			}
		}
	}
	// All orientations, against those of 8 bits.
	for o := 1; o <= 8; o++ {
		m := image.NewNRGBA64(image.Rect(0, 0, 37, 70))
		flat := image.NewNRGBA(m.Rect)
		testimg.Fill(uint64(o), flat.Pix)
		for i, v := range flat.Pix {
			m.Pix[2*i], m.Pix[2*i+1] = v, v
		}
		h := header{width: 37, height: 70, turn: orientation(o)}
		w, ht := h.size()
		got := image.NewNRGBA64(image.Rect(0, 0, w, ht))
		layRows(onNRGBA64(got), 37, 70, onNRGBA64(got).rows(m), orientation(o))
		want := turned(flat, orientation(o))
		for i, v := range want.Pix {
			if got.Pix[2*i] != v || got.Pix[2*i+1] != v {
				t.Fatalf("orientation %d: byte %d is %d, want %d", o, i, got.Pix[2*i], v)
			}
		}
	}
}

// libtiff writes pictures of 16 bits in its ways, and ours are read.
func TestDeepTIFF(t *testing.T) {
	tiffcp := testkit.Tool(t, "tiffcp")
	dir := t.TempDir()
	for name, m := range deepPictures() {
		var file bytes.Buffer
		if err := Encode(t.Context(), &file, m, TIFF, nil); err != nil {
			t.Fatal(err)
		}
		in, out := filepath.Join(dir, "in.tiff"), filepath.Join(dir, "out.tiff")
		if err := os.WriteFile(in, file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		want, _, err := Decode(t.Context(), &file, &DecodeOptions{Depth: 16})
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"-c", "none", "-B"}, {"-c", "lzw:2", "-t", "-w", "16", "-l", "16"}, {"-c", "zip:2", "-r", "5"}, {"-c", "packbits", "-r", "3", "-L"}} {
			if text, err := exec.Command(tiffcp, append(args, in, out)...).CombinedOutput(); err != nil || len(text) > 0 {
				t.Fatalf("%s %v: %v\n%s", name, args, err, text)
			}
			got, info, err := Decode(t.Context(), bytes.NewReader(must(os.ReadFile(out))), &DecodeOptions{Depth: 16})
			if err != nil || info.Depth != 16 || !bytes.Equal(got.(*image.NRGBA64).Pix, want.(*image.NRGBA64).Pix) {
				t.Errorf("%s %v: %+v, %v", name, args, info, err)
			}
		}
	}
}

// A picture of 8 bits may be decoded into 16.
func TestWidened(t *testing.T) {
	src := testimg.PhotoAlpha(31, 17, 1)
	d, err := NewDecoder(t.Context(), bytes.NewReader(encoded(src, ".png")), &DecodeOptions{Depth: 16})
	if err != nil || d.Info().Depth != 8 {
		t.Fatal(d.Info(), err)
	}
	m := image.NewNRGBA64(src.Rect)
	if err := d.DecodeTo(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	for i, v := range src.Pix {
		if m.Pix[2*i] != v || m.Pix[2*i+1] != v {
			t.Fatalf("byte %d: %d %d, want %d", i, m.Pix[2*i], m.Pix[2*i+1], v)
		}
	}
	if got, _, err := Decode(t.Context(), bytes.NewReader(encoded(src, ".png")), &DecodeOptions{Depth: 16}); err != nil || fmt.Sprintf("%T", got) != "*image.NRGBA" {
		t.Errorf("%T, %v", got, err)
	}
	if _, _, err := Decode(t.Context(), bytes.NewReader(nil), &DecodeOptions{Depth: 12}); err == nil {
		t.Error("depth 12")
	}
}
