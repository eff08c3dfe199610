package imageio

import (
	"image"

	"github.com/lathe-gpu/lathe/internal/testimg"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// encoded returns the picture in a format.
func encoded(m image.Image, ext string) []byte { return must(testimg.Encode(m, ext)) }
