package main

import (
	"image"
	"image/color"
	"testing"
)

// plain is a picture of one colour.
func plain(w, h int, c color.NRGBA) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := 0; i < len(m.Pix); i += 4 {
		m.Pix[i], m.Pix[i+1], m.Pix[i+2], m.Pix[i+3] = c.R, c.G, c.B, c.A
	}
	return m
}

// Each picture fills its place, whatever its proportions, and a caption is
// written below it.
func TestContactSheet(t *testing.T) {
	red, blue := color.NRGBA{200, 0, 0, 255}, color.NRGBA{0, 0, 200, 255}
	for _, size := range []image.Point{{300, 200}, {1, 5000}, {5000, 1}, {1, 1}, {200, 300}} {
		b := band{original: tile{"original", plain(size.X, size.Y, red)}}
		for range 9 {
			b.results = append(b.results, tile{"result", plain(size.X, size.Y, blue)})
		}
		sheet := contactSheet("title", "subtitle", []band{b, b})
		top := margin + titleH
		left := margin + 2*tileW + gap
		bandH := 3*(tileH+captionH+gap) + margin // nine results take three rows
		for _, want := range []struct {
			at image.Point
			c  color.NRGBA
		}{
			{image.Pt(margin+2, top+2), red},
			{image.Pt(margin+2*tileW-2, top+2*tileH+captionH), red},
			{image.Pt(left+2, top+2), blue},
			{image.Pt(left+4*(tileW+gap)-gap-2, top+tileH-2), blue},
			{image.Pt(left+2, top+2*(tileH+captionH+gap)+2), blue},
			{image.Pt(margin+2, top+bandH+2), red},
			{image.Pt(2, 2), paper},
		} {
			if got := sheet.NRGBAAt(want.at.X, want.at.Y); got != want.c {
				t.Errorf("pictures of %v: pixel %v is %v, want %v", size, want.at, got, want.c)
			}
		}
		if n := count(sheet, image.Rect(left, top+tileH+1, left+tileW, top+tileH+captionH), ink); n < 20 {
			t.Errorf("pictures of %v: the caption has %d pixels of ink", size, n)
		}
	}
}

func count(m *image.NRGBA, r image.Rectangle, c color.NRGBA) (n int) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if m.NRGBAAt(x, y) == c {
				n++
			}
		}
	}
	return n
}
