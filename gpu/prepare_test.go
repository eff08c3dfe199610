package gpu_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
)

// TestPrepareWithoutPreparer prepares a list on a device that is no Preparer. Several goroutines
// replace its dispatches at the same time, and no change is lost.
func TestPrepareWithoutPreparer(t *testing.T) {
	const count = 8
	inner := null.New(nil)
	m := null.Module("test/seen", 4)
	var got []byte
	inner.Kernels = map[string]null.Kernel{"test/seen": func(d gpu.Dispatch, _ [][]byte) error {
		got = append(got, d.Params[0])
		return nil
	}}
	dispatch := func(v byte) gpu.Dispatch {
		return gpu.Dispatch{Module: m, Groups: [3]uint32{1, 1, 1}, Params: []byte{v, 0, 0, 0}}
	}
	list := make([]gpu.Dispatch, count)
	for i := range list {
		list[i] = dispatch(0)
	}
	p, err := gpu.Prepare(struct{ gpu.Device }{inner}, list)
	if err != nil {
		t.Fatal(err)
	}
	clear(list) // the Prepared has a copy
	for round := range byte(100) {
		var all sync.WaitGroup
		for i := range count {
			all.Go(func() {
				if err := p.Set(i, dispatch(round+byte(i))); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		got = nil
		if err := p.Submit(); err != nil {
			t.Fatal(err)
		}
		if err := inner.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(got) != count {
			t.Fatalf("round %d: %d dispatches, want %d", round, len(got), count)
		}
		for i, v := range got {
			if v != round+byte(i) {
				t.Errorf("round %d, dispatch %d: got %d, want %d", round, i, v, round+byte(i))
			}
		}
	}
	if err := p.Set(count, dispatch(1)); !errors.Is(err, gpu.ErrInvalidArgument) {
		t.Errorf("dispatch %d: got error %v", count, err)
	}
	wrong := dispatch(1)
	wrong.Params = nil
	if err := p.Set(0, wrong); err != nil {
		t.Errorf("Set checks what only Submit can: %v", err)
	}
	if err := p.Submit(); !errors.Is(err, gpu.ErrInvalidArgument) {
		t.Errorf("short params: got error %v", err)
	}
	if err := p.Free(); err != nil {
		t.Error(err)
	}
	if err := p.Set(0, dispatch(1)); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("after Free: got error %v", err)
	}
}
