package imageops_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"log"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/spec"
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

func ExampleAtLeast() {
	full := image.Pt(6000, 4000) // what the header of a file says
	call := imageops.Resize{Width: 300, Height: 300}
	fmt.Println(imageops.AtLeast(full, call))
	small := image.Pt(750, 500) // an image of an eighth of the size, which is larger than that
	size, err := imageops.Size(small, imageops.ForShrunk([]spec.Call{call}, full, 1)...)
	fmt.Println(size, err)
	// Output:
	// (600,400)
	// (300,200) <nil>
}
