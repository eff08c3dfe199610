// Ebiten moves over a picture in a window, 60 frames a second, each of them blurred. The mouse
// chooses the blur, from left to right. A click stops the picture, and another one starts it:
//
//	go run -C examples/ebiten .
//
// It is a module of its own, so that Lathe does not require Ebitengine.
package main

import (
	"context"
	"fmt"
	"image"
	"log"
	"time"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/inpututil"
	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
)

const width, height, maxSigma = 640, 360, 12

func main() {
	log.SetFlags(0)
	dev, err := lathe.Open(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	if err := show(dev); err != nil {
		log.Fatal(err)
	}
	if err := dev.Close(); err != nil {
		log.Fatal(err)
	}
}

// show shows the window until the user closes it and no frame is in work.
func show(dev *lathe.Device) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	g := &game{ctx: ctx, panorama: rings(2*width, height), wanted: make(chan frame, 1), done: make(chan frame)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cancel(g.filter(dev))
	}()
	ebiten.SetWindowSize(width, height)
	ebiten.SetScreenClearedEveryFrame(false)
	err := ebiten.RunGame(g)
	cancel(nil)
	<-ended
	return err
}

// frame is what the window shows at a time.
type frame struct {
	n      int // from the beginning
	sigma  float64
	pixels *image.RGBA
	took   time.Duration
}

type game struct {
	ctx      context.Context
	panorama *image.RGBA
	n        int
	stopped  bool
	wanted   chan frame // the newest one that nobody has begun
	done     chan frame
}

// view is the part of the panorama that frame n shows. It goes to the right, and back.
func (g *game) view(n int) image.Image {
	x := max(n%(2*width), 2*width-n%(2*width)) - width
	return g.panorama.SubImage(image.Rect(x, 0, x+width, height))
}

// filter runs on a goroutine of its own, so that the window never waits for the device.
func (g *game) filter(dev *lathe.Device) error {
	for s := 0.5; s <= maxSigma; s += 0.5 { // Then no position of the mouse is slow at first.
		if err := dev.Prepare(g.ctx, image.Pt(width, height), imageops.GaussianBlur{Sigma: s}); err != nil {
			return err
		}
	}
	// Draw reads one of these, while the device writes the other.
	pixels, next := image.NewRGBA(image.Rect(0, 0, width, height)), image.NewRGBA(image.Rect(0, 0, width, height))
	for {
		select {
		case <-g.ctx.Done():
			return nil
		case f := <-g.wanted:
			begin := time.Now()
			if err := dev.ApplyTo(g.ctx, next, g.view(f.n), imageops.GaussianBlur{Sigma: f.sigma}); err != nil {
				return err
			}
			pixels, next = next, pixels
			f.pixels, f.took = pixels, time.Since(begin)
			select {
			case g.done <- f:
			case <-g.ctx.Done():
			}
		}
	}
}

// Update asks for the next frame. Ebitengine calls it 60 times a second.
func (g *game) Update() error {
	if inpututil.IsMouseButtonJustPressed(ebiten.MouseButtonLeft) {
		g.stopped = !g.stopped
	}
	if !g.stopped {
		g.n++
	}
	x, _ := ebiten.CursorPosition()
	select {
	case <-g.wanted: // The device is slower than the window: this frame is left out.
	default:
	}
	g.wanted <- frame{n: g.n, sigma: float64(max(2*maxSigma*min(x, width)/width, 1)) / 2}
	return context.Cause(g.ctx)
}

// Draw shows the frame that the device has made since the last call, if there is one.
func (g *game) Draw(screen *ebiten.Image) {
	select {
	case f := <-g.done:
		screen.WritePixels(f.pixels.Pix)
		if g.stopped || f.n%30 == 0 {
			ebiten.SetWindowTitle(fmt.Sprintf("Lathe: frame %d, σ %.1f, %d ms", f.n, f.sigma, f.took.Milliseconds()))
		}
	default:
	}
}

// Layout is the size of the picture. Ebitengine makes it as large as the window.
func (g *game) Layout(int, int) (w, h int) { return width, height }
