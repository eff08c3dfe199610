package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/testkit"
	_ "github.com/lathe-gpu/lathe/wgpu" // a backend to try
)

// Closing the device, or cancelling a context, ends all users of the device without an error, and at
// whatever moment it comes.
func TestEarlyClose(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 200 * time.Millisecond} {
		for _, cancelFirst := range []bool{false, true} {
			dev, err := lathe.Open(t.Context(), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			var users sync.WaitGroup
			for range 4 {
				users.Go(func() {
					if n, err := frames(ctx, dev); err != nil {
						t.Errorf("closed after %v, cancelled first: %v: frame %d: %v", after, cancelFirst, n, err)
					}
				})
			}
			time.Sleep(after)
			if cancelFirst {
				cancel()
			}
			begin := time.Now()
			if err := dev.Close(); err != nil {
				t.Errorf("close after %v: %v", after, err)
			}
			users.Wait()
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("closed after %v, the last user ended %v later", after, took)
			}
			cancel()
			if _, err := lathe.FromSlice(ctx, dev, []float32{1}); !errors.Is(err, lathe.ErrClosed) {
				t.Errorf("a closed device: got %v, want ErrClosed", err)
			}
			if err := dev.Close(); err != nil {
				t.Errorf("closing twice: %v", err)
			}
		}
	}
}
