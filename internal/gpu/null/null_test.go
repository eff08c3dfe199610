package null_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
)

var ctx = context.Background()

func launch(m *spv.Module, hs ...gpu.Handle) []gpu.Dispatch {
	d := gpu.Dispatch{Module: m, Groups: [3]uint32{1, 1, 1}}
	for _, h := range hs {
		d.Bindings = append(d.Bindings, gpu.Binding{Buffer: h})
	}
	return []gpu.Dispatch{d}
}

func storage(n uint32) []spv.Binding {
	var bs []spv.Binding
	for i := range n {
		bs = append(bs, spv.Binding{Slot: i, Access: spv.ReadWrite})
	}
	return bs
}

// TestNoKernelIsAnError checks that a module without a kernel is refused.
func TestNoKernelIsAnError(t *testing.T) {
	dev := null.New(nil)
	h, err := dev.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Submit(launch(null.Module("test/none", 0, storage(1)...), h)); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
	if n := len(dev.Recorded()); n != 0 {
		t.Errorf("%d dispatches recorded, want none", n)
	}
}

func TestKernel(t *testing.T) {
	dev := null.New(nil)
	double := null.Module("test/double", 4, storage(1)...)
	fail := null.Module("test/fail", 0)
	broken := errors.New("broken")
	dev.Kernels = map[string]null.Kernel{
		"test/double": func(d gpu.Dispatch, bufs [][]byte) error {
			for i := range bufs[0] {
				bufs[0][i] *= d.Params[0]
			}
			return nil
		},
		"test/fail": func(gpu.Dispatch, [][]byte) error { return broken },
	}
	h, err := dev.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Write(ctx, h, 0, []byte{0: 1, 16: 2, 17: 3, 18: 4, 63: 5}); err != nil {
		t.Fatal(err)
	}
	list := launch(double, h)
	list[0].Bindings[0].Offset, list[0].Bindings[0].Size = 16, 2
	list[0].Params = []byte{2, 0, 0, 0}
	if err := dev.Submit(list); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 64)
	if err := dev.Read(ctx, h, 0, got); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]byte{0: 1, 16: 4, 17: 6, 18: 4, 63: 5} {
		if got[i] != want {
			t.Errorf("byte %d: got %d, want %d", i, got[i], want)
		}
	}

	// The next wait returns the kernel's error, once.
	if err := dev.Submit(launch(fail)); err != nil {
		t.Fatal(err)
	}
	if err := dev.Sync(ctx); !errors.Is(err, broken) {
		t.Errorf("got %v, want the kernel's error", err)
	}
	if err := dev.Sync(ctx); err != nil {
		t.Errorf("second sync: %v", err)
	}
	if n := len(dev.Recorded()); n != 2 {
		t.Errorf("%d dispatches recorded, want 2", n)
	}
	dev.Forget()
	if n := len(dev.Recorded()); n != 0 {
		t.Errorf("%d dispatches recorded after Forget, want none", n)
	}
}

// TestRecorder checks that a recorder keeps its own copy of each dispatch, checks it and
// computes nothing.
func TestRecorder(t *testing.T) {
	dev := null.NewRecorder(nil)
	m := null.Module("test/any", 4, storage(1)...)
	h, err := dev.Alloc(3 << 30) // No memory is used for this buffer.
	if err != nil {
		t.Fatal(err)
	}
	list := launch(m, h)
	list[0].Bindings[0].Size = 1 << 20
	list[0].Params = binary.LittleEndian.AppendUint32(nil, 7)
	if err := dev.Submit(list); err != nil {
		t.Fatal(err)
	}
	list[0].Params[0], list[0].Bindings[0].Buffer = 9, 0
	got := dev.Recorded()
	if len(got) != 1 || got[0].Params[0] != 7 || got[0].Bindings[0].Buffer != h {
		t.Errorf("recorded %+v", got)
	}
	bad := launch(m, h)
	bad[0].Bindings[0].Size = 64
	if err := dev.Submit(bad); !errors.Is(err, gpu.ErrInvalidArgument) {
		t.Errorf("without params: got %v, want ErrInvalidArgument", err)
	}
	word := []byte{1, 1, 1, 1}
	if err := dev.Read(ctx, h, 3<<30-4, word); err != nil || binary.LittleEndian.Uint32(word) != 0 {
		t.Errorf("got % x, %v; want zeros", word, err)
	}
}

func TestMemory(t *testing.T) {
	info := null.DefaultInfo()
	info.Memory = 1000
	dev := null.New(&info)
	a, err := dev.Alloc(600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dev.Alloc(401); !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Errorf("got %v, want ErrOutOfMemory", err)
	}
	if _, err := dev.Alloc(400); err != nil {
		t.Errorf("the device did not stay usable: %v", err)
	}
	if err := dev.Free(a); err != nil {
		t.Fatal(err)
	}
	if got := dev.Allocated(); got != 400 {
		t.Errorf("allocated %d, want 400", got)
	}
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	if got := dev.Allocated(); got != 0 {
		t.Errorf("allocated %d after Close, want 0", got)
	}
}
