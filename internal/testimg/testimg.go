// Package testimg paints photographs that never existed: a landscape with sky,
// clouds, hills, houses, grass and film grain. They have the smooth areas, hard
// edges and fine texture of real photographs, so that codecs and filters cost
// on them what they cost on real ones, and the same seed always gives the same
// picture. The package also writes small files of every format, whole and damaged.
package testimg

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"runtime"
	"sync"
)

// Photo returns an opaque landscape of w by h pixels. Pictures of one seed and
// one aspect ratio show the same scene at every size.
func Photo(w, h int, seed uint64) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	paint(w, h, seed, func(y int, row []rgb) {
		for x, p := range row {
			i := y*img.Stride + 4*x
			img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = p.r, p.g, p.b, 255
		}
	})
	return img
}

// PhotoAlpha is Photo with an alpha channel: opaque in the middle, falling off
// to transparent in the corners.
func PhotoAlpha(w, h int, seed uint64) *image.NRGBA {
	img := Photo(w, h, seed)
	for y := range h {
		for x := range w {
			u, v := 2*float64(x)/float64(w)-1, 2*float64(y)/float64(h)-1
			a := min(max(2-1.6*math.Hypot(u, v), 0), 1)
			img.Pix[y*img.Stride+4*x+3] = uint8(255*a + 0.5)
		}
	}
	return img
}

// PhotoYCbCr returns the picture as most decoders of JPEG give it: luma and
// chroma planes, chroma at half the resolution.
func PhotoYCbCr(w, h int, seed uint64) *image.YCbCr {
	img := image.NewYCbCr(image.Rect(0, 0, w, h), image.YCbCrSubsampleRatio420)
	paint(w, h, seed, func(y int, row []rgb) {
		for x, p := range row {
			yy, cb, cr := color.RGBToYCbCr(p.r, p.g, p.b)
			img.Y[img.YOffset(x, y)] = yy
			if x&1 == 0 && y&1 == 0 {
				c := img.COffset(x, y)
				img.Cb[c], img.Cr[c] = cb, cr
			}
		}
	})
	return img
}

// JPEG returns the picture as a JPEG file of the quality, 1 to 100.
func JPEG(w, h int, seed uint64, quality int) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, PhotoYCbCr(w, h, seed), &jpeg.Options{Quality: quality})
	return b.Bytes(), err
}

type rgb struct{ r, g, b uint8 }

// paint calls put for every row of the picture, from several goroutines.
func paint(w, h int, seed uint64, put func(y int, row []rgb)) {
	if w <= 0 || h <= 0 {
		return
	}
	s := newScene(w, h, seed)
	bands := min(runtime.GOMAXPROCS(0), h)
	var wg sync.WaitGroup
	for b := range bands {
		wg.Go(func() {
			p := s.painter()
			row := make([]rgb, w)
			for y := b * h / bands; y < (b+1)*h/bands; y++ {
				p.row(y, row)
				put(y, row)
			}
		})
	}
	wg.Wait()
}
