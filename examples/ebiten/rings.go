package main

import (
	"image"
	"image/color"
	"math"
)

// rings draws rings on a coloured ground.
func rings(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{uint8(255 * x / w), uint8(255 * y / h), 160, 255}
			if int(math.Hypot(float64(x-w/2), float64(y-h/2)))/12%2 == 0 {
				c = color.RGBA{250, 245, 230, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}
