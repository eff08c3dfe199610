package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
)

// TestStripsEqualWhole checks that strips of a few rows give the same bits as the whole
// image, also if the result overwrites the source.
func TestStripsEqualWhole(t *testing.T) {
	whole, strips := front(t), front(t, lathe.WithStrip(1))
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 220).Draw(t, "h")
		src := testimg.Noise(w, h, rapid.Uint64().Draw(t, "seed"))
		chain := calls(t)
		want, err := whole.Apply(context.Background(), src, chain...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := strips.Apply(context.Background(), src, chain...)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "in strips", got, want)
		if err := strips.ApplyTo(context.Background(), src, src, chain...); err != nil {
			t.Fatal(err)
		}
		diff(t, "in strips over the source", src, want)
	})
}

// TestStripsOfWideBlur checks a blur whose radius is longer than many strips.
func TestStripsOfWideBlur(t *testing.T) {
	testlevel.Turn(t, 5)
	whole, strips := front(t), front(t, lathe.WithStrip(1))
	rows := 200
	if testlevel.IsFull() {
		rows = 400
	}
	src := testimg.PhotoAlpha(61, rows, 3)
	for _, sigma := range []float64{0.3, 20, 256, 1024} {
		c := imageops.GaussianBlur{Sigma: sigma}
		want, err := whole.Apply(t.Context(), src, c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := strips.Apply(t.Context(), src, c)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, spec.FormatCall(c), got, want)
	}
}

// TestStripsOverSource checks that the source rows of the last strips are right. They are
// needed again after the result has overwritten them.
func TestStripsOverSource(t *testing.T) {
	whole, strips := front(t), front(t, lathe.WithStrip(1))
	for _, s := range [][2]int{{4, 17}, {5, 17}, {8, 32}, {64, 33}, {4, 100}, {3, 100}} {
		for _, sigma := range []float64{0.3, 5.2, 40} {
			src := testimg.Noise(s[0], s[1], 6)
			want, err := whole.Apply(t.Context(), src, imageops.GaussianBlur{Sigma: sigma})
			if err != nil {
				t.Fatal(err)
			}
			if err := strips.ApplyTo(t.Context(), src, src, imageops.GaussianBlur{Sigma: sigma}); err != nil {
				t.Fatal(err)
			}
			if d := furthest(src, want); d > 0 {
				t.Errorf("%dx%d σ=%g: off by %d when the result goes over the source", s[0], s[1], sigma, d)
			}
		}
	}
}

// borrowed is a device whose Close does nothing. It counts live buffers.
type borrowed struct {
	counter
	atClose int64
}

func (b *borrowed) Close() error {
	b.atClose = b.live.Load()
	return nil
}

// TestFaultsAtTheFrontDoor makes every device call of Apply fail in turn.
func TestFaultsAtTheFrontDoor(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		src := testimg.PhotoAlpha(50, 70, 5)
		chain := []spec.Call{imageops.Grayscale{}, imageops.InvertColors{}, imageops.GaussianBlur{Sigma: 2}, imageops.Sharpen{}}
		apply := func(kind faulty.Call, n int, injected error) (want *image.NRGBA, f *faulty.Device) {
			b := &borrowed{counter: counter{Device: dev}}
			f = faulty.New(b)
			d, err := lathe.Open(t.Context(), lathe.WithGPU(f), lathe.WithStrip(1))
			if err != nil {
				t.Fatal(err)
			}
			where := fmt.Sprintf("%v %d failing", kind, n)
			var despite *image.NRGBA // of an Apply that came through the failure
			if injected != nil {
				f.Fail(kind, n, injected)
				got, err := d.Apply(t.Context(), src, chain...)
				// Without memory, Apply collects garbage and tries again: nothing has run yet.
				again := (kind == faulty.Alloc || kind == faulty.Submit) && errors.Is(injected, gpu.ErrOutOfMemory) && err == nil
				if f.Pending() == 0 && !again && !errors.Is(err, injected) {
					t.Errorf("%s: Apply returned %v", where, err)
				}
				if err != nil && got != nil {
					t.Errorf("%s: Apply returned an image with its error", where)
				}
				if err == nil {
					despite = got
				}
			}
			got, err := d.Apply(t.Context(), src, chain...)
			if err != nil && !errors.Is(err, injected) {
				t.Errorf("%s: the next Apply: %v", where, err)
			} else if err != nil {
				got, err = d.Apply(t.Context(), src, chain...)
				if err != nil {
					t.Errorf("%s: the one after: %v", where, err)
				}
			}
			if despite != nil && got != nil {
				diff(t, where+", the Apply that came through", despite, got)
			}
			if err := d.Close(); err != nil && !errors.Is(err, injected) {
				t.Errorf("%s: close: %v", where, err)
			}
			may := int64(0)
			if kind == faulty.Free {
				may = 1
			}
			if b.atClose > may {
				t.Errorf("%s: %d buffers are left at Close", where, b.atClose)
			}
			return got, f
		}
		want, f := apply(faulty.Sync, 0, nil)
		if t.Failed() {
			return
		}
		faults := 0
		for _, kind := range []faulty.Call{faulty.Alloc, faulty.Free, faulty.Write, faulty.Read, faulty.Submit, faulty.Sync} {
			for n := 1; n <= f.Calls(kind); n++ {
				for i, injected := range []error{errInjected, fmt.Errorf("no room: %w", gpu.ErrOutOfMemory)} {
					if !testlevel.Sampled(n+i, 2) {
						continue
					}
					got, g := apply(kind, n, injected)
					if got == nil {
						continue // reported
					}
					diff(t, fmt.Sprintf("after %v %d failed", kind, n), got, want)
					if g.Pending() == 0 {
						faults++
					}
				}
			}
		}
		if faults < 10 {
			t.Errorf("only %d faults happened", faults)
		}
	})
}

// TestConcurrentApply checks that many goroutines can share one device.
func TestConcurrentApply(t *testing.T) {
	dev := front(t, lathe.WithStrip(64<<10))
	var work []func() error
	for i, c := range every() {
		src := testimg.PhotoAlpha(101+13*i, 90+7*i, uint64(i))
		want, err := dev.Apply(t.Context(), src, c)
		if err != nil {
			t.Fatal(err)
		}
		work = append(work, func() error {
			got, err := dev.Apply(t.Context(), src, c)
			if err == nil && furthest(got, want) != 0 {
				err = fmt.Errorf("%s differs by %d from when it ran alone", spec.FormatCall(c), furthest(got, want))
			}
			return err
		})
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 3 * len(work) {
				if err := work[(i*7+g)%len(work)](); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestCancelledApply checks that a cancelled Apply returns the error of the context, and
// that the device still works.
func TestCancelledApply(t *testing.T) {
	dev := front(t)
	src := testimg.Photo(300, 200, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := dev.Apply(ctx, src, imageops.Sharpen{}); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("Apply gave %v, %v", got, err)
	}
	got, err := dev.Apply(t.Context(), src, imageops.InvertColors{})
	if err != nil {
		t.Fatal(err)
	}
	checkAgainstReference(t, imageops.InvertColors{}, src, got)
}
