package lathe_test

import (
	"context"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// idle is a device that ignores what is submitted.
type idle struct{ *null.Device }

func (idle) Submit([]gpu.Dispatch) error { return nil }

// smallCalls are calls on small tensors, by Device.Run and by Device.Call with Device.Free,
// on a device that does nothing.
func smallCalls(t testing.TB) map[string]func() {
	dev, err := lathe.Open(context.Background(), lathe.WithGPU(idle{null.New(nil)}), lathe.WithoutCache(), lathe.WithTuneMode("off"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	list := map[string]func(){}
	for name, c := range map[string]struct {
		call   spec.Call
		shapes [][]int
	}{
		"abs":     {ops.Abs{}, [][]int{{1024}}},
		"add":     {ops.Add{}, [][]int{{1024}, {1024}}},
		"softmax": {ops.Softmax{Dim: -1}, [][]int{{8, 128}}},
		"matmul":  {ops.MatMul{}, [][]int{{64, 64}, {64, 64}}},
	} {
		var in []*lathe.Tensor
		for _, s := range c.shapes {
			x, err := dev.NewTensor(tensor.Contiguous(tensor.F32, s...))
			if err != nil {
				t.Fatal(err)
			}
			in = append(in, x)
		}
		out, err := dev.Call(t.Context(), c.call, in...)
		if err != nil {
			t.Fatal(err)
		}
		list["run/"+name] = func() {
			if err := dev.Run(context.Background(), c.call, in, out); err != nil {
				t.Fatal(err)
			}
		}
		list["call/"+name] = func() {
			res, err := dev.Call(context.Background(), c.call, in...)
			if err != nil {
				t.Fatal(err)
			}
			if err := dev.Free(res[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return list
}

// BenchmarkSmallCall measures how much time Lathe itself needs for a small call.
func BenchmarkSmallCall(b *testing.B) {
	for name, call := range smallCalls(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}

// TestSmallCallAllocates counts the allocations of calls that were made before. Run makes
// none. Call makes the result: its tensor, its buffer and its shape.
func TestSmallCallAllocates(t *testing.T) {
	testkit.NoRace(t, "allocates")
	for name, call := range smallCalls(t) {
		most := 0.1 // the pool may lose a few to the collector
		if name[:4] == "call" {
			most = 11.1
		}
		if n := testing.AllocsPerRun(500, call); n > most {
			t.Errorf("%s: %.1f allocations, want at most %.0f", name, n, most)
		}
	}
}
