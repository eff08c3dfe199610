package avif_test

import (
	"context"
	"log"
	"os"

	"github.com/lathe-gpu/lathe/imageio"
	_ "github.com/lathe-gpu/lathe/imageio/avif"
)

// A program that imports the package reads and writes AVIF by package imageio.
func Example() {
	ctx := context.Background()
	in, err := os.Open("photo.avif")
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	img, info, err := imageio.Decode(ctx, in, nil)
	if err != nil {
		log.Fatal(err)
	}
	out, err := os.Create("small.avif")
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	err = imageio.Encode(ctx, out, img, imageio.AVIF, &imageio.EncodeOptions{Quality: 40, Source: &info})
	if err != nil {
		log.Fatal(err)
	}
}
