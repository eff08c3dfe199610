package record_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/record"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// begun begins a recording, and records a launch of a shader whose push constants can be replaced.
func begun(t *testing.T, d *record.Device, m *spv.Module) record.Call {
	t.Helper()
	if err := d.Begin(); err != nil {
		t.Fatal(err)
	}
	c, err := d.Patchable(func() error {
		return d.Submit([]gpu.Dispatch{{Module: m, Groups: [3]uint32{1, 1, 1}, Params: make([]byte, 4)}})
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCallAfterEnd asks for the shader of a recorded call when another goroutine may have ended the recording, whose list is gone then.
func TestCallAfterEnd(t *testing.T) {
	inner := null.New(nil)
	m := null.Module("test/seen", 4)
	inner.Kernels = map[string]null.Kernel{"test/seen": func(gpu.Dispatch, [][]byte) error { return nil }}
	d := record.New(inner, 1, 256)
	c := begun(t, d, m)
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

// preparing is a device that calls during whenever it prepares a list.
type preparing struct {
	*null.Device
	during func()
}

func (p preparing) Prepare(list []gpu.Dispatch) (gpu.Prepared, error) {
	p.during()
	return p.Device.Prepare(list)
}

// TestPatchDuringEnd replaces push constants before, while and after a recording ends, and after it was forgotten.
func TestPatchDuringEnd(t *testing.T) {
	inner := null.New(nil)
	m := null.Module("test/seen", 4)
	var seen []byte
	inner.Kernels = map[string]null.Kernel{"test/seen": func(x gpu.Dispatch, _ [][]byte) error { seen = slices.Clone(x.Params); return nil }}
	var d *record.Device
	var c record.Call
	during := 0
	d = record.New(preparing{inner, func() {
		during++
		if err := d.Patch(c, []byte{1, 0, 0, 0}); !errors.Is(err, errs.ErrCapture) {
			t.Errorf("while it ends: error %v, want %v", err, errs.ErrCapture)
		}
	}}, 1, 256)
	c = begun(t, d, m)
	if err := d.Patch(c, []byte{1, 0, 0, 0}); !errors.Is(err, errs.ErrCapture) {
		t.Errorf("before it ends: error %v, want %v", err, errs.ErrCapture)
	}
	if err := d.End(1, nil); err != nil || during != 1 {
		t.Fatalf("error %v, %d lists were prepared, want 1", err, during)
	}
	if err := d.Patch(c, []byte{7, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if ok, err := d.Replay(1, nil); !ok || err != nil || !bytes.Equal(seen, []byte{7, 0, 0, 0}) {
		t.Errorf("replayed %v, error %v, push constants %v, want 7", ok, err, seen)
	}
	if err := d.Reset(1); err != nil {
		t.Fatal(err)
	}
	if err := d.Patch(c, []byte{1, 0, 0, 0}); !errors.Is(err, errs.ErrInvalidHandle) {
		t.Errorf("after it was forgotten: error %v, want %v", err, errs.ErrInvalidHandle)
	}
}
