package lathe_test

import (
	"bytes"
	"image"
	"testing"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/spec"
)

// Noise on an image without colours has no colours. On others it has.
func TestNoiseOfGrey(t *testing.T) {
	dev := open(t)
	grey, deep := image.NewGray(image.Rect(0, 0, 40, 30)), image.NewGray16(image.Rect(0, 0, 40, 30))
	testimg.Fill(1, grey.Pix, deep.Pix)
	colour := image.NewNRGBA(grey.Rect)
	for i, v := range grey.Pix {
		copy(colour.Pix[4*i:], []byte{v, v, v, 255})
	}
	noise := spec.WithDefaults(imageops.Noise{Amount: 0.2})
	chain := []spec.Call{imageops.Brightness{Factor: 0.9}, noise, imageops.Flip{}}
	coloured := func(m *image.NRGBA) (n int) {
		for i := 0; i < len(m.Pix); i += 4 {
			if m.Pix[i] != m.Pix[i+1] || m.Pix[i] != m.Pix[i+2] {
				n++
			}
		}
		return n
	}
	for _, src := range []image.Image{grey, deep, grey.SubImage(image.Rect(3, 5, 20, 30))} {
		got, err := dev.Apply(t.Context(), src, chain...)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := dev.Apply(t.Context(), src, chain[0], chain[2])
		if err != nil {
			t.Fatal(err)
		}
		if n := coloured(got); n > 0 || bytes.Equal(got.Pix, plain.Pix) {
			t.Errorf("%T: %d pixels have colours; unchanged: %v", src, n, bytes.Equal(got.Pix, plain.Pix))
		}
	}
	wide := image.NewNRGBA64(deep.Rect)
	if err := dev.ApplyTo(t.Context(), wide, deep, noise); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(wide.Pix); i += 8 {
		if !bytes.Equal(wide.Pix[i:i+2], wide.Pix[i+2:i+4]) || !bytes.Equal(wide.Pix[i:i+2], wide.Pix[i+4:i+6]) {
			t.Fatalf("pixel %d of 16 bits is %v", i/8, wide.Pix[i:i+8])
		}
	}
	if got, err := dev.Apply(t.Context(), colour, noise); err != nil || coloured(got) < 1000 {
		t.Errorf("%d pixels have colours, %v", coloured(got), err)
	}
	// The caller's calls stay as they are.
	if noise.Mono || chain[1].(imageops.Noise).Mono {
		t.Error("the call has changed")
	}
	if got := imageops.ForGrey([]spec.Call{&imageops.Noise{Amount: 0.5}, nil, imageops.Flip{}}); len(got) != 3 || spec.FormatBrief(got[0]) != "noise amount=0.5 mono=true" || got[1] != nil || got[2] != spec.Call(imageops.Flip{}) {
		t.Errorf("%v", got)
	}
}
