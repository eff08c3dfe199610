// Fyne shows a photograph in a window, with two sliders that filter it while they move:
//
//	go run -C examples/fyne . [-sigma 4] [-contrast 1.2] [photograph]
//
// It is a module of its own, so that Lathe does not require Fyne.
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"log"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/spec"
)

// settings are the positions of the sliders.
type settings struct{ sigma, contrast float64 }

func (s settings) calls() []spec.Call {
	return []spec.Call{
		imageops.GaussianBlur{Sigma: s.sigma},
		imageops.Contrast{Factor: spec.Given(s.contrast)}, // 0 is a value too
	}
}

func main() {
	log.SetFlags(0)
	var first settings
	flag.Float64Var(&first.sigma, "sigma", 4, "the blur to begin with, 0.5 to 20")
	flag.Float64Var(&first.contrast, "contrast", 1.2, "the contrast to begin with, 0 to 2")
	flag.Parse()
	photo, err := load(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	dev, err := lathe.Open(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	show(dev, photo, first)
	if err := dev.Close(); err != nil {
		log.Fatal(err)
	}
}

// show shows the window until the user closes it.
func show(dev *lathe.Device, photo *image.RGBA, first settings) {
	window := app.New().NewWindow("Lathe")
	picture := &canvas.Image{Image: photo, FillMode: canvas.ImageFillOriginal, ScaleMode: canvas.ImageScaleFastest}
	status := widget.NewLabel("")
	blur, contrast := widget.NewSlider(0.5, 20), widget.NewSlider(0, 2)
	blur.Step, contrast.Step = 0.5, 0.05
	blur.Value, contrast.Value = first.sigma, first.contrast

	// A slider that moves puts the newest settings in the place of older ones that nobody has read.
	wanted := make(chan settings, 1)
	wanted <- first
	moved := func(float64) {
		select {
		case <-wanted:
		default:
		}
		wanted <- settings{blur.Value, contrast.Value}
	}
	blur.OnChanged, contrast.OnChanged = moved, moved

	// live runs on a goroutine of its own, so that the window never waits for the device.
	live := func(ctx context.Context) error {
		for s := blur.Min; s <= blur.Max; s += blur.Step { // Then no position of the slider is slow at first.
			if err := dev.Prepare(ctx, photo.Rect.Size(), settings{s, first.contrast}.calls()...); err != nil {
				return err
			}
		}
		// The window shows one of these, while the device writes the other.
		frame, next := image.NewRGBA(photo.Rect), image.NewRGBA(photo.Rect)
		for {
			select {
			case <-ctx.Done():
				return nil
			case s := <-wanted:
				begin := time.Now()
				if err := dev.ApplyTo(ctx, next, photo, s.calls()...); err != nil {
					return err
				}
				took := time.Since(begin)
				frame, next = next, frame
				fyne.DoAndWait(func() {
					picture.Image = frame
					canvas.Refresh(picture)
					status.SetText(fmt.Sprintf("σ %.1f, contrast %.2f: %d ms on %s", s.sigma, s.contrast, took.Milliseconds(), dev.Info().Name))
				})
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		if err := live(ctx); err != nil && ctx.Err() == nil {
			fyne.Do(func() { status.SetText(err.Error()) })
			<-ctx.Done()
		}
		fyne.Do(window.Close)
	}()
	window.SetCloseIntercept(cancel) // The goroutine ends the frame in work, and then closes the window.

	sliders := container.New(layout.NewFormLayout(), widget.NewLabel("blur"), blur, widget.NewLabel("contrast"), contrast)
	window.SetContent(container.NewBorder(nil, container.NewVBox(sliders, status), nil, nil, picture))
	window.ShowAndRun()
}
