package backends_test

import (
	"context"
	"errors"
	"image"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// cancelling is a device that ends a context with one of its submissions.
type cancelling struct {
	gpu.Device
	submitted, at int // how many there were, and at which one the context ends
	cancel        context.CancelFunc
}

func (d *cancelling) Submit(list []gpu.Dispatch) error {
	err := d.Device.Submit(list)
	if d.submitted++; d.submitted == d.at {
		d.cancel()
	}
	return err
}

// TestCloseAfterCancel ends the context of a long Apply, and closes the device. Nothing more is
// submitted than the strip that is in work, so Close waits for that only: a small part of the
// whole.
func TestCloseAfterCancel(t *testing.T) {
	const strips = 64
	src := image.NewNRGBA(image.Rect(0, 0, 512, 64*strips))
	call := imageops.GaussianBlur{Sigma: 6}
	for _, name := range drivers.Built() {
		t.Run(name, func(t *testing.T) {
			begin := func(at int) (*lathe.Device, *cancelling, context.Context) {
				inner, err := drivers.Open(t.Context(), drivers.Options{Backend: name, NoCache: true, Warn: func(string) {}})
				testkit.Opened(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				fake := &cancelling{Device: inner, at: at, cancel: cancel}
				rows := int64(64 + 2*imageops.Halo(call))
				dev := must(lathe.Open(ctx, lathe.WithGPU(fake), lathe.WithoutCache(), lathe.WithStrip(512*4*rows)))(t)
				must(dev.Apply(ctx, image.NewNRGBA(image.Rect(0, 0, 512, 128)), call))(t) // compiles
				fake.submitted = 0
				return dev, fake, ctx
			}
			dev, fake, ctx := begin(0)
			start := time.Now()
			must(dev.Apply(ctx, src, call))(t)
			whole, all := time.Since(start), fake.submitted
			start = time.Now()
			must(0, dev.Close())(t)
			idle := time.Since(start) // with no work
			if all < strips/2 {
				t.Fatalf("%d submissions of the whole: the picture is not divided", all)
			}

			dev, fake, ctx = begin(all / 8)
			if _, err := dev.Apply(ctx, src, call); !errors.Is(err, context.Canceled) {
				t.Errorf("apply: got %v, want context.Canceled", err)
			}
			start = time.Now()
			must(0, dev.Close())(t)
			// To close a GPU that has nothing to do takes longer than the picture, and not always as long.
			if took := time.Since(start); took > idle+max(whole/4, idle/2) {
				t.Errorf("close took %v, %v without work, and the whole picture %v", took, idle, whole)
			}
			if more := fake.submitted - all/8; more > all/strips+1 {
				t.Errorf("%d submissions after the end of the context, of %d in all", more, all)
			}
		})
	}
}
