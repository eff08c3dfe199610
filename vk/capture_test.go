//go:build !novk && cgo

package vk_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/vk"
)

// captured is a graph that is recorded, replayed, and replayed on other tensors.
type captured struct {
	dev               *lathe.Device
	c                 *lathe.Capture
	x, other, y, into *lathe.Tensor
}

func openCaptured(t *testing.T) captured {
	t.Helper()
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithBackend("vk"), lathe.WithoutCache(), lathe.WithTuneMode("off"))
	testkit.Opened(t, err)
	s := captured{dev: dev} // the test closes it, with its error
	if s.c, err = dev.NewCapture(2); err != nil {
		t.Fatal(err)
	}
	for i, at := range []**lathe.Tensor{&s.x, &s.other, &s.y, &s.into} {
		n := uint32(i + 1)
		if *at, err = lathe.FromSlice(ctx, dev, []uint32{n, 10 * n, 100 * n}, 3); err != nil {
			t.Fatal(err)
		}
	}
	if err := dev.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// run records y = (x + x)·x, replays it, and replays it with other and into. It returns what y and into are.
func (s captured) run() (y, into []uint32, err error) {
	ctx := context.Background()
	record := func() error {
		d := s.c.Device()
		z, err := d.Add(s.x, s.x)
		if err != nil {
			return err
		}
		if err := d.Run(ctx, ops.Mul{}, []*lathe.Tensor{z, s.x}, []*lathe.Tensor{s.y}); err != nil {
			return err
		}
		return s.c.Bindable(s.x, s.y)
	}
	if err := s.c.Record(ctx, 1, record); err != nil {
		return nil, nil, err
	}
	replay := func(with ...lathe.Rebind) error {
		ok, err := s.c.ReplayWith(ctx, 1, with...)
		if err == nil && !ok {
			err = errors.New("there is no graph")
		}
		return err
	}
	if err := errors.Join(replay(), replay(lathe.Rebind{From: s.x, To: s.other}, lathe.Rebind{From: s.y, To: s.into})); err != nil {
		return nil, nil, err
	}
	if y, err = lathe.ToSlice[uint32](ctx, s.y); err == nil {
		into, err = lathe.ToSlice[uint32](ctx, s.into)
	}
	return y, into, err
}

func (s captured) right(t *testing.T, what string, y, into []uint32) {
	t.Helper()
	if !slices.Equal(y, []uint32{2, 200, 20000}) || !slices.Equal(into, []uint32{8, 800, 80000}) {
		t.Errorf("%s: got %v and %v", what, y, into)
	}
}

// TestCaptureFaults lets each call of Vulkan fail in turn, while a graph is recorded, replayed and replayed on other tensors. The error is of a known kind, or nobody needs to see
// it and the results are right. A second try works, unless the device is lost. Nothing is left behind.
func TestCaptureFaults(t *testing.T) {
	ctx := context.Background()
	for _, lost := range []bool{false, true} {
		failed, seen := 0, 0
		for at := 1; ; at++ {
			failed = at
			s := openCaptured(t)
			calls := vk.Inject(t, at, lost)
			y, into, err := s.run()
			reached := calls() >= at
			switch {
			case err == nil:
				s.right(t, "the fault was not seen", y, into)
			case !vk.Known(err):
				t.Errorf("call %d, lost %v: an error of no known kind: %v", at, lost, err)
			default:
				seen++
			}
			vk.Mend()
			switch {
			case lost && err != nil:
				if ok, err := s.c.Replay(ctx, 1); ok || !errors.Is(err, lathe.ErrDeviceLost) {
					t.Errorf("call %d, replay after a loss: got %v, %v", at, ok, err)
				}
			case !lost:
				_ = s.dev.Sync(ctx) // what the fault has left to say
				if y, into, err = s.run(); err != nil {
					t.Errorf("call %d failed, and then: %v", at, err)
				} else {
					s.right(t, "the second try", y, into)
				}
			}
			if err := errors.Join(s.c.Close(), s.dev.Close()); err != nil && !(lost && errors.Is(err, lathe.ErrDeviceLost)) {
				t.Errorf("call %d: close: %v", at, err)
			}
			if left := vk.Left(); len(left) > 0 {
				t.Fatalf("call %d, lost %v: left behind: %v", at, lost, left)
			}
			if !reached {
				break
			}
		}
		if seen < 3 {
			t.Errorf("lost %v: only %d errors were seen", lost, seen)
		}
		t.Logf("lost %v: %d calls, %d errors", lost, failed-1, seen)
	}
}
