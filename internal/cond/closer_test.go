package cond

import (
	"errors"
	"testing"
	"time"
)

// A Close that takes too long is left, and waited for again; its error comes once.
func TestCloser(t *testing.T) {
	failed, late := errors.New("failed"), errors.New("late")
	var c Closer
	end, runs := make(chan struct{}), 0
	shut := func() error {
		runs++
		<-end
		return failed
	}
	left := func() error { return late }
	for range 2 {
		if err := c.Close(time.Millisecond, shut, left); err != late {
			t.Errorf("while shut is under way: %v, want %v", err, late)
		}
	}
	close(end)
	if err := c.Close(-1, shut, left); err != failed {
		t.Errorf("at the end: %v, want %v", err, failed)
	}
	if err := c.Close(time.Minute, shut, left); err != nil || runs != 1 {
		t.Errorf("once more: %v after %d runs, want no error and one run", err, runs)
	}
}
