package record_test

import (
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/record"
)

// TestCallAfterEnd asks for the shader of a recorded call when another goroutine may have ended the recording, whose list is gone then.
func TestCallAfterEnd(t *testing.T) {
	inner := null.New(nil)
	m := null.Module("test/seen", 4)
	inner.Kernels = map[string]null.Kernel{"test/seen": func(gpu.Dispatch, [][]byte) error { return nil }}
	d := record.New(inner, 1, 256)
	if err := d.Begin(); err != nil {
		t.Fatal(err)
	}
	c, err := d.Patchable(func() error {
		return d.Submit([]gpu.Dispatch{{Module: m, Groups: [3]uint32{1, 1, 1}, Params: make([]byte, 4)}})
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := c.Module(); got != m {
			t.Errorf("got the module %v, want %v", got, m)
		}
		if d.Recording() {
			if err := d.End(1, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}
