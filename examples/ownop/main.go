// Ownop declares two operations of its own and uses them beside those of Lathe: a function
// of two tensors, and a filter of pictures.
//
//	go run ./examples/ownop
package main

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"log"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
)

func main() {
	log.SetFlags(0)
	ctx := context.Background()
	dev, err := lathe.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	a, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4}, 4)
	if err != nil {
		log.Fatal(err)
	}
	b, err := lathe.FromSlice(ctx, dev, []float32{4, 2, 1, 4}, 4)
	if err != nil {
		log.Fatal(err)
	}
	out, err := dev.Call(ctx, Difference{}, a, b)
	if err != nil {
		log.Fatal(err)
	}
	values, err := lathe.ToSlice[float32](ctx, out[0])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values) // [3 0 2 0]

	// A white dot on black becomes a grey square, which InvertColors makes dark on white.
	picture := image.NewNRGBA(image.Rect(0, 0, 9, 9))
	for i := 3; i < len(picture.Pix); i += 4 {
		picture.Pix[i] = 255
	}
	picture.SetNRGBA(4, 4, color.NRGBA{255, 255, 255, 255})
	blurred, err := dev.Apply(ctx, picture, BoxBlur{Radius: 2}, imageops.InvertColors{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(blurred.NRGBAAt(4, 4), blurred.NRGBAAt(0, 0)) // {245 245 245 255} {255 255 255 255}
}
