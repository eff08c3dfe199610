package lathe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
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

// replaying opens a device that records chains, one that does not, and the device underneath the first one, which counts calls and fails as told.
func replaying(t *testing.T, backend string, limit int, strip int64) (dev, eager *lathe.Device, inner *faulty.Device) {
	t.Helper()
	testkit.Built(t, drivers.Built(), backend)
	open := func(limit int) (*lathe.Device, *faulty.Device) {
		g, err := drivers.Open(context.Background(), drivers.Options{Backend: backend, NoCache: true, Warn: func(string) {}})
		testkit.Opened(t, err)
		f := faulty.New(g)
		d, err := lathe.Open(context.Background(), lathe.WithGPU(f), lathe.WithoutCache(), lathe.WithTuneMode("off"), lathe.WithReplay(limit), lathe.WithStrip(strip))
		check(t, err)
		t.Cleanup(func() { check(t, d.Close()) })
		return d, f
	}
	dev, inner = open(limit)
	eager, _ = open(0)
	return dev, eager, inner
}

// roundOf is a picture of bytes that differ from round to round.
func roundOf(w, h, round int, deep bool) draw.Image {
	fill := func(pix []byte) {
		for i := range pix {
			pix[i] = byte(i*(2*round+7) + i>>5)
		}
	}
	r := image.Rect(0, 0, w, h)
	if deep {
		m := image.NewNRGBA64(r)
		fill(m.Pix)
		return m
	}
	m := image.NewNRGBA(r)
	fill(m.Pix)
	return m
}

func bytesOf(m draw.Image) []byte {
	if m, ok := m.(*image.NRGBA64); ok {
		return m.Pix
	}
	return m.(*image.NRGBA).Pix
}

// apply computes a picture of a round by a device.
func apply(d *lathe.Device, w, h, round int, deep bool, calls ...spec.Call) ([]byte, error) {
	size, err := imageops.Size(image.Pt(w, h), calls...)
	if err != nil {
		return nil, err
	}
	dst := roundOf(size.X, size.Y, 99, deep)
	return bytesOf(dst), d.ApplyTo(context.Background(), dst, roundOf(w, h, round, deep), calls...)
}

// TestReplayedPictures compares the pictures of a device that records with those of one that does not, bit for bit: filters, chains in place, further pictures that change from call to call,
// sizes that change, 16 bits, strips.
func TestReplayedPictures(t *testing.T) {
	logo := func(round int) []spec.Call {
		return []spec.Call{imageops.Contrast{Factor: 1.3}, imageops.Composite{Image: roundOf(11, 7, 50+round, false), Gravity: "center", Opacity: 0.5}}
	}
	for _, c := range []struct {
		name         string
		w, h         int
		strip        int64
		deep         bool
		calls        func(round int) []spec.Call
		recordings   int
		leastReplays int
	}{
		{"filters", 61, 47, 0, false, func(int) []spec.Call {
			return []spec.Call{imageops.GaussianBlur{Sigma: 1.5}, imageops.Sharpen{}, imageops.Brightness{Factor: 1.1}}
		}, 1, 4},
		{"in place", 61, 47, 0, false, func(int) []spec.Call { return []spec.Call{imageops.Grayscale{}} }, 1, 4},
		{"further pictures", 31, 29, 0, false, logo, 1, 4},
		{"other size", 61, 47, 0, false, func(int) []spec.Call { return []spec.Call{imageops.Resize{Width: 23, Height: 17}} }, 1, 4},
		{"deep", 61, 47, 0, true, func(int) []spec.Call {
			return []spec.Call{imageops.GaussianBlur{Sigma: 1.5}, imageops.Contrast{Factor: 1.2}}
		}, 1, 4},
		{"deep strips", 61, 331, 64 << 10, true, func(int) []spec.Call { return []spec.Call{imageops.GaussianBlur{Sigma: 1.5}} }, 1, 4},
		{"attributes change", 17, 13, 0, false, func(round int) []spec.Call {
			return []spec.Call{imageops.Contrast{Factor: 1 + float64(round%2)}}
		}, 2, 3},
		{"all attributes are new", 17, 13, 0, false, func(round int) []spec.Call {
			return []spec.Call{imageops.Contrast{Factor: 1 + float64(round)}}
		}, 0, 0},
	} {
		for _, backend := range []string{"vk", "cpu"} {
			t.Run(c.name+"/"+backend, func(t *testing.T) {
				dev, eager, inner := replaying(t, backend, 4, c.strip)
				for round := range 5 {
					got, err := apply(dev, c.w, c.h, round, c.deep, c.calls(round)...)
					check(t, err)
					want, err := apply(eager, c.w, c.h, round, c.deep, c.calls(round)...)
					check(t, err)
					if !bytes.Equal(got, want) {
						t.Fatalf("round %d: another picture", round)
					}
				}
				if n, r := inner.Calls(faulty.Prepare), inner.Calls(faulty.Replay); n < c.recordings || n > 4*c.recordings || r < c.leastReplays || (r > 0) != (c.leastReplays > 0) {
					t.Errorf("%d recordings and %d replays, want %d and %d or more", n, r, c.recordings, c.leastReplays)
				}
			})
		}
	}
}

// TestReplayFails lets each call of the device fail once in the midst of replays. The picture fails or is right, and the next ones are right.
func TestReplayFails(t *testing.T) {
	calls := []spec.Call{imageops.GaussianBlur{Sigma: 1}, imageops.Grayscale{}}
	for _, fails := range []faulty.Call{faulty.Alloc, faulty.Prepare, faulty.Replay, faulty.Submit, faulty.Write, faulty.Read} {
		t.Run(fmt.Sprint(fails), func(t *testing.T) {
			dev, eager, inner := replaying(t, "cpu", 2, 0)
			failed := 0
			for round := range 12 {
				if round%3 == 1 {
					inner.Fail(fails, 1, gpu.ErrOutOfMemory)
				}
				w := 19 + round/6 // the first recording fails in some rounds, and a replay in others
				want, err := apply(eager, w, 23, round, false, calls...)
				check(t, err)
				got, err := apply(dev, w, 23, round, false, calls...)
				if err != nil {
					if failed++; !errors.Is(err, gpu.ErrOutOfMemory) || round%3 == 0 && inner.Pending() == 0 && fails != faulty.Submit && fails != faulty.Alloc {
						t.Errorf("round %d: %v", round, err)
					}
					continue
				}
				if !bytes.Equal(got, want) {
					t.Errorf("round %d: another picture", round)
				}
			}
			if (fails == faulty.Prepare || fails == faulty.Replay) && failed > 0 {
				t.Errorf("%d pictures failed that could be computed by calls", failed)
			}
			if (fails == faulty.Write || fails == faulty.Read) && failed != 4 {
				t.Errorf("%d pictures failed, want 4", failed)
			}
		})
	}
}

// TestReplayEnds ends the context of a picture in the midst of replays.
func TestReplayEnds(t *testing.T) {
	dev, eager, _ := replaying(t, "cpu", 2, 0)
	calls := []spec.Call{imageops.GaussianBlur{Sigma: 1}}
	for round := range 6 {
		if round == 3 {
			ctx, cancel := context.WithCancel(context.Background())
			src := roundOf(40, 41, round, false)
			err := dev.ApplyTo(ctx, roundOf(40, 41, 0, false), ending{src, cancel}, calls...)
			wantErr(t, "a context that ends while the source is read", err, context.Canceled)
			continue
		}
		got, err := apply(dev, 40, 41, round, false, calls...)
		check(t, err)
		want, err := apply(eager, 40, 41, round, false, calls...)
		check(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("round %d: another picture", round)
		}
	}
}

// ending is a picture that ends a context when it is read.
type ending struct {
	image.Image
	cancel func()
}

func (e ending) At(x, y int) color.Color {
	e.cancel()
	return e.Image.At(x, y)
}

// TestReplaysAreFew computes pictures of many sizes by several goroutines, and looks at what is kept.
func TestReplaysAreFew(t *testing.T) {
	dev, eager, inner := replaying(t, "cpu", 3, 0)
	calls := []spec.Call{imageops.BoxBlur{Radius: 1}, imageops.Grayscale{}}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for round := range 24 {
				w := 9 + (round/2+g)%6
				got, err := apply(dev, w, 10, g+round, false, calls...)
				want, wantErr := apply(eager, w, 10, g+round, false, calls...)
				if err != nil || wantErr != nil || !bytes.Equal(got, want) {
					t.Errorf("width %d: errors %v and %v, the same %t", w, err, wantErr, bytes.Equal(got, want))
				}
			}
		})
	}
	wg.Wait()
	// How many of these were recorded depends on their order. Each of these comes until the others were used long ago.
	for w := range 3 {
		for round := range 16 {
			got, err := apply(dev, 30+w, 10, round, false, calls...)
			want, wantErr := apply(eager, 30+w, 10, round, false, calls...)
			if err != nil || wantErr != nil || !bytes.Equal(got, want) {
				t.Errorf("width %d: errors %v and %v, the same %t", 30+w, err, wantErr, bytes.Equal(got, want))
			}
		}
	}
	if n, r := inner.Calls(faulty.Prepare), inner.Calls(faulty.Replay); n < 4 || r < n {
		t.Errorf("%d recordings and %d replays: all sizes have to come and go", n, r)
	}
	if n := inner.Calls(faulty.Alloc) - inner.Calls(faulty.Free); n > 40 {
		t.Errorf("%d buffers are kept", n)
	}
}

// TestReplayOptions opens devices with limits of recordings.
func TestReplayOptions(t *testing.T) {
	_, err := lathe.Open(context.Background(), lathe.WithBackend("cpu"), lathe.WithReplay(-1))
	wantErr(t, "WithReplay(-1)", err, lathe.ErrInvalidArgument)
	dev, _, inner := replaying(t, "cpu", 0, 0)
	for round := range 4 {
		_, err := apply(dev, 20, 20, round, false, imageops.Grayscale{})
		check(t, err)
	}
	if n := inner.Calls(faulty.Prepare); n != 0 {
		t.Errorf("%d recordings without WithReplay", n)
	}
	// A picture of more than the memory of recordings is computed all the same.
	dev, eager, inner := replaying(t, "cpu", 4, 4<<10)
	for round := range 4 {
		got, err := apply(dev, 400, 70, round, false, imageops.GaussianBlur{Sigma: 1})
		check(t, err)
		want, err := apply(eager, 400, 70, round, false, imageops.GaussianBlur{Sigma: 1})
		check(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("round %d: another picture", round)
		}
	}
	if n := inner.Calls(faulty.Prepare); n != 0 {
		t.Errorf("%d recordings of strips of %d bytes, of 16 KiB altogether", n, 400*4*16)
	}
}
