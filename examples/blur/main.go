// Blur blurs a photograph:
//
//	go run ./examples/blur < photo.jpg > blurred.jpg
package main

import (
	"context"
	"image/jpeg"
	"log"
	"os"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
)

func main() {
	dev := must(lathe.Open(context.Background()))
	defer dev.Close()
	blurred := must(dev.Apply(context.Background(), must(jpeg.Decode(os.Stdin)), imageops.GaussianBlur{Sigma: 3}))
	must(0, jpeg.Encode(os.Stdout, blurred, nil))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
