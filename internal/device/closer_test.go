package device

import (
	"errors"
	"testing"
	"time"
)

// A Close that takes too long is left, and waited for again; its error comes once.
func TestCloser(t *testing.T) {
	failed, late := errors.New("failed"), errors.New("late")
	var c closer
	end, runs := make(chan struct{}), 0
	shut := func() error {
		runs++
		<-end
		return failed
	}
	tooLate := func() error { return late }
	for range 2 {
		if err := c.close(time.Millisecond, shut, tooLate); err != late {
			t.Errorf("while shut is under way: %v, want %v", err, late)
		}
	}
	close(end)
	if err := c.close(-1, shut, tooLate); err != failed {
		t.Errorf("at the end: %v, want %v", err, failed)
	}
	if err := c.close(time.Minute, shut, tooLate); err != nil || runs != 1 {
		t.Errorf("once more: %v after %d runs, want no error and one run", err, runs)
	}
}
