package lathe_test

import (
	"context"
	"errors"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// TestCloseDuringApply closes a device at several moments of Apply. The error names the call,
// and says once that the device is closed.
func TestCloseDuringApply(t *testing.T) {
	for _, name := range []string{"cpu", "vk"} {
		t.Run(name, func(t *testing.T) {
			testkit.Built(t, drivers.Built(), name)
			src := image.NewNRGBA(image.Rect(0, 0, 640, 480))
			for i := range 8 {
				dev, err := lathe.Open(t.Context(), lathe.WithBackend(name), lathe.WithoutCache(), quiet)
				testkit.Opened(t, err)
				ended := make(chan error)
				go func() {
					var err error
					for err == nil {
						_, err = dev.Apply(context.Background(), src, imageops.Sharpen{}, imageops.GaussianBlur{Sigma: 2}, imageops.InvertColors{})
					}
					ended <- err
				}()
				time.Sleep(time.Duration(i*i) * time.Millisecond)
				if err := dev.Close(); err != nil {
					t.Error(err)
				}
				err = <-ended
				if text := err.Error(); !errors.Is(err, lathe.ErrClosed) || strings.Count(text, "closed") != 1 || !strings.HasPrefix(text, "lathe: apply: ") {
					t.Errorf("after %d ms: got %q, want ErrClosed of the call, once", i*i, text)
				}
			}
		})
	}
}

// TestCloseAfterCancel cancels the context of Apply and closes the device at once. The error wraps that of the
// context, whichever of both ended the call.
func TestCloseAfterCancel(t *testing.T) {
	testkit.Built(t, drivers.Built(), "cpu")
	src := image.NewNRGBA(image.Rect(0, 0, 640, 480))
	for i := range 12 {
		dev, err := lathe.Open(t.Context(), lathe.WithBackend("cpu"), lathe.WithoutCache(), quiet)
		testkit.Opened(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			var err error
			for err == nil {
				switch i % 3 {
				case 0:
					_, err = dev.Apply(ctx, src, imageops.Sharpen{}, imageops.GaussianBlur{Sigma: 2})
				case 1:
					err = dev.ApplyTo(ctx, image.NewNRGBA64(src.Rect), src, imageops.Sharpen{})
				case 2:
					_, err = dev.Apply(ctx, src, imageops.GaussianBlur{Sigma: 2}, imageops.Trim{Color: "white"})
				}
			}
			ended <- err
		}()
		time.Sleep(time.Duration(i*i) * time.Millisecond)
		cancel()
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("after %d ms: %v", i*i, err)
		}
	}
}
