package main

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// The scripts' animations have 40×30 pixels, grey with a red square of 8×8 that moves 2 pixels right and 1 down with each
// frame, and leaves nothing behind. They are shown three times.
var (
	filmGrey = color.NRGBA{96, 96, 96, 255}
	filmRed  = color.NRGBA{224, 0, 0, 255}
)

func filmSquare(i int) image.Rectangle { return image.Rect(4+2*i, 3+i, 12+2*i, 11+i) }

func filmDelay(i int) time.Duration { return time.Duration(40+10*i) * time.Millisecond }

// film FILE N writes an animation of N frames.
func film(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	f, err := os.Create(name)
	ts.Check(err)
	format, _ := imageio.ParseFormat(filepath.Ext(name))
	frames := func(yield func(imageio.Frame, error) bool) {
		for i := range n {
			m := image.NewNRGBA(image.Rect(0, 0, 40, 30))
			draw.Draw(m, m.Rect, image.NewUniform(filmGrey), image.Point{}, draw.Src)
			draw.Draw(m, filmSquare(i), image.NewUniform(filmRed), image.Point{}, draw.Src)
			if !yield(imageio.Frame{Image: m, Delay: filmDelay(i)}, nil) {
				return
			}
		}
	}
	ts.Check(imageio.EncodeFrames(context.Background(), f, frames, format, &imageio.EncodeOptions{WebP: "lossless", Source: &imageio.Info{Plays: 3}}))
	ts.Check(f.Close())
}

// filmed FILE FORMAT WIDTHxHEIGHT N [plain|inverted [X Y]] checks an animation. X, Y is the pixel of a film that is at the top left of each
// frame.
func filmed(ts *testscript.TestScript, neg bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	d, err := imageio.NewDecoder(context.Background(), f, nil)
	ts.Check(err)
	info := d.Info()
	if got := fmt.Sprintf("%s %dx%d %d", info.Format, info.Width, info.Height, info.Frames); got != args[1]+" "+args[2]+" "+args[3] || info.Plays != 3 {
		ts.Fatalf("%s is %s, shown %d times (want %v, 3)", args[0], got, info.Plays, args[1:4])
	}
	var at image.Point
	if len(args) > 6 {
		fmt.Sscan(args[5]+" "+args[6], &at.X, &at.Y)
	}
	i := 0
	for frame, err := range d.Frames(context.Background()) {
		ts.Check(err)
		if frame.Delay != filmDelay(i) {
			ts.Fatalf("%s: frame %d is shown for %v (want %v)", args[0], i, frame.Delay, filmDelay(i))
		}
		if len(args) > 4 {
			m := frame.Image.(*image.NRGBA)
			for p := range info.Width * info.Height {
				x, y := p%info.Width, p/info.Width
				want := filmGrey
				if image.Pt(x, y).Add(at).In(filmSquare(i)) {
					want = filmRed
				}
				if args[4] == "inverted" {
					want.R, want.G, want.B = 255-want.R, 255-want.G, 255-want.B
				}
				if got := m.NRGBAAt(x, y); got != want {
					ts.Fatalf("%s: frame %d, pixel %d,%d is %v (want %v)", args[0], i, x, y, got, want)
				}
			}
		}
		i++
	}
}

// pages writes a TIFF file of several pages: pages FILE WIDTHxHEIGHT...
func pages(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: pages FILE WIDTHxHEIGHT...")
	}
	var files [][]byte
	for i, text := range args[1:] {
		var w, h int
		_, err := fmt.Sscanf(text, "%dx%d", &w, &h)
		ts.Check(err)
		file, err := testimg.Encode(testimg.Photo(w, h, uint64(i)), ".tiff")
		ts.Check(err)
		files = append(files, file)
	}
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	ts.Check(os.WriteFile(name, testimg.Pages(files...), 0o666))
}
