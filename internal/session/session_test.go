package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/gpu/chrome"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// open makes a session on a device that records what it is given.
func open(t *testing.T, memory int64) (*session.Session, *null.Device) {
	t.Helper()
	info := null.DefaultInfo()
	info.Memory = memory
	dev := null.NewRecorder(&info)
	s, err := session.Open(t.Context(), session.Options{Surface: "test", Device: dev, Tune: "off", Drivers: drivers.Options{NoCache: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dev
}

func f32(shape ...int) tensor.Desc { return tensor.Contiguous(tensor.F32, shape...) }

// TestOpenFails leaves no device open, and the trace to its caller.
func TestOpenFails(t *testing.T) {
	for name, o := range map[string]session.Options{
		"a mode that is none":    {Tune: "some"},
		"tuning that is unread":  {Tuned: [][]byte{[]byte("no choices")}},
		"a nil device in a wrap": {Device: (*null.Device)(nil)},
	} {
		dev := null.New(nil)
		if o.Device == nil {
			o.Device = dev
		} else {
			dev = nil
		}
		o.Drivers.NoCache = true
		if s, err := session.Open(t.Context(), o); !errors.Is(err, errs.ErrInvalidArgument) || s != nil {
			t.Errorf("%s: got %v, %v; want ErrInvalidArgument", name, s, err)
		}
		if dev != nil {
			if _, err := dev.Alloc(1); !errors.Is(err, errs.ErrClosed) {
				t.Errorf("%s: the device was left open: %v", name, err)
			}
		}
	}
}

// TestCloseWritesTrace closes twice; the trace is whole after the first time.
func TestCloseWritesTrace(t *testing.T) {
	var file bytes.Buffer
	s, err := session.Open(t.Context(), session.Options{Device: null.NewRecorder(nil), Tune: "off", Trace: chrome.New(&file, nil), Drivers: drivers.Options{NoCache: true}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.NewTensor(f32(8))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Call(t.Context(), ops.ReLU{}, []session.Tensor{x}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Contains(file.Bytes(), []byte(`"relu"`)) || !json.Valid(file.Bytes()) {
		t.Errorf("the trace is %s", file.Bytes())
	}
}

// TestTensors refuses what is no live tensor of the session.
func TestTensors(t *testing.T) {
	a, _ := open(t, 1<<20)
	b, _ := open(t, 1<<20)
	x, err := a.NewTensor(f32(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := b.NewTensor(f32(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	freed, err := a.NewTensor(f32(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Free(freed); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]session.Tensor{"none": {}, "foreign": foreign, "freed": freed} {
		_, errRead := a.Read(t.Context(), bad)
		_, errCall := a.Call(t.Context(), ops.Add{}, []session.Tensor{x, bad})
		for op, err := range map[string]error{
			"free": a.Free(bad), "write": a.Write(t.Context(), bad, make([]byte, 24)), "read": errRead, "call": errCall,
			"run":      a.Run(t.Context(), ops.ReLU{}, []session.Tensor{x}, []session.Tensor{bad}),
			"dispatch": a.Dispatch(t.Context(), nil, []session.Tensor{bad}, nil, [3]uint32{1, 1, 1}),
		} {
			if !errors.Is(err, errs.ErrInvalidHandle) {
				t.Errorf("%s of a tensor that is %s: got %v, want ErrInvalidHandle", op, name, err)
			}
		}
	}
	if err := a.Write(t.Context(), x, make([]byte, 23)); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("23 bytes for 24: got %v", err)
	}
}

// TestFailedCall frees the outputs of a call that cannot be made.
func TestFailedCall(t *testing.T) {
	s, dev := open(t, 200)
	x, err := s.NewTensor(f32(2, 16)) // 128 bytes: there is no room for the result
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Call(t.Context(), ops.ReLU{}, []session.Tensor{x}); !errors.Is(err, errs.ErrOutOfMemory) {
		t.Errorf("got %v, want ErrOutOfMemory", err)
	}
	if _, err := s.Call(t.Context(), ops.Softmax{Dim: 7}, []session.Tensor{x}); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("got %v, want ErrInvalidArgument", err)
	}
	if n := dev.Allocated(); n != 128 {
		t.Errorf("%d bytes are in use, want 128", n)
	}
	if len(dev.Recorded()) != 0 {
		t.Error("a failed call was launched")
	}
}

// TestCollects makes tensors that nobody keeps on a device with room for two of them.
func TestCollects(t *testing.T) {
	s, dev := open(t, 2000)
	for range 20 {
		if _, err := s.NewTensor(f32(200)); err != nil {
			t.Fatal(err)
		}
	}
	if n := dev.Allocated(); n > 2000 {
		t.Errorf("%d bytes in use", n)
	}
}

// TestCollectsForScratch fills the device with tensors that nobody keeps. Borrowed buffers
// and scratch memory then get the room of these tensors.
func TestCollectsForScratch(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // only the session collects
	s, dev := open(t, 8<<20)
	fill := func() {
		t.Helper()
		for range (8<<20 - dev.Allocated()) / (1 << 18) {
			if _, err := s.NewTensor(f32(1 << 16)); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill()
	bufs, release, err := s.Borrow(2, 1<<20)
	if err != nil {
		t.Fatalf("borrow: %v", err)
	}
	defer release()
	fill()
	operand := func(h gpu.Handle) []exec.Operand { return []exec.Operand{{Buffer: h, Desc: f32(512, 512)}} }
	sum := []exec.Operand{{Buffer: bufs[1], Desc: f32()}} // the sum of many elements needs scratch memory
	if err := s.RunOn(t.Context(), ops.ReduceSum{}, operand(bufs[0]), sum); err != nil {
		t.Errorf("run: %v", err)
	}
}

// TestTable names tensors by handles that are good until they are freed, once.
func TestTable(t *testing.T) {
	s, dev := open(t, 1<<20)
	table, other := session.NewTable(s), session.NewTable(s)
	x, err := s.NewTensor(f32(5))
	if err != nil {
		t.Fatal(err)
	}
	h, err := table.Add(x)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := table.Get(h); err != nil || got.Desc.String() != "f32[5]" {
		t.Errorf("got %v, %v", got.Desc, err)
	}
	if _, err := other.Get(h); !errors.Is(err, errs.ErrInvalidHandle) {
		t.Errorf("of another table: got %v, want ErrInvalidHandle", err)
	}
	var won atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if table.Free(h) == nil {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 || dev.Allocated() != 0 {
		t.Errorf("%d of 8 frees succeeded, %d bytes in use; want 1 and 0", won.Load(), dev.Allocated())
	}
	if _, err := table.Get(h); !errors.Is(err, errs.ErrInvalidHandle) {
		t.Errorf("after Free: got %v", err)
	}
}

// TestNotOpened is a session that Open did not make.
func TestNotOpened(t *testing.T) {
	for _, s := range []*session.Session{nil, {}} {
		if err := s.Ready("test", "sync"); !errors.Is(err, errs.ErrNotInitialized) {
			t.Errorf("got %v, want ErrNotInitialized", err)
		}
	}
}

// TestIdleScratch makes a tensor for which there is only room without the scratch memory that no call uses.
func TestIdleScratch(t *testing.T) {
	s, _ := open(t, 16<<20)
	_, release, err := s.Borrow(1, 12<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.NewTensor(f32(2 << 20)); !errors.Is(err, errs.ErrOutOfMemory) {
		t.Errorf("beside memory that is lent: %v, want ErrOutOfMemory", err)
	}
	release()
	if _, err := s.NewTensor(f32(2 << 20)); err != nil {
		t.Errorf("beside idle memory: %v", err)
	}
}
