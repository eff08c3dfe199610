package backends_test

import (
	"context"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
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
