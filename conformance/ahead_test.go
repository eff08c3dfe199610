package conformance

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestInOrder runs many jobs, most of them heavy. Earlier, a job could take the place of one
// before it, and all waited for ever.
func TestInOrder(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const n = 20000
	heavy := func(i int) bool { return i%5 != 0 }
	var held atomic.Int32
	next := 0
	prepare := func(i int) int {
		if heavy(i) {
			if held.Add(1) > 1 {
				t.Errorf("job %d is heavy and was prepared beside another one", i)
			}
		}
		if i%7 == 0 {
			runtime.Gosched()
		}
		return i
	}
	err := inOrder(ctx, n, heavy, prepare, func(i, p int) error {
		if i != next || p != i {
			t.Fatalf("job %d with what was prepared for %d, want %d", i, p, next)
		}
		next++
		if heavy(i) {
			held.Add(-1)
		}
		return nil
	})
	if err != nil || next != n {
		t.Errorf("%d of %d jobs ran: %v", next, n, err)
	}
}

// TestInOrderEnds ends by an error, and by a context while a job is being prepared.
func TestInOrderEnds(t *testing.T) {
	all := func(int) bool { return true }
	wrong := errors.New("wrong")
	err := inOrder(t.Context(), 10, all, func(i int) int { return i }, func(i, _ int) error {
		if i == 3 {
			return wrong
		}
		return nil
	})
	if err != wrong {
		t.Errorf("got %v, want the error of the job", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	defer close(ended)
	err = inOrder(ctx, 10, all, func(i int) int {
		if i == 1 {
			cancel()
			<-ended
		}
		return i
	}, func(int, int) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
