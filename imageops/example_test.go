package imageops_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"log"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
)

// Several operations in a row are one call of Apply.
func Example() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	red := image.NewUniform(color.NRGBA{255, 0, 0, 255})
	picture := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	for i := range 16 {
		picture.Set(i%4, i/4, red.C)
	}
	out, err := dev.Apply(ctx, picture, imageops.Grayscale{}, imageops.InvertColors{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.NRGBAAt(1, 1))
	// Output:
	// {179 179 179 255}
}
