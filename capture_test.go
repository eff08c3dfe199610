package lathe_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// eachCapture runs a test with a device of each backend and a Capture on it.
func eachCapture(t *testing.T, f func(t *testing.T, dev *lathe.Device, c *lathe.Capture)) {
	for _, backend := range []string{"vk", "cpu"} {
		t.Run(backend, func(t *testing.T) {
			testkit.Built(t, drivers.Built(), backend)
			dev, err := lathe.Open(context.Background(), lathe.WithBackend(backend), lathe.WithoutCache(), lathe.WithTuneMode("off"))
			testkit.Device(t, dev, err)
			c, err := dev.NewCapture(4)
			check(t, err)
			defer func() { check(t, c.Close()) }()
			f(t, dev, c)
		})
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

// TestCaptureReplays records a chain with intermediates and a reduction, and compares replays with the same calls made at once, bit for bit.
func TestCaptureReplays(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		const rows, cols = 7, 13
		x, err := dev.NewTensor(tensor.Contiguous(tensor.F32, rows, cols))
		check(t, err)
		forward := func(d *lathe.Device) (*lathe.Tensor, error) {
			s := d.Scope(ctx)
			y := s.Softmax(s.Mul(s.MatMul(x, s.Take(x.Transpose())), lathe.Scalar(0.25)), -1)
			y = s.Keep(s.ReduceSum(y, 0))
			return y, s.Close() // frees the intermediates, which the graph still needs
		}
		check(t, c.Begin(ctx))
		if !c.Recording() {
			t.Error("it does not record")
		}
		y, err := forward(c.Device())
		check(t, err)
		check(t, c.End(ctx, 5))
		for round := range 5 {
			data := make([]float32, rows*cols)
			for i := range data {
				data[i] = float32(math.Sin(float64(i*(round+3)))) * 3
			}
			fresh, err := lathe.FromSlice(ctx, dev, data, rows, cols)
			check(t, err)
			check(t, dev.Run(ctx, ops.Copy{}, []*lathe.Tensor{fresh}, []*lathe.Tensor{x}))
			ok, err := c.Replay(ctx, 5)
			check(t, err)
			if !ok {
				t.Fatal("there is no graph")
			}
			got, err := dev.Read(ctx, y)
			check(t, err)
			eager, err := forward(dev)
			check(t, err)
			want, err := dev.Read(ctx, eager)
			check(t, err)
			if !bytes.Equal(got, want) {
				t.Fatalf("round %d: got % x, want % x", round, got, want)
			}
			if bytes.Equal(got, make([]byte, len(got))) {
				t.Fatal("nothing was computed")
			}
		}
	})
}

// TestCaptureStates makes calls at the wrong time. Each is ErrCapture, and the next right call works.
func TestCaptureStates(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		in := c.Device()
		x, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3}, 3)
		check(t, err)
		y, err := lathe.FromSlice(ctx, dev, []float32{0, 0, 0}, 3)
		check(t, err)
		add := func() error { return in.Run(ctx, ops.Add{}, []*lathe.Tensor{x, y}, []*lathe.Tensor{y}) }
		wantErr(t, "end", c.End(ctx, 1), lathe.ErrCapture)
		wantErr(t, "abort", c.Abort(), lathe.ErrCapture)
		check(t, c.Begin(ctx))
		wantErr(t, "begin", c.Begin(ctx), lathe.ErrCapture)
		wantErr(t, "sync", in.Sync(ctx), lathe.ErrCapture)
		_, err = in.Read(ctx, x)
		wantErr(t, "read", err, lathe.ErrCapture)
		wantErr(t, "write", in.Write(ctx, x, make([]byte, 12)), lathe.ErrCapture)
		_, err = c.Replay(ctx, 1)
		wantErr(t, "replay", err, lathe.ErrCapture)
		check(t, add())
		check(t, c.Abort())
		check(t, add()) // it runs
		want := func(what string, list ...float32) {
			t.Helper()
			got, err := lathe.ToSlice[float32](ctx, y)
			check(t, err)
			if !slices.Equal(got, list) {
				t.Errorf("%s: got %v, want %v", what, got, list)
			}
		}
		want("after abort", 1, 2, 3)
		if ok, err := c.Replay(ctx, 1); ok || err != nil {
			t.Errorf("no graph: got %v, %v", ok, err)
		}
		for key := range uint64(6) { // the limit is 4
			check(t, c.Begin(ctx))
			check(t, add())
			check(t, c.End(ctx, key))
			if key == 3 {
				ok, err := c.Replay(ctx, 0) // so that 1 was used longest ago
				if !ok || err != nil {
					t.Errorf("replay 0: got %v, %v", ok, err)
				}
			}
		}
		want("one replay", 2, 4, 6)
		if got := c.Keys(); !slices.Equal(got, []uint64{0, 3, 4, 5}) {
			t.Errorf("keys: got %v", got)
		}
		check(t, c.Reset(4))
		check(t, c.Reset(4))
		if got := c.Keys(); !slices.Equal(got, []uint64{0, 3, 5}) {
			t.Errorf("keys: got %v", got)
		}
		other, err := dev.NewCapture(1)
		check(t, err)
		if ok, err := other.Replay(ctx, 5); ok || err != nil {
			t.Errorf("another Capture: got %v, %v", ok, err)
		}
		check(t, other.Close())
		check(t, c.Begin(ctx))
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		wantErr(t, "end", c.End(cancelled, 0), context.Canceled)
		ok, err := c.Replay(ctx, 0) // the old graph
		if !ok || err != nil {
			t.Errorf("replay 0: got %v, %v", ok, err)
		}
		want("the old graph", 3, 6, 9)
		check(t, dev.Free(x))
		if ok, err := c.Replay(ctx, 3); ok || err != nil {
			t.Errorf("stale: got %v, %v", ok, err)
		}
		if got := c.Keys(); !slices.Equal(got, []uint64{0, 5}) {
			t.Errorf("keys: got %v", got)
		}
		check(t, c.ResetAll())
		if got := c.Keys(); len(got) != 0 {
			t.Errorf("keys: got %v", got)
		}
		want("nothing has run on freed memory", 3, 6, 9)
	})
}

// TestCaptureChecks replays a gather whose indices are wrong once. The error is returned once, the output stays, and the next replay works.
func TestCaptureChecks(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		x, err := lathe.FromSlice(ctx, dev, []float32{10, 20, 30, 40}, 4)
		check(t, err)
		index, err := lathe.FromSlice(ctx, dev, []int32{3, 0}, 2)
		check(t, err)
		check(t, c.Begin(ctx))
		y, err := c.Device().Gather(x, index, 0)
		check(t, err)
		check(t, c.End(ctx, 1))
		replay := func() {
			t.Helper()
			if ok, err := c.Replay(ctx, 1); !ok || err != nil {
				t.Fatalf("replay: got %v, %v", ok, err)
			}
		}
		want := func(list ...float32) {
			t.Helper()
			got, err := lathe.ToSlice[float32](ctx, y)
			check(t, err)
			if !slices.Equal(got, list) {
				t.Errorf("got %v, want %v", got, list)
			}
		}
		replay()
		want(40, 10)
		check(t, dev.Write(ctx, index, []byte{9, 0, 0, 0, 0, 0, 0, 0}))
		replay()
		wantErr(t, "sync", dev.Sync(ctx), lathe.ErrInvalidArgument)
		check(t, dev.Sync(ctx))
		want(40, 10)
		check(t, dev.Write(ctx, index, []byte{1, 0, 0, 0, 2, 0, 0, 0}))
		other, err := lathe.FromSlice(ctx, dev, []int32{0, 1}, 2)
		check(t, err)
		_, err = c.Device().Gather(x, other, 0) // it may not borrow the words of the graph
		check(t, err)
		replay()
		want(20, 30)
	})
}

// TestCaptureExecutable records a compiled graph and a Scalar.
func TestCaptureExecutable(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		g := graph.New()
		v := g.Input("x", tensor.F32, 5)
		g.Output("y", g.Exp(g.Mul(v, v)))
		exe, err := c.Device().Compile(ctx, g, graph.Options{})
		check(t, err)
		x, err := lathe.FromSlice(ctx, dev, []float32{0, 1, 0.5, -1, 2}, 5)
		check(t, err)
		check(t, c.Begin(ctx))
		out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
		check(t, err)
		z, err := c.Device().Mul(out["y"], lathe.Scalar(2))
		check(t, err)
		check(t, c.End(ctx, 1))
		ok, err := c.Replay(ctx, 1)
		check(t, err)
		got, err := lathe.ToSlice[float32](ctx, z)
		check(t, err)
		for i, v := range []float64{0, 1, 0.25, 1, 4} {
			if want := 2 * math.Exp(v); math.Abs(float64(got[i])-want) > 1e-5*want || !ok {
				t.Errorf("element %d: got %v, want %v (%v)", i, got[i], want, ok)
			}
		}
		if _, err := c.Device().Compile(ctx, g, graph.Options{}); err != nil {
			t.Errorf("while nothing is recorded: %v", err)
		}
		check(t, c.Begin(ctx))
		if _, err := c.Device().Compile(ctx, g, graph.Options{}); !errors.Is(err, lathe.ErrCapture) {
			t.Errorf("a graph is compiled while another one is recorded: %v", err)
		}
		check(t, c.Abort())
		check(t, dev.Free(x))
		if ok, err := c.Replay(ctx, 1); ok || err != nil {
			t.Errorf("after Free of the input: got %v, %v", ok, err)
		}
	})
}

// TestCaptureDecodeState replays a graph that reads the words, for many steps.
func TestCaptureDecodeState(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		ones, err := lathe.FromSlice(ctx, dev, []int32{1, 1}, 2)
		check(t, err)
		forward := func() (*lathe.Tensor, error) {
			s := c.Device().Scope(ctx)
			y := s.Keep(s.Add(s.Add(s.Mul(ones, c.Token()), c.Position()), s.Mul(c.ValidLength(), ones)))
			return y, s.Close()
		}
		c.SetDeviceStateMode(true)
		check(t, c.SetDecodeState(ctx, 7, 1))
		check(t, c.Begin(ctx))
		y, err := forward()
		check(t, err)
		check(t, c.SetDecodeState(ctx, 9, 2)) // it is not recorded
		check(t, c.End(ctx, 1))
		c.SetDeviceStateMode(false)
		for step := range uint32(20) {
			check(t, c.SetDecodeState(ctx, 100*step, step))
			ok, err := c.Replay(ctx, 1)
			check(t, err)
			eager, err := forward()
			check(t, err)
			want := int32(100*step + 2*step + 1)
			for _, v := range []*lathe.Tensor{y, eager} {
				got, err := lathe.ToSlice[int32](ctx, v)
				check(t, err)
				if !ok || !slices.Equal(got, []int32{want, want}) {
					t.Errorf("step %d: got %v, want %v (%v)", step, got, want, ok)
				}
			}
		}
		state, err := c.DecodeState()
		check(t, err)
		got, err := lathe.ToSlice[int32](ctx, state)
		check(t, err)
		if !slices.Equal(got, []int32{1900, 19, 20}) {
			t.Errorf("state: got %v", got)
		}
		wantErr(t, "step", c.SetDecodeState(ctx, 0, math.MaxUint32), lathe.ErrInvalidArgument)
	})
}

// TestCaptureBesideEager records on one goroutine while others run calls on the Device, whose results are right at once.
func TestCaptureBesideEager(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		x, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3}, 3)
		check(t, err)
		var all sync.WaitGroup
		for g := range 3 {
			all.Go(func() {
				for i := range 40 {
					y, err := dev.Mul(x, lathe.Scalar(g*100+i))
					if err != nil {
						t.Error(err)
						return
					}
					got, err := lathe.ToSlice[float32](ctx, y)
					if want := float32(g*100 + i); err != nil || !slices.Equal(got, []float32{want, 2 * want, 3 * want}) {
						t.Errorf("got %v, %v", got, err)
						return
					}
				}
			})
		}
		for i := range 40 {
			check(t, c.Begin(ctx))
			y, err := c.Device().Mul(x, lathe.Scalar(-i))
			check(t, err)
			check(t, c.End(ctx, uint64(i%3)))
			ok, err := c.Replay(ctx, uint64(i%3))
			check(t, err)
			got, err := lathe.ToSlice[float32](ctx, y)
			check(t, err)
			if want := float32(-i); !ok || !slices.Equal(got, []float32{want, 2 * want, 3 * want}) {
				t.Errorf("got %v, want %v (%v)", got, want, ok)
			}
		}
		all.Wait()
	})
}

// TestCaptureFaults fails each call of the device once, while a graph is recorded and while it is replayed. The call returns the error, and a
// second try gives the result.
func TestCaptureFaults(t *testing.T) {
	ctx := context.Background()
	for _, lost := range []bool{false, true} {
		for n := 1; ; n++ {
			inner, err := cpu.Open(cpu.Options{NoCache: true})
			check(t, err)
			dev := faulty.New(inner)
			d, err := lathe.Open(ctx, lathe.WithGPU(dev), lathe.WithoutCache(), lathe.WithTuneMode("off"))
			check(t, err)
			x, err := lathe.FromSlice(ctx, d, []float32{3, 1, 2}, 3)
			check(t, err)
			index, err := lathe.FromSlice(ctx, d, []int32{2, 1}, 2)
			check(t, err)
			c, err := d.NewCapture(2)
			check(t, err)
			cause := lathe.ErrOutOfMemory
			if lost {
				cause = lathe.ErrDeviceLost
			}
			dev.Fail(faulty.Any, n, cause)
			step := func() (got []float32, err error) {
				if err := c.Begin(ctx); err != nil {
					return nil, err
				}
				s := c.Device().Scope(ctx)
				y := s.Keep(s.Exp(s.Gather(x, index, 0)))
				if err := s.Close(); err != nil {
					return nil, errors.Join(err, c.Abort())
				}
				if err := c.End(ctx, 1); err != nil {
					return nil, err
				}
				if ok, err := c.Replay(ctx, 1); !ok || err != nil {
					return nil, errors.Join(err, errors.New("no replay"))
				}
				return lathe.ToSlice[float32](ctx, y)
			}
			_, err = step()
			pending := dev.Pending()
			if pending == 0 && lost {
				wantErr(t, "after a loss", d.Sync(ctx), lathe.ErrDeviceLost)
			}
			if pending == 0 && err == nil {
				t.Logf("call %d failed, and nobody saw it (a free, or a second try)", n)
			}
			if !lost && pending == 0 {
				got, err := step()
				if err != nil || len(got) != 2 || math.Abs(float64(got[0])-math.Exp(2)) > 1e-4 || math.Abs(float64(got[1])-math.E) > 1e-4 {
					t.Errorf("call %d failed, and then: got %v, %v", n, got, err)
				}
			}
			_ = c.Close()
			_ = d.Close()
			if pending > 0 {
				if n < 5 {
					t.Errorf("only %d calls", n)
				}
				break
			}
		}
	}
}

// TestCaptureKeepsTensors drops all references to the tensors and the Executable of a graph, which replays all the same.
func TestCaptureKeepsTensors(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		y, err := dev.NewTensor(tensor.Contiguous(tensor.F32, 3))
		check(t, err)
		check(t, c.Begin(ctx))
		func() {
			x, err := lathe.FromSlice(ctx, c.Device(), []float32{1, 2, 3}, 3) // a constant of the graph
			check(t, err)
			check(t, c.Device().Run(ctx, ops.Add{}, []*lathe.Tensor{x, x}, []*lathe.Tensor{y}))
		}()
		check(t, c.End(ctx, 1))
		check(t, c.Begin(ctx))
		check(t, c.Abort())
		g := graph.New()
		v := g.Input("x", tensor.F32, 2, 2)
		g.Output("y", g.MatMul(g.Softmax(g.MatMul(v, v), -1), v))
		exe, err := c.Device().Compile(ctx, g, graph.Options{})
		check(t, err)
		x, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4}, 2, 2)
		check(t, err)
		out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
		check(t, err)
		want, err := dev.Read(ctx, out["y"])
		check(t, err)
		check(t, c.Begin(ctx))
		if out, err = exe.Run(ctx, map[string]*lathe.Tensor{"x": x}); err != nil {
			t.Fatal(err)
		}
		check(t, c.End(ctx, 2))
		for range 3 {
			runtime.GC()
			time.Sleep(5 * time.Millisecond) // cleanups run
		}
		for key := range uint64(2) {
			if ok, err := c.Replay(ctx, key+1); !ok || err != nil {
				t.Fatalf("graph %d: got %v, %v", key+1, ok, err)
			}
		}
		got, err := lathe.ToSlice[float32](ctx, y)
		check(t, err)
		if !slices.Equal(got, []float32{2, 4, 6}) {
			t.Errorf("got %v", got)
		}
		again, err := dev.Read(ctx, out["y"])
		check(t, err)
		if !bytes.Equal(again, want) {
			t.Errorf("executable: got % x, want % x", again, want)
		}
	})
}

// TestCaptureAllocatesNothing counts the allocations of a replay.
func TestCaptureAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		x, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3}, 3)
		check(t, err)
		check(t, c.Begin(ctx))
		for range 20 {
			check(t, c.Device().Run(ctx, ops.Add{}, []*lathe.Tensor{x, x}, []*lathe.Tensor{x}))
		}
		check(t, c.End(ctx, 1))
		for range 20 {
			_, err = c.Replay(ctx, 1)
			check(t, err)
		}
		n := testing.AllocsPerRun(200, func() {
			if ok, err := c.Replay(ctx, 1); !ok || err != nil {
				t.Fatal(ok, err)
			}
		})
		if n > 0 && !testkit.Race {
			t.Errorf("%v allocations a replay, want none", n)
		}
	})
}

// TestCaptureStaysFlat replays a graph very often. Memory does not grow, and the sum of what it adds is right.
func TestCaptureStaysFlat(t *testing.T) {
	testkit.NoRace(t, "replays a million times")
	ctx := context.Background()
	// The two queues of the device cpu grow to 16 384 commands, once. The full level finds a leak of 16 bytes a replay all the same.
	first, count, most := 1000, 20_000, int64(16<<20)
	if testlevel.IsFull() {
		first, count, most = 100_000, 1_000_000, 8<<20
	}
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		x, err := lathe.FromSlice(ctx, dev, []uint32{0, 5}, 2)
		check(t, err)
		one, err := lathe.FromSlice(ctx, dev, []uint32{1, 1}, 2)
		check(t, err)
		check(t, c.Begin(ctx))
		check(t, c.Device().Run(ctx, ops.Add{}, []*lathe.Tensor{x, one}, []*lathe.Tensor{x}))
		check(t, c.End(ctx, 1))
		replay := func(n int) {
			t.Helper()
			for range n {
				if ok, err := c.Replay(ctx, 1); !ok || err != nil {
					t.Fatal(ok, err)
				}
			}
			check(t, dev.Sync(ctx))
			runtime.GC()
		}
		replay(first)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		replay(count)
		runtime.ReadMemStats(&after)
		if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); n > most {
			t.Errorf("the heap grew by %d bytes", n)
		}
		got, err := lathe.ToSlice[uint32](ctx, x)
		check(t, err)
		if want := uint32(count + first); !slices.Equal(got, []uint32{want, want + 5}) {
			t.Errorf("got %v, want %d and 5 more", got, want)
		}
	})
}

// TestCaptureWeights records a graph with weights, sets them anew, and goes on with runs and replays in turn. A replay computes with the weights
// that were set when it was recorded, and a run with the last ones.
func TestCaptureWeights(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		g := graph.New()
		g.Output("y", g.MatMul(g.Input("x", tensor.F32, 3, 4), g.Neg(g.Weight("w", tensor.F32, 4, 4))))
		exe, err := c.Device().Compile(ctx, g, graph.Options{})
		check(t, err)
		square := func(factor float32) *lathe.Tensor {
			data := make([]float32, 16)
			for i := range 4 {
				data[5*i] = factor
			}
			w, err := lathe.FromSlice(ctx, dev, data, 4, 4)
			check(t, err)
			return w
		}
		ones := make([]float32, 12)
		for i := range ones {
			ones[i] = 1
		}
		x, err := lathe.FromSlice(ctx, dev, ones, 3, 4)
		check(t, err)
		y, err := dev.NewTensor(x.Desc())
		check(t, err)
		run := func() { check(t, exe.RunInto(ctx, []*lathe.Tensor{x}, []*lathe.Tensor{y})) }
		replay := func() {
			ok, err := c.Replay(ctx, 1)
			check(t, err)
			if !ok {
				t.Error("nothing was replayed")
			}
		}
		want := func(what string, factor float32) {
			t.Helper()
			got, err := lathe.ToSlice[float32](ctx, y)
			check(t, err)
			if got[0] != -factor || got[11] != -factor {
				t.Errorf("%s: got %v, want %v", what, got, -factor)
			}
		}
		check(t, exe.SetParam("w", square(2)))
		check(t, c.Begin(ctx))
		run()
		check(t, c.End(ctx, 1))
		replay()
		want("the first replay", 2)
		check(t, exe.SetParam("w", square(3)))
		run()
		want("a run with other weights", 3)
		replay()
		want("a replay after it", 2)
		run()
		want("a run after that", 3)
	})
}

// TestCaptureRecord records functions that fail: nothing of them is kept, and the graph that the key had stays.
func TestCaptureRecord(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		x, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3}, 3)
		check(t, err)
		y, err := dev.NewTensor(x.Desc())
		check(t, err)
		twice := func() error { return c.Device().Run(ctx, ops.Add{}, []*lathe.Tensor{x, x}, []*lathe.Tensor{y}) }
		check(t, c.Record(ctx, 1, twice))
		broken := errors.New("broken")
		if err := c.Record(ctx, 1, func() error {
			return errors.Join(c.Device().Run(ctx, ops.Neg{}, []*lathe.Tensor{x}, []*lathe.Tensor{y}), broken)
		}); !errors.Is(err, broken) || c.Recording() {
			t.Errorf("a function that fails: got %v, recording %v", err, c.Recording())
		}
		func() {
			defer func() { _ = recover() }()
			_ = c.Record(ctx, 1, func() error { panic("a mistake") })
		}()
		if c.Recording() {
			t.Error("after a panic it still records")
		}
		if err := c.Record(ctx, 1, nil); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("no function: %v", err)
		}
		if ok, err := c.Replay(ctx, 1); !ok || err != nil {
			t.Errorf("the first graph: %v, %v", ok, err)
		}
		got, err := lathe.ToSlice[float32](ctx, y)
		check(t, err)
		if got[2] != 6 {
			t.Errorf("got %v, want the sums of the first graph", got)
		}
	})
}

// TestCaptureErrors has graphs whose calls check indices. Other Devices read while another graph is recorded, and errors of replays are found after
// the graph was forgotten in each manner.
func TestCaptureErrors(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		x, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3}, 3)
		check(t, err)
		index, err := lathe.FromSlice(ctx, dev, []int32{0, 1}, 2)
		check(t, err)
		gather := func() error { _, err := c.Device().Gather(x, index, 0); return err }
		check(t, c.Record(ctx, 1, gather))
		_, err = c.Replay(ctx, 1)
		check(t, err)
		check(t, c.Begin(ctx))
		check(t, dev.Sync(ctx))
		_, err = lathe.ToSlice[float32](ctx, x)
		check(t, err)
		check(t, c.Abort())
		check(t, dev.Write(ctx, index, []byte{0, 0, 0, 0, 9, 0, 0, 0}))
		for name, forget := range map[string]func() error{
			"Reset":   func() error { return c.Reset(1) },
			"the key": func() error { return c.Record(ctx, 1, gather) },
			"Abort":   func() error { return errors.Join(c.Begin(ctx), c.Abort()) },
		} {
			check(t, c.Record(ctx, 1, gather))
			_, err := c.Replay(ctx, 1)
			check(t, errors.Join(err, forget()))
			if err := dev.Sync(ctx); err == nil || !strings.Contains(err.Error(), "9") {
				t.Errorf("after %s: got %v, want the error of index 9", name, err)
			}
			check(t, dev.Sync(ctx))
		}
		err = c.Record(ctx, 2, func() error {
			for range 5000 {
				if err := gather(); err != nil {
					return err
				}
			}
			return nil
		})
		if !errors.Is(err, lathe.ErrCapture) || !strings.Contains(err.Error(), "4096") {
			t.Errorf("too many checks: %v", err)
		}
		check(t, c.Begin(ctx))
		check(t, gather())
		check(t, c.Close()) // while it records
	})
}

// TestCaptureControl refuses to record a graph whose branch the host chooses, before any call of it is recorded or run.
func TestCaptureControl(t *testing.T) {
	ctx := context.Background()
	eachCapture(t, func(t *testing.T, dev *lathe.Device, c *lathe.Capture) {
		g := graph.New()
		x := g.Input("x", tensor.F32, 3)
		y := g.If(g.Greater(g.ReduceMax(x), graph.Scalar(2)),
			func(g *graph.Graph) []*graph.Value { return []*graph.Value{g.Neg(x)} },
			func(g *graph.Graph) []*graph.Value { return []*graph.Value{g.Abs(x)} })[0]
		g.Output("y", y)
		exe, err := c.Device().Compile(ctx, g, graph.Options{})
		check(t, err)
		in, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3}, 3)
		check(t, err)
		check(t, c.Begin(ctx))
		_, err = exe.Run(ctx, map[string]*lathe.Tensor{"x": in})
		wantErr(t, "run", err, lathe.ErrCapture)
		if err != nil && !strings.Contains(err.Error(), "a graph with If or While cannot be recorded (run it outside of the capture)") {
			t.Errorf("run: got %v", err)
		}
		check(t, c.Abort())
		out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": in})
		check(t, err)
		got, err := lathe.ToSlice[float32](ctx, out["y"])
		check(t, err)
		if !slices.Equal(got, []float32{-1, -2, -3}) {
			t.Errorf("after the capture: got %v", got)
		}
	})
}
