//go:build js

package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg"
	_ "image/png"
	"syscall/js"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
)

var document = js.Global().Get("document")

func element(id string) js.Value { return document.Call("getElementById", id) }

func say(format string, args ...any) {
	element("status").Set("textContent", fmt.Sprintf(format, args...))
}

func main() {
	if err := run(context.Background()); err != nil {
		say("%v", err)
	}
}

// run shows the picture anew each time the slider or the picture has changed.
func run(ctx context.Context) error {
	dev, err := lathe.Open(ctx)
	if err != nil {
		return err
	}
	defer dev.Close()
	changed := make(chan struct{}, 1)
	change := func() {
		select {
		case changed <- struct{}{}:
		default: // run has not seen the last one yet
		}
	}
	picture := drawRings(720, 480)
	slider := element("sigma")
	slider.Call("addEventListener", "input", js.FuncOf(func(js.Value, []js.Value) any {
		change()
		return nil
	}))
	element("file").Call("addEventListener", "change", js.FuncOf(func(file js.Value, _ []js.Value) any {
		chosen(file.Get("files").Index(0), func(img *image.NRGBA) {
			picture = img
			change()
		})
		return nil
	}))
	change()
	for range changed {
		sigma := slider.Get("valueAsNumber").Float()
		begin := time.Now()
		out, err := dev.Apply(ctx, picture, imageops.GaussianBlur{Sigma: sigma})
		if err != nil {
			say("%v", err)
			continue
		}
		show(out)
		say("%d×%d, σ %.1f: %d ms on %s", out.Rect.Dx(), out.Rect.Dy(), sigma, time.Since(begin).Milliseconds(), dev.Info().Driver)
		time.Sleep(time.Millisecond) // the page shows it, and the slider moves on
	}
	return nil
}

// show draws a picture on the canvas.
func show(img *image.NRGBA) {
	bytes := js.Global().Get("Uint8ClampedArray").New(len(img.Pix))
	js.CopyBytesToJS(bytes, img.Pix)
	canvas := element("canvas")
	canvas.Set("width", img.Rect.Dx())
	canvas.Set("height", img.Rect.Dy())
	canvas.Call("getContext", "2d").Call("putImageData", js.Global().Get("ImageData").New(bytes, img.Rect.Dx()), 0, 0)
}

// chosen reads a picture that the user has chosen, and gives it to use.
func chosen(file js.Value, use func(*image.NRGBA)) {
	if file.IsUndefined() {
		return
	}
	var then js.Func
	then = js.FuncOf(func(_ js.Value, args []js.Value) any {
		defer then.Release()
		from := js.Global().Get("Uint8Array").New(args[0])
		data := make([]byte, from.Length())
		js.CopyBytesToGo(data, from)
		img, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			say("%s: %v", file.Get("name").String(), err)
			return nil
		}
		out := image.NewNRGBA(image.Rectangle{Max: img.Bounds().Size()})
		draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
		use(out)
		return nil
	})
	file.Call("arrayBuffer").Call("then", then)
}
