package backends_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/vk"
	"github.com/lathe-gpu/lathe/wgpu"
)

// TestCapture records and replays a graph on each backend: with second data, beyond the limit of
// graphs, after a buffer was freed, and without an allocation. The tests of package lathe know
// no WebGPU.
func TestCapture(t *testing.T) {
	ctx := context.Background()
	check := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, backend := range []string{"vk", "wgpu", "cpu"} {
		t.Run(backend, func(t *testing.T) {
			testkit.Built(t, drivers.Built(), backend)
			dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithoutCache(), lathe.WithTuneMode("off"))
			testkit.Device(t, dev, err)
			c, err := dev.NewCapture(2)
			check(t, err)
			defer func() { check(t, c.Close()) }()
			x, err := dev.NewTensor(tensor.Contiguous(tensor.F32, 2, 3))
			check(t, err)
			forward := func() *lathe.Tensor {
				s := c.Device().Scope(ctx)
				y := s.Keep(s.ReduceSum(s.Mul(s.Add(x, x), lathe.Scalar(3)), -1)) // 6 times the sum of a row
				check(t, s.Close())
				return y
			}
			record := func(key uint64) *lathe.Tensor {
				check(t, c.Begin(ctx))
				y := forward()
				check(t, c.End(ctx, key))
				return y
			}
			replay := func(key uint64, want bool) {
				t.Helper()
				if ok, err := c.Replay(ctx, key); err != nil || ok != want {
					t.Fatalf("replay %d: got %v, %v", key, ok, err)
				}
			}
			set := func(list ...float32) {
				fresh, err := lathe.FromSlice(ctx, dev, list, 2, 3)
				check(t, err)
				check(t, dev.Run(ctx, ops.Copy{}, []*lathe.Tensor{fresh}, []*lathe.Tensor{x}))
			}
			want := func(what string, y *lathe.Tensor, list ...float32) {
				t.Helper()
				got, err := lathe.ToSlice[float32](ctx, y)
				check(t, err)
				if !slices.Equal(got, list) {
					t.Errorf("%s: got %v, want %v", what, got, list)
				}
			}
			set(1, 2, 3, 4, 5, 6)
			y := record(1)
			replay(1, true)
			want("the first data", y, 36, 90)
			set(0, 1, 0, 2, 0, -7)
			replay(1, true)
			want("the second data", y, 6, -30)
			want("the calls at once", forward(), 6, -30)

			record(2)
			replay(1, true)
			z := record(3) // the limit is 2, and 2 was used longest ago
			if got := c.Keys(); !slices.Equal(got, []uint64{1, 3}) {
				t.Errorf("keys: got %v", got)
			}
			replay(2, false)
			replay(3, true)
			want("the third graph", z, 6, -30)

			for range 3000 { // queues grow to their full length
				replay(1, true)
			}
			n := testing.AllocsPerRun(500, func() { replay(1, true) })
			if n > 0 && !testkit.Race {
				t.Errorf("%v allocations a replay, want none", n)
			}
			want("after many replays", y, 6, -30)

			check(t, dev.Free(x))
			replay(1, false)
			want("nothing has run on freed memory", y, 6, -30)
			if got := c.Keys(); !slices.Equal(got, []uint64{3}) {
				t.Errorf("keys: got %v", got)
			}
		})
	}
}

// TestCaptureStaysFlat replays a graph very often on WebGPU, half of the times on other tensors. The heap does not grow, and the sums are right. The test of that name in package lathe
// is for the other backends.
func TestCaptureStaysFlat(t *testing.T) {
	testkit.NoRace(t, "replays a million times")
	testlevel.Turn(t, 5)
	ctx := context.Background()
	testkit.Built(t, drivers.Built(), "wgpu")
	dev, err := lathe.Open(ctx, lathe.WithBackend("wgpu"), lathe.WithoutCache(), lathe.WithTuneMode("off"))
	testkit.Device(t, dev, err)
	c, err := dev.NewCapture(1)
	b := bench{t, ctx, dev, c}
	b.check(err)
	defer func() { b.check(c.Close()) }()
	first, count := 1000, 10_000
	if testlevel.IsFull() {
		first, count = 50_000, 1_000_000
	}
	x, one, other := b.tensor(1, 0), b.tensor(1, 1), b.tensor(1, 7)
	b.check(c.Record(ctx, 1, func() error {
		return errors.Join(c.Bindable(x), c.Device().Run(ctx, ops.Add{}, []*lathe.Tensor{x, one}, []*lathe.Tensor{x}))
	}))
	heap := func(n int) int64 {
		for i := range n {
			if i%2 == 0 {
				b.replay(1, true)
			} else {
				b.replay(1, true, lathe.Rebind{From: x, To: other})
			}
		}
		b.check(dev.Sync(ctx))
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap(first)
	if n := heap(count) - before; n > 8<<20 {
		t.Errorf("the heap grew by %d bytes", n)
	}
	half := uint32(first+count) / 2
	if got, more := b.words(x), b.words(other); got[0] != half || more[0] != half+7 {
		t.Errorf("got %v and %v, want %d and 7 more", got, more, half)
	}
}

// TestCaptureGuarded frees, makes larger and uses again the buffers of graphs, on devices in a guard, which finds writes outside of buffers. A stale graph runs nothing, and
// the tensors that come after keep their data.
func TestCaptureGuarded(t *testing.T) {
	ctx := context.Background()
	for backend, open := range map[string]func() (gpu.Device, error){
		"vk":   func() (gpu.Device, error) { return vk.Open(ctx, vk.Options{NoCache: true}) },
		"wgpu": func() (gpu.Device, error) { return wgpu.Open(ctx, wgpu.Options{}) },
		"cpu":  func() (gpu.Device, error) { return cpu.Open(cpu.Options{NoCache: true}) },
	} {
		t.Run(backend, func(t *testing.T) {
			testkit.Built(t, drivers.Built(), backend)
			inner, err := open()
			testkit.Opened(t, err)
			dev, err := lathe.Open(ctx, lathe.WithGPU(guard.New(inner)), lathe.WithoutCache(), lathe.WithTuneMode("off"))
			testkit.Device(t, dev, err)
			c, err := dev.NewCapture(4)
			b := bench{t, ctx, dev, c}
			b.check(err)
			defer func() { b.check(c.Close()) }()
			for _, n := range []int{1, 7, 61} { // freed, and used again by tensors of the same size
				x, fixed, y := b.tensor(n, 1), b.tensor(n, 7), b.tensor(n, 0)
				b.chain(1, x, fixed, y)
				b.replay(1, true)
				with := lathe.Rebind{From: x, To: b.view(n, 256, n+100)}
				b.replay(1, true, with)
				b.check(dev.Free(y)) // while replays may run
				var fresh []*lathe.Tensor
				for i := range 5 {
					fresh = append(fresh, b.tensor(n, uint32(i)))
				}
				b.replay(1, false, with)
				b.replay(1, false)
				for i, v := range fresh {
					if got, want := b.words(v), words(n, uint32(i)); !slices.Equal(got, want) {
						b.Errorf("%d words, tensor %d after the graph: got %v, want %v", n, i, got, want)
					}
				}
				if got, want := b.words(fixed), words(n, 7); !slices.Equal(got, want) {
					b.Errorf("the other input: got %v, want %v", got, want)
				}
			}
			// A larger size of a Model makes its arena larger, which is another buffer then. The graph of the smaller size is stale, or has its own arena still.
			m := c.Device().Model(func(g *graph.Graph) {
				v := g.Input("x", tensor.F32, g.Dim("N"), 3)
				g.Output("y", g.Softmax(g.MatMul(g.Softmax(g.MatMul(v, g.Transpose(v)), -1), v), 0))
			}, graph.Options{})
			input := func(n int) map[string]*lathe.Tensor {
				data := make([]float32, 3*n)
				for i := range data {
					data[i] = float32(i%5) / 4
				}
				x, err := lathe.FromSlice(ctx, dev, data, n, 3)
				b.check(err)
				return map[string]*lathe.Tensor{"x": x}
			}
			small := input(5)
			run := func(in map[string]*lathe.Tensor) (map[string]*lathe.Tensor, error) {
				exe, err := m.At(ctx, graph.Dims{"N": in["x"].Shape()[0]})
				if err != nil {
					return nil, err
				}
				return exe.Run(ctx, in)
			}
			out, err := run(small) // compiles
			b.check(err)
			want, err := dev.Read(ctx, out["y"])
			b.check(err)
			b.check(c.Record(ctx, 2, func() (err error) {
				out, err = run(small)
				return err
			}))
			b.replay(2, true)
			_, err = run(input(300))
			b.check(err)
			fresh := b.tensor(1000, 3) // perhaps where the arena was
			ok, err := c.Replay(ctx, 2)
			b.check(err)
			if got := b.words(fresh); !slices.Equal(got, words(1000, 3)) {
				b.Error("a replay has written to a tensor that came after it")
			}
			if !ok {
				if out, err = run(small); err != nil {
					b.Fatal(err)
				}
			}
			got, err := dev.Read(ctx, out["y"])
			b.check(err)
			if !bytes.Equal(got, want) {
				b.Errorf("after the arena grew (replayed %v): got % x, want % x", ok, got, want)
			}
			b.check(dev.Sync(ctx)) // the guard looks at its zones
		})
	}
}
