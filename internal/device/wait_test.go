package device

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// A wait ends by a signal, or with its context, and holds the lock again then.
func TestWait(t *testing.T) {
	var mu sync.Mutex
	c := sync.NewCond(&mu)
	ready := false
	go func() {
		mu.Lock()
		defer mu.Unlock()
		ready = true
		c.Broadcast()
	}()
	mu.Lock()
	for !ready {
		if err := wait(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if err := wait(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it waits: got %v", err)
	}
	if err := wait(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: got %v", err)
	}
	if mu.TryLock() {
		t.Error("the lock is free after a wait")
	}
	mu.Unlock()
}
