package backends_test

import (
	"bytes"
	"context"
	"image"
	"image/draw"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spec"
)

// pictureOf is a picture of a round, opaque or not, of 8 or 16 bits.
func pictureOf(w, h, round int, deep bool) (m draw.Image, pix []byte) {
	r := image.Rect(0, 0, w, h)
	if deep {
		d := image.NewNRGBA64(r)
		m, pix = d, d.Pix
	} else {
		d := image.NewNRGBA(r)
		m, pix = d, d.Pix
	}
	for i := range pix {
		if pix[i] = byte(i*(2*round+5) + i>>4); round%2 == 1 && !deep && i%4 == 3 {
			pix[i] = 255
		}
	}
	return m, pix
}

// TestReplayedPicturesWebGPU compares the pictures of a WebGPU device that records chains with those of one that does not, bit for bit: filters, chains in place, further pictures, other sizes,
// 16 bits, strips. Recordings and replays that fail in between change no picture.
func TestReplayedPicturesWebGPU(t *testing.T) {
	testkit.Built(t, drivers.Built(), "wgpu")
	ctx := context.Background()
	open := func(t *testing.T, limit int, strip int64) (*lathe.Device, *faulty.Device) {
		g, err := drivers.Open(ctx, drivers.Options{Backend: "wgpu", NoCache: true, Warn: func(string) {}})
		testkit.Opened(t, err)
		f := faulty.New(g)
		d, err := lathe.Open(ctx, lathe.WithGPU(f), lathe.WithoutCache(), lathe.WithTuneMode("off"), lathe.WithReplay(limit), lathe.WithStrip(strip))
		testkit.Device(t, d, err)
		return d, f
	}
	for _, c := range []struct {
		name  string
		w, h  int
		strip int64
		deep  bool
		calls func(round int) []spec.Call
	}{
		{"filters", 61, 47, 0, false, func(int) []spec.Call {
			return []spec.Call{imageops.GaussianBlur{Sigma: 1.5}, imageops.Sharpen{}, imageops.Contrast{Factor: 1.2}}
		}},
		{"in place", 1, 37, 0, false, func(int) []spec.Call { return []spec.Call{imageops.Grayscale{}} }},
		{"further picture", 31, 29, 0, false, func(round int) []spec.Call {
			logo, _ := pictureOf(11, 7, round/2, false)
			return []spec.Call{imageops.Composite{Image: logo, Gravity: "center", Opacity: 0.5}}
		}},
		{"other size", 61, 47, 0, false, func(int) []spec.Call { return []spec.Call{imageops.Resize{Width: 23, Height: 17}} }},
		{"deep strips", 61, 331, 64 << 10, true, func(int) []spec.Call { return []spec.Call{imageops.GaussianBlur{Sigma: 1}} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dev, inner := open(t, 16, c.strip)
			eager, _ := open(t, 0, c.strip)
			compare := func(w, round int) {
				calls := c.calls(round)
				size, err := imageops.Size(image.Pt(w, c.h), calls...)
				if err != nil {
					t.Error(err)
					return
				}
				src, _ := pictureOf(w, c.h, round, c.deep)
				var pixels [2][]byte
				for k, d := range []*lathe.Device{dev, eager} {
					dst, pix := pictureOf(size.X, size.Y, 90+k, c.deep) // what is not written differs
					if err := d.ApplyTo(ctx, dst, src, calls...); err != nil {
						t.Errorf("round %d: %v", round, err)
					}
					pixels[k] = pix
				}
				if !bytes.Equal(pixels[0], pixels[1]) {
					t.Errorf("round %d: another picture", round)
				}
			}
			for round := range 8 {
				if round == 6 {
					if n := inner.Calls(faulty.Replay); n < 4 {
						t.Errorf("%d replays, want 4 or more", n)
					}
					inner.Fail(faulty.Replay, 1, gpu.ErrOutOfMemory)
				}
				compare(c.w, round)
			}
			var wg sync.WaitGroup
			for g := range 3 {
				wg.Go(func() {
					for round := range 4 {
						compare(c.w, 10*g+round)
					}
				})
			}
			wg.Wait()
			if c.strip > 0 {
				return // The recordings so far have all the room.
			}
			inner.Fail(faulty.Prepare, 1, gpu.ErrOutOfMemory)
			for round := range 3 {
				compare(c.w+2, 2*round)
			}
			if inner.Pending() != 0 {
				t.Errorf("%d failures have not come", inner.Pending())
			}
		})
	}
}
