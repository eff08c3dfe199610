package testimg

import (
	"bytes"
	"image"
	"image/jpeg"
	"math"
	"testing"
)

func TestDeterministic(t *testing.T) {
	a, b := Photo(311, 207, 1), Photo(311, 207, 1)
	if !bytes.Equal(a.Pix, b.Pix) {
		t.Fatal("one seed gave two pictures")
	}
	if c := Photo(311, 207, 2); bytes.Equal(a.Pix, c.Pix) {
		t.Fatal("two seeds gave one picture")
	}
}

func TestSizes(t *testing.T) {
	for _, s := range [][2]int{{0, 0}, {0, 5}, {1, 1}, {1, 300}, {300, 1}, {2, 3}, {257, 129}} {
		if got := Photo(s[0], s[1], 3).Bounds(); got != image.Rect(0, 0, s[0], s[1]) {
			t.Errorf("Photo(%v) has bounds %v", s, got)
		}
		if got := PhotoYCbCr(s[0], s[1], 3).Bounds(); got != image.Rect(0, 0, s[0], s[1]) {
			t.Errorf("PhotoYCbCr(%v) has bounds %v", s, got)
		}
		PhotoAlpha(s[0], s[1], 3)
	}
}

// A picture that a codec or a filter would find too easy or too hard is no
// stand-in for a photograph.
func TestLooksLikeAPhotograph(t *testing.T) {
	const w, h = 1200, 800
	for seed := range uint64(6) {
		img := Photo(w, h, seed)
		var sum, sq, grad float64
		var hist [256]int
		for y := range h {
			for x := range w {
				v := img.Pix[y*img.Stride+4*x+1]
				hist[v]++
				sum += float64(v)
				sq += float64(v) * float64(v)
				if x > 0 {
					grad += math.Abs(float64(v) - float64(img.Pix[y*img.Stride+4*x-3]))
				}
			}
		}
		n := float64(w * h)
		mean, dev := sum/n, math.Sqrt(sq/n-sum*sum/n/n)
		used := 0
		for _, c := range hist {
			if c > 0 {
				used++
			}
		}
		if mean < 50 || mean > 220 || dev < 20 || used < 150 || grad/n < 1 || grad/n > 15 {
			t.Errorf("seed %d: mean %.1f, deviation %.1f, %d levels, mean step %.2f", seed, mean, dev, used, grad/n)
		}
		file, err := JPEG(w, h, seed, 90)
		if err != nil {
			t.Fatal(err)
		}
		if bits := 8 * float64(len(file)) / n; bits < 0.8 || bits > 5 {
			t.Errorf("seed %d: %.2f bits a pixel at quality 90; photographs have 1 to 4", seed, bits)
		}
		if c, err := jpeg.DecodeConfig(bytes.NewReader(file)); err != nil || c.Width != w || c.Height != h {
			t.Errorf("seed %d: decoded %dx%d, %v", seed, c.Width, c.Height, err)
		}
	}
}

func BenchmarkPhoto12MP(b *testing.B) {
	for b.Loop() {
		Photo(4000, 3000, 1)
	}
}
