package desktop

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/lathe-gpu/lathe/imageops"
)

// ebitenPicture is frame n of examples/ebiten before the blur: a part of rings on a ground.
func ebitenPicture(n int) *image.NRGBA {
	const w, h = 640, 360
	left := int(math.Abs(float64(n%(2*w) - w)))
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			wide := left + x
			c := color.NRGBA{uint8(255 * wide / (2 * w)), uint8(255 * y / h), 160, 255}
			if int(math.Hypot(float64(wide-w), float64(y-h/2)))/12%2 == 0 {
				c = color.NRGBA{250, 245, 230, 255}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	return m
}

func TestEbiten(t *testing.T) {
	d := newDisplay(t)
	bin := build(t, "ebiten")
	for _, backend := range backends {
		t.Run(backend, func(t *testing.T) {
			has(t, backend)
			d.t = t
			d.tryEbiten(d.start(backend, bin))
		})
	}
}

// tryEbiten stops the moving picture twice. The title then says which frame it is, and with
// which blur. The window must show what the reference makes of this frame.
func (d *display) tryEbiten(p *program) {
	t := d.t
	t.Helper()
	frame, sigma := 0, 0.0
	titled := func() string {
		_, title := d.window()
		if n, err := fmt.Sscanf(title, "Lathe: frame %d, σ %f", &frame, &sigma); n != 2 {
			return fmt.Sprintf("the title is %q: %v", title, err)
		}
		return ""
	}
	d.until(p, titled)
	begun, first := time.Now(), frame
	d.until(p, func() string {
		if wrong := titled(); wrong != "" || frame >= first+60 {
			return wrong
		}
		return "the picture does not move"
	})
	t.Logf("%d frames in %v", frame-first, time.Since(begun).Round(time.Millisecond))

	// over is the point of the screen at x in the middle of the window.
	over := func(x int) image.Point {
		w, _ := d.window()
		at, err := xproto.TranslateCoordinates(d.conn, w, d.root, 0, 0).Reply()
		if err != nil {
			t.Fatal(err)
		}
		return image.Pt(int(at.DstX)+x, int(at.DstY)+180)
	}
	// shows waits for the frame of the title, with this blur.
	type shown struct {
		frame int
		sigma float64
	}
	var of shown
	var wanted *image.NRGBA // what the window shows then; the reference takes a second
	shows := func(want float64) {
		t.Helper()
		d.until(p, func() string {
			if wrong := titled(); wrong != "" || sigma != want {
				return fmt.Sprintf("the title says σ %.1f, want %.1f %s", sigma, want, wrong)
			}
			before := frame
			if wanted == nil || of != (shown{frame, sigma}) {
				of, wanted = shown{frame, sigma}, filtered(t, ebitenPicture(frame), imageops.GaussianBlur{Sigma: sigma})
			}
			_, wrong := find(d.screen(), wanted, 1)
			if titled(); frame != before {
				return "the picture moves, though it was stopped"
			}
			return wrong
		})
	}
	d.move(over(10))
	d.click()
	shows(0.5)
	stopped := frame
	d.move(over(160))
	shows(3)
	if frame != stopped {
		t.Errorf("the picture was stopped at frame %d, and is at %d", stopped, frame)
	}
	d.click()
	d.until(p, func() string {
		if wrong := titled(); wrong != "" || frame > stopped+30 {
			return wrong
		}
		return "the picture does not go on"
	})
	d.move(over(240))
	d.click()
	shows(4.5)
	if frame <= stopped {
		t.Errorf("the picture was at frame %d before, and is at %d", stopped, frame)
	}
	d.end(p)
}
