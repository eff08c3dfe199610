//go:build !novk && cgo

package vk

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
)

// TestEnumerate opens devices of an enumeration, which keeps the instance between.
func TestEnumerate(t *testing.T) {
	openTest(t, Options{}).Close() // skips without a device
	noObjects(t)
	e, err := Enumerate(t.Context(), Options{NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{-1, len(e.Infos())} {
		if _, err := e.Open(t.Context(), i); !errors.Is(err, gpu.ErrInvalidArgument) {
			t.Errorf("device %d: got %v, want ErrInvalidArgument", i, err)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Open(stopped, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	a, err := e.Open(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.Open(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := counts()["instances"]; n != 1 {
		t.Errorf("two devices: got %d instances, want 1", n)
	}
	e.Close()
	e.Close()
	if _, err := e.Open(t.Context(), 0); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("after Close: got %v, want ErrClosed", err)
	}
	a.Close()
	if got := testgpu.Read(t, b, alloc(t, b, 7), 1); got[0] != 7 { // it outlives the enumeration
		t.Errorf("got %v", got)
	}
	b.Close()
	noObjects(t)
	var none *Enumeration
	none.Close()
	if _, err := none.Open(t.Context(), 0); len(none.Infos()) > 0 || !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("a nil enumeration: got %v", err)
	}
}

// TestCloseTogether closes an enumeration and two of its devices at the same time. They share
// an instance. The race detector watches.
func TestCloseTogether(t *testing.T) {
	openTest(t, Options{}).Close() // skips without a device
	noObjects(t)
	for range 20 {
		e, err := Enumerate(t.Context(), Options{NoCache: true})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 2 {
			d, err := e.Open(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(e.Close)
		all.Wait()
		noObjects(t)
	}
}
