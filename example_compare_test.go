package lathe_test

import (
	"context"
	"fmt"
	"image/color"
	"log"

	"github.com/lathe-gpu/lathe"
)

func ExampleDevice_Compare() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	a, b := square(), square()
	b.SetNRGBA(0, 0, color.NRGBA{R: 51, A: 255})
	got, err := dev.Compare(ctx, a, b)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("max %.0f, mean %.4f, PSNR %.1f dB\n", got.Max, got.Mean, got.PSNR)
	same, err := dev.Compare(ctx, a, a)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("equal:", same.Max == 0, " PSNR", same.PSNR, "dB, SSIM", same.SSIM)
	// Output:
	// max 51, mean 0.0042, PSNR 54.9 dB
	// equal: true  PSNR +Inf dB, SSIM 1
}

func ExampleDevice_DifferenceImage() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	a, b := square(), square()
	b.SetNRGBA(0, 0, color.NRGBA{R: 3, A: 255})
	m, err := dev.DifferenceImage(ctx, a, b, 20) // Three levels cannot be seen, and sixty can.
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.NRGBAAt(0, 0), m.NRGBAAt(1, 1))
	// Output:
	// {60 0 0 255} {0 0 0 255}
}
