package faulty_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
)

var (
	ctx        = context.Background()
	errPlanted = errors.New("a planted failure")
)

// use makes the call c on dev.
func use(dev gpu.Device, c faulty.Call, h gpu.Handle) error {
	switch c {
	case faulty.Alloc:
		_, err := dev.Alloc(4)
		return err
	case faulty.Free:
		fresh, err := dev.Alloc(4)
		if err != nil {
			return err
		}
		return dev.Free(fresh)
	case faulty.Write:
		return dev.Write(ctx, h, 0, []byte{1})
	case faulty.Read:
		return dev.Read(ctx, h, 0, make([]byte, 1))
	case faulty.Submit:
		return dev.Submit(nil)
	case faulty.Sync:
		return dev.Sync(ctx)
	}
	return dev.Close()
}

var each = []faulty.Call{faulty.Alloc, faulty.Free, faulty.Write, faulty.Read, faulty.Submit, faulty.Sync}

func TestNthCallFails(t *testing.T) {
	for _, c := range each {
		dev := faulty.New(null.New(nil))
		h, err := dev.Alloc(4)
		if err != nil {
			t.Fatal(err)
		}
		before := dev.Calls(c)
		dev.Fail(c, 3, errPlanted)
		for i := 1; i <= 5; i++ {
			var want error
			if i == 3 {
				want = errPlanted
			}
			if err := use(dev, c, h); !errors.Is(err, want) {
				t.Errorf("%v, call %d: got %v, want %v", c, i, err, want)
			}
			if pending := dev.Pending(); (pending == 0) != (i >= 3) {
				t.Errorf("%v, call %d: %d failures pending", c, i, pending)
			}
		}
		if got := dev.Calls(c) - before; got != 5 {
			t.Errorf("%v: counted %d calls, want 5", c, got)
		}
	}
}

// TestAny checks that Any counts the calls of every kind.
func TestAny(t *testing.T) {
	dev := faulty.New(null.New(nil))
	dev.Fail(faulty.Any, 2, errPlanted)
	h, err := dev.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Sync(ctx); !errors.Is(err, errPlanted) {
		t.Errorf("second call: got %v, want boom", err)
	}
	if err := dev.Free(h); err != nil {
		t.Errorf("third call: %v", err)
	}
	if got := dev.Calls(faulty.Any); got != 3 {
		t.Errorf("counted %d calls, want 3", got)
	}
}

// TestFailedCallDoesNothing checks that a call that fails does not reach the device.
func TestFailedCallDoesNothing(t *testing.T) {
	inner := null.New(nil)
	dev := faulty.New(inner)
	h, err := dev.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	dev.Fail(faulty.Write, 1, errPlanted)
	if err := dev.Write(ctx, h, 0, []byte{9}); !errors.Is(err, errPlanted) {
		t.Fatalf("got %v, want boom", err)
	}
	got := []byte{1}
	if err := dev.Read(ctx, h, 0, got); err != nil || got[0] != 0 {
		t.Errorf("got %d, %v; want 0", got[0], err)
	}
	dev.Fail(faulty.Close, 1, errPlanted)
	if err := dev.Close(); !errors.Is(err, errPlanted) {
		t.Errorf("got %v, want boom", err)
	}
	if err := inner.Sync(ctx); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("the inner device was not closed: %v", err)
	}
}

// TestDeviceLost checks that a lost device stays lost and can be closed.
func TestDeviceLost(t *testing.T) {
	dev := faulty.New(null.New(nil))
	h, err := dev.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	dev.Fail(faulty.Read, 1, gpu.ErrDeviceLost)
	for _, c := range []faulty.Call{faulty.Write, faulty.Submit, faulty.Sync} {
		if err := use(dev, c, h); err != nil {
			t.Errorf("%v before the loss: %v", c, err)
		}
	}
	if err := use(dev, faulty.Read, h); !errors.Is(err, gpu.ErrDeviceLost) {
		t.Fatalf("got %v, want ErrDeviceLost", err)
	}
	for _, c := range each {
		if err := use(dev, c, h); !errors.Is(err, gpu.ErrDeviceLost) {
			t.Errorf("%v after the loss: got %v, want ErrDeviceLost", c, err)
		}
	}
	if err := dev.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
