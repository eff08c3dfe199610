package lathe_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestRepeatedFaults fails what a device does for runs with the same tensors. A list that cannot be prepared is submitted anew, and a submission that fails is an error of that run only.
func TestRepeatedFaults(t *testing.T) {
	ctx := context.Background()
	injected := errors.New("a planted failure")
	for _, cause := range []error{injected, lathe.ErrOutOfMemory} {
		inner, err := cpu.Open(cpu.Options{NoCache: true})
		check(t, err)
		dev := faulty.New(inner)
		d, err := lathe.Open(ctx, quiet, lathe.WithGPU(dev), lathe.WithoutCache(), lathe.WithTuneMode("off"))
		check(t, err)
		g := graph.New()
		v, by := g.Input("x", tensor.F32, 1, 3), g.Input("by", tensor.F32, 3, 3)
		for range 40 { // more launches than are submitted anew each time
			v = g.MatMul(v, by)
		}
		g.Output("y", v)
		exe, err := d.Compile(ctx, g, graph.Options{})
		check(t, err)
		x, err := lathe.FromSlice(ctx, d, []float32{1, 2, 3}, 1, 3)
		check(t, err)
		turn, err := lathe.FromSlice(ctx, d, []float32{0, 1, 0, 0, 0, 1, 1, 0, 0}, 3, 3)
		check(t, err)
		y, err := d.NewTensor(tensor.Contiguous(tensor.F32, 1, 3))
		check(t, err)
		run := func() error { return exe.RunInto(ctx, []*lathe.Tensor{x, turn}, []*lathe.Tensor{y}) }
		want := func() {
			t.Helper()
			got, err := lathe.ToSlice[float32](ctx, y)
			check(t, err)
			if !slices.Equal(got, []float32{3, 1, 2}) {
				t.Errorf("got %v", got)
			}
			check(t, d.Write(ctx, y, make([]byte, 12)))
		}
		dev.Fail(faulty.Prepare, 1, cause)
		for range 3 { // the second one prepares
			check(t, run())
			want()
		}
		if dev.Pending() > 0 || dev.Calls(faulty.Prepare) != 1 {
			t.Errorf("%d calls prepared a list, want 1", dev.Calls(faulty.Prepare))
		}
		for range 2 {
			check(t, run())
			want()
		}
		kept := dev.Calls(faulty.Replay)
		if ok := cause != injected; ok != (kept == 0) {
			t.Errorf("%v: %d submissions of a prepared list", cause, kept)
		}
		if kept > 0 {
			dev.Fail(faulty.Replay, 1, cause)
			wantErr(t, "a submission that fails", run(), cause)
			check(t, run())
			want()
		}
		check(t, exe.Free())
		wantErr(t, "after Free", run(), lathe.ErrClosed)
		check(t, d.Close())
	}
}

// lists counts the prepared lists of a device.
type lists struct {
	gpu.Device
	made, live atomic.Int64
}

// list is a prepared list that is counted.
type list struct {
	gpu.Prepared
	of    *lists
	freed atomic.Bool
}

func (l *lists) Prepare(d []gpu.Dispatch) (gpu.Prepared, error) {
	p, err := gpu.Prepare(l.Device, d)
	if err != nil {
		return nil, err
	}
	l.made.Add(1)
	l.live.Add(1)
	return &list{Prepared: p, of: l}, nil
}

func (p *list) Free() error {
	if !p.freed.Swap(true) {
		p.of.live.Add(-1)
	}
	return p.Prepared.Free()
}

// TestRepeatedListsAreFreed runs Executables into more tensors than lists are kept for, and sets a weight between. The lists are freed by Free, and by the garbage collector.
func TestRepeatedListsAreFreed(t *testing.T) {
	ctx := context.Background()
	inner, err := cpu.Open(cpu.Options{NoCache: true})
	check(t, err)
	dev := &lists{Device: inner}
	d, err := lathe.Open(ctx, quiet, lathe.WithGPU(dev), lathe.WithoutCache(), lathe.WithTuneMode("off"))
	check(t, err)
	by, err := lathe.FromSlice(ctx, d, []float32{0, 1, 0, 0, 0, 1, 1, 0, 0}, 3, 3)
	check(t, err)
	x, err := lathe.FromSlice(ctx, d, []float32{1, 2, 3}, 1, 3)
	check(t, err)
	use := func() *lathe.Executable {
		g := graph.New()
		v, w := g.Input("x", tensor.F32, 1, 3), g.Weight("by", tensor.F32, 3, 3)
		power := w
		for range 40 {
			v, power = g.MatMul(v, w), g.MatMul(power, w)
		}
		g.Output("y", g.MatMul(v, power))
		exe, err := d.Compile(ctx, g, graph.Options{})
		check(t, err)
		for range 6 {
			y, err := d.NewTensor(tensor.Contiguous(tensor.F32, 1, 3))
			check(t, err)
			for range 3 {
				check(t, exe.SetParam("by", by))
				check(t, exe.RunInto(ctx, []*lathe.Tensor{x}, []*lathe.Tensor{y}))
			}
			got, err := lathe.ToSlice[float32](ctx, y) // moved by 40 and 41 columns
			check(t, err)
			if !slices.Equal(got, []float32{1, 2, 3}) {
				t.Errorf("got %v", got)
			}
			check(t, d.Free(y))
		}
		return exe
	}
	exe := use()
	if dev.made.Load() < 6 || dev.live.Load() == 0 { // one for each of y
		t.Errorf("%d lists were prepared, and %d are kept", dev.made.Load(), dev.live.Load())
	}
	check(t, exe.Free())
	if n := dev.live.Load(); n > 0 {
		t.Errorf("%d lists after Free", n)
	}
	use()
	for end := time.Now().Add(20 * time.Second); dev.live.Load() > 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	if n := dev.live.Load(); n > 0 {
		t.Errorf("%d lists of an Executable that is garbage", n)
	}
	check(t, d.Close())
}
