package drivers

import (
	"bytes"
	"sync"
	"testing"
)

func TestWarnedOnce(t *testing.T) {
	var b bytes.Buffer
	for range 3 {
		tell(&b, "TestWarnedOnce: one")
		tell(&b, "TestWarnedOnce: two")
	}
	if got := b.String(); got != "TestWarnedOnce: one\nTestWarnedOnce: two\n" {
		t.Errorf("told %q", got)
	}
	var wg sync.WaitGroup
	var lock sync.Mutex
	n := 0
	for range 8 {
		wg.Go(func() {
			var b bytes.Buffer
			tell(&b, "TestWarnedOnce: three")
			lock.Lock()
			n += b.Len()
			lock.Unlock()
		})
	}
	wg.Wait()
	if n != len("TestWarnedOnce: three\n") {
		t.Errorf("eight goroutines told %d bytes", n)
	}
}
