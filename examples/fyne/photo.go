package main

import (
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"math"
	"os"

	"golang.org/x/image/draw"
)

// load reads a photograph, and makes it small enough for the window: a filter that follows a
// slider has no time for pixels that nobody sees. Without a name it draws rings.
func load(name string) (*image.RGBA, error) {
	if name == "" {
		return rings(640, 400), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, _, err := image.Decode(f)
	if err != nil {
		return nil, err
	}
	size := src.Bounds().Size()
	scale := min(1, 1280/float64(size.X), 720/float64(size.Y))
	photo := image.NewRGBA(image.Rect(0, 0, max(int(scale*float64(size.X)), 1), max(int(scale*float64(size.Y)), 1)))
	draw.ApproxBiLinear.Scale(photo, photo.Rect, src, src.Bounds(), draw.Src, nil)
	return photo, nil
}

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
