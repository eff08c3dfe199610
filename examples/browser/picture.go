package main

import (
	"image"
	"image/color"
	"math"
)

// drawRings draws rings on a coloured ground, a picture to begin with.
func drawRings(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			dx, dy := float64(x-w/2), float64(y-h/2)
			c := color.NRGBA{uint8(255 * x / w), uint8(255 * y / h), 160, 255}
			if int(math.Sqrt(dx*dx+dy*dy))/12%2 == 0 {
				c = color.NRGBA{250, 245, 230, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}
