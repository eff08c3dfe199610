package conformance_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// counter counts the live buffers of a device.
type counter struct {
	gpu.Device
	live atomic.Int64
}

func (c *counter) Alloc(size int64) (gpu.Handle, error) {
	h, err := c.Device.Alloc(size)
	if err == nil {
		c.live.Add(1)
	}
	return h, err
}

func (c *counter) Free(h gpu.Handle) error {
	err := c.Device.Free(h)
	if err == nil {
		c.live.Add(-1)
	}
	return err
}

// errInjected is an error that is none of the sentinels.
var errInjected = errors.New("injected fault")

// run is one call of an operation with its memory, as a program makes it.
type run struct {
	op      *spec.Op
	call    spec.Call
	in, out []tensor.Desc
	data    [][]byte
}

func newRun(op *spec.Op) (*run, error) {
	call, in, out, err := conformance.Sample(op, op.Cases.DTypes[0], 33)
	r := &run{op: op, call: call}
	for _, h := range in {
		r.in, r.data = append(r.in, h.Desc), append(r.data, h.Data)
	}
	for _, h := range out {
		r.out = append(r.out, h.Desc)
	}
	return r, err
}

// do allocates, writes, runs, reads and frees on dev. It returns the outputs.
func (r *run) do(t *testing.T, dev gpu.Device, x *exec.Runner) (got [][]byte, err error) {
	ctx := t.Context()
	var all []gpu.Handle
	defer func() {
		for _, h := range all {
			err = errors.Join(err, dev.Free(h))
		}
	}()
	place := func(descs []tensor.Desc, data [][]byte) ([]exec.Operand, error) {
		var ops []exec.Operand
		for i, d := range descs {
			h, err := dev.Alloc(d.Bytes())
			if err != nil {
				return nil, err
			}
			all = append(all, h)
			if data != nil {
				if err := dev.Write(ctx, h, 0, data[i]); err != nil {
					return nil, err
				}
			}
			ops = append(ops, exec.Operand{Buffer: h, Desc: d})
		}
		return ops, nil
	}
	in, err := place(r.in, r.data)
	if err != nil {
		return nil, err
	}
	out, err := place(r.out, nil)
	if err != nil {
		return nil, err
	}
	if err := x.Run(ctx, r.call, in, out); err != nil {
		return nil, err
	}
	for _, o := range out {
		b := make([]byte, o.Desc.Bytes())
		if err := x.Read(ctx, o.Buffer, 0, b); err != nil {
			return nil, err
		}
		got = append(got, b)
	}
	return got, nil
}

// TestFaults makes every device call of every operation fail in turn. The operation must
// return that error. The next run must be right, and no buffer may be lost. At the quick level
// the devices share a third of the operations.
func TestFaults(t *testing.T) {
	kinds := []faulty.Call{faulty.Alloc, faulty.Free, faulty.Write, faulty.Read, faulty.Submit, faulty.Sync}
	devices(t, func(t *testing.T, dev gpu.Device) {
		for _, op := range aThird(testlevel.Seed(t), shared(t, dev, inShard())) {
			r, err := newRun(op)
			if err != nil {
				t.Fatal(err)
			}
			f := faulty.New(dev)
			x := runner(t, f)
			want, err := r.do(t, f, x)
			if err != nil {
				t.Fatalf("%s: %v", op.Name, err)
			}
			closeRunner(t, x)
			faults := 0
			for _, kind := range kinds {
				for n := 1; n <= f.Calls(kind); n++ {
					for _, injected := range []error{errInjected, fmt.Errorf("no room: %w", gpu.ErrOutOfMemory)} {
						if r.fault(t, dev, kind, n, injected, want) {
							faults++
						}
					}
				}
			}
			if faults < 8 { // A run allocates twice, writes, submits, reads and frees twice at least.
				t.Errorf("%s: only %d faults happened", op.Name, faults)
			}
		}
	})
}

// fault runs twice. In the first run, the n-th call of a kind fails once. It reports
// whether there was such a call.
func (r *run) fault(t *testing.T, dev gpu.Device, kind faulty.Call, n int, injected error, want [][]byte) bool {
	live := &counter{Device: dev}
	f := faulty.New(live)
	x := runner(t, f)
	where := fmt.Sprintf("%s with %v %d failing", r.op.Name, kind, n)
	f.Fail(kind, n, injected)
	right := func(when string, got [][]byte) {
		for i := range want {
			if i >= len(got) || !bytes.Equal(got[i], want[i]) {
				t.Errorf("%s: %s: output %d is wrong", where, when, i)
			}
		}
	}
	got, err := r.do(t, f, x)
	switch {
	case f.Pending() > 0: // There is no such call, or not before Close.
	case err == nil && kind == faulty.Alloc && errors.Is(injected, gpu.ErrOutOfMemory):
		right("the run with less memory", got) // The run has succeeded with less memory.
	case !errors.Is(err, injected):
		t.Errorf("%s: failed with %q, the operation returned %v", where, injected, err)
	}
	got, err = r.do(t, f, x)
	if err != nil && !errors.Is(err, injected) {
		t.Errorf("%s: the next run: %v", where, err)
	}
	right("the next run", got)
	if err := x.Close(); err != nil && !errors.Is(err, injected) {
		t.Errorf("%s: close: %v", where, err)
	}
	if f.Pending() > 0 {
		return false
	}
	may := int64(0)
	if kind == faulty.Free { // This buffer was not freed.
		may = 1
	}
	if left := live.live.Load(); left > may {
		t.Errorf("%s: %d buffers are left", where, left)
	}
	return true
}

// TestDeviceLost makes the device fail at every call in turn with ErrDeviceLost. Each
// later call must return that at once, and none may hang.
func TestDeviceLost(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		op := spec.Lookup("gaussian_blur")
		r, err := newRun(op)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 12; n++ {
			f := faulty.New(dev)
			x := runner(t, f)
			f.Fail(faulty.Any, n, gpu.ErrDeviceLost)
			_, err := r.do(t, f, x)
			if f.Pending() > 0 {
				break
			}
			if !errors.Is(err, gpu.ErrDeviceLost) {
				t.Errorf("lost at call %d: %v", n, err)
			}
			if _, err := r.do(t, f, x); !errors.Is(err, gpu.ErrDeviceLost) {
				t.Errorf("lost at call %d, and the next run says %v", n, err)
			}
		}
	})
}

func runner(t *testing.T, dev gpu.Device) *exec.Runner {
	t.Helper()
	x, err := exec.New(dev)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func closeRunner(t *testing.T, x *exec.Runner) {
	t.Helper()
	if err := x.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
