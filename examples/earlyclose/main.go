// Earlyclose filters frames, and closes the device in the middle, as a program does whose window
// the user closes:
//
//	go run ./examples/earlyclose
package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
)

func main() {
	dev, err := lathe.Open(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		n, err := frames(context.Background(), dev)
		fmt.Println(n, "frames")
		ended <- err
	}()
	time.Sleep(time.Second / 2) // the user looks, and then closes the window

	// Close may be called while others use the device. It waits for the frame that is in
	// work, at most as long as lathe.WithCloseTimeout says. To end a frame early, cancel its context
	// first.
	//
	// There are two errors. That of the call says whether the last frame is complete, so it is the one
	// that matters for the result. ErrClosed is expected there, and frames takes it for the end. That of
	// Close says that the device did not end its work in time. Then the call may not return at all, so
	// this one comes first.
	if err := dev.Close(); err != nil {
		log.Fatal(err)
	}
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
}

// frames filters frames until the device is closed or ctx ends, which is no error. It returns
// how many there were.
func frames(ctx context.Context, dev *lathe.Device) (n int, err error) {
	src := image.NewNRGBA(image.Rect(0, 0, 640, 360))
	dst := image.NewNRGBA(src.Rect)
	for ; ; n++ {
		for i := range src.Pix {
			src.Pix[i] = byte(i + n)
		}
		err := dev.ApplyTo(ctx, dst, src, imageops.GaussianBlur{Sigma: 2}, imageops.Contrast{Factor: 1.3})
		if errors.Is(err, lathe.ErrClosed) || errors.Is(err, context.Canceled) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
